test_that("hypotheses are tested as Python tests them, by R's names", {
  skip_without_python()
  fit <- fit_wage(epsilon = 8)
  b <- coef(fit)
  test <- dp_test(fit, c("educ = age", "2*(Intercept) - sexm:age = 1"), level = 0.9)
  expect_named(test, c("hypothesis", "estimate", "std.error", "statistic", "p.value", "conf.low",
                       "conf.high"))
  expect_identical(test$hypothesis, c("educ - age = 0", "2 (Intercept) - sexm:age = 1"))
  expect_equal(test$estimate,
               unname(c(b["educ"] - b["age"], 2 * b["(Intercept)"] - b["sexm:age"])))
  weights <- c(0, 1, 0, -1, 0)
  expect_equal(test$std.error[1L], drop(sqrt(weights %*% vcov(fit) %*% weights)))
  expect_equal(test$statistic, (test$estimate - 0:1) / test$std.error)
  expect_equal(dp_test(fit, rbind(weights), 0.9), test[1L, ])
  alone <- dp_test(fit, "educ = 0")
  expect_equal(c(alone$conf.low, alone$conf.high), unname(confint(fit)["educ", ]))
})

test_that("hypotheses are tested jointly", {
  skip_without_python()
  fit <- fit_wage(epsilon = 8)
  joint <- dp_joint_test(fit, c("educ = 0", "sexm = 0"))
  expect_s3_class(joint, "htest")
  expect_identical(joint$parameter, c("num df" = 2))
  expect_lt(joint$p.value, 0.001)
  expect_output(print(joint), "educ = 0, sexm = 0\\nF = .*, num df = 2, p-value")
  at <- sprintf("educ = %.17g", coef(fit)[["educ"]])
  expect_gt(dp_joint_test(fit, c(at, sprintf("age = %.17g", coef(fit)[["age"]])))$p.value, 0.9)
  alone <- dp_joint_test(fit, "sexm = 0")
  expect_equal(alone$p.value, dp_test(fit, "sexm = 0")$p.value)
})

test_that("hypotheses that cannot be tested are refused", {
  skip_without_python()
  fit <- fit_wage(epsilon = 8)
  for (wrong in list("educ == 0", "z = 0", 3, character(), "educ = educ", NA)) {
    expect_error(dp_test(fit, wrong), "hypothes[ei]s", class = "dpstats_argument_error")
  }
  expect_error(dp_test(lm(y ~ x, line()), "x = 0"), class = "dpstats_argument_error")
  fit <- dp_ols(y ~ x, line(), "noisy_stats", 2, bounds = unit)
  expect_true(is.na(dp_test(fit, "x = 0")$p.value))
  expect_match(dp_joint_test(fit, "x = 0")$method, "; NA: .*residual variance")
  expect_error(dp_joint_test(fit, c("x = 0", "(Intercept) = 0")), "residual variance",
               class = "dpstats_not_released_error")
})

test_that("hypotheses that follow from others are tested each by itself", {
  skip_without_python()
  fit <- dp_ols(y ~ x, line(), "adassp", 8, bounds = unit)
  all_pairs <- c("x = 0", "(Intercept) = 0", "x = (Intercept)")
  alone <- vapply(all_pairs, function(each) dp_test(fit, each)$p.value, 0)
  expect_equal(dp_test(fit, all_pairs)$p.value, unname(alone))
  expect_error(dp_joint_test(fit, all_pairs), "or test each by itself with dp_test",
               class = "dpstats_argument_error")
})

test_that("an interval reaches to a prediction that ends where the response is seen", {
  skip_without_python()
  far <- data.frame(x = c(0.5, -40, 40))
  fit <- dp_ols(y ~ x, line(4000), epsilon = 8)
  at <- predict(fit, far, interval = "confidence")
  expect_true(all(at[, "lwr"] <= at[, "fit"] & at[, "fit"] <= at[, "upr"]))
  expect_identical(unname(at[, "fit"] == at[, "lwr"] | at[, "fit"] == at[, "upr"]), c(FALSE, TRUE, TRUE))
  d <- transform(line(4000), area = factor(rep(c("a", "b"), 2000)))
  groups <- dp_ols(y ~ x, d, by = "area", epsilon = 8, x_new = far)
  at <- tidy(groups, conf.int = TRUE, conf.level = 0.9)
  expect_true(all(at$conf.low <= at$estimate & at$estimate <= at$conf.high))
})

test_that("bought ends are intervals at their level and nothing else", {
  skip_without_python()
  fit <- dp_ols(y ~ x, line(), "exp_theil_sen", 8, bounds = unit, ci = TRUE)
  at <- predict(fit, data.frame(x = c(0.25, 0.5)), interval = "confidence")
  expect_true(all(at[, "lwr"] < at[, "upr"]))
  expect_equal(unname(at[1L, c("lwr", "upr")]),
               unname(unlist(fit$predictions["p25", c("conf.low", "conf.high")])))
  expect_true(all(is.finite(confint(fit))), all(is.na(vcov(fit))))
  expect_output(print(summary(fit)), "NA, Inf: ci buys the ends")
  expect_true(all(is.na(confint(fit, level = 0.99))))
  steps <- fit$privacy$steps
  expect_equal(sum(steps$share[grepl("(lower|upper) end", steps$step)]), 0.5)
})

