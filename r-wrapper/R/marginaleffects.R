#' Slopes and comparisons by marginaleffects
#'
#' A method for the package marginaleffects, which takes slopes by predicting again at other
#' coefficients. It gives the line itself, as `lm` does: [predict()][predict.dp_ols] keeps to the
#' declared bounds of the response, where slopes would be 0. Give public values as `newdata`, for a
#' fit has no rows.
#'
#' @param model A fit by [dp_ols()].
#' @param newdata A data frame of public values.
#' @param type Of a logit or a Poisson regression `"response"`, probabilities or means, or `"link"`.
#' @param ... As marginaleffects passes them; not used.
#' @return A data frame with the columns `rowid` and `estimate`.
#' @name marginaleffects
NULL

#' @rdname marginaleffects
#' @exportS3Method marginaleffects::get_predict
get_predict.dp_ols <- function(model, newdata, ...) {
  model$limits$response <- NULL
  rows <- if (is.null(newdata$rowid)) seq_len(nrow(newdata)) else newdata$rowid
  data.frame(rowid = rows, estimate = unname(stats::predict(model, newdata)))
}
