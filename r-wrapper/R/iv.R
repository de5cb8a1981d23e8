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
#' @param data A data frame, or the paths of files, as for [dp_ols()]. If it is grouped by dplyr's
#'   `group_by()`, there is one regression for each group.
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
#'   statistic of the first stage as `statistic.weakinst`. There is no R-squared. With `by` an object
#'   of class `dp_iv_groups`, the [groups], each with its own first stage.
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
                  by = NULL, groups = NULL, neighbors = NULL, budget = NULL, missing = "drop",
                  types = NULL, weights = NULL, trim_weights = NULL, subset = NULL, unit = NULL,
                  max_rows = NULL, max_groups = NULL, cluster = NULL, ...) {
  written <- match.call()
  check_given(environment(), c("formula", "data", "epsilon"), "dp_iv")
  check_absent(entry_names(substitute(list(...))), instead_of_iv(), "dp_iv")
  options <- options_given(environment())
  check_options(options, "dp_iv")
  check_data(data, "dp_iv")
  if (is.list(formula)) {
    bad_argument("dp_iv takes one formula, got a list of ", length(formula), "; call it for each, ",
                 "from one budget")
  }
  formula <- own_formula(formula)
  refuse_two_parts(formula)
  formula <- with_constants(formula, data)
  weights <- columns_given("weights", substitute(weights), weights, data)
  unit <- columns_given("unit", substitute(unit), unit, data)
  cluster <- columns_given("cluster", substitute(cluster), cluster, data)
  subset <- condition_given(substitute(subset), data, parent.frame())
  by <- columns_given("by", substitute(by), by, data, several = TRUE)
  by <- written$by <- grouping(data, by)
  key <- group_key(data, by)
  texts <- formula_text(formula)
  columns <- bridge_data(formula, data, c(by, weights, unit, cluster, all.vars(subset)))
  arguments <- shared_arguments(environment())
  arguments$x_new <- NULL
  own <- list(by = if (length(by) > 1L) as.list(by) else by, groups = groups_of(groups, key),
              max_groups = max_groups)
  value <- ask("iv", c(arguments, own, options), budget)[[1L]]
  fit <- if (is.null(by)) new_dp_ols(value) else new_dp_ols_groups(value, key)
  with_call(fit, written, "dp_iv", data)
}

# Arguments of lm, feols and dp_ols that dp_iv does not have.
instead_of_iv <- function() {
  errors <- "standard errors are robust (HC1) always; for clustered ones give cov_type = \"cluster\" with cluster"
  terms <- "name the terms in the formula"
  own <- list(
    offset = "subtract it from the response, as in I(y - z) ~ x | d ~ z", vcov = errors,
    se = errors, method = "it has one method", select = terms,
    k = terms, x_new = "call predict(fit, newdata)",
    instruments = "write them in the formula, as in y ~ x | d ~ z"
  )
  utils::modifyList(instead_of, own)
}

# Refuse y ~ d + x | z + x of the package AER, and y ~ x | d | z of ivreg, with what to write.
refuse_two_parts <- function(formula) {
  if (!inherits(formula, "formula") || length(formula) != 3L || is_call_of(formula[[2L]], "~")) return()
  # what has a dot for columns, or no terms, is refused by Python
  parts <- if (is_call_of(formula[[3L]], "|")) tryCatch(parts_of_ivreg(formula[[3L]]), error = function(e) NULL)
  if (!length(parts$endogenous) || !length(parts$instruments)) return()
  fail(
    condition_class("FormulaError"), "expected the endogenous regressor and its instruments around a second ~: write ",
    formula_of_iv(formula, parts), " for ", deparse1(formula)
  )
}

