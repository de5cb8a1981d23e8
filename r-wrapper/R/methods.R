# What lm's users ask of a fit, answered from what was released.

# `complete` is that of lm, whose coefficients may be NA; here there is one for each column.
#' @export
coef.dp_ols <- function(object, complete = TRUE, ...) {
  refuse_others("coef", ...)
  object$coefficients
}

#' @export
vcov.dp_ols <- function(object, complete = TRUE, ...) {
  refuse_others("vcov", ...)
  object$vcov
}

#' Residual degrees of freedom
#'
#' @param object A fit by [dp_ols()].
#' @param ... Refused.
#' @return `Inf`: tests and intervals are by normal and simulated distributions, not by Student's,
#'   and the number of rows may be private. Other packages then take z values. Of clustered fits
#'   the degrees of freedom of the clusters, by which [summary()], [confint()] and [anova()] go; `df.residual`
#'   of [glance()] is the number of rows less that of coefficients.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' df.residual(dp_ols(y ~ x, d, method = "noisy_stats", epsilon = 1, bounds = b))
#' @importFrom stats df.residual
#' @export
df.residual.dp_ols <- function(object, ...) {
  refuse_others("df.residual", ...)
  degrees_at(object$uncertainty, 1L)
}

#' @rdname df.residual.dp_ols
#' @param model,df,coef.,vcov. As `multcomp::glht()` passes them, whose law has whole degrees of freedom:
#'   those below the fit's.
#' @exportS3Method multcomp::modelparm
modelparm.dp_ols <- function(model, coef., vcov., df = NULL, ...) {
  if (is.null(df) && is.finite(df.residual(model))) df <- floor(df.residual(model))
  NextMethod(df = df)
}

#' @export
formula.dp_ols <- function(x, ...) {
  if (is.null(x$absorbed)) return(stats::formula(x$terms))
  if (is.null(x$instruments)) return(x$call$formula)
  found <- stats::formula(x$terms) # that of the call has two ~, of which others take the last
  found[[3L]] <- call("|", found[[3L]], as.name(x$absorbed))
  found
}

#' @export
terms.dp_ols <- function(x, ...) x$terms

#' Confidence intervals
#'
#' @param object A fit by [dp_ols()].
#' @param parm Names or numbers of coefficients; by default all.
#' @param level Confidence level, between 0 and 1.
#' @param ... Refused.
#' @return A matrix with a row for each coefficient and the columns `2.5 %` and `97.5 %`. The
#'   intervals contain the noise added for privacy. They are infinite where the release agrees
#'   with coefficients of any size, and `NA` where there is no valid interval; [summary()] says
#'   why.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' confint(dp_ols(y ~ x, d, method = "adassp", epsilon = 4, bounds = b))
#' @export
confint.dp_ols <- function(object, parm, level = 0.95, ...) {
  refuse_others("confint", ...)
  limits <- as.matrix(intervals(object, level))
  dimnames(limits) <- list(names(coef(object)), percent_of(level))
  if (missing(parm)) limits else limits[chosen_coefficients(limits, parm), , drop = FALSE]
}

# Names of the coefficients that `parm` names or numbers.
chosen_coefficients <- function(limits, parm) {
  if (!is.numeric(parm) && !is.character(parm)) {
    bad_argument("expected parm to be names or numbers of coefficients, got ", shown(parm))
  }
  names <- if (is.numeric(parm)) row.names(limits)[parm] else parm
  unknown <- !names %in% row.names(limits)
  if (any(unknown)) {
    bad_argument("there is no coefficient ", parm[unknown][1L], " to give an interval of; there ",
                 "are ", toString(row.names(limits)))
  }
  names
}

check_digits <- function(digits) {
  if (!is.numeric(digits) || length(digits) != 1L || !digits %in% 1:22) {
    bad_argument("expected digits to be a whole number from 1 to 22, got ", shown(digits))
  }
}

# Names of the ends of an interval, such as "2.5 %", as lm writes them.
percent_of <- function(level) {
  ends <- c(1 - level, 1 + level) / 2
  paste(format(100 * ends, trim = TRUE, scientific = FALSE, digits = 3), "%")
}

# Intervals of 95% come with the fit; others are computed.
intervals <- function(object, level) {
  check_level(level)
  if (level == 0.95) return(object$table[c("conf.low", "conf.high")])
  intervals_of(object$uncertainty, diag(length(object$coefficients)), level)
}

check_level <- function(level) {
  if (!is.numeric(level) || length(level) != 1L || is.na(level) || level <= 0 || level >= 1) {
    bad_argument("expected level between 0 and 1, got ", shown(level))
  }
}

#' @export
print.dp_ols <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_digits(digits)
  cat_heading(x)
  print(format(coef(x), digits = digits), quote = FALSE)
  if (x$status != "ok") cat("\nStatus ", x$status, ": see summary()\n", sep = "")
  cat("\nmethod ", x$method, ", ", privacy_line(x$privacy), "\n", sep = "")
  invisible(x)
}

# The call, and the group that the fit is of.
cat_heading <- function(x) {
  cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), if (!is.null(x$group)) paste("\n\nGroup:", x$group),
      "\n\nCoefficients:\n", sep = "")
}

privacy_line <- function(privacy) {
  if (!privacy$private) return("NOT private: made under with_insecure_seed()")
  paste0("epsilon = ", format(privacy$epsilon), ", delta = ", format(privacy$delta))
}