test_that("a companion lends its standard errors for its share", {
  skip_without_python()
  fit <- dp_ols(y ~ x, line(), "exp_theil_sen", 8, bounds = unit, companion = "noisy_moments",
                companion_share = 0.3)
  steps <- fit$privacy$steps
  expect_equal(steps$share[steps$mechanism == "laplace"], 0.3)
  expect_true(all(fit$table$std.error > 0))
  expect_output(print(summary(fit)), "a fit by noisy_moments\\s+from the same rows for 30%")
  expect_error(dp_ols(y ~ x, line(), "exp_theil_sen", 8, bounds = unit, companion = "ols"),
               "companion", class = "dpstats_argument_error")
})

test_that("an unbounded interval is infinite, with a reason and a picture", {
  skip_without_python()
  fits <- list(
    with_insecure_seed(1, dp_ols(y ~ x, line(200), "adassp", 0.05, bounds = unit)),
    fit_wage(data = people(200), epsilon = 0.05)
  )
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (fit in fits) {
    expect_identical(fit$status, "not_identified")
    expect_true(all(confint(fit)[, 1L] == -Inf & confint(fit)[, 2L] == Inf))
    expect_identical(confint(fit, level = 0.8)["(Intercept)", "10 %"], -Inf)
    expect_output(print(summary(fit)), "NA, Inf: (no slope is identified, as )?the noise could")
    expect_identical(plot(fit), fit)
  }
  at <- predict(fits[[1L]], data.frame(x = 0.5), interval = "confidence")
  expect_identical(at[, c("lwr", "upr")], c(lwr = -Inf, upr = Inf))
  skip_without_package("ggplot2")
  for (fit in fits) expect_no_warning(print(ggplot2::autoplot(fit)))
})

test_that("groups have intervals and say why some are unbounded", {
  skip_without_python()
  by <- dp_ols(y ~ x, line(6000), "noisy_moments", 20, by = "tract", bounds = unit)
  tidied <- tidy(by, conf.int = TRUE)
  expect_true(all(tidied$conf.low < tidied$estimate & tidied$estimate < tidied$conf.high))
  expect_equal(as.data.frame(by), as.data.frame(tidied))
  weak <- with_insecure_seed(1, dp_ols(y ~ x, line(), "adassp", 0.05, by = "tract", bounds = unit))
  expect_true(all(is.infinite(tidy(weak, conf.int = TRUE)$conf.high)))
  expect_output(print(summary(weak)), "NA, Inf: (no slope is identified, as )?the noise could")
})

test_that("fits stand side by side, as text, for pages and as data", {
  skip_without_python()
  fits <- list(strict = fit_wage(epsilon = 1), loose = fit_wage(log(wage) ~ educ, epsilon = 8))
  side <- do.call(dp_compare, fits)
  expect_identical(dp_compare(fits), side)
  frame <- as.data.frame(side)
  expect_identical(unique(frame$model), c("strict", "loose"))
  expect_identical(frame$estimate[frame$model == "strict"], unname(coef(fits$strict)))
  expect_identical(tidy(side), tibble::as_tibble(frame))
  expect_output(print(side), "\\(Intercept\\) .*NOT PRIVATE, made under with_insecure_seed")
  expect_output(print(side, format = "html"), "<table")
  expect_output(print(side, format = "latex"), "begin\\{tabular")
  expect_output(print(dp_compare(fits[[1L]])), "\\(1\\)")
  expect_error(dp_compare(), "dp_compare\\(first, second\\)", class = "dpstats_argument_error")
  expect_error(dp_compare(lm(y ~ x, line())), class = "dpstats_argument_error")
  expect_error(dp_compare(a = fits[[1L]], fits[[2L]]), class = "dpstats_argument_error")
})

