# What differs between a fit with a link and a linear regression, as between glm and lm.

#' Predictions of a generalised linear model
#'
#' On the scale of the link or of the response, at public values, from released coefficients, so they
#' cost no budget: log odds or probabilities of a logit, log means or means of a Poisson regression.
#' There are none at the rows of the fit, which are confidential.
#'
#' @inheritParams predict.dp_ols
#' @param object A fit by [dp_logit()] or [dp_poisson()], or the [groups] of one: each row of
#'   `newdata` is then predicted by the fit of its group.
#' @param type `"link"`, as for `glm`, or `"response"`, probabilities or means: ends of their intervals
#'   are those of the link, within declared bounds of the response, and standard errors are by the
#'   delta method.
#' @param offset,exposure Numbers, one or one for each row of `newdata`: an offset is added to the
#'   predictor of the link, and so is the logarithm of an exposure of a Poisson regression. They are public.
#'   By default they are the column of `newdata` that the fit has as its offset or exposure, as for
#'   `glm`, and where there is none an offset of 0 and an exposure of 1.
#' @return Predictions, one for each row of `newdata`; with `interval` a matrix with the columns
#'   `fit`, `lwr` and `upr`; with `se.fit` a list of these as `fit` and of `se.fit`.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(5000))
#' d$y <- runif(5000) < plogis(2 * d$x - 1)
#' fit <- dp_logit(y ~ x, d, epsilon = 4)
#' predict(fit, data.frame(x = c(0.25, 0.75)), type = "response", interval = "confidence")
#' @export
predict.dp_glm <- function(object, newdata, se.fit = FALSE, interval = c("none", "confidence"),
                           level = 0.95, type = c("link", "response"), offset = NULL,
                           exposure = NULL, ...) {
  refuse_others("predict", ...)
  if (missing(newdata)) newdata <- NULL
  type <- prediction_scale(type)
  interval <- prediction_options(newdata, se.fit, interval, level)
  X <- design_at(object, newdata)
  added <- public_offset(object, newdata, offset, exposure)
  fit <- stats::setNames(as.vector(X %*% coef(object)) + added, row.names(X))
  errors <- uncertainty_at(object, X, level)
  means <- function(fit) clipped(families[[object$family]]$mean(fit), object$limits$response)
  linked(object, fit, added, errors, type, se.fit, interval, means)
}

# Predictions on the scale of the link or, by `means`, of the response, from those of the link with
# offsets `added`, and errors and intervals without.
linked <- function(object, fit, added, errors, type, se.fit, interval, means) {
  ends <- c("conf.low", "conf.high")
  errors[ends] <- lapply(errors[ends], `+`, added)
  if (type == "link") return(as_predicted(fit, se.fit, interval, errors, NULL))
  its <- families[[object$family]]
  errors[ends] <- lapply(errors[ends], its$mean)
  errors$std.error <- errors$std.error * its$slope(fit)
  as_predicted(means(fit), se.fit, interval, errors, object$limits$declared)
}

#' @rdname predict.dp_glm
#' @export
predict.dp_glm_groups <- function(object, newdata, se.fit = FALSE, interval = c("none", "confidence"),
                                  level = 0.95, type = c("link", "response"), offset = NULL,
                                  exposure = NULL, ...) {
  refuse_others("predict", ...)
  if (missing(newdata)) newdata <- NULL
  type <- prediction_scale(type)
  interval <- prediction_options(newdata, se.fit, interval, level)
  X <- design_at(object, newdata)
  at <- groups_of_rows(object, newdata)
  added <- public_offset(object, newdata, offset, exposure)
  fit <- rowSums(X * object$estimates[at, object$coefficients, drop = FALSE]) + added
  fit <- stats::setNames(fit, row.names(X))
  means <- function(fit) within_ends(families[[object$family]]$mean(fit), object$limits$response, at)
  linked(object, fit, added, uncertainty_at(object, X, level, at), type, se.fit, interval, means)
}

# What an offset and the logarithm of an exposure add to the predictors of new data: those that are
# given, or else the columns that the fit has.
public_offset <- function(object, newdata, offset, exposure) {
  if (!is.null(exposure) && object$family != "poisson") {
    bad_argument("a logit predicts without exposure; leave it out")
  }
  given <- Filter(Negate(is.null), list(offset = offset, exposure = exposure))
  columns <- list()
  if (!length(given)) {
    columns <- Filter(function(column) column %in% names(newdata), object$offset)
    given <- lapply(columns, function(column) newdata[[column]])
  }
  for (name in names(given)) {
    numbers <- given[[name]]
    refuse_integer64(numbers, name)
    usable <- is.numeric(numbers) && length(numbers) %in% c(1L, nrow(newdata)) && !any(is.infinite(numbers))
    if (!usable || name == "exposure" && any(numbers <= 0, na.rm = TRUE)) {
      column <- if (!is.null(columns[[name]])) paste0(", the column ", columns[[name]], " of newdata,")
      bad_argument("expected ", name, column, " to be ", if (name == "exposure") "a positive" else "a",
                   " finite number, or one for each of the ", nrow(newdata), " rows of newdata")
    }
  }
  added <- as.vector(if (is.null(given$offset)) 0 else given$offset)
  if (is.null(given$exposure)) added else added + log(as.vector(given$exposure))
}

