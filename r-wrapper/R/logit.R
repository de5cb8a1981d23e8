#' Fit a logistic regression under differential privacy
#'
#' Called like [stats::glm()] with `family = binomial`. Coefficients are log odds ratios, and
#' `tidy(fit, exponentiate = TRUE)` gives odds ratios. No bounds are needed. As for [dp_ols()]
#' everything but the rows counts as public, and mistakes in a call end before a row is read.
#'
#' The response is a column of `TRUE` and `FALSE`, of the numbers 0 and 1, or a factor of two
#' levels, of which the last counts as 1; a row with another number is left out, as one with a
#' missing value is. A comparison, as in `wage > 10 ~ age`, counts as 1 where it is true, and so do
#' `as.numeric(wage > 10)` and `ifelse(wage > 10, 1, 0)`. What is computed from numbers 0 and 1, as
#' `I(1 - employed)`, needs their bounds, `bounds = list(employed = c(0, 1))`.
#'
#' Intervals are unbounded, and `status` says `not_identified`, where the noise could account for
#' all the ones or all the zeros, where the regressors separate them or nearly do, and where the rows
#' are too few; `imprecise` means that this holds for some coefficients, or that the noise is large.
#'
#' @inheritParams dp_ols
#' @param formula A formula such as `smoker ~ age + sex`, or a list of several, which share the
#'   budget in equal parts. See [dp_ols()] for what it may hold; effects cannot be absorbed.
#' @param data A data frame, or the paths of files, as for [dp_ols()]. If it is grouped by dplyr's
#'   `group_by()`, there is one regression for each group.
#' @param missing `"drop"`: rows with a missing value are left out.
#' @param delta Probability with which epsilon may be exceeded, greater than 0; by default 1e-6.
#' @param bounds,levels,types What is declared of columns, as for [dp_ols()]. `levels` are for
#'   character columns, the response too: `list(vote = c("no", "yes"))`.
#' @param weights A column of weights, with public `bounds`; standard errors are then robust (HC1).
#' @param offset A column of numbers that are added to the log odds, as of [stats::glm()], by its name
#'   or as `offset(z)` in the formula. It is private and needs no bounds; a row without a finite one is
#'   left out. [predict()][predict.dp_glm] takes it from new data, as `glm()` does, or else for 0.
#' @param cluster With `cov_type = "cluster"`, the column that standard errors are clustered by, as for
#'   [dp_ols()]; its labels stay private.
#' @param ... `cov_type = "HC1"`: robust standard errors, for about a tenth of the budget; or
#'   `"cluster"`, for `cluster` and `unit`.
#'
#' @return An object of class `dp_glm`, which is a `dp_ols` as a `glm` is an `lm`: [coef()], [vcov()],
#'   [confint()], [predict()][predict.dp_glm], [summary()], [plot()] and [tidy()] answer. `glance()` has
#'   McFadden's pseudo R-squared of a logit as `pseudo.r.squared`; there is no deviance. With `by` an
#'   object of class `dp_glm_groups`, the [groups] with predictions as of one fit. A
#'   [list of them][formulas] for several formulas.
#'
#' @section Guarantee:
#' (epsilon, delta)-differential privacy for tables that differ in one row, with `unit` in all rows
#' of one person, in the sense that `$privacy$neighbors` states; proofs are in the documentation of
#' the Python package.
#'
#' @examplesIf dpstats_available()
#' n <- 5000
#' people <- data.frame(age = runif(n, 20, 65))
#' people$smoker <- runif(n) < plogis(1 - 0.05 * people$age)
#' fit <- dp_logit(smoker ~ age, people, epsilon = 1)
#' tidy(fit, conf.int = TRUE)
#' predict(fit, data.frame(age = c(30, 50)), type = "response")
#' @export
dp_logit <- function(formula, data, epsilon, delta = NULL, bounds = NULL, levels = NULL,
                     by = NULL, groups = NULL, x_new = NULL, neighbors = NULL, budget = NULL,
                     missing = "drop", types = NULL, weights = NULL, trim_weights = NULL,
                     subset = NULL, unit = NULL, max_rows = NULL, max_groups = NULL, cluster = NULL,
                     offset = NULL, ...) {
  written <- match.call()
  generalized("binomial", environment(), written, parent.frame())
}
