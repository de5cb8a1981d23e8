#' Tidy a private regression
#'
#' `tidy()` gives one row for each coefficient, `glance()` one row, and `augment()` adds
#' predictions to new data, as in the package broom. The package modelsummary makes tables of them.
#'
#' `glance()` has R-squared, the residual standard error and the number of rows as far as they follow
#' from what was released, else `NA`. Their standard errors, those of the privacy noise, are in
#' `fit$fit_statistics`; `fit$reasons` says why one is missing. `df.residual` is the number of rows less
#' that of coefficients, as for `lm()` and for clustered fits of other packages; the degrees of freedom that
#' intervals and p-values of clustered fits go by are those of [df.residual()].
#'
#' @param x A fit by [dp_ols()].
#' @param conf.int Whether to add confidence intervals.
#' @param conf.level Their level; for `augment()` that of `interval`.
#' @param exponentiate Whether to give the exponentials of the estimates and of the ends of the
#'   intervals, as for a response in logarithms. Standard errors stay as they are.
#' @param newdata A data frame of public values. Columns of it such as `.fitted` are replaced.
#' @param se_fit Whether to add the standard errors of the predictions.
#' @param interval `"none"` or `"confidence"`, for the columns `.lower` and `.upper`.
#' @param ... For `augment()` refused. Else what packages that make tables pass to every kind of fit:
#'   it is left aside, unless it asks for other numbers, such as `vcov = "HC1"`, which is refused.
#' @return A tibble.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' fit <- dp_ols(y ~ x, d, method = "adassp", epsilon = 4, bounds = b)
#' tidy(fit, conf.int = TRUE)
#' glance(fit)
#' augment(fit, newdata = data.frame(x = c(0, 1)))
#' @name broom
NULL

#' @rdname broom
#' @exportS3Method generics::tidy dp_ols
tidy.dp_ols <- function(x, conf.int = FALSE, conf.level = 0.95, exponentiate = FALSE, ...) {
  leave_aside("tidy", vcov(x), ...)
  check_flags(conf.int = conf.int, exponentiate = exponentiate)
  columns <- x$table[c("estimate", "std.error", "statistic", "p.value")]
  if (conf.int) columns[c("conf.low", "conf.high")] <- intervals(x, conf.level)
  row.names(columns) <- NULL
  columns <- c(list(term = names(coef(x))), columns)
  tibble::as_tibble(if (exponentiate) exponentiated(columns) else columns)
}

exponentiated <- function(columns) {
  changed <- intersect(names(columns), c("estimate", "conf.low", "conf.high"))
  columns[changed] <- lapply(columns[changed], exp)
  columns
}

check_flags <- function(...) {
  flags <- list(...)
  wrong <- !vapply(flags, function(flag) isTRUE(flag) || isFALSE(flag), logical(1L))
  if (any(wrong)) bad_argument("expected ", names(flags)[wrong][1L], " to be TRUE or FALSE")
}

#' @rdname broom
#' @exportS3Method generics::glance dp_ols
glance.dp_ols <- function(x, ...) {
  leave_aside("glance", vcov(x), ...)
  figure <- function(name) x$fit_statistics[name, "estimate"]
  tibble::tibble(
    r.squared = figure("rsquared"), adj.r.squared = figure("rsquared_adj"),
    sigma = sqrt(figure("scale")), df.residual = round(figure("df_resid")),
    nobs = as.integer(round(figure("nobs"))), epsilon = x$privacy$epsilon, delta = x$privacy$delta,
    method = x$method, neighbors = x$privacy$neighbors, status = x$status,
    private = x$privacy$private
  )
}

#' @rdname broom
#' @exportS3Method generics::augment dp_ols
augment.dp_ols <- function(x, newdata, se_fit = TRUE, interval = c("none", "confidence"),
                           conf.level = 0.95, ...) {
  if (missing(newdata)) newdata <- NULL
  check_augmented(newdata, se_fit)
  refuse_others("augment", ...)
  augmented(x, newdata, se_fit, chosen_interval(interval), conf.level)
}

check_augmented <- function(newdata, se_fit) {
  if (is.null(newdata)) not_released("fitted values", "augment(fit, newdata = )")
  check_flags(se_fit = se_fit)
}

# New data with columns for the predictions of a fit or of groups.
augmented <- function(x, newdata, se_fit, interval, level, type = "response") {
  predicted <- predict(x, newdata, se.fit = TRUE, interval = interval, level = level, type = type)
  ends <- interval == "confidence"
  added <- list(.fitted = if (ends) predicted$fit[, "fit"] else predicted$fit)
  if (ends) added[c(".lower", ".upper")] <- list(predicted$fit[, "lwr"], predicted$fit[, "upr"])
  if (se_fit) added$.se.fit <- predicted$se.fit
  kept <- as.list(newdata)[!names(newdata) %in% names(added)] # as broom, which writes over them
  tibble::as_tibble(c(kept, lapply(added, unname)))
}
