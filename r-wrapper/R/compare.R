#' Private regressions side by side
#'
#' Coefficients of several fits in one table, as papers print it, with their standard errors in
#' parentheses, the number of rows, what each fit spent, and notes on guarantees and on what is
#' missing. It costs nothing. For tables with more choices, the package modelsummary takes private
#' fits too.
#'
#' @param ... Fits by [dp_ols()] without `by`, or one list of them; their names, if all have one, head
#'   the columns.
#' @param ols A list of fits that are not private, such as `lm()`, in columns of their own which say so;
#'   its names head them. For data that may be published. Needs the package broom.
#' @param stars Whether stars stand at estimates: `TRUE` for * p < 0.1, ** p < 0.05 and *** p < 0.01,
#'   or symbols by level, as in `c("*" = 0.05)`. P-values count the privacy noise. Where an interval is
#'   unbounded or was not released there is no star, which a note says.
#' @param labels What is printed in place of terms of the table, as in `c(educ = "Schooling")`.
#' @param keep The coefficients and predictions that are printed; all by default.
#' @param order Those that come first.
#' @param notes Texts below the notes about guarantees and gaps, which are always printed.
#' @param x,object A comparison.
#' @param format `"text"`, `"html"`, or `"latex"`, which needs the LaTeX package booktabs.
#' @param row.names,optional As for [as.data.frame()].
#' @return An object of class `dp_comparison`, which prints as a table. [as.data.frame()] and
#'   `tidy()` give one row for each fit and quantity: `model`, `term`, `estimate`, `std.error`,
#'   `status`; `plot()` and `autoplot()` draw the coefficients that are printed with their 95%
#'   intervals, hollow where there is no bounded one.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(5000), y = runif(5000))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' strict <- dp_ols(y ~ x, d, method = "adassp", epsilon = 1, bounds = b)
#' lenient <- dp_ols(y ~ x, d, method = "adassp", epsilon = 4, bounds = b)
#' dp_compare(strict = strict, lenient = lenient, stars = TRUE, keep = "x")
#' @export
dp_compare <- function(..., ols = list(), stars = FALSE, labels = NULL, keep = NULL, order = NULL,
                       notes = NULL) {
  fits <- list(...)
  listed <- length(fits) == 1L && identical(utils::tail(class(fits[[1L]]), 1L), "list")
  if (listed) fits <- unclass(fits[[1L]])
  others <- Filter(function(fit) !inherits(fit, "dp_ols") || inherits(fit, "dp_ols_group"), fits)
  if (!length(fits) || length(others)) {
    bad_argument("expected fits by dp_ols() without by, as in dp_compare(first, second)",
                 if (length(others)) paste0(", got ", class(others[[1L]])[1L]),
                 if (any(nzchar(names(others)[1L]))) paste0(" for ", names(others)[1L]),
                 "; fits that are not private go into ols = list(), and terms into keep and labels")
  }
  if (!identical(class(ols), "list")) bad_argument("expected ols to be a list of fits, as by lm()")
  columns <- c(lapply(fits, private_column), lapply(ols, non_private_column))
  headings <- column_names(fits, ols)
  terms <- unique(c(unlist(lapply(columns, `[[`, "names")),
                    unlist(lapply(columns, function(column) column$quantities$term))))
  layout <- checked_layout(terms, stars, labels, keep, order, notes)
  structure(
    list(columns = stats::setNames(columns, headings), names = headings,
         terms = printed_terms(terms, layout), layout = layout,
         notes = comparison_notes(columns, headings, layout, fits)),
    class = "dp_comparison"
  )
}

# The headings of columns: names where all fits of a kind have one, else their places.
column_names <- function(fits, ols) {
  named <- function(list, before) {
    if (is.null(names(list))) sprintf("(%d)", before + seq_along(list)) else entry_names(list)
  }
  names <- c(named(fits, 0L), named(ols, length(fits)))
  if (any(names == "") || anyDuplicated(names)) {
    bad_argument("expected a different name for each fit, or for none, got ",
                 toString(shQuote(names, "cmd")))
  }
  names
}

