#' Fit again
#'
#' Calls [dp_ols()], [dp_logit()], [dp_poisson()] or [dp_iv()] again as the fit was called, with another
#' formula, other data or other arguments.
#' A fit keeps no data, so they are named anew; and a new fit spends its own budget.
#'
#' @param object A fit by [dp_ols()], or the groups of one with `by`, all of which are fitted again; a
#'   single one of them is refused.
#' @param formula. The new formula, in which a dot stands for what there was, as in `. ~ . + z`; with
#'   instruments, and with a condition such as `educ > 10` for a term, it is written out.
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
  refuse_group(object, "update()", paste0(
    "update(groups, data = d) fits all groups again, and ", call[[1L]], "() with subset = ", rows_of_group(object),
    " in place of by this one alone"
  ))
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

# The condition that the rows of a group fulfil, as it is written.
rows_of_group <- function(fit) {
  labels <- vapply(fit$groups, function(label) {
    if (is.numeric(label) || is.logical(label)) label_text(label) else shQuote(label_text(label), "cmd")
  }, "")
  paste(vapply(lapply(names(fit$groups), as.name), written_name, ""), "==", labels, collapse = " & ")
}

updated_formula <- function(object, formula) {
  if (is.character(formula) && length(formula) == 1L) formula <- stats::as.formula(formula)
  if (!inherits(formula, "formula")) {
    bad_argument("expected formula. to be a formula such as . ~ . + z, got ", shown(formula))
  }
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
  formula <- updated_regression(before$regression, after$regression)
  effects <- if (is.null(after$effects) || identical(after$effects, quote(.))) before$effects else after$effects
  if (!is.null(effects)) formula[[3L]] <- call("|", formula[[3L]], effects)
  formula
}

# A formula without a dot is taken as it is, and one without a response has the old one.
updated_regression <- function(old, new) {
  right <- new[[length(new)]]
  if ("." %in% all.vars(new)) {
    refuse_conditions(c(new, if ("." %in% all.vars(right)) old))
    return(stats::update.formula(old, new))
  }
  if (length(new) == 3L) return(new)
  old[[3L]] <- right
  environment(old) <- environment(new)
  old
}

# update.formula() of R leaves out the parentheses of (x > 10), and x > 10 + z compares a sum.
refuse_conditions <- function(formulas) {
  for (formula in formulas) {
    condition <- bare_condition(formula[[length(formula)]])
    if (!is.null(condition)) {
      bad_argument("update() of R loses the parentheses of the condition ", deparse1(condition),
                   "; write the new formula out, without a dot")
    }
  }
}

# The first condition that is a term of its own.
bare_condition <- function(expression) {
  if (!is.call(expression)) return(NULL)
  head <- as.character(expression[[1L]])[1L]
  if (head %in% c("<", "<=", ">", ">=", "==", "!=", "&", "&&", "||", "!")) return(expression)
  if (!head %in% formula_operators) return(NULL)
  Find(Negate(is.null), lapply(as.list(expression)[-1L], bare_condition))
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
