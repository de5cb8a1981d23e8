#' Parameters as the package parameters shows them
#'
#' A method for `model_parameters()`: one row for each coefficient, with z values.
#'
#' @param model A fit by [dp_ols()].
#' @param ci Confidence level.
#' @param exponentiate Whether to give the exponentials of the estimates and of the ends of the
#'   intervals. Standard errors stay as they are.
#' @param ... Refused.
#' @return A data frame of class `parameters_model`.
#' @name parameters
#' @examplesIf dpstats_available() && requireNamespace("parameters", quietly = TRUE)
#' d <- data.frame(x = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' parameters::model_parameters(dp_ols(y ~ x, d, method = "adassp", epsilon = 4, bounds = b))
NULL

#' @rdname parameters
#' @exportS3Method parameters::model_parameters
model_parameters.dp_ols <- function(model, ci = 0.95, exponentiate = FALSE, ...) {
  refuse_others("model_parameters", ...)
  rows <- tidy(model, conf.int = TRUE, conf.level = ci, exponentiate = exponentiate)
  table <- data.frame(
    Parameter = rows$term, Coefficient = rows$estimate, SE = rows$std.error, CI = ci,
    CI_low = rows$conf.low, CI_high = rows$conf.high, z = rows$statistic, df_error = Inf,
    p = rows$p.value
  )
  structure(
    table,
    class = c("parameters_model", "see_parameters_model", "data.frame"), ci = ci,
    exponentiate = exponentiate, coefficient_name = "Coefficient", model_class = class(model),
    pretty_names = stats::setNames(rows$term, rows$term), digits = 2, ci_digits = 2, p_digits = 3,
    no_caption = TRUE
  )
}
