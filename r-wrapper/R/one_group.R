#' The private regression of one group
#'
#' `groups[["7"]]`, one of the [groups] that [dp_ols()] and others with `by` return, is asked as a fit is.
#'
#' @param object,x The fit of one group.
#' @param complete Not used: there is one coefficient for each column.
#' @param parm Names or numbers of coefficients; by default all.
#' @param level Confidence level.
#' @param newdata A data frame of public values, without the group columns.
#' @param ... As for the methods for [groups].
#' @return As for a fit by [dp_ols()]: `coef()` a vector, `vcov()` a matrix, `confint()` a matrix
#'   with a row for each coefficient, `predict()` and `augment()` predictions at `newdata`; `tidy()`
#'   and `glance()` as for groups.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(600), y = runif(600), tract = rep(1:3, 200))
#' groups <- dp_ols(y ~ x, d, method = "exp_theil_sen", epsilon = 8, by = "tract",
#'                  bounds = list(x = c(0, 1), y = c(0, 1)))
#' fit <- groups[["3"]]
#' coef(fit)
#' predict(fit, data.frame(x = 0.5))
#' @name group
NULL

#' @rdname group
#' @export
coef.dp_ols_group <- function(object, complete = TRUE, ...) {
  refuse_others("coef", ...)
  object$only$estimates[1L, object$only$coefficients]
}

#' @rdname group
#' @export
vcov.dp_ols_group <- function(object, complete = TRUE, ...) {
  refuse_others("vcov", ...)
  stats::vcov(object$only)[[1L]]
}

#' @rdname group
#' @export
confint.dp_ols_group <- function(object, parm, level = 0.95, ...) {
  refuse_others("confint", ...)
  table <- stats::confint(object$only, level = level)
  ends <- utils::tail(names(table), 2L)
  limits <- matrix(unlist(table[ends]), nrow(table), dimnames = list(table$term, ends))
  if (missing(parm)) limits else limits[chosen_coefficients(limits, parm), , drop = FALSE]
}

#' @rdname group
#' @export
predict.dp_ols_group <- function(object, newdata, ...) {
  if (missing(newdata)) newdata <- NULL
  stats::predict(object$only, of_group(object, newdata), ...)
}

# New data with the labels of the group.
of_group <- function(fit, newdata) {
  if (is.data.frame(newdata)) newdata[names(fit$only$groups)] <- fit$only$groups
  newdata
}

#' @rdname group
#' @exportS3Method generics::augment dp_ols_group
augment.dp_ols_group <- function(x, newdata, ...) {
  if (missing(newdata)) newdata <- NULL
  generics::augment(x$only, newdata = of_group(x, newdata), ...)
}

#' @rdname group
#' @exportS3Method generics::tidy dp_ols_group
tidy.dp_ols_group <- function(x, ...) generics::tidy(x$only, ...)

#' @rdname group
#' @exportS3Method generics::glance dp_ols_group
glance.dp_ols_group <- function(x, ...) generics::glance(x$only, ...)

#' @rdname group
#' @export
df.residual.dp_ols_group <- function(object, ...) {
  refuse_others("df.residual", ...)
  Inf
}

#' @rdname group
#' @export
formula.dp_ols_group <- function(x, ...) x$only$formula

#' @rdname group
#' @export
summary.dp_ols_group <- function(object, ...) summary(object$only, ...)

#' @rdname group
#' @export
print.dp_ols_group <- function(x, ...) {
  print(x$only, ...)
  invisible(x)
}
