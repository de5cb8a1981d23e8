# Several formulas in one call.

# The texts of formulas, by name where there are several; one without a name is called as written.
formula_texts <- function(formula) {
  if (!is.list(formula)) return(formula_text(formula))
  texts <- lapply(formula, formula_text)
  names <- ifelse(entry_names(texts) == "", as.character(texts), entry_names(texts))
  if (!length(texts) || anyDuplicated(names)) {
    bad_argument("expected formula to be a list of different formulas, or one formula")
  }
  stats::setNames(texts, names)
}

new_dp_ols_list <- function(fits, texts) {
  structure(stats::setNames(fits, names(texts)), class = c("dp_ols_list", "list"))
}

#' Private regressions of several formulas
#'
#' The result of [dp_ols()] for a list of formulas: a list of fits, or with `by` of groups, under
#' the names in the list or else the formulas as they were written. They share the budget of the
#' call, or have it together with `missing = "listwise"`.
#'
#' @param x,object The fits.
#' @param ... Passed on to the method for a single fit, such as `conf.int = TRUE`.
#' @param i Names or numbers of fits.
#' @return `as.list()`: a plain list of the fits, of which the package modelsummary makes a table
#'   with a column for each. `tidy()`, `glance()` and `augment()`: the rows of all fits, with the name
#'   of the fit in `formula`. `coef()`, `vcov()`, `confint()`, `nobs()`, `sigma()`, `formula()`,
#'   `df.residual()`, `predict()` and `summary()`: a list of those of each fit. `dp_compare(fits)`
#'   sets them side by side. `update()` and `anova()` take one of the fits.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(500), y = runif(500), z = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1), z = c(0, 1))
#' fits <- dp_ols(list(y ~ x, z ~ x), d, method = "noisy_moments", epsilon = 8, bounds = b)
#' tidy(fits)
#' fits[["z ~ x"]]
#' @name formulas
NULL

#' @rdname formulas
#' @exportS3Method generics::tidy dp_ols_list
tidy.dp_ols_list <- function(x, ...) below_one_another(x, tidy, ...)

#' @rdname formulas
#' @exportS3Method generics::glance dp_ols_list
glance.dp_ols_list <- function(x, ...) below_one_another(x, glance, ...)

below_one_another <- function(fits, tidier, ...) {
  frames <- lapply(unname(unclass(fits)), tidier, ...)
  sizes <- vapply(frames, nrow, integer(1L))
  tibble::as_tibble(c(list(formula = rep(names(fits), sizes)), do.call(rbind, frames)))
}

#' @rdname formulas
#' @export
coef.dp_ols_list <- function(object, ...) lapply(object, stats::coef, ...)

#' @rdname formulas
#' @export
vcov.dp_ols_list <- function(object, ...) lapply(object, stats::vcov, ...)

#' @rdname formulas
#' @export
confint.dp_ols_list <- function(object, ...) lapply(object, stats::confint, ...)

#' @rdname formulas
#' @export
nobs.dp_ols_list <- function(object, ...) lapply(object, stats::nobs, ...)

#' @rdname formulas
#' @export
formula.dp_ols_list <- function(x, ...) lapply(x, stats::formula, ...)

#' @rdname formulas
#' @export
sigma.dp_ols_list <- function(object, ...) lapply(object, stats::sigma, ...)

#' @rdname formulas
#' @export
df.residual.dp_ols_list <- function(object, ...) lapply(object, stats::df.residual, ...)

#' @rdname formulas
#' @export
predict.dp_ols_list <- function(object, ...) lapply(object, stats::predict, ...)

#' @rdname formulas
#' @exportS3Method generics::augment dp_ols_list
augment.dp_ols_list <- function(x, ...) below_one_another(x, augment, ...)

#' @rdname formulas
#' @export
`[.dp_ols_list` <- function(x, i) structure(unclass(x)[i], class = class(x))

#' @rdname formulas
#' @export
as.list.dp_ols_list <- function(x, ...) unclass(x)

#' @rdname formulas
#' @export
summary.dp_ols_list <- function(object, ...) lapply(object, summary, ...)

#' @rdname formulas
#' @export
print.dp_ols_list <- function(x, ...) {
  for (fit in x) print(fit, ...)
  invisible(x)
}
