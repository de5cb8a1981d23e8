#' The private regression of one group
#'
#' `groups[["7"]]`, one of the [groups] that [dp_ols()] and others with `by` return, is a fit: `coef()`,
#' `confint()`, `predict()`, `summary()`, `anova()`, `plot()` and others answer as for a fit by [dp_ols()], and
#' `tidy()` and `glance()` have the group columns first. R-squared and the residual variance are there
#' where they follow from what was released, else `NA` or refused, and `summary()` says why.
#'
#' @param x The fit of one group.
#' @param ... As for a fit by [dp_ols()].
#' @return As for a fit by [dp_ols()].
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(600), y = runif(600), tract = rep(1:3, 200))
#' groups <- dp_ols(y ~ x, d, method = "exp_theil_sen", epsilon = 8, by = "tract",
#'                  bounds = list(x = c(0, 1), y = c(0, 1)))
#' fit <- groups[["3"]]
#' coef(fit)
#' predict(fit, data.frame(x = 0.5))
#' tidy(fit)
#' @name group
NULL

# The fit of one group, from groups of which there is one.
one_fit <- function(only) {
  names <- only$coefficients
  table <- table_of(only, names)
  table$p.value <- p_values_of(only$uncertainty, diag(length(names)), 0)
  parts <- c("status", "cov_type", "selected", "method", "notes", "clipping", "polynomials", "privacy", "schema",
             "uncertainty", "absorbed", "terms", "call", "xlevels", "contrasts", "family", "state", "place", "groups",
             "offset")
  fit <- c(unclass(only)[intersect(parts, names(unclass(only)))], list(
    coefficients = only$estimates[1L, names], vcov = stats::vcov(only)[[1L]], table = table,
    predictions = table_of(only, setdiff(colnames(only$estimates), names))[-(3:4)], method_report = "",
    reasons = list(bse = only$reasons, rsquared = why_no_statistics(only)), limits = lapply(only$limits, as.vector),
    fit_statistics = statistics_of_one(only),
    group = paste(names(only$groups), "=", vapply(only$groups, label_text, ""), collapse = ", ")
  ))
  own <- if (!is.null(only$family)) "dp_glm"
  if (!is.null(only$instruments)) {
    own <- "dp_iv"
    fit$instruments <- instruments_of_one(only$instruments)
    fit$call$formula <- only$instruments$formula
  }
  structure(fit, class = c("dp_ols_group", own, "dp_ols"))
}

# N, R-squared and the residual variance of each group, a row of matrices; methods that have no
# R-squared tell the reasons alone.
statistics_of_groups <- function(value) {
  names <- strings(value$name)
  shaped <- function(values) matrix(numbers(values), ncol = length(names), byrow = TRUE, dimnames = list(NULL, names))
  figures <- if (length(names)) list(estimate = shaped(value$estimate), std.error = shaped(value$std_error))
  c(figures, list(reasons = strings(value$reasons)))
}

# Those of some of the groups; NULL of groups that an earlier version saved.
statistics_at <- function(known, at) {
  parts <- intersect(c("estimate", "std.error"), names(known))
  known[parts] <- lapply(known[parts], function(part) part[at, , drop = FALSE])
  if (!is.null(known)) known$reasons <- known$reasons[at]
  known
}

statistics_of_one <- function(only) {
  known <- only$fit_statistics
  if (!is.null(known$estimate)) return(data.frame(estimate = known$estimate[1L, ], std.error = known$std.error[1L, ]))
  rows <- rows_of_groups(only)
  left <- if (is.null(only$absorbed)) pmax(rows - length(only$coefficients), 1) else NA_real_
  data.frame(estimate = c(rows, left, rep(NA_real_, 3L)), std.error = NA_real_,
             row.names = c("nobs", "df_resid", "rsquared", "rsquared_adj", "scale"))
}

why_no_statistics <- function(only) {
  if (is.null(only$fit_statistics)) return("R-squared of groups is not in what an earlier version saved")
  Filter(nzchar, only$fit_statistics$reasons)
}

# Estimates of one group with errors and intervals, and of coefficients with tests.
table_of <- function(only, names) {
  of <- function(part) unname(unclass(only)[[part]][1L, names])
  data.frame(estimate = of("estimates"), std.error = of("errors"), statistic = of("estimates") / of("errors"),
             p.value = rep(NA_real_, length(names)), conf.low = of("low"), conf.high = of("high"), row.names = names)
}

#' @rdname group
#' @exportS3Method generics::tidy dp_ols_group
tidy.dp_ols_group <- function(x, ...) beside_labels(x, NextMethod())

#' @rdname group
#' @exportS3Method generics::glance dp_ols_group
glance.dp_ols_group <- function(x, ...) beside_labels(x, NextMethod())

# A table with the labels of the group first.
beside_labels <- function(fit, table) {
  labels <- lapply(fit$groups, rep, nrow(table))
  tibble::as_tibble(c(labels, as.list(table)))
}

# Refuse the fit of a group where more is needed than is kept of groups.
refuse_group <- function(object, what, instead) {
  if (inherits(object, "dp_ols_group")) {
    bad_argument(what, " takes a fit by dp_ols() without by, got that of ", object$group, "; ", instead)
  }
}
