#' Make and keep a ledger
#'
#' What the steward of a data set does with its [ledger][dp_ledger]: make it, give analysts their
#' allocations, approve or deny their requests, check that the file is as it was written, and export
#' it. The commands `dpstats ledger` of the shell do the same. Analysts must not be able to write to
#' the file except through a service that charges it.
#'
#' @param path The file of a new ledger, on a disk of this machine.
#' @param dataset Name of the data set.
#' @param epsilon,delta Limit on everything that is ever released, as of [dp_budget()], or on the
#'   calls of an analyst, whose `delta` is by default that of the data set.
#' @param ... Further arguments of a new ledger, by name: `neighbors` (`"add_remove"` or
#'   `"replace_one"`); `unit`, the column of persons; `composition` and `set_aside`, as of
#'   [dp_budget()]; `fingerprint`, which names the state of the data, so that equal calls are answered
#'   from the store at no cost; `approval = TRUE`, so that each call waits for `dp_ledger_approve()`.
#' @param data The data, as for [dp_ols()], of which no row is read; by default those of the first
#'   call that is charged. Calls with other data are refused. `dp_ledger_move()` says where the data
#'   are now, or that they were given other columns; data whose rows were changed are other data, for
#'   which a new ledger is made.
#' @param ledger A [dp_ledger()] or the path of one.
#' @param analyst Name of an analyst.
#' @param state `"requested"`, `"approved"`, `"denied"`, `"reserved"`, `"released"` or `"failed"`; by
#'   default all.
#' @param request Number of a request.
#' @param head An audit head that was noted earlier, which must still be there.
#' @param out A file that ends in `.json`; an export of the same name is replaced.
#' @param x A verification.
#' @return `dp_ledger_create()`: the ledger, as of [dp_ledger()]. `dp_ledger_move()`: the same,
#'   invisibly. `dp_ledger_allocate()` and
#'   `dp_ledger_analysts()`: a tibble of the analysts, with what is allocated to them, spent and
#'   remaining. `dp_ledger_requests()`, `dp_ledger_approve()` and `dp_ledger_deny()`: a tibble of
#'   requests. `dp_ledger_request()`: a tibble of all that one request asks for, such as its weights,
#'   clusters, groups and subset, as texts. `dp_ledger_verify()`: a list with `ok`, `entries` of the audit, its `head` and
#'   `problems`, a sentence on each row that is not as it was written. `dp_ledger_export()`: the path,
#'   invisibly.
#' @examplesIf dpstats_available()
#' path <- tempfile(fileext = ".ledger")
#' dp_ledger_create(path, "families 2024", epsilon = 2, approval = TRUE)
#' dp_ledger_allocate(path, "anna", epsilon = 1)
#' d <- data.frame(x = runif(500), y = runif(500))
#' anna <- dp_ledger(path, analyst = "anna")
#' try(dp_ols(y ~ x, d, epsilon = 1, budget = anna))
#' dp_ledger_requests(path)
#' dp_ledger_verify(path)
#' @export
dp_ledger_create <- function(path, dataset, epsilon, delta = 1e-6, ..., data = NULL) {
  check_given(environment(), c("path", "dataset", "epsilon"), "dp_ledger_create")
  if (is.null(delta)) bad_argument("argument delta is NULL")
  check_text(path = path)
  others <- list(...)
  if (any(entry_names(others) == "")) {
    bad_argument("further arguments of a ledger go by name, such as approval = TRUE")
  }
  check_distinct(names(others), "the call")
  arguments <- list(path = path.expand(path), dataset = dataset, epsilon = epsilon, delta = delta,
                    data = if (!is.null(data)) bridge_kinds(data))
  ask("ledger_create", c(arguments, others))
  dp_ledger(path)
}

#' @rdname dp_ledger_create
#' @export
dp_ledger_move <- function(ledger, data) {
  check_given(environment(), c("ledger", "data"))
  ask("ledger_move", list(path = ledger_path(ledger), data = bridge_kinds(data)))
  invisible(dp_ledger(ledger_path(ledger), if (inherits(ledger, "dp_ledger")) ledger$analyst))
}

# The paths, or the columns of a data frame without their rows.
bridge_kinds <- function(data) {
  check_data(data)
  bridge_data(NULL, if (is_path(data)) data else utils::head(data, 0L), names(data))
}

#' @rdname dp_ledger_create
#' @export
dp_ledger_allocate <- function(ledger, analyst, epsilon, delta = NULL) {
  check_given(environment(), c("ledger", "analyst", "epsilon"))
  table_of_ledger("ledger_allocate", ledger, analyst = analyst, epsilon = epsilon, delta = delta)
}

#' @rdname dp_ledger_create
#' @export
dp_ledger_analysts <- function(ledger) table_of_ledger("ledger_analysts", ledger)

#' @rdname dp_ledger_create
#' @export
dp_ledger_requests <- function(ledger, state = NULL) {
  table_of_ledger("ledger_requests", ledger, state = state)
}

#' @rdname dp_ledger_create
#' @export
dp_ledger_request <- function(ledger, request) {
  check_given(environment(), c("ledger", "request"))
  table_of_ledger("ledger_request", ledger, request = request)
}

#' @rdname dp_ledger_create
#' @export
dp_ledger_approve <- function(ledger, request) {
  check_given(environment(), c("ledger", "request"))
  table_of_ledger("ledger_settle", ledger, request = request, state = "approved")
}

#' @rdname dp_ledger_create
#' @export
dp_ledger_deny <- function(ledger, request) {
  check_given(environment(), c("ledger", "request"))
  table_of_ledger("ledger_settle", ledger, request = request, state = "denied")
}

#' @rdname dp_ledger_create
#' @export
dp_ledger_verify <- function(ledger, head = NULL) {
  found <- ask("ledger_verify", list(path = ledger_path(ledger), head = head))
  found$problems <- strings(found$problems)
  structure(found, class = "dp_verification")
}

#' @rdname dp_ledger_create
#' @export
print.dp_verification <- function(x, ...) {
  fine <- paste0(format(x$entries, big.mark = ","), " audit entries, all rows and totals agree; head ",
                 x$head)
  writeLines(if (x$ok) fine else x$problems)
  invisible(x)
}

#' @rdname dp_ledger_create
#' @export
dp_ledger_export <- function(ledger, out) {
  check_given(environment(), c("ledger", "out"))
  check_text(out = out)
  ask("ledger_export", list(path = ledger_path(ledger), out = path.expand(out)))
  invisible(out)
}

ledger_path <- function(ledger) {
  if (inherits(ledger, "dp_ledger")) return(ledger$path)
  check_text(ledger = ledger)
  path.expand(ledger)
}

# A table of the ledger that Python lists by column.
table_of_ledger <- function(question, ledger, ...) {
  value <- ask(question, list(path = ledger_path(ledger), ...))
  texts <- lapply(value$texts, function(column) {
    column <- strings(column)
    replace(column, column == "", NA)
  })
  tibble::as_tibble(c(lapply(value$numbers, numbers), texts)[strings(value$order)])
}
