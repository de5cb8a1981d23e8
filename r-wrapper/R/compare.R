#' Private regressions side by side
#'
#' Coefficients of several fits in one table, with their standard errors in parentheses, what each
#' fit spent, and notes on what is missing. It costs nothing. For tables with more choices, the
#' package modelsummary takes private fits too.
#'
#' @param ... Fits by [dp_ols()] without `by`, or one list of them; their names, if all have one, head
#'   the columns.
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
  listed <- length(fits) == 1L && identical(utils::tail(class(fits[[1L]]), 1L), "list")
  if (listed) fits <- unclass(fits[[1L]])
  if (!length(fits) || !all(vapply(fits, inherits, logical(1L), "dp_ols"))) {
    bad_argument("expected fits by dp_ols() without by, as in dp_compare(first, second)")
  }
  names <- entry_names(fits)
  if (is.null(names(fits))) names <- sprintf("(%d)", seq_along(fits))
  if (any(names == "") || anyDuplicated(names)) {
    bad_argument("expected a different name for each fit, or for none, got ",
                 toString(shQuote(names, "cmd")))
  }
  frames <- Map(compared, unname(fits), names)
  terms <- unique(c(unlist(lapply(fits, function(fit) names(fit$coefficients))),
                    unlist(lapply(fits, function(fit) row.names(fit$predictions)))))
  structure(
    list(
      frame = do.call(rbind, frames), estimates = estimate_rows(frames, terms),
      facts = vapply(fits, facts_of, character(length(fact_names))),
      names = names, notes = comparison_notes(fits, names)
    ),
    class = "dp_comparison"
  )
}

# A row for each coefficient and prediction of a fit.
compared <- function(fit, name) {
  at <- fit$predictions
  data.frame(
    model = name, term = c(names(fit$coefficients), row.names(at)),
    estimate = c(unname(fit$coefficients), at$estimate),
    std.error = c(fit$table$std.error, at$std.error), status = fit$status
  )
}

# Cells of estimates by term, below them standard errors where a fit has one.
estimate_rows <- function(frames, terms) {
  rows <- lapply(terms, function(term) {
    at <- lapply(frames, function(frame) frame[match(term, frame$term), ])
    estimates <- vapply(at, function(row) cell(row$estimate, "%#.4g"), "")
    estimates[vapply(at, function(row) is.na(row$model), TRUE)] <- ""
    errors <- vapply(at, function(row) {
      if (is.na(row$std.error)) "" else cell(row$std.error, "(%#.3g)")
    }, "")
    rbind(c(term, estimates), if (any(nzchar(errors))) c("", errors))
  })
  do.call(rbind, rows)
}

cell <- function(value, format) if (is.na(value)) "NA" else sprintf(format, value)

fact_names <- c("response", "method", "epsilon", "delta", "neighbours", "n", "R-squared",
                "R-squared Adj.", "status", "private")

facts_of <- function(fit) {
  privacy <- fit$privacy
  c(deparse1(stats::formula(fit)[[2L]]), fit$method, sprintf("%g", privacy$epsilon),
    sprintf("%g", privacy$delta), relation_of(privacy), as.character(rows_line(fit)),
    figure_of(fit, "rsquared"), figure_of(fit, "rsquared_adj"), fit$status,
    if (privacy$private) "yes" else "NO (seeded)")
}

relation_of <- function(privacy) {
  paste0(privacy$neighbors, if (nzchar(privacy$unit)) paste(" of", privacy$unit))
}

figure_of <- function(fit, name) {
  figure <- fit$fit_statistics[name, ]
  paste0(cell(figure$estimate, "%.3f"),
         if (!is.na(figure$std.error)) sprintf(" (%.2g)", figure$std.error))
}

comparison_notes <- function(fits, names) {
  caveats <- lapply(fits, function(fit) {
    c(if (!fit$privacy$private) paste0("NOT PRIVATE, ", fit$privacy$guarantee),
      unique(unlist(fit$reasons)))
  })
  texts <- unique(unlist(caveats))
  about <- vapply(texts, function(text) {
    toString(names[vapply(caveats, function(own) text %in% own, TRUE)])
  }, "")
  c(
    "Standard errors, privacy noise included, are in parentheses where released.",
    if (length(texts)) paste0(about, ": ", texts), if (length(fits) > 1L) together(fits)
  )
}

# What the fits cost together; one that is there twice counts once.
together <- function(fits) {
  releases <- fits[!duplicated(vapply(fits, function(fit) fit$state, ""))]
  reports <- lapply(releases, function(fit) fit$privacy)
  if (length(unique(vapply(reports, relation_of, ""))) > 1L) {
    return(paste("Results from the same people spend their budgets together; under different",
                 "neighbour relations they have no joint epsilon."))
  }
  joint <- joint_guarantee(reports)
  paste0(
    "If from the same people, they have epsilon = ", sprintf("%.4g", joint[1L]),
    if (joint[2L] > 0) sprintf(" and delta = %.3g", joint[2L]),
    " together, provided that none was chosen by looking at another."
  )
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
  cat(switch(match.arg(format), text = as_text(x), html = as_html(x), latex = as_latex(x)),
      sep = "\n")
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
