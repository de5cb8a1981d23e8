test_that("broom's verbs work, from its namespace too", {
  skip_without_python()
  fit <- fit_wage(epsilon = 8)
  tidied <- tidy(fit, conf.int = TRUE)
  expect_named(tidied, c("term", "estimate", "std.error", "statistic", "p.value", "conf.low",
                         "conf.high"))
  expect_identical(tidied$estimate, unname(coef(fit)))
  expect_identical(nrow(glance(fit)), 1L)
  expect_identical(glance(fit)$epsilon, 8)
  new <- data.frame(educ = 9:10, sex = "m", age = 30)
  expect_equal(augment(fit, newdata = new)$.fitted, unname(predict(fit, new)))
  expect_error(augment(fit), class = "dpstats_not_released_error")
  skip_without_package("broom")
  expect_identical(broom::tidy(fit), tidy(fit))
})

test_that("coeftest and linearHypothesis take a fit as it is", {
  skip_without_python()
  fit <- fit_wage(epsilon = 8)
  skip_without_package("lmtest")
  expect_equal(lmtest::coeftest(fit)[, 1:3], coef(summary(fit))[, 1:3])
  skip_without_package("car")
  test <- car::linearHypothesis(fit, c("educ = 0", "sexm = 0"), test = "Chisq")
  b <- coef(fit)[c("educ", "sexm")]
  expect_equal(test$Chisq[2L], drop(b %*% solve(vcov(fit)[names(b), names(b)], b)))
})

test_that("emmeans makes its grid of public facts", {
  skip_without_python()
  skip_without_package("emmeans")
  fit <- fit_wage()
  means <- as.data.frame(emmeans::emmeans(fit, ~sex))
  new <- data.frame(educ = 14, sex = c("f", "m"), age = 42.5)
  expect_equal(means$emmean, unname(predict(fit, new)))
  expect_equal(means$SE, unname(predict(fit, new, se.fit = TRUE)$se.fit))
})

test_that("pictures are drawn for every kind of result", {
  skip_without_python()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  results <- list(
    fit_wage(wage ~ educ), fit_wage(), dp_ols(y ~ x, line(), "exp_theil_sen", 2, bounds = unit),
    dp_ols(y ~ x, line(), "exp_theil_sen", 2, by = "tract", bounds = unit)
  )
  for (result in results) expect_identical(plot(result), result)
  skip_without_package("ggplot2")
  for (result in results) expect_no_warning(print(ggplot2::autoplot(result)))
})

test_that("the table of methods is Python's", {
  skip_without_python()
  methods <- dp_methods()
  expect_true(all(c("adassp", "exp_theil_sen") %in% methods$method))
  expect_type(methods$needs_bounds, "logical")
})

test_that("install_dpstats wants to know what to install", {
  expect_error(install_dpstats(), "source is missing", class = "dpstats_argument_error")
})