#' Summary of a private regression
#'
#' @param object A fit by [dp_ols()].
#' @param x A summary.
#' @param digits Significant digits.
#' @param ... Passed to [stats::printCoefmat()] by `print()`; refused by `summary()`.
#' @return A list with `coefficients` (a matrix as for `lm`, with z values, and of clustered fits t values), `r.squared`,
#'   `adj.r.squared`, `sigma` and `df` as for `lm`, as far as they follow from what was released (but
#'   R-squared of `y ~ g - 1`, whose columns add up to an intercept, is that with one, not about zero),
#'   `predictions`, `privacy` and `notes`: why something is `NA`, and what the guarantee assumes.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' summary(dp_ols(y ~ x, d, method = "adassp", epsilon = 4, bounds = b))
#' @export
summary.dp_ols <- function(object, ...) {
  refuse_others("summary", ...)
  coefficients <- as.matrix(object$table[1:4])
  law <- if (is.finite(df.residual(object))) "t" else "z"
  colnames(coefficients) <- c("Estimate", "Std. Error", paste(law, "value"), paste0("Pr(>|", law, "|)"))
  selected <- if (length(object$selected)) paste("selected:", toString(object$selected))
  figures <- glance.dp_ols(object)
  structure(
    c(
      unclass(object)[c("call", "method", "status", "cov_type", "predictions", "privacy")],
      list(
        group = object$group, coefficients = coefficients, nobs = nobs.dp_ols(object), r.squared = figures$r.squared,
        adj.r.squared = figures$adj.r.squared, sigma = figures$sigma,
        df = c(nrow(coefficients), figures$df.residual, nrow(coefficients)),
        fit_statistics = object$fit_statistics,
        notes = c(
          sprintf("NA, Inf: %s", as.character(unique(unlist(object$reasons)))),
          object$method_report[nzchar(object$method_report)], selected, object$notes,
          object$privacy$guarantee, object$privacy$assumptions
        )
      )
    ),
    class = "summary.dp_ols"
  )
}

#' @rdname summary.dp_ols
#' @export
print.summary.dp_ols <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_digits(digits)
  cat_heading(x)
  stats::printCoefmat(x$coefficients, digits = digits, na.print = "NA", ...)
  if (nrow(x$predictions)) {
    cat("\nPredictions:\n")
    print(x$predictions, digits = digits)
  }
  cat(
    "\nMethod ", x$method, errors_line(x, x$coefficients[, 2L]), ", status ", x$status, ", ",
    if (nzchar(x$privacy$unit)) paste("number of", x$privacy$unit) else "rows", ": ", rows_line(x), "\n",
    squared_line(x$fit_statistics), privacy_line(x$privacy), "\n\n", sep = ""
  )
  print_steps(x$privacy$steps)
  print_notes(x$notes)
  invisible(x)
}

# The number of rows or persons, with the standard error of its noise where it is private.
rows_line <- function(x) {
  if (is.na(x$nobs)) return("private")
  error <- x$fit_statistics["nobs", "std.error"]
  paste0(x$nobs, if (!is.na(error) && error > 0) sprintf(" (%.0f)", error))
}

squared_line <- function(figures) {
  if (is.na(figures["rsquared", "estimate"])) return(NULL)
  error <- figures["rsquared", "std.error"]
  paste0(
    "R-squared: ", sprintf("%.3f", figures["rsquared", "estimate"]),
    if (!is.na(error)) sprintf(" (%.2g)", error),
    ", adjusted: ", sprintf("%.3f", figures["rsquared_adj", "estimate"]),
    ", residual standard error: ", sprintf("%.4g", sqrt(figures["scale", "estimate"])), "\n"
  )
}

# What the standard errors are robust against, where there are any.
errors_line <- function(x, errors) {
  if (any(is.finite(errors))) paste0(", standard errors: ", x$cov_type)
}

print_steps <- function(steps) {
  steps$share <- sprintf("%.1f%%", 100 * steps$share)
  print(format(steps, digits = 4L), row.names = FALSE)
}

# Notes are at most as wide as the terminal.
note_width <- function() min(78L, getOption("width"))

print_notes <- function(notes) {
  numbered <- paste0("[", seq_along(notes), "] ", notes)
  cat("\n", paste(strwrap(numbered, note_width(), exdent = 4L), collapse = "\n"), "\n", sep = "")
}

#' Error that is rarely exceeded
#'
#' How far a release is likely to be from least squares on the same rows, simulated from what was
#' released: the error of the noise, not that of sampling, which [confint()] contains. It costs
#' nothing.
#'
#' @param object A fit by [dp_ols()].
#' @param q Percentile of the absolute error, between 0 and 100.
#' @param reference A data frame of public rows that resemble the private ones, for methods that
#'   release too little about them: all but noisy_moments, adassp, ssp and noisy_newton.
#' @return A named vector: a bound for each coefficient and prediction.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' fit <- dp_ols(y ~ x, d, method = "noisy_moments", epsilon = 4, bounds = b)
#' try(dp_error_bound(fit)) # an error where the method releases too little
#' @export
dp_error_bound <- function(object, q = 68, reference = NULL) {
  if (!inherits(object, "dp_ols")) bad_argument("expected object to be a fit by dp_ols()")
  refuse_group(object, "dp_error_bound()", "confint() holds the error of the noise and of sampling")
  if (is.null(q)) bad_argument("argument q is NULL")
  if (!is.null(reference)) {
    if (!is.data.frame(reference)) bad_argument("expected reference to be a data frame, got ", class(reference)[1L])
    check_data(reference)
    reference <- bridge_columns(used_columns(stats::formula(object), reference, NULL))
  }
  value <- ask("error_bound", list(state = object$state, q = q, reference = reference))
  stats::setNames(numbers(value$bound), strings(value$names))
}
