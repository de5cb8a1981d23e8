#' Fit a regression with instruments under differential privacy
#'
#' Two-stage least squares, called like `feols(y ~ x | d ~ z, data)` of the package fixest. No bounds
#' are needed. As for [dp_ols()] everything but the rows counts as public, and mistakes in a call end
#' before a row is read.
#'
#' There is one endogenous regressor, of any number of instruments, and its coefficient has its own
#' name, where fixest writes `fit_d`. Standard errors are robust (HC1), or clustered by `unit` or
#' `cluster`. `y ~ x | state | d ~ z` absorbs the effects of a column with private labels, by which
#' standard errors are then clustered.
#'
#' Intervals and p-values allow for weak instruments: they take critical values of the F statistic of
#' the first stage, which counts the privacy noise, as Lee, McCrary, Moreira and Porter (2022,
#' American Economic Review 112, 3260-3290) have them for one instrument. At 95% the value is 3.43 at
#' an F of 10, and the usual 1.96 from 104.7 on. Below an F of 10 `status` is `weak_instruments`, and
#' intervals are unbounded. The set of [dp_anderson_rubin()] holds however weak the instruments are.
#' Functions of other packages that compute intervals from [coef()] and [vcov()] alone, such as
#' `lmtest::coeftest()`, take the usual values, with which intervals are too short below 104.7.
#'
#' @inheritParams dp_ols
#' @param formula A formula such as `wage ~ age | educ ~ near`: response, exogenous regressors, or `1`
#'   for none, then the endogenous regressor and its instruments; `wage ~ age | state | educ ~ near`
#'   with absorbed effects.
#' @param data A data frame, or the paths of files, as for [dp_ols()]; not grouped.
#' @param missing `"drop"`: rows with a missing value are left out.
#' @param delta Probability with which epsilon may be exceeded, greater than 0; by default 1e-6.
#' @param bounds,levels,types What is declared of columns, as for [dp_ols()].
#' @param weights A column of weights, with public `bounds`.
#' @param cluster With `cov_type = "cluster"`, the column that standard errors are clustered by, as for
#'   [dp_ols()]; its labels stay private.
#' @param ... `cov_type = "HC1"`, which is the default, or `"cluster"`, for `cluster` and `unit`; with
#'   absorbed effects `"cluster"`, the default, or `"HC1"`.
#'
#' @return An object of class `dp_iv`, which is a `dp_ols`: [coef()], [vcov()], [confint()],
#'   [predict()], [summary()], [tidy()], [glance()] and [dp_compare()] answer. `glance()` has the F
#'   statistic of the first stage as `statistic.weakinst`. There is no R-squared.
#'
#' @section Guarantee:
#' (epsilon, delta)-differential privacy for tables that differ in one row, with `unit` in all rows
#' of one person, in the sense that `$privacy$neighbors` states; proofs are in the documentation of
#' the Python package.
#'
#' @examplesIf dpstats_available()
#' n <- 5000
#' people <- data.frame(near = runif(n) < 0.5, talent = rnorm(n))
#' people$educ <- 12 + 2 * people$near + people$talent + rnorm(n)
#' people$wage <- 0.5 * people$educ + people$talent + rnorm(n)
#' fit <- dp_iv(wage ~ 1 | educ ~ near, people, epsilon = 2)
#' summary(fit)
#' dp_first_stage(fit)
#' dp_anderson_rubin(fit)
#' @export
dp_iv <- function(formula, data, epsilon, delta = NULL, bounds = NULL, levels = NULL,
                  neighbors = NULL, budget = NULL, missing = "drop", types = NULL,
                  weights = NULL, trim_weights = NULL, subset = NULL, unit = NULL, max_rows = NULL,
                  cluster = NULL, ...) {
  written <- match.call()
  check_given(environment(), c("formula", "data", "epsilon"))
  check_absent(entry_names(substitute(list(...))), instead_of_iv(), "dp_iv")
  options <- list(...)
  check_options(options, "dp_iv")
  check_data(data)
  check_ungrouped(data)
  if (is.list(formula)) {
    bad_argument("dp_iv takes one formula, got a list of ", length(formula), "; call it for each, ",
                 "from one budget")
  }
  formula <- with_constants(own_formula(formula), data)
  weights <- columns_given("weights", substitute(weights), weights, data)
  unit <- columns_given("unit", substitute(unit), unit, data)
  cluster <- columns_given("cluster", substitute(cluster), cluster, data)
  subset <- condition_given(substitute(subset), data, parent.frame())
  texts <- formula_text(formula)
  columns <- bridge_data(formula, data, c(weights, unit, cluster, all.vars(subset)))
  arguments <- shared_arguments(environment())
  arguments$x_new <- NULL
  value <- ask("iv", c(arguments, options), budget)
  with_call(new_dp_ols(value[[1L]]), written, "dp_iv")
}

# Arguments of lm, feols and dp_ols that dp_iv does not have.
instead_of_iv <- function() {
  group <- "fit each group by subset, such as subset = g == \"a\", from one budget"
  errors <- "standard errors are robust (HC1) always; for clustered ones give cov_type = \"cluster\" with cluster"
  terms <- "name the terms in the formula"
  own <- list(
    offset = "subtract it from the response, as in I(y - z) ~ x | d ~ z", vcov = errors,
    se = errors, method = "it has one method", select = terms,
    k = terms, by = group, groups = group, max_groups = group, x_new = "call predict(fit, newdata)",
    instruments = "write them in the formula, as in y ~ x | d ~ z"
  )
  utils::modifyList(instead_of, own)
}

# A fit with what is known of its instruments, and with the formula as it was written.
with_instruments <- function(fit, value) {
  if (is.null(value)) return(fit)
  estimate <- stats::setNames(numbers(value$estimate), strings(value$names))
  fit$instruments <- list(
    endogenous = value$endogenous, coefficients = estimate, std.error = numbers(value$std_error),
    f = numbers(value$f), set = set_of(value$set)
  )
  fit$call$formula <- stats::as.formula(value$formula, env = globalenv())
  fit
}

check_ungrouped <- function(data) {
  if (inherits(data, "grouped_df")) {
    bad_argument("data is grouped, and a regression with instruments has no groups; ungroup() it, and ",
                 "fit each group by subset, from one budget")
  }
}
