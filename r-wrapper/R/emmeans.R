#' Estimated marginal means
#'
#' Methods for the package emmeans. The reference grid is made of public facts: the declared
#' levels, and the middle of each declared range where `lm()` has the mean of the rows, which is not
#' released; what emmeans prints says so. Give other public values by `at`, such as
#' `at = list(educ = 12)`. `data` is not read. Means of a logit are log odds, those
#' of a Poisson regression logarithms, and with `type = "response"` probabilities and means. They are
#' at an offset of 0 and an exposure of 1, where those of `glm()` are at means of the rows; `offset =`
#' gives another, on the scale of the link.
#'
#' @param object A fit by [dp_ols()].
#' @param trms,xlev,grid,data,... As emmeans passes them.
#' @param vcov. Refused, unless it gives [vcov()] of the fit: other standard errors are paid for with the fit.
#' @return What emmeans expects.
#' @name emmeans
#' @examplesIf dpstats_available() && requireNamespace("emmeans", quietly = TRUE)
#' d <- data.frame(g = factor(rep(c("a", "b"), 250)), y = runif(500))
#' fit <- dp_ols(y ~ g, d, method = "adassp", epsilon = 4, bounds = list(y = c(0, 1)))
#' emmeans::emmeans(fit, ~g)
NULL

#' @rdname emmeans
#' @exportS3Method emmeans::recover_data
recover_data.dp_ols <- function(object, data, ...) {
  if (!is.null(object$absorbed)) {
    bad_argument("marginal means need the effects of ", object$absorbed, ", which are absorbed and ",
                 "not released; use coef() and dp_test()")
  }
  call <- object$call
  call$formula <- stats::formula(object) # that of instruments would be read as a transformation
  right <- stats::formula(stats::delete.response(object$terms))
  right[[2L]] <- in_columns(right[[2L]])
  emmeans::recover_data(call, stats::terms(right), NULL, data = crossed_frame(object$schema), ...)
}

# The terms of columns alone, a:b in the place of f(a, b): emmeans would take a function of a factor
# for a number, and a text in quotes for a column.
in_columns <- function(expression) {
  if (!is.call(expression)) return(expression)
  if (!as.character(expression[[1L]])[1L] %in% formula_operators) {
    return(Reduce(function(a, b) call(":", a, b), lapply(formula_variables(expression), as.name)))
  }
  expression[-1L] <- lapply(as.list(expression)[-1L], in_columns)
  expression
}

# Synthetic rows with every combination of levels, and numbers whose mean is the middle of their
# range; three rows or more, as emmeans takes two values for a factor.
crossed_frame <- function(schema) {
  factors <- Filter(function(entry) !is.null(entry$levels), schema)
  grid <- expand.grid(lapply(factors, function(entry) as_declared(entry$levels, entry)))
  combinations <- max(1L, nrow(grid))
  n <- combinations * ceiling(3 / combinations)
  columns <- lapply(names(schema), function(name) {
    entry <- schema[[name]]
    if (is.null(entry$levels)) seq(entry$low, entry$high, length.out = n)
    else rep_len(grid[[name]], n)
  })
  as.data.frame(stats::setNames(columns, names(schema)), optional = TRUE)
}

#' @rdname emmeans
#' @exportS3Method emmeans::emm_basis
emm_basis.dp_ols <- function(object, trms, xlev, grid, vcov. = NULL, ...) {
  asked <- if (is.function(vcov.)) vcov.(object) else vcov.
  if (!is.null(asked) && !asks_for_these(asked, "vcov", vcov(object))) {
    bad_argument("emmeans takes the standard errors of the fit, so leave vcov. out", why_not$vcov)
  }
  list(
    X = design_at(object, grid), bhat = coef(object), nbasis = matrix(NA), V = vcov(object),
    dffun = function(k, dfargs) dfargs$df, dfargs = list(df = df.residual(object)),
    misc = list(initMesg = message_of_middles(object$schema, grid))
  )
}

#' @rdname emmeans
#' @exportS3Method emmeans::emm_basis
emm_basis.dp_glm <- function(object, trms, xlev, grid, ...) {
  basis <- emm_basis.dp_ols(object, trms, xlev, grid, ...)
  basis$misc$initMesg <- c(basis$misc$initMesg, message_of_offsets(object$offset))
  basis$misc <- emmeans::.std.link.labels(stats::family(object), basis$misc)
  basis
}

# Which numbers of the grid stand at the middle of their range.
message_of_middles <- function(schema, grid) {
  middles <- vapply(Filter(function(entry) is.null(entry$levels), schema[names(grid)]),
                    function(entry) mean(c(entry$low, entry$high)), numeric(1L))
  there <- Filter(function(name) isTRUE(all.equal(unique(grid[[name]]), middles[[name]])),
                  names(middles))
  if (!length(there)) return(NULL)
  paste("At the middle of their ranges, as means are not released:",
        paste(there, "=", vapply(middles[there], format, "", digits = 4L), collapse = ", "))
}

# Where the means stand whose offset or exposure is private.
message_of_offsets <- function(columns) {
  c(if (!is.null(columns$offset)) {
    paste("The offset", columns$offset, "is 0, or what emmeans() is given as offset =")
  }, if (!is.null(columns$exposure)) {
    paste0("The exposure ", columns$exposure, " is 1, or exp(offset) where emmeans() is given offset =")
  })
}
