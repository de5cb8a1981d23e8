# The call to Python: one function there, and every error as a classed condition here.

environment_name <- "r-dpstats"

state <- new.env(parent = emptyenv())

python <- function() {
  if (is.null(loaded())) fail("dpstats_python_error", why_not_loaded())
  state$module
}

# The module, or NULL where it cannot be loaded.
loaded <- function() {
  if (is.null(state$module)) {
    state$module <- tryCatch(
      reticulate::import("dpstats.r", convert = FALSE),
      error = function(e) NULL
    )
  }
  state$module
}

# Which Pythons R could have used, why it did not, and what to do.
why_not_loaded <- function() {
  own <- environment_python(environment_path())
  variable <- Sys.getenv("RETICULATE_PYTHON")
  used <- if (reticulate::py_available()) reticulate::py_config()$python
  tried <- unique(c(Filter(nzchar, variable), own, used))
  reasons <- lapply(tried, unusable)
  works <- vapply(reasons, is.null, logical(1L))
  if (any(works)) {
    return(paste0("the Python package dpstats is in ", tried[works][1L], ", but does not load in ",
                  "this session", if (!is.null(used)) paste0(", which runs ", used),
                  "; restart R and load dpstats before Python is used",
                  if (nzchar(variable)) ", with RETICULATE_PYTHON unset"))
  }
  paste0("the Python package dpstats was not found: ", paste(tried, reasons, collapse = ", "),
         "; install_dpstats() makes ", dirname(dirname(own)), " with it",
         if (nzchar(variable)) "; unset RETICULATE_PYTHON to use that",
         if (!is.null(used)) "; then restart R")
}

#' Tell whether the Python package is there
#'
#' @return `TRUE` if Python and its package dpstats can be loaded, else `FALSE`.
#' @examples
#' dpstats_available()
#' @export
dpstats_available <- function() !is.null(loaded())

# Ask Python: `arguments` is a named list; returns the value, or raises the error as a condition.
# A budget is brought up to date in either case, and before an interrupt reaches R.
ask <- function(question, arguments = list(), budget = NULL) {
  check_known(arguments)
  module <- python()
  for (name in setdiff(names(arguments), "data")) check_plain(arguments[[name]], name)
  arguments["budget"] <- list(budget_state(budget))
  arguments <- reticulate::dict(Filter(Negate(is.null), arguments))
  suspendInterrupts({
    reply <- answered(module, question, arguments)
    if (!is.null(budget) && !is.null(reply$budget)) update_budget(budget, reply$budget)
  })
  if (identical(reply$error, "KeyboardInterrupt")) interrupt(reply$message)
  if (!is.null(reply$error)) fail(condition_class(reply$error), reply$message)
  reply$value
}

# Python would take a missing value for TRUE. Data may have some.
check_known <- function(arguments) {
  arguments$data <- NULL
  unknown <- vapply(arguments, holds_na, logical(1L))
  if (any(unknown)) bad_argument("argument ", names(arguments)[unknown][1L], " is NA")
}

holds_na <- function(value) {
  if (is.list(value) && !is.object(value)) return(any(vapply(value, holds_na, logical(1L))))
  is.atomic(value) && anyNA(value)
}

# Numbers, texts, truth values, lists of these, and what was made for Python are passed on. Anything
# else, such as a budget in the place of a number, Python would refuse in its own words.
check_plain <- function(value, name) {
  if (is.list(value) && !is.object(value)) {
    for (entry in value) check_plain(entry, name)
  } else if (!is.null(value) && !inherits(value, "python.builtin.object")) {
    vector <- is.atomic(value) && !is.complex(value) && is.null(dim(value)) &&
      !inherits(value, c("Date", "POSIXt", "integer64"))
    if (!vector) {
      bad_argument("expected ", name, " to be a number, a text or a list, got ", class(value)[1L],
                   if (inherits(value, "POSIXt")) "; as.Date() makes days of it")
    }
  }
}

answered <- function(module, question, arguments) {
  tryCatch(
    allowInterrupts(reticulate::py_to_r(module$answer(question, arguments))),
    # what Python or the conversion says could quote rows
    error = function(e) {
      list(error = "InternalError", message = paste("the call to Python failed:", class(e)[1L]))
    },
    # R was first to see it, so that there is no reply with the budget
    interrupt = function(e) reticulate::py_to_r(module$interrupted())
  )
}

# Stop as Ctrl-C does, which a loop of try() cannot take for an error and pay for again.
interrupt <- function(said) {
  message(said)
  rlang::interrupt()
}

# dpstats_budget_error for BudgetError; a formula error is an argument error too.
condition_class <- function(python_class) {
  name <- tolower(gsub("(?<=[a-z])(?=[A-Z])", "_", python_class, perl = TRUE))
  class <- paste0("dpstats_", name)
  if (python_class == "FormulaError") c(class, "dpstats_argument_error") else class
}

fail <- function(class, ...) {
  stop(errorCondition(paste0(...), class = c(class, "dpstats_error")))
}

bad_argument <- function(...) fail("dpstats_argument_error", ...)

# A value as it is written, for a message: of many values their class, for they could be the data.
shown <- function(value) {
  if (is.atomic(value) && !is.object(value) && length(value) <= 6L) deparse1(value) else class(value)[1L]
}

# For methods whose generic has "...": an argument that the method does not have would be ignored.
refuse_others <- function(generic, ...) {
  others <- entry_names(substitute(list(...)))[-1L]
  if (length(others)) refuse_argument(generic, others[1L], own_arguments(sys.function(-1L)))
}

own_arguments <- function(method) setdiff(names(formals(method)), "...")

refuse_argument <- function(generic, name, known) {
  named <- if (nzchar(name)) paste("no argument", name) else "no further argument"
  bad_argument(generic, "() of this result has ", named, "; it has ", toString(known),
               why_not[[name]])
}

# What there is instead of arguments that other methods of these generics have.
why_not <- local({
  errors <- "; cov_type in dp_ols() chooses the standard errors, which are paid for with the fit"
  of_errors <- c("vcov", "type", "se", "se_type", "robust", "cluster")
  stage <- "; dp_first_stage() and dp_anderson_rubin() of a fit by dp_iv() tell how strong the instruments are"
  c(stats::setNames(rep(list(errors), length(of_errors)), of_errors), list(
    diagnostics = stage, stage = stage,
    na.action = "; the prediction is NA where a value is missing",
    data = "; give public values as newdata"
  ))
})

numbers <- function(values) {
  values <- as.numeric(unlist(values))
  values[is.nan(values)] <- NA_real_
  values
}

strings <- function(values) as.character(unlist(values))
