#' Private regressions side by side
#'
#' Coefficients of several fits in one table, with their standard errors in parentheses, what each
#' fit spent, and notes on what is missing. It costs nothing. For tables with more choices, the
#' package modelsummary takes private fits too.
#'
#' @param ... Fits by [dp_ols()] without `by`; their names, if all have one, head the columns.
#' @param x A comparison.
#' @param format `"text"`, `"html"`, or `"latex"`, which needs the LaTeX package booktabs.
#' @param row.names,optional As for [as.data.frame()].
#' @return An object of class `dp_comparison`, which prints as a table. [as.data.frame()] and
#'   `tidy()` give one row for each fit and quantity: `model`, `term`, `estimate`, `std.error`,
#'   `status`.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(5000), y = runif(5000))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' strict <- dp_ols(y ~ x, d, method = "adassp", epsilon = 1, bounds = b)
#' lenient <- dp_ols(y ~ x, d, method = "adassp", epsilon = 4, bounds = b)
#' dp_compare(strict = strict, lenient = lenient)
#' @export
dp_compare <- function(...) {
  fits <- list(...)
  if (!length(fits) || !all(vapply(fits, inherits, logical(1L), "dp_ols"))) {
    bad_argument("expected fits by dp_ols() without by, as in dp_compare(first, second)")
  }
  states <- unname(lapply(fits, function(fit) fit$state))
  heads <- if (!is.null(names(fits))) as.list(names(fits))
  value <- ask("compare", list(states = states, names = heads))
  frame <- value$frame
  structure(
    list(
      frame = data.frame(
        model = strings(frame$result), term = strings(frame$term),
        estimate = numbers(frame$estimate), std.error = numbers(frame$std_error),
        status = strings(frame$status)
      ),
      formatted = unlist(value[c("text", "html", "latex")])
    ),
    class = "dp_comparison"
  )
}

#' @rdname dp_compare
#' @export
print.dp_comparison <- function(x, format = c("text", "html", "latex"), ...) {
  cat(x$formatted[[match.arg(format)]], "\n", sep = "")
  invisible(x)
}

#' @rdname dp_compare
#' @export
as.data.frame.dp_comparison <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(x$frame, row.names = row.names, optional = optional, ...)
}

#' @rdname dp_compare
#' @exportS3Method generics::tidy dp_comparison
tidy.dp_comparison <- function(x, ...) {
  refuse_others("tidy", ...)
  tibble::as_tibble(x$frame)
}
