#' Tidy a private regression
#'
#' `tidy()` gives one row a coefficient, `glance()` one row a fit, and `augment()` adds
#' predictions to new data, as in the package broom; modelsummary builds its tables of them.
#'
#' @param x A fit by [dp_ols()].
#' @param conf.int Whether to add confidence intervals.
#' @param conf.level Their level.
#' @param newdata A data frame of public values.
#' @param ... Not used.
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
tidy.dp_ols <- function(x, conf.int = FALSE, conf.level = 0.95, ...) {
  columns <- x$table[c("estimate", "std.error", "statistic", "p.value")]
  if (conf.int) columns[c("conf.low", "conf.high")] <- intervals(x, conf.level)
  row.names(columns) <- NULL
  tibble::as_tibble(c(list(term = names(coef(x))), columns))
}

#' @rdname broom
#' @exportS3Method generics::glance dp_ols
glance.dp_ols <- function(x, ...) {
  tibble::tibble(
    nobs = as.integer(x$nobs), epsilon = x$privacy$epsilon, delta = x$privacy$delta,
    method = x$method, neighbors = x$privacy$neighbors, status = x$status,
    private = x$privacy$private
  )
}

#' @rdname broom
#' @exportS3Method generics::augment dp_ols
augment.dp_ols <- function(x, newdata, ...) {
  if (missing(newdata)) not_released("fitted values", "augment(fit, newdata = )")
  predicted <- predict(x, newdata, se.fit = TRUE)
  tibble::as_tibble(
    c(as.list(newdata), list(.fitted = unname(predicted$fit), .se.fit = unname(predicted$se.fit)))
  )
}
