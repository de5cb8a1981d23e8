# What differs between a regression with instruments and one without.

#' First stage and Anderson-Rubin set
#'
#' `dp_first_stage()` gives the coefficients of the instruments for the endogenous regressor, and the F
#' statistic that all are zero, robust and with the privacy noise: how much of the first stage is
#' known after the release. `dp_anderson_rubin()` gives the effects of the endogenous regressor that the
#' test of Anderson and Rubin (1949) does not reject, robust and with the noise, which holds however
#' weak the instruments are. Both cost nothing.
#'
#' @param object A fit by [dp_iv()], or the [groups] of one.
#' @param level Confidence level, between 0 and 1.
#' @param x What these functions return.
#' @param digits Significant digits.
#' @param ... Not used.
#' @return `dp_first_stage()`: a list of class `dp_first_stage` with `coefficients`, a data frame with
#'   the columns `term`, `estimate` and `std.error`, `NA` where the noise hides them, `statistic`, the F
#'   statistic, and `endogenous`. `dp_anderson_rubin()`: a matrix of class `dp_confidence_set` with the columns `low`
#'   and `high` and a row for each interval: one, two half-lines, the whole line, or none where several
#'   instruments contradict one another. Of groups both are data frames with the group columns first:
#'   a row for each group and instrument, with `statistic`, or for each interval.
#' @examplesIf dpstats_available()
#' z <- rnorm(5000)
#' hidden <- rnorm(5000)
#' d <- data.frame(z, d = z + hidden + rnorm(5000))
#' d$y <- 0.5 * d$d + hidden
#' fit <- dp_iv(y ~ 1 | d ~ z, d, epsilon = 4)
#' dp_first_stage(fit)
#' dp_anderson_rubin(fit, level = 0.9)
#' @export
dp_first_stage <- function(object) {
  check_instruments(object)
  known <- object$instruments
  if (inherits(object, "dp_iv_groups")) return(first_stages(object))
  table <- data.frame(
    term = names(known$coefficients), estimate = unname(known$coefficients),
    std.error = known$std.error
  )
  structure(
    list(coefficients = table, statistic = known$f, endogenous = known$endogenous),
    class = "dp_first_stage"
  )
}

#' @rdname dp_first_stage
#' @export
print.dp_first_stage <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("First stage of ", x$endogenous, ":\n", sep = "")
  print(x$coefficients, digits = digits, row.names = FALSE)
  cat("F statistic, robust and with the privacy noise: ", format(x$statistic, digits = 4L), "\n",
      sep = "")
  invisible(x)
}

#' @rdname dp_first_stage
#' @export
dp_anderson_rubin <- function(object, level = 0.95) {
  check_instruments(object)
  check_level(level)
  of_groups <- inherits(object, "dp_iv_groups")
  known <- object$instruments
  sets <- if (of_groups) known$sets else list(known$set)
  if (level != 0.95) {
    asked <- list(state = object$state, level = level)
    if (!is.null(object$place)) asked$places <- as.list(as.numeric(object$place))
    sets <- lapply(ask("anderson_rubin", asked)$sets, set_of)
  }
  if (!of_groups) return(sets[[1L]])
  ends <- do.call(rbind, lapply(sets, unclass))
  at <- rep(seq_along(sets), vapply(sets, nrow, 1L))
  data.frame(object$groups[at, , drop = FALSE], ends, row.names = NULL, check.names = FALSE)
}

# First stages of groups, a row for each group and instrument.
first_stages <- function(object) {
  known <- object$instruments
  names <- colnames(known$coefficients)
  at <- rep(seq_along(known$f), each = length(names))
  data.frame(
    object$groups[at, , drop = FALSE], term = rep(names, length(known$f)),
    estimate = as.vector(t(known$coefficients)), std.error = as.vector(t(known$std.error)),
    statistic = known$f[at], row.names = NULL, check.names = FALSE
  )
}

#' @rdname dp_first_stage
#' @export
print.dp_confidence_set <- function(x, digits = 4L, ...) {
  cat(format(x, digits = digits), "\n", sep = "")
  invisible(x)
}

#' @rdname dp_first_stage
#' @export
format.dp_confidence_set <- function(x, digits = 4L, ...) {
  if (!nrow(x)) return("empty")
  end <- function(values) vapply(values, format, "", digits = digits)
  left <- ifelse(is.infinite(x[, "low"]), "(", "[")
  right <- ifelse(is.infinite(x[, "high"]), ")", "]")
  paste0(left, end(x[, "low"]), ", ", end(x[, "high"]), right, collapse = " or ")
}

# The ends of intervals, one after the other, as a matrix with a row for each.
set_of <- function(ends) {
  pairs <- matrix(numbers(ends), ncol = 2L, byrow = TRUE, dimnames = list(NULL, c("low", "high")))
  structure(pairs, class = "dp_confidence_set")
}

check_instruments <- function(object) {
  if (!inherits(object, c("dp_iv", "dp_iv_groups"))) bad_argument("expected object to be a fit by dp_iv()")
}

stage_line <- function(known) {
  paste0("first stage of ", known$endogenous, " on ", toString(names(known$coefficients)), ": F ",
         format(known$f, digits = 4L), ", robust and with the privacy noise")
}

set_line <- function(known) {
  paste0("Anderson-Rubin 95% set of ", known$endogenous, ", which holds with weak instruments: ",
         format(known$set))
}

#' @export
print.dp_iv <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  print.dp_ols(x, digits = digits, ...)
  cat(stage_line(x$instruments), set_line(x$instruments), sep = "\n")
  cat("\n")
  invisible(x)
}

#' @rdname broom
#' @exportS3Method generics::glance dp_iv
glance.dp_iv <- function(x, ...) {
  row <- glance.dp_glm(x, ...)
  row$statistic.weakinst <- x$instruments$f
  row
}

#' @rdname groups
#' @exportS3Method generics::glance dp_iv_groups
glance.dp_iv_groups <- function(x, ...) {
  rows <- glance.dp_ols_groups(x, ...)
  rows$statistic.weakinst <- x$instruments$f
  rows
}

#' @rdname summary.dp_ols
#' @export
summary.dp_iv <- function(object, ...) {
  found <- summary.dp_glm(object, ...)
  found$notes <- c(set_line(object$instruments), found$notes) # others have the first stage
  found
}

#' @rdname emmeans
#' @exportS3Method emmeans::emm_basis
emm_basis.dp_iv <- function(object, trms, xlev, grid, ...) {
  usual <- stats::qnorm(0.975)
  if (!is_true(critical_with_instruments(sqrt(object$instruments$f), 0.95) <= usual)) {
    bad_argument("emmeans takes the usual critical values, which do not hold with a first stage of ",
                 "F below 104.7, here ", format(object$instruments$f, digits = 3L), "; use predict(fit, ",
                 "newdata, interval = \"confidence\") and dp_test()")
  }
  emm_basis.dp_ols(object, trms, xlev, grid, ...)
}

#' @rdname parameters
#' @exportS3Method performance::model_performance
model_performance.dp_iv <- function(model, ...) model_performance.dp_glm(model, ...)
