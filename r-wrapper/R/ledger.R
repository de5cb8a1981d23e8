#' The ledger of a data set
#'
#' A ledger is a file that keeps the privacy budget of a data set over years, machines' users and
#' analysts. Each call is reserved there before a row is read, and its result is stored before it
#' is returned; a call that is cut off counts as spent. Where the ledger names the state of the
#' data, a call that was made before is answered from it at no cost. The steward makes and
#' keeps it with [dp_ledger_create()] and the functions described there.
#'
#' It can be charged by several processes at once, forked ones too.
#'
#' @param path The ledger's file, on a disk of this machine.
#' @param analyst Who calls; needed where budgets are allocated to analysts.
#' @param x A ledger.
#' @param ... Not used.
#' @return A budget for `dp_ols(budget = )`, of class `dp_ledger`: with `epsilon`, `delta`,
#'   `composition`, `spent` by all analysts and `remaining`, the largest single call that still
#'   fits, as of the last call of this session; printing asks the file.
#' @examplesIf dpstats_available()
#' try(dp_ledger("nosuch.ledger"))
#' @export
dp_ledger <- function(path, analyst = NULL) {
  check_given(environment(), "path")
  check_text(path = path)
  where <- list(path = path.expand(path), analyst = analyst)
  value <- ask("ledger", where)
  ledger <- new.env(parent = emptyenv())
  assign("fields", list2env(where, parent = emptyenv()), envir = ledger)
  lockEnvironment(ledger, bindings = TRUE)
  update_budget(structure(ledger, class = c("dp_ledger", "dp_budget")), value)
}

#' @rdname dp_ledger
#' @export
print.dp_ledger <- function(x, ...) {
  cat(ask("ledger", list(path = x$path, analyst = x$analyst))$text, "\n", sep = "")
  invisible(x)
}

#' Run a study file
#'
#' A study file is a text (TOML) with data, declarations and entries of several kinds: `[[describe]]`,
#' `[[ols]]`, `[[logit]]`, `[[poisson]]` and `[[iv]]`, which share one epsilon. All are checked before anything is spent and
#' reserved together or not at all; the folder appears whole or not at all.
#' With `language = "R"` at its top the formulas and subsets are R's, without it Python's.
#'
#' @param study The study file.
#' @param out A folder that does not exist yet, for the release record.
#' @param ledger A [dp_ledger()] to charge; not needed for a dry run.
#' @param dry_run `TRUE` to run on synthetic rows drawn from the declarations: no row of the data is
#'   read and nothing is spent. With a `ledger` the study is also checked against it, for which the
#'   names and kinds of the columns are opened.
#' @return The folder, invisibly: tables, pictures, everything released as JSON, a page and
#'   checksums.
#' @examplesIf dpstats_available()
#' study <- tempfile(fileext = ".toml")
#' writeLines(c(
#'   'data = "people.csv"',
#'   'language = "R"',
#'   'bounds = { x = [0, 1], y = [0, 1] }',
#'   '[models.main]',
#'   'formula = "y ~ I(x^2)"', 'method = "exp_theil_sen"', 'epsilon = 4'
#' ), study)
#' dir(dp_run(study, tempfile(), dry_run = TRUE))
#' @export
dp_run <- function(study, out, ledger = NULL, dry_run = FALSE) {
  check_given(environment(), c("study", "out"))
  check_text(study = study, out = out)
  if (!is.null(ledger) && !inherits(ledger, "dp_ledger")) {
    bad_argument("expected ledger to be made by dp_ledger(), got ",
                 if (inherits(ledger, "dp_budget")) "a dp_budget()" else shown(ledger))
  }
  arguments <- list(study = path.expand(study), out = path.expand(out), dry_run = dry_run)
  invisible(ask("run", arguments, ledger))
}

# Arguments that are one text.
check_text <- function(...) {
  texts <- list(...)
  wrong <- !vapply(texts, function(x) is.character(x) && length(x) == 1L && !x %in% c(NA, ""), logical(1L))
  if (any(wrong)) {
    bad_argument("expected ", names(texts)[wrong][1L], " to be one path, got ", shown(texts[wrong][[1L]]))
  }
}
