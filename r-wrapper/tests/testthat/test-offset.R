exposed <- function(n = 20000) {
  set.seed(23)
  d <- data.frame(age = runif(n, 20, 65), years = exp(rnorm(n, 0, 0.5)), z = rnorm(n, 1))
  d$visits <- rpois(n, d$years * exp(0.2 + 0.02 * d$age))
  d$smoker <- runif(n) < plogis(1 - 0.05 * d$age + d$z)
  d
}

fit_rate <- function(...) with_insecure_seed(3, dp_poisson(..., data = exposed(), epsilon = 1e6))

test_that("offsets and exposures give glm's coefficients as epsilon grows, however they are written", {
  skip_without_python()
  d <- exposed()
  reference <- glm(visits ~ age + offset(log(years)), poisson, d)
  fits <- list(
    fit_rate(visits ~ age + offset(log(years))), fit_rate(visits ~ stats::offset(log(years)) + age),
    fit_rate(visits ~ age, exposure = years), fit_rate(visits ~ age, exposure = "years"),
    fit_rate(visits ~ age, offset = log(years))
  )
  for (fit in fits) {
    expect_identical(coef(fit), coef(fits[[1L]]))
    expect_lt(max(abs(coef(fit) - coef(reference))), 1e-4)
  }
  d$l <- log(d$years)
  same <- with_insecure_seed(3, dp_glm(visits ~ age + offset(l), poisson, d, epsilon = 1e6))
  expect_lt(max(abs(coef(same) - coef(reference))), 1e-4)
  expect_equal(predict(same, data.frame(age = 30), type = "response"),
               predict(reference, data.frame(age = 30, years = 1), type = "response"), tolerance = 1e-3)
})

test_that("predictions are at public offsets and exposures, as glm's", {
  skip_without_python()
  fit <- fit_rate(visits ~ age + offset(log(years)))
  reference <- glm(visits ~ age + offset(log(years)), poisson, exposed())
  new <- data.frame(age = c(30, 50), years = c(0.5, 3))
  refused <- function(call, why) expect_error(call, why, class = "dpstats_argument_error")
  expect_equal(predict(fit, new, type = "response", exposure = new$years),
               predict(reference, new, type = "response"), tolerance = 1e-3)
  expect_identical(predict(fit, new), predict(fit, new, exposure = new$years))
  expect_identical(augment(fit, new)$.fitted, unname(predict(fit, new)))
  refused(predict(fit, transform(new, years = c(0, 1))), "positive finite number")
  gap <- transform(new, years = c(0.5, NA))
  expect_identical(is.na(predict(fit, gap)), is.na(predict(reference, gap)))
  new <- new["age"] # at an exposure of 1
  expect_identical(predict(fit, new, offset = log(2)), predict(fit, new, exposure = 2))
  link <- predict(fit, new, interval = "confidence")
  expect_equal(predict(fit, new, interval = "confidence", offset = 1), link + 1)
  shown <- predict(fit, new, interval = "confidence", exposure = 2, type = "response")
  expect_equal(shown, 2 * exp(link))
  refused(predict(fit, new, exposure = 0), "positive finite number")
  refused(predict(fit, cbind(new, years = NA)), "exposure, the column years of newdata")
  refused(predict(fit, new, offset = 1:3), "each of the 2 rows")
  refused(predict(fit, new, offset = NA), "finite number")
  alone <- dp_logit(smoker ~ age, exposed(), 4)
  refused(predict(alone, new, exposure = 2), "without exposure")
})

test_that("update() keeps the offset, and predictions of groups take it from new data", {
  skip_without_python()
  for (fit in list(fit_rate(visits ~ age + offset(log(years))), fit_rate(visits ~ age, offset = log(years)))) {
    expect_identical(fit$call$exposure, quote(years))
    again <- with_insecure_seed(3, update(fit, . ~ ., data = exposed()))
    expect_identical(coef(again), coef(fit))
  }
  d <- transform(exposed(), men = age > 40)
  by <- with_insecure_seed(3, dp_poisson(visits ~ z, d, 1e6, by = men, exposure = years))
  new <- data.frame(z = 0, men = TRUE, years = c(1, 2))
  expect_equal(diff(predict(by, new)), log(2), ignore_attr = TRUE)
})

test_that("a logit takes an offset of log odds", {
  skip_without_python()
  d <- exposed()
  reference <- glm(smoker ~ age, binomial, d, offset = z)
  for (fit in list(dp_logit(smoker ~ age, d, 1e6, offset = z), dp_logit(smoker ~ age + offset(z), d, 1e6))) {
    expect_lt(max(abs(coef(fit) - coef(reference))), 1e-3)
  }
  alone <- dp_logit(smoker ~ offset(z), d, 1e6)
  expect_lt(max(abs(coef(alone) - coef(glm(smoker ~ 1, binomial, d, offset = z)))), 1e-3)
})

test_that("offsets that cannot be used are refused before a row is read", {
  d <- exposed(60)
  refused <- function(call, why) expect_error(call, why, class = "dpstats_argument_error")
  refused(dp_logit(smoker ~ age + offset(log(years)), d, 1), "make a column of log\\(years\\)")
  refused(dp_poisson(visits ~ age + offset(z / 2), d, 1), "hold a column or its logarithm, got z/2")
  refused(dp_poisson(visits ~ age + offset(nowhere), d, 1), "nowhere")
  refused(dp_poisson(visits ~ age:offset(z), d, 1), "a term of its own")
  refused(dp_poisson(visits ~ age + offset(z), d, 1, offset = z), "takes one offset")
  refused(dp_poisson(visits ~ age, d, 1, offset = 3), "name of a column")
})
