# What other packages ask of a fit to know what kind of model it is.

#' Number of observations
#'
#' @param object A fit by [dp_ols()].
#' @param ... Not used.
#' @return The number of complete rows where it is public (`neighbors = "replace_one"`). Else the
#'   number with noise that was released with the fit, as [glance()] has it, whose standard error
#'   is in `fit$fit_statistics`, or `NA`, with the reason in the attribute `reason`, where none was. With
#'   `unit` it is the number of persons, as `summary()` says.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' nobs(dp_ols(y ~ x, d, method = "noisy_stats", epsilon = 1, bounds = b))
#' @export
nobs.dp_ols <- function(object, ...) {
  rows <- object$fit_statistics["nobs", "estimate"]
  if (!is.na(rows)) return(as.integer(round(rows)))
  structure(NA_integer_, reason = "the number of rows is private, and was not paid for")
}

#' What a fit is
#'
#' What other packages ask of a fit: `family()` is that of least squares, [gaussian()][family],
#' of a logit, `binomial()`, or of a Poisson regression, `poisson()`;
#' `variable.names()` are the names of the coefficients and `labels()` the terms; `model.matrix()`
#' is the design at public values. There is none of the rows, which are confidential.
#'
#' @param object A fit by [dp_ols()], or for what groups have in common the [groups] of one.
#' @param data A data frame of public values, with a column for each variable right of `~`.
#' @param ... Not used.
#' @return A `family`; character vectors; a matrix with a row for each row of `data`, and the
#'   attributes `assign` and `contrasts` that `lm`'s has.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' fit <- dp_ols(y ~ x, d, method = "noisy_stats", epsilon = 1, bounds = b)
#' model.matrix(fit, data = data.frame(x = c(0.25, 0.75)))
#' @name kind
NULL

#' @rdname kind
#' @importFrom stats family
#' @export
family.dp_ols <- function(object, ...) stats::gaussian()

#' @rdname kind
#' @export
family.dp_ols_groups <- family.dp_ols

#' @rdname kind
#' @importFrom stats variable.names
#' @export
variable.names.dp_ols <- function(object, ...) coefficient_names(object)

#' @rdname kind
#' @export
variable.names.dp_ols_groups <- variable.names.dp_ols

#' @rdname kind
#' @export
labels.dp_ols <- function(object, ...) attr(object$terms, "term.labels")

#' @rdname kind
#' @export
labels.dp_ols_groups <- labels.dp_ols

#' @rdname kind
#' @importFrom stats model.matrix
#' @export
model.matrix.dp_ols <- function(object, data, ...) {
  if (missing(data) || is.null(data)) {
    not_released("the rows of the design", paste(
      "model.matrix(fit, data) at public values, anova() to test terms, and cov_type and cluster of",
      "dp_ols() for robust and clustered standard errors"
    ))
  }
  structure(design_at(object, data), assign = term_numbers(object), contrasts = object$contrasts)
}

# The response as it is written; the formula of a fit with instruments has two ~.
response_of <- function(fit) deparse1(stats::formula(fit$terms)[[2L]])

# For each coefficient the number of its term, 0 for the intercept, as lm's `assign`.
term_numbers <- function(object) {
  right <- right_side(object)
  frame <- suppressWarnings(stats::model.frame(right, public_frame(object$schema)))
  numbers <- attr(stats::model.matrix(right, frame, contrasts.arg = object$contrasts), "assign")
  if (is.null(object$absorbed)) numbers else numbers[numbers > 0L]
}
