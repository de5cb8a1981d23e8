#' Fit again
#'
#' Calls [dp_ols()], [dp_logit()], [dp_poisson()] or [dp_iv()] again as the fit was called, with another
#' formula, other data or other arguments.
#' A fit keeps no data, so they are named anew; and a new fit spends its own budget.
#'
#' @param object A fit by [dp_ols()], or the groups of one with `by`.
#' @param formula. The new formula, in which a dot stands for what there was, as in `. ~ . + z`; with
#'   instruments it is written out.
#' @param ... Other arguments of [dp_ols()], `data` among them.
#' @param evaluate Whether to make the call, or else to return it.
#' @return A new fit, or the call.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(500), z = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1), z = c(0, 1))
#' fit <- dp_ols(y ~ x, d, method = "adassp", epsilon = 1, bounds = b)
#' update(fit, . ~ . + z, data = d)
#' @importFrom stats update
#' @export
update.dp_ols <- function(object, formula., ..., evaluate = TRUE) {
  call <- object$call
  given <- as.list(substitute(list(...)))[-1L]
  if (!missing(formula.)) call$formula <- updated_formula(object, formula.)
  for (name in names(given)) call[[name]] <- given[[name]]
  if (!evaluate) return(call)
  if (is.null(given$data)) {
    fail("dpstats_not_released_error", "a fit keeps no data to fit again: name them, as in ",
         "update(fit, data = d); the new fit spends its own budget")
  }
  call[[1L]] <- get(as.character(call[[1L]]), asNamespace("dpstats"))
  eval(call, parent.frame())
}

updated_formula <- function(object, formula) {
  if (!inherits(object, c("dp_iv", "dp_iv_groups"))) return(updated_around_bar(stats::formula(object), formula))
  if ("." %in% all.vars(formula)) {
    bad_argument("a formula with instruments is written out, as in update(fit, y ~ x | d ~ z, ",
                 "data = d), got ", deparse1(formula))
  }
  formula
}

# What is right of | stays unless the new formula has a | too, as for fixest.
updated_around_bar <- function(old, new) {
  before <- split_at_bar(old)
  after <- split_at_bar(new)
  formula <- stats::update.formula(before$regression, after$regression)
  effects <- if (is.null(after$effects) || identical(after$effects, quote(.))) before$effects else after$effects
  if (!is.null(effects)) formula[[3L]] <- call("|", formula[[3L]], effects)
  formula
}

split_at_bar <- function(formula) {
  right <- formula[[length(formula)]]
  if (!is.call(right) || !identical(right[[1L]], as.name("|"))) return(list(regression = formula))
  formula[[length(formula)]] <- right[[2L]]
  list(regression = formula, effects = right[[3L]])
}

#' @rdname update.dp_ols
#' @export
update.dp_ols_groups <- update.dp_ols

#' @rdname formulas
#' @export
update.dp_ols_list <- function(object, ...) {
  bad_argument("update() takes one fit, as in update(fits[[1]], data = d); for all fits call ",
               "dp_ols() with the list of new formulas")
}

# A fit with the call as it was written, for print() and update(): without the data, and with the
# formula, of which terms may be selected, and the budget of this fit, where there were several; and
# with the names of dates.
with_call <- function(fit, written, name = "dp_ols", data = NULL) {
  fit$dates <- dates_of(data, names(fit$schema))
  written[[1L]] <- as.name(name)
  written$data <- NULL
  if (is.object(written$budget)) written$budget <- NULL # a value, as from do.call()
  for (name in c("formula", "epsilon")) written[[name]] <- fit$call[[name]]
  fit$call <- written
  fit
}
