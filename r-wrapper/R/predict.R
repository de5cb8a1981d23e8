#' Predictions at new data
#'
#' Computed from released coefficients at public values, so they cost no budget. There are no
#' predictions at the rows of the fit, which are confidential. Those of `y ~ x | state` are `NA`, as
#' fixest's are for a group whose effect it does not know: absorbed effects are not released.
#'
#' A prediction beyond the declared bounds of the response is the bound, and so are finite ends of
#' intervals; standard errors are those of the line. Predictions of the default end, beside that, where the
#' response is seen to, within 2 to 5 standard deviations of its mean, and intervals of the line that do not
#' reach to there are extended to the prediction. For the line itself multiply [model.matrix()][kind] by
#' [coef()]. With a method that clips regressors, as the default does, both take a value beyond the
#' declared bounds of a column for the nearest bound, as the fit took those of the rows.
#'
#' @param object A fit by [dp_ols()].
#' @param newdata A data frame with a column for each variable right of `~`.
#' @param se.fit Whether to return standard errors too.
#' @param interval `"none"` or `"confidence"`. There is no `"prediction"`, the interval of a single
#'   row's response.
#' @param level Confidence level of the interval.
#' @param type `"response"`. There is no `"terms"`, for `lm` centres terms at the means of the rows.
#' @param ... Refused.
#' @return Predictions, one for each row of `newdata`; with `interval` a matrix with the columns
#'   `fit`, `lwr` and `upr`; with `se.fit` a list of these as `fit` and of `se.fit`.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' fit <- dp_ols(y ~ x, d, method = "adassp", epsilon = 4, bounds = b)
#' predict(fit, data.frame(x = c(0.25, 0.75)), interval = "confidence")
#' @export
predict.dp_ols <- function(object, newdata, se.fit = FALSE, interval = c("none", "confidence"),
                           level = 0.95, type = "response", ...) {
  refuse_others("predict", ...)
  if (missing(newdata)) newdata <- NULL
  check_type(type)
  interval <- prediction_options(newdata, se.fit, interval, level)
  X <- clipped_rows(object, design_at(object, newdata))
  fit <- clipped(as.vector(X %*% coef(object)), object$limits$response)
  if (!is.null(object$absorbed)) fit[] <- NA_real_
  fit <- stats::setNames(fit, row.names(X))
  as_predicted(fit, se.fit, interval, uncertainty_at(object, X, level), object$limits$declared)
}

# Check the arguments of predict(); returns the kind of interval.
prediction_options <- function(newdata, se.fit, interval, level) {
  check_flags(se.fit = se.fit)
  interval <- chosen_interval(interval)
  check_level(level)
  if (is.null(newdata)) {
    not_released("predictions at the rows of the fit", "predict(fit, newdata)")
  }
  interval
}

# Predictions in the shape of predict.lm(); `errors` are computed only where they are asked for.
as_predicted <- function(fit, se.fit, interval, errors, declared) {
  rows <- names(fit)
  if (interval == "confidence") {
    ends <- held(errors$conf.low, errors$conf.high, declared, fit)
    fit <- cbind(fit = fit, lwr = ends$conf.low, upr = ends$conf.high)
  }
  if (!se.fit) return(fit)
  list(fit = fit, se.fit = stats::setNames(errors$std.error, rows))
}

# Ends of intervals within the declared bounds of the response, where infinite ones stay, and around
# the predictions, some of which were moved to where the response is seen.
held <- function(low, high, declared, fit) {
  within <- function(ends) ifelse(is.infinite(ends), ends, clipped(ends, declared))
  list(conf.low = pmin(within(low), fit), conf.high = pmax(within(high), fit))
}

# The first choice is the default, as for match.arg().
chosen_interval <- function(interval) {
  choices <- c("none", "confidence")
  if (identical(interval, "prediction")) {
    bad_argument("interval = \"prediction\" needs the variance of single responses, which is not ",
                 "released; use interval = \"confidence\"")
  }
  if (!is.character(interval) || !interval[1L] %in% choices) {
    bad_argument("expected interval to be \"none\" or \"confidence\", got ", shown(interval))
  }
  interval[1L]
}

check_type <- function(type, known = "response") {
  if (identical(type, "terms")) {
    bad_argument("type = \"terms\" centres each term at its mean over the rows, which are ",
                 "confidential; multiply coef() by public values of the terms")
  }
  if (!is.character(type) || length(type) != 1L || !type %in% known) {
    bad_argument("expected type to be ", paste0("\"", known, "\"", collapse = " or "), ", got ",
                 shown(type))
  }
}

