#' Fit a Poisson regression under differential privacy
#'
#' Called like [stats::glm()] with `family = poisson`. Coefficients are logarithms of rate ratios, and
#' `tidy(fit, exponentiate = TRUE)` gives rate ratios. No bounds are needed. As for [dp_ols()]
#' everything but the rows counts as public, and mistakes in a call end before a row is read.
#'
#' The response is a column of numbers, whole or not, for the mean `exp(x'b)` is estimated by
#' quasi-maximum likelihood, whatever the variance. A row with a number below 0, such as a
#' code of -9 for no answer, is left out, and one beyond declared bounds counts as the bound. Standard errors are robust (HC1) always, where those of `glm` take
#' the variance to be the mean.
#'
#' Intervals are unbounded, and `status` says `not_identified`, where the noise could account for all
#' that is not zero, where the rows are too few, and where some lie so far off the model that a few of
#' them decide the coefficients, as codes such as 99 for a missing value do, or where the noise could
#' hide 1% of them there; `imprecise` means that this holds for some coefficients, or that the noise is
#' large.
#'
#' @inheritParams dp_logit
#' @param formula A formula such as `visits ~ age + sex`, or a list of several, which share the
#'   budget in equal parts. See [dp_ols()] for what it may hold; there are no absorbed effects.
#'   `offset(log(t))` is `exposure = t`.
#' @param bounds,levels,types What is declared of columns, as for [dp_ols()]. Bounds of the response
#'   cut it.
#' @param weights A column of weights, with public `bounds`.
#' @param offset,exposure Columns of numbers, by their names: an offset is added to the logarithm of the
#'   mean, as of [stats::glm()] and as `offset(z)` in the formula does, and so is the logarithm of an
#'   exposure, such as person-years. They are private and need no bounds; a row without a finite
#'   offset, or with an exposure that is not above 0, is left out. [predict()][predict.dp_glm] takes
#'   them from new data, as `glm()` does, or else for 0 and 1.
#' @param cluster With `cov_type = "cluster"`, the column that standard errors are clustered by, as for
#'   [dp_ols()]; its labels stay private.
#' @param ... `cov_type = "HC1"`, which is the default, or `"cluster"`, for `cluster` and `unit`.
#'
#' @inherit dp_logit return
#' @inheritSection dp_logit Guarantee
#'
#' @examplesIf dpstats_available()
#' n <- 5000
#' people <- data.frame(age = runif(n, 20, 65))
#' people$visits <- rpois(n, exp(0.02 * people$age))
#' fit <- dp_poisson(visits ~ age, people, epsilon = 1)
#' tidy(fit, conf.int = TRUE, exponentiate = TRUE)
#' predict(fit, data.frame(age = c(30, 50)), type = "response", interval = "confidence")
#' @export
dp_poisson <- function(formula, data, epsilon, delta = NULL, bounds = NULL, levels = NULL,
                       by = NULL, groups = NULL, x_new = NULL, neighbors = NULL, budget = NULL,
                       missing = "drop", types = NULL, weights = NULL, trim_weights = NULL,
                       subset = NULL, unit = NULL, max_rows = NULL, max_groups = NULL, cluster = NULL,
                       offset = NULL, exposure = NULL, ...) {
  written <- match.call()
  generalized("poisson", environment(), written, parent.frame())
}
