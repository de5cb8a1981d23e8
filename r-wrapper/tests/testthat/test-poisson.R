visits <- function(n = 20000) {
  set.seed(22)
  d <- data.frame(age = runif(n, 20, 65), sex = factor(sample(c("f", "m"), n, TRUE)),
                  id = rep_len(seq_len(n / 2), n))
  d$visits <- rnbinom(n, mu = exp(0.2 + 0.02 * d$age - 0.3 * (d$sex == "m")), size = 2)
  d
}

fit_visits <- function(formula = visits ~ age + sex, data = visits(), epsilon = 1e6, ...) {
  with_insecure_seed(3, dp_poisson(formula, data, epsilon, ...))
}

# The covariance of quasi-maximum likelihood as sandwich has it, HC1.
robust <- function(reference) {
  X <- model.matrix(reference)
  scores <- X * (reference$y - fitted(reference))
  bread <- solve(crossprod(X * sqrt(fitted(reference))))
  bread %*% crossprod(scores) %*% bread * nrow(X) / df.residual(reference)
}

test_that("coefficients, robust errors and predictions are glm's as epsilon grows", {
  skip_without_python()
  d <- visits()
  new <- data.frame(age = c(30, 50), sex = c("m", "f"), row.names = c("u", "v"))
  for (formula in c(visits ~ age + sex, visits ~ age * sex, I(visits / 2) ~ age)) {
    fit <- fit_visits(formula, d)
    reference <- suppressWarnings(glm(formula, poisson, d)) # halves are no counts
    error <- sqrt(diag(robust(reference)))
    expect_identical(fit$status, "ok")
    expect_identical(names(coef(fit)), names(coef(reference)))
    expect_lt(max(abs(coef(fit) - coef(reference)) / error), 0.1)
    expect_equal(sqrt(diag(vcov(fit))), error, tolerance = 0.1)
    for (type in c("link", "response")) {
      expect_equal(predict(fit, new, type = type), predict(reference, new, type = type),
                   tolerance = 0.02)
    }
  }
})

test_that("a Poisson regression answers as a glm does", {
  skip_without_python()
  fit <- fit_visits(epsilon = 4)
  expect_s3_class(fit, c("dp_glm", "dp_ols"), exact = TRUE)
  expect_identical(family(fit)[c("family", "link")], poisson()[c("family", "link")])
  expect_identical(fit$cov_type, "HC1")
  expect_output(print(fit), "dp_poisson\\(formula = visits ~ age \\+ sex, epsilon = 4\\)")
  ends <- confint(fit)
  expect_true(all(ends[, 1] < coef(fit) & coef(fit) < ends[, 2]))
  ratios <- tidy(fit, conf.int = TRUE, exponentiate = TRUE)
  expect_identical(ratios$estimate, unname(exp(coef(fit))))
  expect_identical(ratios$conf.low, unname(exp(ends[, 1])))
  expect_named(glance(fit), c("nobs", "epsilon", "delta", "method", "neighbors", "status", "private"))
  expect_lt(abs(nobs(fit) - 20000), 200)
  shown <- capture.output(summary(fit))
  expect_false(any(grepl("R-squared|Residual|NA, Inf|logit", shown)))
  expect_true(any(grepl("standard errors: HC1", shown)))
  expect_error(deviance(fit), class = "dpstats_not_released_error")
  expect_error(predict(fit), class = "dpstats_not_released_error")
  expect_output(print(dp_compare(one = fit, two = fit_visits(visits ~ age, epsilon = 4))), "sexm")
  other <- update(fit, . ~ . - sex, data = visits(), epsilon = 2)
  expect_identical(family(other)$family, "poisson")
  expect_named(coef(other), c("(Intercept)", "age"))
})