# The first choice is the default, as for match.arg().
prediction_scale <- function(type) {
  choices <- c("link", "response")
  if (identical(type, choices)) return("link")
  check_type(type, choices)
  type
}

#' @rdname broom
#' @param type.predict Of a logit or a Poisson regression `"link"`, as broom has it for `glm`, or
#'   `"response"`, probabilities or means.
#' @exportS3Method generics::augment dp_glm
augment.dp_glm <- function(x, newdata, se_fit = TRUE, interval = c("none", "confidence"),
                           conf.level = 0.95, type.predict = c("link", "response"), ...) {
  if (missing(newdata)) newdata <- NULL
  check_augmented(newdata, se_fit)
  refuse_others("augment", ...)
  type <- prediction_scale(type.predict)
  augmented(x, newdata, se_fit, chosen_interval(interval), conf.level, type)
}

#' @rdname broom
#' @exportS3Method generics::augment dp_glm_groups
augment.dp_glm_groups <- augment.dp_glm

#' @rdname broom
#' @exportS3Method generics::glance dp_glm
glance.dp_glm <- function(x, ...) {
  row <- glance.dp_ols(x, ...)
  row <- row[setdiff(names(row), c("r.squared", "adj.r.squared", "sigma", "df.residual"))]
  figures <- x$fit_statistics
  if (!"prsquared" %in% rownames(figures)) return(row)
  tibble::add_column(row, pseudo.r.squared = figures["prsquared", "estimate"], .before = 1L)
}

# What fits of least squares have, and others do not.
figures_of_fit <- c("rsquared", "rsquared_adj", "scale")

#' @rdname summary.dp_ols
#' @export
summary.dp_glm <- function(object, ...) {
  object$reasons[figures_of_fit] <- NULL # there are none to miss
  found <- summary.dp_ols(object, ...)
  kept <- setdiff(names(found), c("r.squared", "adj.r.squared", "sigma", "df"))
  structure(unclass(found)[kept], class = class(found))
}

#' @rdname kind
#' @export
family.dp_glm <- function(object, ...) get(object$family, asNamespace("stats"))()

#' @rdname kind
#' @export
family.dp_glm_groups <- family.dp_glm

#' @rdname marginaleffects
#' @exportS3Method marginaleffects::get_predict
get_predict.dp_glm <- function(model, newdata, type = "response", ...) {
  rows <- if (is.null(newdata$rowid)) seq_len(nrow(newdata)) else newdata$rowid
  data.frame(rowid = rows, estimate = unname(stats::predict(model, newdata, type = type)))
}

#' @rdname parameters
#' @exportS3Method performance::model_performance
model_performance.dp_glm <- function(model, ...) {
  found <- model_performance.dp_ols(model, ...)
  structure(found[c("Epsilon", "Delta")], class = class(found))
}

#' Average marginal effects
#'
#' How far the probability of a logit, or the mean of a Poisson regression, moves with each column, on
#' average over the rows: a coefficient times the mean of `p (1 - p)`, or of the response, which was
#' released with the fit, so this costs nothing. Every column counts as continuous, an indicator or a
#' power too. Standard errors are by the delta method, privacy noise
#' included, for the regressors of these rows.
#'
#' @param object A fit by [dp_logit()], or by [dp_poisson()] with an intercept; the [groups] of one, or
#'   [one of them][group].
#' @param level Confidence level of the intervals.
#' @return A tibble with one row for each column but the intercept, of groups one for each of these
#'   and each group, whose columns come first: `term`, `estimate`, `std.error`,
#'   `statistic`, `p.value`, `conf.low` and `conf.high`; intervals are infinite, and errors `NA`, where the
#'   coefficient has no interval.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(5000))
#' d$y <- runif(5000) < plogis(2 * d$x - 1)
#' dp_margins(dp_logit(y ~ x, d, epsilon = 4))
#' @export
dp_margins <- function(object, level = 0.95) {
  if (!inherits(object, c("dp_glm", "dp_glm_groups"))) {
    linear <- "; the marginal effects of a linear regression are its coefficients"
    bad_argument("expected object to be a fit by dp_logit() or dp_poisson()",
                 if (inherits(object, c("dp_ols", "dp_ols_groups"))) linear)
  }
  check_level(level)
  places <- if (!is.null(object$place)) as.list(object$place)
  value <- ask("margins", list(state = object$state, level = level, places = places))
  columns <- list(
    term = strings(value$names), estimate = numbers(value$estimate),
    std.error = numbers(value$std_error), statistic = numbers(value$statistic),
    p.value = numbers(value$p_value), conf.low = numbers(value$lower),
    conf.high = numbers(value$upper)
  )
  each <- rep(seq_along(places), each = length(columns$term) / max(length(places), 1L))
  labels <- lapply(object$groups, function(column) column[each])
  tibble::as_tibble(c(labels, columns))
}