# A method that clipped the rows it fitted clips those of predictions too.
clipped_rows <- function(object, X) {
  limits <- object$limits
  if (length(limits$low)) X[] <- t(pmin(pmax(t(X), limits$low), limits$high))
  X
}

# `coefficients` are numbers with names in a fit, and the names in groups.
coefficient_names <- function(object) {
  if (is.character(object$coefficients)) object$coefficients else names(object$coefficients)
}

# Values no farther out than the ends of a range, if there is one.
clipped <- function(values, ends) {
  if (length(ends)) pmin(pmax(values, ends[1L]), ends[2L]) else values
}

# Standard errors and intervals at design rows, each of the fit of one group; NA where a value is
# missing.
uncertainty_at <- function(object, X, level, at = rep(1L, nrow(X))) {
  known <- stats::complete.cases(X) & is.null(object$absorbed)
  errors <- matrix(NA_real_, nrow(X), 3L,
                   dimnames = list(NULL, c("std.error", "conf.low", "conf.high")))
  if (any(known)) {
    at <- at[known] # before X, of whose rows it counts all
    X <- X[known, , drop = FALSE]
    ends <- intervals_of(object$uncertainty, X, level, at)
    errors[known, ] <- cbind(errors_of(object$uncertainty, X, at), as.matrix(ends))
  }
  as.data.frame(errors)
}

# The design at public values, with the columns of the coefficients. Synthetic rows with every
# level stand above newdata, for factor() drops the levels it does not see.
design_at <- function(object, newdata) {
  right <- right_side(object)
  columns <- declared_columns(object, newdata)
  # model.frame() gives no row where there is no variable
  if (!length(columns)) {
    return(matrix(1, nrow(newdata), 1L, dimnames = list(row.names(newdata), "(Intercept)")))
  }
  above <- public_frame(object$schema)[names(columns)]
  frame <- suppressWarnings(
    stats::model.frame(right, rbind(above, columns), na.action = stats::na.pass)
  )
  X <- stats::model.matrix(right, frame, contrasts.arg = object$contrasts)
  X <- X[nrow(above) + seq_len(nrow(columns)), , drop = FALSE]
  colnames(X) <- named_as_fixest(colnames(X), right, object$schema)
  if (!is.null(object$absorbed)) X <- X[, colnames(X) != "(Intercept)", drop = FALSE]
  if (!identical(colnames(X), coefficient_names(object))) {
    fail("dpstats_internal_error", "newdata gives other columns than the fit has")
  }
  row.names(X) <- row.names(newdata)
  X
}

# Each variable from newdata, never from the workspace, with the declared levels.
declared_columns <- function(object, newdata) {
  if (!is.data.frame(newdata)) bad_argument("expected newdata to be a data frame")
  names <- formula_variables(stats::delete.response(object$terms))
  absent <- setdiff(names, names(newdata))
  if (length(absent)) bad_argument("newdata has no column '", absent[1L], "'")
  check_distinct(names(newdata)[names(newdata) %in% names], "newdata")
  check_dates(newdata, names, object$dates, "newdata")
  columns <- lapply(names, function(name) {
    values <- newdata[[name]]
    if (length(values) != nrow(newdata)) {
      bad_argument("expected column '", name, "' of newdata to be one column, got ", class(values)[1L])
    }
    values <- declared(values, object$schema[[name]], name, name %in% object$dates)
    clipped(values, object$clipping[[name]])
  })
  names(columns) <- names
  structure(columns, class = "data.frame", row.names = seq_len(nrow(newdata)))
}

declared <- function(values, entry, name, is_date) {
  refuse_integer64(values, paste0("column '", name, "' of newdata"))
  if (is.null(entry$levels)) {
    if (!is.numeric(values) && !inherits(values, "Date")) {
      bad_argument("expected column '", name, "' of newdata to be ",
                   if (is_date) "of class Date, as of as.Date(), or ", "numeric, got ", class(values)[1L])
    }
    infinite <- values[is.infinite(values)]
    if (length(infinite)) {
      bad_argument("column '", name, "' of newdata holds ", infinite[1L], "; expected finite numbers")
    }
    return(as.numeric(values))
  }
  coded <- as_declared(values, entry)
  unknown <- unique(values[is.na(coded) & !is.na(values)])
  if (length(unknown)) {
    bad_argument("column '", name, "' of newdata: ", unknown[1L], " is not a level; expected one ",
                 "of ", toString(entry$levels))
  }
  coded
}
