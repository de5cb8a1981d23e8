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

test_that("other packages take the degrees of freedom of clusters, and no other standard errors", {
  skip_without_python()
  d <- transform(people(), state = rep_len(1:12, 4000))
  fit <- fit_wage(wage ~ educ + sex, d)
  expect_identical(df.residual(fit), Inf)
  clustered <- with_insecure_seed(3, dp_ols(wage ~ educ + sex, d, epsilon = 1e3, cov_type = "cluster",
                                            cluster = state))
  expect_equal(df.residual(clustered), clustered$fit_statistics["clusters", "estimate"] - 1)
  expect_lt(df.residual(clustered), 20)
  skip_without_package("lmtest")
  expect_equal(lmtest::coefci(clustered), confint(clustered))
  expect_equal(unname(lmtest::coeftest(clustered)[, 4]), tidy(clustered)$p.value)
  skip_without_package("emmeans")
  means <- as.data.frame(emmeans::emmeans(clustered, ~sex, at = list(educ = 12)))
  ends <- predict(clustered, data.frame(educ = 12, sex = c("f", "m")), interval = "confidence")
  expect_equal(means$lower.CL, unname(ends[, "lwr"]))
  expect_error(emmeans::emmeans(fit, ~sex, vcov. = 2 * vcov(fit)), "cov_type", class = "dpstats_argument_error")
  expect_identical(as.data.frame(emmeans::emmeans(fit, ~sex, vcov. = vcov)),
                   as.data.frame(emmeans::emmeans(fit, ~sex)))
  skip_without_package("car")
  for (asked in list(TRUE, "hc3")) {
    expect_error(car::linearHypothesis(fit, "educ = 0", white.adjust = asked), "cov_type in dp_ols",
                 class = "dpstats_argument_error")
  }
  for (test in c("Chisq", "F")) {
    expect_equal(car::linearHypothesis(clustered, "educ = 0", test = test)[2L, 4L], tidy(clustered)$p.value[2L])
  }
  given <- car::linearHypothesis(clustered, "educ = 0", vcov. = vcov(clustered))
  expect_equal(given[2L, 4L], pchisq(given$Chisq[2L], 1, lower.tail = FALSE))
  skip_without_package("lmtest")
  expect_identical(colnames(coef(summary(clustered))), colnames(lmtest::coeftest(clustered)))
  expect_identical(colnames(coef(summary(fit)))[3L], "z value")
})

test_that("glht takes Student's t of clusters", {
  skip_without_python()
  skip_without_optional("multcomp")
  d <- transform(people(), state = rep_len(1:12, 4000))
  clustered <- with_insecure_seed(3, dp_ols(wage ~ educ + sex, d, epsilon = 1e3, cov_type = "cluster",
                                            cluster = state))
  tested <- summary(multcomp::glht(clustered, "sexm = 0"))
  expect_identical(tested$df, floor(df.residual(clustered)))
  expect_equal(unname(tested$test$pvalues)[1L], 2 * pt(-abs(tidy(clustered)$statistic[3L]), tested$df))
  expect_identical(multcomp::glht(fit_wage(), "sexm = 0")$df, 0)
})

test_that("linearHypothesis allows for weak instruments, and needs standard errors", {
  skip_without_python()
  skip_without_package("car")
  d <- people()
  d$z <- rnorm(4000)
  d$x <- d$z / 8 + rnorm(4000)
  iv <- with_insecure_seed(3, dp_iv(wage ~ 1 | x ~ z, d, epsilon = 10))
  expect_equal(car::linearHypothesis(iv, "x = 0")[2L, 3L], tidy(iv)$p.value[2L])
  none <- dp_ols(y ~ x, line(), "exp_theil_sen", 2, bounds = unit)
  expect_error(car::linearHypothesis(none, "x = 0"), "dp_test", class = "dpstats_not_released_error")
})

test_that("emmeans makes its grid of public facts", {
  skip_without_python()
  skip_without_package("emmeans")
  fit <- fit_wage()
  means <- as.data.frame(emmeans::emmeans(fit, ~sex))
  new <- data.frame(educ = 14, sex = c("f", "m"), age = 42.5)
  expect_equal(means$emmean, unname(predict(fit, new)))
  expect_equal(means$SE, unname(predict(fit, new, se.fit = TRUE)$se.fit))
  expect_output(print(emmeans::emmeans(fit, ~sex)),
                "middle of their ranges, as means are not released: educ = 14, age = 42.5")
  expect_output(print(emmeans::emmeans(fit, ~sex, at = list(educ = 12))), "released: age = 42.5")
  expect_false(any(grepl("middle", capture.output(
    print(emmeans::emmeans(fit, ~sex, at = list(educ = 12, age = 30)))
  ))))
  # poly() of R needs more points than the grid has
  curve <- fit_wage(log(wage) ~ poly(age, 2) + sex)
  means <- as.data.frame(emmeans::emmeans(curve, ~sex))
  expect_equal(means$emmean, unname(predict(curve, data.frame(age = 42.5, sex = c("f", "m")))))
})

