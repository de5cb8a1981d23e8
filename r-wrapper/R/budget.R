#' A privacy budget for several releases
#'
#' Every release from the same people adds to what is known about them. A budget adds up the
#' calls it is given to, and refuses one that does not fit before a row is read.
#'
#' A budget changes when it is charged, wherever it is referred to, and in no other way: its
#' totals cannot be set. A copy made by [readRDS()], or sent to a worker of
#' `parallel::makeCluster()`, is a record of its own, whose calls the budget does not count. In a
#' forked process, such as a child of `parallel::mclapply()`, it is refused, for each child would
#' spend the same remainder. A [dp_ledger()] counts the calls of all processes.
#'
#' @param epsilon,delta What all calls together may cost; `delta` below 0.5. By default it is that of
#'   [dp_ols()]; with `delta = 0` only methods that need none are admitted.
#' @param composition How costs add up: `"sum"` adds epsilons and deltas; `"gdp"` adds squares of
#'   the noise multipliers of Gaussian methods, which is less. By default `"gdp"` with delta above
#'   0. The rule is fixed for the budget, for it holds however later calls depend on earlier ones.
#' @param x,object A budget.
#' @param ... Not used.
#' @return An environment of class `dp_budget` with `epsilon`, `delta`, `composition`, `spent`,
#'   what the calls so far cost together, and `remaining`, the largest single call that still fits.
#' @examplesIf dpstats_available()
#' budget <- dp_budget(epsilon = 2)
#' d <- data.frame(x = runif(500), y = runif(500))
#' fit <- dp_ols(y ~ x, d, method = "noisy_stats", epsilon = 1.5, budget = budget,
#'               bounds = list(x = c(0, 1), y = c(0, 1)))
#' budget
#' @export
dp_budget <- function(epsilon, delta = 1e-6, composition = NULL) {
  check_given(environment(), "epsilon")
  if (is.null(delta)) bad_argument("argument delta is NULL")
  arguments <- list(epsilon = epsilon, delta = delta, composition = composition)
  value <- ask("budget", arguments)
  # the fields are in an environment of their own, which no assignment to the budget reaches
  budget <- new.env(parent = emptyenv())
  assign("fields", new.env(parent = emptyenv()), envir = budget)
  lockEnvironment(budget, bindings = TRUE)
  own_budget(update_budget(structure(budget, class = "dp_budget"), value))
}

update_budget <- function(budget, value) {
  totals <- lapply(value[c("spent", "remaining")], function(total) {
    stats::setNames(numbers(total), c("epsilon", "delta"))
  })
  set_fields(budget, c(value[c("epsilon", "delta", "composition", "record", "left")], totals))
}

# The budget belongs to this process from now on.
own_budget <- function(budget) {
  set_fields(budget, list(session = state$session, process = Sys.getpid()))
}

set_fields <- function(budget, values) {
  list2env(values, .subset2(budget, "fields"))
  invisible(budget)
}

#' @export
`$.dp_budget` <- function(x, name) get0(name, .subset2(x, "fields"), inherits = FALSE)

#' @export
`[[.dp_budget` <- function(x, i) `$.dp_budget`(x, i)

# The record of a budget, for Python.
budget_state <- function(budget) {
  if (is.null(budget)) return(NULL)
  if (!inherits(budget, "dp_budget")) {
    bad_argument("expected budget to be made by dp_budget() or dp_ledger(), got ",
                 class(budget)[1L])
  }
  if (inherits(budget, "dp_ledger")) {
    return(Filter(Negate(is.null), list(ledger = budget$path, analyst = budget$analyst)))
  }
  if (!is.environment(.subset2(budget, "fields"))) {
    bad_argument("this budget was saved by an earlier version of dpstats; make one with ",
                 "dp_budget() of what it has left")
  }
  refuse_forked(budget)
  list(record = budget$record)
}

# A forked child has a copy of the budget and of the session's mark, but another process number.
# What readRDS() made has another mark: it belongs to the process that uses it first, unless that
# is a forked child too, for its parent may have read the same file.
refuse_forked <- function(budget) {
  here <- identical(budget$session, state$session)
  if (if (here) budget$process == Sys.getpid() else state$process == Sys.getpid()) {
    return(own_budget(budget))
  }
  fail("dpstats_budget_error", "this budget belongs to another process, and each forked child, as ",
       "of parallel::mclapply(), would spend the same remainder; make the calls in one process, ",
       "or give each child a dp_budget() made in it")
}

#' @export
`$<-.dp_budget` <- function(x, name, value) {
  bad_argument("the ", name, " of a budget cannot be set; make another budget with dp_budget()")
}

#' @export
`[[<-.dp_budget` <- function(x, i, value) `$<-.dp_budget`(x, i, value)

#' @rdname dp_budget
#' @export
summary.dp_budget <- function(object, ...) object

#' @rdname dp_budget
#' @export
print.dp_budget <- function(x, ...) {
  cat("Privacy budget: epsilon ", format(x$epsilon), ", delta ", format(x$delta), "; spent: ",
      "epsilon ", format(x$spent[["epsilon"]], digits = 4L), ", delta ",
      format(x$spent[["delta"]]), "; one call more: epsilon ",
      format(x$remaining[["epsilon"]], digits = 4L), paste0("; ", x$left)[nzchar(x$left)],
      "\n", sep = "")
  invisible(x)
}
