#' Tables and figures of easystats
#'
#' Methods for the packages parameters, performance and insight, which modelsummary asks first.
#' `model_parameters()` gives one row for each coefficient, with z values, or t values of clustered fits, and
#' `model_performance()` one row: R-squared and the residual standard error as far as they follow
#' from what was released, as in [glance()][broom], and the guarantee. `find_statistic()` tells which
#' tests are by, `get_df()` gives [df.residual()], and `get_varcov()` gives [vcov()].
#'
#' @param model,x A fit by [dp_ols()].
#' @param ci Confidence level, or `NULL` for no intervals.
#' @param type `"model"` for the number of coefficients.
#' @param exponentiate Whether to give the exponentials of the estimates and of the ends of the
#'   intervals. Standard errors stay as they are.
#' @param digits,ci_digits,p_digits Digits of coefficients, intervals and p-values in print.
#' @param ... What these packages pass to every kind of fit: it is left aside, unless it asks for
#'   other numbers, such as `vcov = "HC1"`, which is refused.
#' @return A data frame of class `parameters_model` or `performance_model`; a text; a number; a matrix.
#' @name parameters
#' @examplesIf dpstats_available() && requireNamespace("parameters", quietly = TRUE)
#' d <- data.frame(x = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' parameters::model_parameters(dp_ols(y ~ x, d, method = "adassp", epsilon = 4, bounds = b))
NULL

#' @rdname parameters
#' @exportS3Method parameters::model_parameters
model_parameters.dp_ols <- function(model, ci = 0.95, exponentiate = FALSE, digits = 2,
                                    ci_digits = digits, p_digits = 3, ...) {
  leave_aside("model_parameters", vcov(model), ...)
  level <- if (is.null(ci)) 0.95 else ci
  rows <- tidy(model, conf.int = TRUE, conf.level = level, exponentiate = exponentiate)
  table <- data.frame(
    Parameter = rows$term, Coefficient = rows$estimate, SE = rows$std.error, CI = level,
    CI_low = rows$conf.low, CI_high = rows$conf.high, z = rows$statistic, df_error = df.residual(model),
    p = rows$p.value
  )
  if (is.finite(df.residual(model))) names(table)[names(table) == "z"] <- "t"
  if (is.null(ci)) table[c("CI", "CI_low", "CI_high")] <- NULL
  labels <- stats::setNames(rows$term, rows$term)
  structure(
    table,
    class = c("parameters_model", "see_parameters_model", "data.frame"), ci = ci,
    exponentiate = exponentiate, coefficient_name = "Coefficient", model_class = class(model),
    pretty_names = labels, pretty_labels = labels, digits = digits, ci_digits = ci_digits,
    p_digits = p_digits, no_caption = TRUE
  )
}

#' @rdname parameters
#' @exportS3Method performance::model_performance
model_performance.dp_ols <- function(model, ...) {
  leave_aside("model_performance", vcov(model), ...)
  row <- glance.dp_ols(model) # those of a link and of instruments have no R-squared
  table <- data.frame(
    R2 = row$r.squared, R2_adjusted = row$adj.r.squared, Sigma = row$sigma,
    Epsilon = row$epsilon, Delta = row$delta
  )
  structure(table, class = c("performance_model", "data.frame"))
}

#' @rdname parameters
#' @exportS3Method insight::find_statistic
find_statistic.dp_ols <- function(x, ...) {
  if (is.finite(df.residual(x))) "t-statistic" else "z-statistic"
}

#' @rdname parameters
#' @exportS3Method insight::get_df
get_df.dp_ols <- function(x, type = "residual", ...) {
  if (type == "model") length(coef(x)) else df.residual(x)
}

#' @rdname parameters
#' @exportS3Method insight::get_varcov
get_varcov.dp_ols <- function(x, ...) {
  leave_aside("get_varcov", vcov(x), ...)
  vcov(x)
}