# Refuse such formulas where none or one column is absorbed, with the call of dp_iv to make. Columns
# after | may also be meant to be absorbed, as the second and others are where they have levels.
refuse_instruments <- function(formula, data, levels) {
  if (is.list(formula)) return(invisible(lapply(formula, refuse_instruments, data, levels)))
  right <- if (inherits(formula, "formula") && length(formula) == 3L) formula[[3L]]
  if (!is_call_of(right, "|")) return(invisible())
  parts <- tryCatch(parts_of_ivreg(right), error = function(e) NULL)
  if (!length(parts$endogenous) || !length(parts$instruments)) return(invisible())
  why <- why_instruments(parts, right, data, names(levels))
  if (is.null(why)) return(invisible())
  fail(condition_class("FormulaError"), deparse1(formula), ": ", why, ", as for ivreg, call dp_iv(",
       formula_of_iv(formula, parts), ", data)",
       if (length(parts$endogenous) > 1L) ", which takes one endogenous regressor")
}

# Why a formula may be one of ivreg, else NULL.
why_instruments <- function(parts, right, data, declared) {
  if (is_call_of(right[[2L]], "|")) return("a formula has at most one |; for instruments")
  if ("." %in% all.vars(right[[3L]])) return("the dot after | stands for no column to absorb; for instruments")
  if (length(parts$exogenous)) {
    both <- toString(parts$exogenous)
    return(paste0(both, " is left and right of |; leave it out on one side to absorb effects, or for instruments"))
  }
  # slopes by group, as in y ~ x | state[year], are none of either
  if (is_path(data) || !all(parts$instruments %in% names(data))) return(NULL)
  numbers <- Filter(function(name) is.numeric(data[[name]]), setdiff(parts$instruments[-1L], declared))
  if (length(numbers)) {
    paste0("the levels of ", numbers[1L], " must be declared to absorb its effects, because those in the data are ",
           "private: levels = list(", numbers[1L], " = c(...)) or a factor column; or for instruments")
  }
}

# What to write for the parts of a formula of ivreg.
formula_of_iv <- function(formula, parts) {
  sums <- lapply(parts, paste, collapse = " + ")
  if (!nzchar(sums$exogenous)) sums$exogenous <- "1"
  paste0(deparse1(formula[[2L]]), " ~ ", sums$exogenous, " | ", sums$endogenous, " ~ ", sums$instruments)
}

parts_of_ivreg <- function(right) {
  terms_in <- function(part) attr(stats::terms(stats::as.formula(call("~", part))), "term.labels")
  first <- right[[2L]]
  if (is_call_of(first, "|")) {
    three <- list(exogenous = first[[2L]], endogenous = first[[3L]], instruments = right[[3L]])
    return(lapply(three, terms_in))
  }
  regressors <- terms_in(first)
  second <- terms_in(stats::update.formula(stats::as.formula(call("~", first)), call("~", right[[3L]]))[[2L]])
  list(exogenous = intersect(regressors, second), endogenous = setdiff(regressors, second),
       instruments = setdiff(second, regressors))
}

is_call_of <- function(expression, name) is.call(expression) && identical(expression[[1L]], as.name(name))

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

# Groups with what is known of the instruments of each.
with_group_instruments <- function(groups, value) {
  if (is.null(value)) return(groups)
  names <- strings(value$names)
  shaped <- function(values) {
    matrix(numbers(values), ncol = length(names), byrow = TRUE, dimnames = list(NULL, names))
  }
  groups$instruments <- list(
    endogenous = value$endogenous, coefficients = shaped(value$estimate), std.error = shaped(value$std_error),
    f = numbers(value$f), sets = lapply(value$sets, set_of),
    formula = stats::as.formula(value$formula, env = globalenv())
  )
  groups
}

# What is known of the instruments of some groups, and of the only one as of a fit.
instruments_at <- function(known, at) {
  parts <- c("coefficients", "std.error")
  known[parts] <- lapply(known[parts], function(part) part[at, , drop = FALSE])
  known$f <- known$f[at]
  known$sets <- known$sets[at]
  known
}

instruments_of_one <- function(known) {
  coefficients <- stats::setNames(as.vector(known$coefficients), colnames(known$coefficients))
  list(endogenous = known$endogenous, coefficients = coefficients,
       std.error = as.vector(known$std.error), f = known$f, set = known$sets[[1L]])
}