test_that("a comparison is printed as papers do, beside fits that are not private", {
  skip_without_python()
  skip_without_package("broom")
  data <- line(4000)
  ols <- lm(y ~ x, data)
  fits <- with_insecure_seed(1, list(
    dp = dp_ols(y ~ x, data, epsilon = 4), few = dp_ols(y ~ x, data[1:40, ], epsilon = 0.3)
  ))
  side <- dp_compare(fits, ols = list(OLS = ols), stars = TRUE, keep = c("x", "(Intercept)"),
                     order = "x", labels = c(x = "R&D_% <$"), notes = "*Last.")
  text <- capture.output(print(side))
  stars <- paste0(sprintf("%#.4g", coef(fits$dp)[["x"]]), "***")
  expect_match(text[5L], paste0("^R&D_% <\\$ +", gsub("([.*])", "\\\\\\1", stars)))
  expect_match(paste(text, collapse = " "), "few: no stars at R&D_% <\\$, \\(Intercept\\), where")
  rows <- fits$dp$fit_statistics["nobs", ]
  expect_match(text[grepl("^N ", text)], sprintf("^N +%.0f \\(%.0f\\) .* 4000$", rows[[1L]], rows[[2L]]))
  expect_true(any(grepl("^OLS: NOT PRIVATE, computed from the rows", text)))
  expect_match(text[1L], "^Regressions, Private and Not Private")
  expect_identical(text[length(text)], "*Last.")
  expect_false(any(grepl("^p25", text)))
  latex <- capture.output(print(side, format = "latex"))
  expect_identical(tail(latex, 2L), c("{*}Last.", "\\par}"))
  expect_true(all(c("{*} p \\textless{} 0.1, ** p \\textless{} 0.05, *** p \\textless{} 0.01, privacy noise included. \\\\") %in% latex))
  expect_true(any(startsWith(latex, "R\\&D\\_\\% \\textless{}\\$ & ")))
  frame <- as.data.frame(side)
  expect_identical(unique(frame$status), c("ok", "not_identified", "not private"))
  expect_identical(frame$std.error[frame$model == "OLS"], unname(summary(ols)$coefficients[, 2L]))
  expect_identical(plot(side), side)
  skip_without_package("ggplot2")
  expect_no_warning(print(ggplot2::autoplot(side)))
})

test_that("choices of a comparison are checked", {
  skip_without_python()
  fit <- fit_wage(epsilon = 1)
  for (bad in expression(
    dp_compare(fit, ols = 3), dp_compare(fit, ols = list(fit)), dp_compare(fit, ols = list(list(1))),
    dp_compare(fit, stars = "x"), dp_compare(fit, stars = 0.05), dp_compare(fit, stars = c(a = 5)),
    dp_compare(fit, labels = "x"), dp_compare(fit, labels = c(educ = "Schooling", edcu = "Schooling")),
    dp_compare(fit, labels = c(educ = "Schooling", educ = "School")), dp_compare(fit, keep = 1), dp_compare(fit, order = "nothing"),
    dp_compare(fit, notes = 1)
  )) expect_error(eval(bad), class = "dpstats_argument_error")
  expect_error(dp_compare(fit, labels = c(edcu = "Schooling")), "expected labels to name terms among .*, got \"edcu\"")
  labelled <- dp_compare(fit, labels = c(educ = "Schooling", age = "Age"), keep = "educ")
  expect_output(print(labelled), "\nSchooling +[0-9]")
})

test_that("robust standard errors are bought with a share of the budget", {
  skip_without_python()
  fit <- dp_ols(y ~ x, line(), "noisy_moments", 8, bounds = unit, cov_type = "HC1")
  expect_true(all(is.finite(confint(fit))))
  expect_true(all(fit$table$std.error > 0))
  expect_equal(fit$privacy$steps$share, c(0.9, 0.1))
  expect_output(print(summary(fit)), "noisy_moments, standard errors: HC1, status ok")
  expect_output(print(summary(dp_ols(y ~ x, line(), "noisy_stats", 8, bounds = unit))),
                "noisy_stats, status ok")
  groups <- dp_ols(y ~ x, line(), "noisy_moments", 8, bounds = unit, by = "tract", cov_type = "HC1")
  expect_output(print(groups), "noisy_moments, standard errors: HC1, epsilon = 8")
  expect_error(dp_ols(y ~ x, line(), "noisy_moments", 8, bounds = unit, cov_type = "HC3"),
               "cov_type", class = "dpstats_argument_error")
})

test_that("a logit has a pseudo R-squared in a comparison, and instruments have none", {
  skip_without_python()
  set.seed(1)
  d <- data.frame(z = rnorm(4000), e = rnorm(4000))
  d$x <- d$z + d$e
  d$y <- d$x + d$e
  d$up <- rnorm(4000) + d$z > 0
  fits <- with_insecure_seed(1, list(
    logit = dp_logit(up ~ z, d, epsilon = 4), iv = dp_iv(y ~ 1 | x ~ z, d, epsilon = 4)
  ))
  text <- capture.output(print(dp_compare(fits)))
  pseudo <- sprintf("%.3f", fits$logit$fit_statistics["prsquared", "estimate"])
  expect_match(text[startsWith(text, "Pseudo R-squared")], pseudo, fixed = TRUE)
  expect_false(any(startsWith(text, "R-squared")) || any(grepl("NA", text, fixed = TRUE)))
})

test_that("nothing is known of a column in units too small for its variance", {
  skip_without_python()
  d <- data.frame(x = c(-400, -399, -398, -400, -450), y = c(0, 1, 3, 2, 1))
  fit <- with_insecure_seed(4, dp_ols(y ~ exp(x), d, epsilon = 500))
  expect_identical(unname(is.finite(confint(fit)[, 1L])), c(TRUE, FALSE))
  expect_identical(unname(predict(fit, data.frame(x = -400), interval = "confidence")[, "upr"]), Inf)
})
