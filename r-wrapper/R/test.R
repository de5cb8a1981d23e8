#' Test linear hypotheses
#'
#' `dp_test()` tests hypotheses about coefficients one by one, `dp_joint_test()` all together.
#' The tests allow for the noise added for privacy, and cost nothing.
#'
#' One hypothesis alone is tested jointly as it is by itself. Several are by simulation in Python under
#' the fit that obeys them (Alabi and Vadhan 2022, Hypothesis testing for differentially private linear
#' regression, NeurIPS), with a fixed seed: the smallest p-value is then 1/5000. Fits without sums to
#' simulate from, as of the default or with factors, are tested by the normal law, clustered ones by F
#' with [df.residual()] below. `car::linearHypothesis(fit, test = "Chisq")` takes the noise for normal
#' always.
#'
#' @param object A fit by [dp_ols()], for `dp_test()` also [one of its groups][group].
#' @param hypotheses Equations such as `"x1 = x2"` or `c("x1 + x2 = 1", "x3 = 0")`, or a matrix with
#'   a row of weights for each combination of coefficients that is 0.
#' @param level Confidence level of the intervals.
#' @return `dp_test()`: a tibble with one row for each hypothesis, with the coefficients moved to
#'   its left side: `hypothesis`, `estimate` and `std.error` of that side, `statistic`, `p.value`,
#'   `conf.low` and `conf.high`; `NA` where the fit has no standard errors. `dp_joint_test()`: an
#'   object of class `htest`, whose method says why the p-value is `NA`, or an error of class
#'   `dpstats_not_released_error` that says why there is none.
#' @examplesIf dpstats_available()
#' d <- data.frame(a = runif(5000), b = runif(5000))
#' d$y <- (d$a + d$b) / 2
#' bounds <- list(a = c(0, 1), b = c(0, 1), y = c(0, 1))
#' fit <- dp_ols(y ~ a + b, d, method = "adassp", epsilon = 4, bounds = bounds)
#' dp_test(fit, "a = b")
#' dp_joint_test(fit, c("a = 0", "b = 0"))
#' @export
dp_test <- function(object, hypotheses, level = 0.95) {
  check_level(level)
  H <- linear_hypotheses(object, hypotheses)
  estimate <- as.vector(H$weights %*% object$uncertainty$params[1L, ])
  error <- errors_of(object$uncertainty, H$weights)
  ends <- intervals_of(object$uncertainty, H$weights, level)
  tibble::tibble(
    hypothesis = H$text, estimate = estimate, std.error = error,
    statistic = (estimate - H$values) / error,
    p.value = p_values_of(object$uncertainty, H$weights, H$values),
    conf.low = ends$conf.low, conf.high = ends$conf.high
  )
}

#' @rdname dp_test
#' @export
dp_joint_test <- function(object, hypotheses) {
  H <- linear_hypotheses(object, hypotheses)
  refuse_dependent(H)
  value <- if (nrow(H$weights) > 1L) simulated_test(object, H) else single_test(object, hypotheses)
  structure(
    list(
      statistic = c(F = numbers(value$statistic)), parameter = c("num df" = value$df),
      p.value = numbers(value$p_value),
      method = paste(c("Joint test of linear hypotheses",
                       if (length(value$reasons)) paste("NA:", value$reasons)), collapse = "; "),
      data.name = paste(H$text, collapse = ", ")
    ),
    class = "htest"
  )
}

single_test <- function(object, hypothesis) {
  test <- dp_test(object, hypothesis)
  reason <- object$reasons$bse
  list(statistic = test$statistic^2, df = 1, p_value = test$p.value,
       reasons = if (is.na(test$std.error)) reason)
}

# By simulation in Python, whose generator R does not have.
simulated_test <- function(object, H) {
  refuse_group(object, "dp_joint_test() of several hypotheses", "car::linearHypothesis() takes the noise for normal")
  value <- ask("f_test", list(state = object$state, hypotheses = as.list(exact_texts(H, names(object$coefficients)))))
  value$reasons <- strings(value$reasons)
  value
}

#' Coefficients of raw powers
#'
#' Convert the coefficients of `poly(x, k)` to those of `x`, `x^2` and so on. The polynomials are
#' Legendre's on the public range of `x`, so this is a public linear map, which costs nothing.
#'
#' @param object A fit by [dp_ols()].
#' @param variable The name of a column of which the formula holds one `poly()`, outside of products.
#' @param level Confidence level of the intervals.
#' @return A tibble with one row for the intercept, which takes up the polynomial's constant, and
#'   for each power: `term`, `estimate`, `std.error`, `conf.low` and `conf.high`.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(5000))
#' d$y <- d$x - d$x^2 / 2
#' fit <- dp_ols(y ~ poly(x, 2), d, method = "adassp", epsilon = 4,
#'               bounds = list(x = c(0, 1), y = c(0, 1)))
#' dp_raw_powers(fit, "x")
#' @export
dp_raw_powers <- function(object, variable, level = 0.95) {
  check_level(level)
  if (!inherits(object, "dp_ols")) bad_argument("expected object to be a fit by dp_ols()")
  refuse_group(object, "dp_raw_powers()", "write poly(x, k, raw = TRUE), whose coefficients are of raw powers")
  if (!is.character(variable) || length(variable) != 1L || is.na(variable)) {
    bad_argument("expected variable to be the name of a column")
  }
  value <- ask("raw_powers", list(state = object$state, variable = variable, level = level))
  higher <- seq_len(value$powers)[-1L]
  tibble::tibble(
    term = c("(Intercept)", variable, if (length(higher)) paste0("I(", variable, "^", higher, ")")),
    estimate = numbers(value$estimate), std.error = numbers(value$std_error),
    conf.low = numbers(value$lower), conf.high = numbers(value$upper)
  )
}