test_that("emmeans says at which offset and exposure means stand", {
  skip_without_python()
  skip_without_package("emmeans")
  d <- transform(people(), years = exp(educ / 20), z = age / 40)
  said <- function(fit, ...) paste(capture.output(print(emmeans::emmeans(fit, ~sex, ...))), collapse = "\n")
  count <- with_insecure_seed(3, dp_poisson(educ ~ sex, d, 1e6, exposure = years))
  expect_match(said(count), "The exposure years is 1, or exp\\(offset\\) where")
  odds <- with_insecure_seed(3, dp_logit(union ~ sex + offset(z), d, 1e6))
  expect_match(said(odds), "The offset z is 0, or what emmeans")
  expect_no_match(said(with_insecure_seed(3, dp_logit(union ~ sex, d, 1e6))), "offset")
  means <- as.data.frame(emmeans::emmeans(count, ~sex, offset = log(2)))
  expect_equal(means$emmean, unname(predict(count, data.frame(sex = c("f", "m")), exposure = 2)))
})

test_that("emmeans knows the levels behind i(), and texts within functions", {
  skip_without_python()
  skip_without_package("emmeans")
  d <- transform(people(), year = rep(2010:2013, 1000))
  at <- data.frame(year = 2010:2013, sex = "m", age = 42.5)
  for (formula in list(wage ~ i(year, ref = 2010), wage ~ i(year) - 1, wage ~ i(year, age),
                       wage ~ i(year, ref = 2010) + I(age * (sex == "m")),
                       wage ~ factor(year) + relevel(sex, ref = "m"))) {
    fit <- fit_wage(formula, d, levels = list(year = 2010:2013))
    means <- as.data.frame(emmeans::emmeans(fit, ~year, at = list(sex = "m")))
    expect_equal(means$emmean, unname(predict(fit, at)))
  }
})

test_that("pictures are drawn for every kind of result", {
  skip_without_python()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  results <- list(
    fit_wage(wage ~ educ), fit_wage(), dp_ols(y ~ x, line(), "exp_theil_sen", 2, bounds = unit),
    dp_ols(y ~ x, line(), "exp_theil_sen", 2, by = "tract", bounds = unit),
    dp_ols(list(y ~ x, y ~ 1), line(), "adassp", 2, bounds = unit)
  )
  for (result in results) {
    expect_identical(plot(result), result)
    expect_silent(plot(result, xlab = "years", ylab = "", main = "wages", ylim = c(0, 9), pch = 1))
  }
  skip_without_package("ggplot2")
  for (result in results) expect_no_warning(print(ggplot2::autoplot(result)))
})

test_that("the table of methods is Python's", {
  skip_without_python()
  methods <- dp_methods()
  expect_true(all(c("adassp", "exp_theil_sen") %in% methods$method))
  expect_type(methods$needs_bounds, "logical")
})

test_that("parameters shows what tidy() has", {
  skip_without_python()
  skip_without_optional("parameters")
  fit <- fit_wage()
  table <- parameters::model_parameters(fit, ci = 0.8, exponentiate = TRUE)
  tidied <- tidy(fit, conf.int = TRUE, conf.level = 0.8, exponentiate = TRUE)
  expect_identical(table$Parameter, tidied$term)
  expect_identical(table$Coefficient, tidied$estimate)
  expect_identical(table$CI_high, tidied$conf.high)
  reference <- parameters::model_parameters(lm(log(wage) ~ educ + sex * age, people()))
  expect_setequal(sub("^z$", "t", names(table)), names(reference))
  expect_output(print(table), "sexm:age .*\\| +80% CI|80% CI .*sexm:age")
  expect_error(parameters::model_parameters(fit, vcov = "HC1"), "no argument vcov")
})

test_that("ggeffects, which draws the rows of a fit, is told where public pictures are", {
  skip_without_python()
  skip_without_optional("ggeffects")
  error <- tryCatch(suppressWarnings(ggeffects::ggpredict(fit_wage(), "educ")), error = identity)
  expect_s3_class(error, "dpstats_not_released_error")
  expect_match(conditionMessage(error), "predict\\(newdata\\), plot\\(\\) or emmeans")
})