test_that("intervals of means are those of the link, and keep to declared bounds", {
  skip_without_python()
  fit <- fit_visits(epsilon = 4)
  new <- data.frame(age = c(30, 60), sex = "m")
  logs <- predict(fit, new, interval = "confidence", level = 0.9)
  means <- predict(fit, new, interval = "confidence", level = 0.9, type = "response", se.fit = TRUE)
  expect_equal(exp(logs), means$fit)
  expect_equal(means$se.fit, predict(fit, new, se.fit = TRUE)$se.fit * exp(logs[, "fit"]))
  added <- augment(fit, newdata = new, interval = "confidence", conf.level = 0.9, type.predict = "response")
  expect_identical(added$.lower, unname(means$fit[, "lwr"]))
  at <- fit_visits(visits ~ age, epsilon = 4, bounds = list(age = c(20, 65), visits = c(0, 30)),
                   x_new = data.frame(age = c(40, 65)))
  found <- predict(at, data.frame(age = c(40, 65)), type = "response", interval = "confidence")
  expect_equal(unname(found), unname(as.matrix(at$predictions[c("estimate", "conf.low", "conf.high")])))
  far <- predict(fit_visits(visits ~ age, epsilon = 4, bounds = list(visits = c(0, 30))),
                 data.frame(age = 1e4), type = "response", interval = "confidence")
  expect_identical(max(far), 30)
})

test_that("counts that tell little show no interval", {
  skip_without_python()
  fit <- fit_visits(visits ~ age, visits(60), epsilon = 0.1)
  expect_identical(fit$status, "not_identified")
  expect_true(all(is.infinite(confint(fit))))
  means <- predict(fit, data.frame(age = 40), interval = "confidence", type = "response")
  expect_identical(unname(means[, c("lwr", "upr")]), c(0, Inf))
})

test_that("columns are named, chosen and listed as for a logit", {
  skip_without_python()
  d <- visits()
  wanted <- with_insecure_seed(3, dp_poisson(visits ~ age, d, epsilon = 2, subset = sex == "m"))
  for (family in list(poisson, poisson(), "poisson", quote(stats::poisson("log")))) {
    found <- with_insecure_seed(3, eval(bquote(
      dp_glm(visits ~ age, .(family), d, epsilon = 2, subset = sex == "m")
    )))
    expect_identical(found, wanted)
  }
  expect_identical(fit_visits(data = d, epsilon = 4, unit = id, max_rows = 2)$cov_type, "cluster")
  budget <- dp_budget(4, 1e-6)
  fits <- fit_visits(list(all = visits ~ age, more = visits ~ age + sex), d, epsilon = 4, budget = budget)
  expect_identical(unique(tidy(fits)$formula), c("all", "more"))
  expect_equal(budget$spent[["epsilon"]], 4, tolerance = 1e-6)
  expect_error(fit_visits(data = d, budget = budget), class = "dpstats_budget_error")
})

test_that("arguments that a Poisson regression has not are answered before they are evaluated", {
  skip_without_python()
  for (name in names(instead_of_family(families$poisson))) {
    given <- c(list(visits ~ age, quote(visits(60)), 1), stats::setNames(list(quote(nowhere)), name))
    expect_error(do.call(dp_poisson, given), paste0("dp_poisson has no ", name, ": "),
                 class = "dpstats_argument_error")
  }
  expect_error(dp_poisson(list(visits ~ sex, visits ~ sex + stats::offset(log(age))), visits(60), 1),
               "share their offset", class = "dpstats_argument_error")
  expect_error(dp_glm(visits ~ age, poisson("sqrt"), visits(60), epsilon = 1), "got poisson\\(sqrt\\)",
               class = "dpstats_argument_error")
})

test_that("average marginal effects are those of glm's means as epsilon grows", {
  skip_without_python()
  d <- visits()
  reference <- glm(visits ~ age + sex, poisson, d)
  found <- dp_margins(fit_visits(data = d), level = 0.9)
  expect_identical(found$term, c("age", "sexm"))
  expect_equal(found$estimate, unname(coef(reference)[-1] * mean(d$visits)), tolerance = 0.02)
  expect_equal(found$conf.high, found$estimate + qnorm(0.95) * found$std.error, tolerance = 1e-9)
})

test_that("marginal means of a Poisson regression are rates", {
  skip_without_python()
  skip_without_package("emmeans")
  fit <- fit_visits(bounds = list(age = c(20, 65)))
  at <- list(age = 40)
  found <- as.data.frame(emmeans::emmeans(fit, ~sex, at = at, type = "response"))
  wanted <- as.data.frame(emmeans::emmeans(glm(visits ~ age + sex, poisson, visits()), ~sex, at = at,
                                           type = "response"))
  expect_equal(found$rate, wanted$rate, tolerance = 0.02)
})
