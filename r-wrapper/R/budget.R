#' A privacy budget for several releases
#'
#' Every release from the same people adds to what is known about them. A budget adds up the
#' calls it is given to, and refuses one that does not fit before a row is read.
#'
#' A budget changes when it is charged, wherever it is referred to. A copy made by [readRDS()]
#' is a record of its own, and so is one in a forked process.
#'
#' @param epsilon,delta What all calls together may cost; `delta` below 0.5.
#' @param x A budget.
#' @param ... Not used.
#' @return An environment of class `dp_budget` with `epsilon`, `delta`, and `spent`, what the
#'   calls so far cost together.
#' @examplesIf dpstats_available()
#' budget <- dp_budget(epsilon = 2)
#' d <- data.frame(x = runif(500), y = runif(500))
#' fit <- dp_ols(y ~ x, d, method = "noisy_stats", epsilon = 1.5, budget = budget,
#'               bounds = list(x = c(0, 1), y = c(0, 1)))
#' budget
#' @export
dp_budget <- function(epsilon, delta = 0) {
  value <- ask("budget", list(epsilon = epsilon, delta = delta))
  update_budget(structure(new.env(parent = emptyenv()), class = "dp_budget"), value)
}

update_budget <- function(budget, value) {
  budget$epsilon <- value$epsilon
  budget$delta <- value$delta
  budget$spent <- stats::setNames(numbers(value$spent), c("epsilon", "delta"))
  budget$record <- value$record
  invisible(budget)
}

budget_state <- function(budget) {
  if (is.null(budget)) return(NULL)
  if (!inherits(budget, "dp_budget")) {
    bad_argument("expected budget to be made by dp_budget(), got ", class(budget)[1L])
  }
  mget(c("epsilon", "delta", "record"), envir = budget)
}

#' @rdname dp_budget
#' @export
print.dp_budget <- function(x, ...) {
  cat("Privacy budget: epsilon ", format(x$epsilon), ", delta ", format(x$delta), "; spent: ",
      "epsilon ", format(x$spent[["epsilon"]], digits = 4L), ", delta ",
      format(x$spent[["delta"]]), "\n", sep = "")
  invisible(x)
}