comparison_notes <- function(columns, names, layout, fits) {
  caveats <- lapply(columns, function(column) c(column$caveats, without_stars(column, layout)))
  texts <- unique(unlist(caveats))
  about <- vapply(texts, function(text) {
    toString(names[vapply(caveats, function(own) text %in% own, TRUE)])
  }, "")
  c(
    "Standard errors, privacy noise included, are in parentheses where released.",
    if (length(layout$stars)) paste0(legend_of(layout$stars), ", privacy noise included."),
    paste0(about, ": ", texts), if (length(fits) > 1L) together(fits, length(columns)), layout$notes
  )
}

# What the fits cost together; one that is there twice counts once, and so do several that are one
# release, whose noise was drawn at equal scales.
together <- function(fits, count) {
  releases <- fits[!duplicated(vapply(fits, release_of, ""))]
  reports <- lapply(releases, function(fit) fit$privacy)
  if (length(unique(vapply(reports, relation_of, ""))) > 1L) {
    return(paste("Results from the same people spend their budgets together; under different",
                 "neighbour relations they have no joint epsilon."))
  }
  joint <- joint_guarantee(reports)
  paste0(
    "If from the same people, ", if (count > length(fits)) "the private ones" else "they",
    " have epsilon = ", sprintf("%.4g", joint[1L]),
    if (joint[2L] > 0) sprintf(" and delta = %.3g", joint[2L]),
    " together, provided that none was chosen by looking at another."
  )
}

release_of <- function(fit) {
  if (!isTRUE(fit$privacy$together > 1)) return(fit$state)
  paste(sprintf("%.17g", fit$privacy$steps$scale), collapse = " ")
}

# Epsilon and delta of releases together, as of the Python package's dpstats/privacy/joint.py:
# sums without a Gaussian one, else squared mu's add up, and deltas of others to the largest.
joint_guarantee <- function(reports) {
  part <- function(name) vapply(reports, function(report) as.numeric(report[[name]]), numeric(1L))
  gaussian <- part("gaussian") == 1
  if (length(reports) == 1L || !any(gaussian)) return(c(sum(part("epsilon")), sum(part("delta"))))
  delta <- max(part("delta")[gaussian])
  c(gdp_epsilon(sqrt(sum(part("mu")^2)), delta), delta + sum(part("failing")))
}

# The epsilon at which what is mu-GDP has this delta.
gdp_epsilon <- function(mu, delta) {
  excess <- function(epsilon) {
    above <- stats::pnorm(mu / 2 - epsilon / mu, log.p = TRUE)
    below <- epsilon + stats::pnorm(-mu / 2 - epsilon / mu, log.p = TRUE)
    above + log1p(-exp(pmin(below - above, 0))) - log(delta)
  }
  if (excess(0) <= 0) return(0)
  stats::uniroot(excess, c(0, mu^2 / 2 + mu * (sqrt(-2 * log(delta)) + 10)), tol = 1e-12)$root
}

#' @rdname dp_compare
#' @export
print.dp_comparison <- function(x, format = c("text", "html", "latex"), ...) {
  format <- chosen_format(format, eval(formals()$format))
  cat(switch(format, text = as_text(x), html = as_html(x), latex = as_latex(x)), sep = "\n")
  invisible(x)
}

#' @rdname dp_compare
#' @export
summary.dp_comparison <- function(object, ...) object

#' @rdname dp_compare
#' @export
as.data.frame.dp_comparison <- function(x, row.names = NULL, optional = FALSE, ...) {
  parts <- Map(function(column, name) {
    data.frame(model = name, column$quantities[c("term", "estimate", "std.error")],
               status = column$status)
  }, unname(x$columns), x$names)
  as.data.frame(do.call(rbind, parts), row.names = row.names, optional = optional, ...)
}

#' @rdname dp_compare
#' @exportS3Method generics::tidy dp_comparison
tidy.dp_comparison <- function(x, ...) {
  refuse_others("tidy", ...)
  tibble::as_tibble(as.data.frame(x))
}
