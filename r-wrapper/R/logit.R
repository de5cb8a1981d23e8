#' Fit a logistic regression under differential privacy
#'
#' Called like [stats::glm()] with `family = binomial`. Coefficients are log odds ratios, and
#' `tidy(fit, exponentiate = TRUE)` gives odds ratios. No bounds are needed. As for [dp_ols()]
#' everything but the rows counts as public, and mistakes in a call end before a row is read.
#'
#' The response is a column of `TRUE` and `FALSE`, of the numbers 0 and 1, or a factor of two
#' levels, of which the last counts as 1; a row with another number is left out, as one with a
#' missing value is. A term with such values needs its bounds, as in
#' ``bounds = list(`I((wage > 10) * 1)` = c(0, 1))``.
#'
#' Intervals are unbounded, and `status` says `not_identified`, where the noise could account for
#' all the ones or all the zeros, where the regressors separate them or nearly do, and where the rows
#' are too few; `imprecise` means that this holds for some coefficients, or that the noise is large.
#'
#' @inheritParams dp_ols
#' @param formula A formula such as `smoker ~ age + sex`, or a list of several, which share the
#'   budget in equal parts. See [dp_ols()] for what it may hold; effects cannot be absorbed.
#' @param family `binomial`, `binomial()` or `"binomial"`, whose link is the logit. There is no other.
#' @param data A data frame, or the paths of files, as for [dp_ols()]; not grouped.
#' @param delta Probability with which epsilon may be exceeded, greater than 0; by default 1e-6.
#' @param bounds,levels,types What is declared of columns, as for [dp_ols()]. `levels` are for
#'   character columns, the response too: `list(vote = c("no", "yes"))`.
#' @param weights A column of weights, with public `bounds`; standard errors are then robust (HC1).
#' @param ... For `dp_logit()`, `cov_type = "HC1"`: robust standard errors, for about a tenth of the
#'   budget. For `dp_glm()`, arguments of `dp_logit()`.
#'
#' @return An object of class `dp_glm`, which is a `dp_ols` as a `glm` is an `lm`: [coef()], [vcov()],
#'   [confint()], [predict()][predict.dp_glm], [summary()], [plot()] and [tidy()] answer. There is no
#'   likelihood, and so no deviance and no pseudo R-squared. A [list of them][formulas] for several
#'   formulas.
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
#' dp_glm(smoker ~ age, family = binomial, people, epsilon = 1)
#' @export
dp_logit <- function(formula, data, epsilon, delta = NULL, bounds = NULL, levels = NULL,
                     x_new = NULL, neighbors = NULL, budget = NULL, missing = "drop", types = NULL,
                     weights = NULL, trim_weights = NULL, subset = NULL, unit = NULL,
                     max_rows = NULL, ...) {
  written <- match.call()
  check_given(environment(), c("formula", "data", "epsilon"))
  check_absent(entry_names(substitute(list(...))), instead_of_logit(), "dp_logit")
  options <- list(...)
  check_options(options, "dp_logit")
  check_data(data)
  check_ungrouped(data, "a logit")
  formula <- with_constants(own_formula(formula), data)
  weights <- columns_given("weights", substitute(weights), weights, data)
  unit <- columns_given("unit", substitute(unit), unit, data)
  subset <- condition_given(substitute(subset), data, parent.frame())
  texts <- formula_texts(formula)
  columns <- bridge_data(formula, data, c(weights, unit, all.vars(subset)))
  value <- answer_to("logit", c(shared_arguments(environment()), options), budget)
  fits <- lapply(value, function(fit) with_call(new_dp_ols(fit), written, "dp_logit"))
  fits_by_formula(fits, texts)
}

#' @rdname dp_logit
#' @importFrom stats binomial
#' @export
dp_glm <- function(formula, family = binomial, data, ...) {
  check_family(family)
  call <- match.call()
  call$family <- NULL
  call[[1L]] <- dp_logit
  eval(call, parent.frame())
}

check_family <- function(family) {
  if (is.function(family)) family <- tryCatch(family(), error = function(e) NULL)
  name <- if (inherits(family, "family")) family$family else family
  link <- if (inherits(family, "family")) family$link else "logit"
  if (identical(name, "binomial") && identical(link, "logit")) return(invisible())
  shown <- if (is.character(name)) paste0(name, "(", if (link != "logit") link, ")")
           else class(name)[1L]
  bad_argument("expected family = binomial with its link, the logit, got ", shown[1L],
               "; dp_ols() fits linear regressions")
}

# Arguments of lm, glm and dp_ols that a logit does not have.
instead_of_logit <- function() {
  terms <- "name the terms in the formula"
  group <- "fit each group by subset, such as subset = g == \"a\", from one budget"
  own <- list(
    offset = "write the column as a regressor", family = "it is binomial; dp_glm() takes a family",
    method = "a logit is fitted in one way", select = terms, k = terms, by = group, groups = group,
    max_groups = group, cluster = "standard errors are clustered by unit alone",
    vcov = "for robust standard errors give cov_type = \"HC1\""
  )
  utils::modifyList(instead_of, own)
}

check_ungrouped <- function(data, what) {
  if (inherits(data, "grouped_df")) {
    bad_argument("data is grouped, and ", what, " has no groups; ungroup() it, and fit each group by ",
                 "subset, from one budget")
  }
}
