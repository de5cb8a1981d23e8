schooling <- function(n = 20000, strength = 0.6) {
  set.seed(31)
  d <- data.frame(near = rnorm(n), far = rnorm(n), age = runif(n, 20, 65),
                  sex = factor(sample(c("f", "m"), n, TRUE)))
  talent <- rnorm(n)
  d$educ <- 12 + strength * d$near + 0.3 * d$far + 0.02 * d$age + talent + rnorm(n)
  d$wage <- 2 + 0.5 * d$educ + 0.01 * d$age + (d$sex == "m") + talent + rnorm(n)
  d
}

fit_iv <- function(formula = wage ~ age + sex | educ ~ near, data = schooling(), epsilon = 1e8, ...) {
  with_insecure_seed(4, dp_iv(formula, data, epsilon, ...))
}

# Two-stage least squares and HC1 errors, of the response on X with the instruments Z.
two_stages <- function(y, X, Z) {
  fitted <- Z %*% qr.coef(qr(Z), X)
  inverse <- solve(crossprod(fitted, X))
  params <- drop(inverse %*% crossprod(fitted, y))
  scores <- fitted * drop(y - X %*% params)
  cov <- inverse %*% crossprod(scores) %*% t(inverse) * nrow(X) / (nrow(X) - ncol(X))
  list(params = params, errors = sqrt(diag(cov)))
}

test_that("coefficients and errors are those of two-stage least squares as epsilon grows", {
  skip_without_python()
  d <- schooling()
  cases <- list(
    list(wage ~ age + sex | educ ~ near, ~ age + sex + educ, ~ age + sex + near),
    list(wage ~ 1 | educ ~ near + far, ~ educ, ~ near + far),
    list(wage ~ age - 1 | educ ~ near, ~ age + educ - 1, ~ age + near - 1)
  )
  for (case in cases) {
    fit <- fit_iv(case[[1L]], d)
    wanted <- two_stages(d$wage, model.matrix(case[[2L]], d), model.matrix(case[[3L]], d))
    expect_identical(fit$status, "ok")
    expect_identical(names(coef(fit)), colnames(model.matrix(case[[2L]], d)))
    expect_lt(max(abs(coef(fit) - wanted$params) / wanted$errors), 0.05)
    expect_equal(unname(sqrt(diag(vcov(fit)))), unname(wanted$errors), tolerance = 0.02)
  }
})

test_that("formulas of AER and ivreg are refused with what to write", {
  skip_without_python()
  d <- data.frame(y = runif(50), d = runif(50), x = runif(50), z = runif(50), w = runif(50))
  budget <- dp_budget(1)
  write <- function(formula, instead) {
    message <- paste("around a second ~: write", instead, "for", deparse1(formula))
    expect_error(dp_iv(formula, d, 1, budget = budget), message, fixed = TRUE, class = "dpstats_formula_error")
  }
  write(y ~ d + x | z + x, "y ~ x | d ~ z")
  write(y ~ d | z, "y ~ 1 | d ~ z")
  write(y ~ x + d | . - d + z, "y ~ x | d ~ z")
  write(log(y) ~ x + I(x^2) + d | x + I(x^2) + z + w, "log(y) ~ x + I(x^2) | d ~ z + w")
  write(y ~ x | d | z + w, "y ~ x | d ~ z + w")
  for (formula in list(y ~ d + x, y ~ x | x, y ~ . | z, y ~ x + d | ., y ~ . | d | z, y ~ x^1.5 + d | z)) {
    expect_error(dp_iv(formula, d, 1, budget = budget), "as in y ~ x | d ~ z", fixed = TRUE, class = "dpstats_formula_error")
  }
  expect_identical(budget$spent[["epsilon"]], 0)
})

test_that("formulas of ivreg that are given to other verbs are refused with the call of dp_iv", {
  skip_without_python()
  d <- data.frame(y = runif(50), d = runif(50), x = runif(50), z = runif(50), k = rep(1:2, 25))
  d$g <- factor(d$k)
  budget <- dp_budget(1)
  write <- function(formula, instead, verb = dp_ols) {
    message <- paste0("for instruments, as for ivreg, call dp_iv(", instead, ", data)")
    expect_error(verb(formula, d, epsilon = 1, budget = budget), message, fixed = TRUE, class = "dpstats_formula_error")
  }
  write(y ~ d + x | z + x, "y ~ x | d ~ z")
  write(y ~ d + x | z + x, "y ~ x | d ~ z", dp_logit)
  write(list(y ~ x, y ~ log(d) + x | z + x), "y ~ x | log(d) ~ z")
  write(y ~ x + d | . - d + z, "y ~ x | d ~ z")
  write(y ~ d | . - d + z, "y ~ 1 | d ~ z")
  write(y ~ x | d | z, "y ~ x | d ~ z")
  write(y ~ d | z + x, "y ~ 1 | d ~ z + x")
  write(y ~ d | g + k, "y ~ 1 | d ~ g + k")
  expect_error(dp_ols(y ~ d + z + x | k + x, d, epsilon = 1), "one endogenous regressor$",
               class = "dpstats_formula_error")
  expect_error(dp_ols(y ~ x + g | g, d, epsilon = 1), "g is absorbed", class = "dpstats_formula_error")
  expect_identical(budget$spent[["epsilon"]], 0)
  for (formula in list(y ~ d | g, y ~ d | k + g, y ~ d | g + k)) {
    levels <- if ("k" %in% all.vars(formula)[4L]) list(k = 1:2)
    expect_identical(names(coef(dp_ols(formula, d, epsilon = 1, levels = levels)))[1L], "d")
  }
})

test_that("a fit with instruments answers as others do", {
  skip_without_python()
  fit <- fit_iv(epsilon = 4)
  expect_s3_class(fit, c("dp_iv", "dp_ols"), exact = TRUE)
  shown <- capture.output(print(fit))
  expect_true(any(grepl("dp_iv(formula = wage ~ age + sex | educ ~ near, epsilon = 4)", shown, fixed = TRUE)))
  expect_true(any(grepl("Anderson-Rubin 95% set of educ, .*: \\[0[.]", shown)))
  shown <- capture.output(print(summary(fit)))
  expect_false(any(grepl("R-squared|Residual|NA, Inf", shown)))
  expect_true(any(grepl("Anderson-Rubin 95% set of educ", shown)))
  expect_true(any(grepl("instruments of educ: near; F statistic of the first stage", shown)))
  ends <- confint(fit)
  expect_true(all(ends[, 1L] < coef(fit) & coef(fit) < ends[, 2L]))
  expect_identical(tidy(fit, conf.int = TRUE)$conf.high, unname(ends[, 2L]))
  row <- glance(fit)
  expect_named(row, c("nobs", "epsilon", "delta", "method", "neighbors", "status", "private",
                      "statistic.weakinst"))
  expect_identical(row$statistic.weakinst, dp_first_stage(fit)$statistic)
  for (asked in expression(summary(fit, diagnostics = TRUE), summary(fit, stage = 1))) { # of AER and of fixest
    expect_error(eval(asked), "it has object; dp_first_stage\\(\\) and", class = "dpstats_argument_error")
  }
  expect_lt(abs(nobs(fit) - 20000), 200)
  new <- data.frame(educ = c(8, 16), age = 40, sex = "m")
  line <- drop(cbind(1, 40, 1, new$educ) %*% coef(fit)) # x, then d
  expect_equal(unname(predict(fit, new)), line, tolerance = 1e-9)
  expect_lt(anova(fit)["educ", "Pr(>Chisq)"], 1e-9)
  expect_lt(dp_joint_test(fit, c("educ = 0", "age = 0"))$p.value, 0.001)
  expect_error(residuals(fit), class = "dpstats_not_released_error")
  both <- capture.output(print(dp_compare(iv = fit, linear = with_insecure_seed(
    1, dp_ols(wage ~ age + sex + educ, schooling(), epsilon = 4)
  ))))
  expect_true(any(grepl("^N ", both)) && any(grepl("^educ ", both)))
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_identical(confint(readRDS(file), level = 0.9), confint(fit, level = 0.9))
  expect_identical(dp_anderson_rubin(readRDS(file)), dp_anderson_rubin(fit))
})

test_that("the first stage and the set are those of Python", {
  skip_without_python()
  fit <- fit_iv(wage ~ age | educ ~ near + far, epsilon = 4)
  stage <- dp_first_stage(fit)
  expect_identical(stage$coefficients$term, c("near", "far"))
  expect_equal(stage$coefficients$estimate, c(0.6, 0.3), tolerance = 0.2)
  expect_output(print(stage), "First stage of educ:.*F statistic, robust")
  set <- dp_anderson_rubin(fit)
  expect_true(nrow(set) == 1L && set[, "low"] < 0.5 && set[, "high"] > 0.5)
  wider <- dp_anderson_rubin(fit, level = 0.99)
  expect_true(wider[, "low"] < set[, "low"] && set[, "high"] < wider[, "high"])
  expect_error(dp_anderson_rubin(fit, level = 95), class = "dpstats_argument_error")
  expect_error(dp_first_stage(fit_wage()), "fit by dp_iv", class = "dpstats_argument_error")
})

test_that("sets of every shape are printed as sets", {
  expect_output(print(set_of(c(-1, 2))), "[-1, 2]", fixed = TRUE)
  expect_output(print(set_of(c(-Inf, -1.23456, 2, Inf))), "(-Inf, -1.235] or [2, Inf)", fixed = TRUE)
  expect_output(print(set_of(c(-Inf, Inf))), "(-Inf, Inf)", fixed = TRUE)
  expect_output(print(set_of(list())), "empty", fixed = TRUE)
})

test_that("a weak instrument has a status and a set, and no interval", {
  skip_without_python()
  fit <- fit_iv(wage ~ age | educ ~ near, schooling(5000, 0.02), epsilon = 1)
  expect_identical(fit$status, "weak_instruments")
  expect_true(all(is.infinite(confint(fit))) && all(is.na(tidy(fit)$std.error)))
  expect_lt(dp_first_stage(fit)$statistic, 10)
  expect_output(print(summary(fit)), "dp_anderson_rubin\\(\\) has a")
})

# F statistics between 10 and 104.7, where critical values are not the usual ones.
test_that("intervals and p-values are those of Python at any level", {
  skip_without_python()
  fit <- fit_iv(wage ~ age | educ ~ near, schooling(5000, 0.2), epsilon = 4)
  f <- sqrt(dp_first_stage(fit)$statistic)
  expect_true(f > sqrt(10) && f < 10 && fit$status == "ok")
  expect_equal(unlist(fit$table[c("conf.low", "conf.high")], use.names = FALSE),
               unlist(intervals_of(fit$uncertainty, diag(3L), 0.95), use.names = FALSE),
               tolerance = 1e-9)
  expect_equal(fit$table$p.value, p_values_of(fit$uncertainty, diag(3L), numeric(3L)), tolerance = 1e-9)
  half <- (confint(fit, "educ", level = 0.96)[2L] - coef(fit)[["educ"]]) / sqrt(vcov(fit)["educ", "educ"])
  expect_equal(half, qnorm(0.96) / (1 - qnorm(0.96) / f), tolerance = 1e-9)
  test <- dp_test(fit, "educ = 0")
  expect_equal(anova(fit)["educ", "Pr(>Chisq)"], test$p.value, tolerance = 1e-9)
  tested <- c("educ = 0", "age = 0")
  wald <- drop(coef(fit)[c("educ", "age")] %*%
                 solve(vcov(fit)[c("educ", "age"), c("educ", "age")], coef(fit)[c("educ", "age")]))
  expect_equal(dp_joint_test(fit, tested)$p.value, p_of_wald(fit$uncertainty, wald, 2L),
               tolerance = 1e-9)
  skip_without_package("emmeans")
  expect_error(emmeans::emmeans(fit, ~age, at = list(age = 40)), "below 104.7",
               class = "dpstats_argument_error")
})

test_that("weights, units and clusters are those of dp_ols", {
  skip_without_python()
  d <- transform(schooling(4000), town = seq_along(wage) %% 40, w = 0.5)
  fit <- fit_iv(wage ~ age | educ ~ near, d, cov_type = "cluster", cluster = town)
  expect_identical(fit$cov_type, "cluster")
  half <- stats::qt(0.975, fit$fit_statistics["clusters", "estimate"] - 1)
  expect_equal(unname(diff(confint(fit)["educ", ])) / 2 / sqrt(vcov(fit)["educ", "educ"]), half,
               tolerance = 1e-6)
  expect_identical(fit_iv(wage ~ age | educ ~ near, d, unit = town, max_rows = 100)$cov_type, "cluster")
  weighted <- fit_iv(wage ~ age | educ ~ near, d, weights = w, bounds = list(w = c(0, 1)))
  plain <- fit_iv(wage ~ age | educ ~ near, d)
  expect_equal(coef(weighted), coef(plain), tolerance = 0.01)
})

test_that("what modelsummary asks for is there", {
  skip_without_python()
  skip_without_optional("parameters")
  skip_without_optional("performance")
  fit <- fit_iv(wage ~ age | educ ~ near, schooling(5000, 0.2), epsilon = 4)
  table <- parameters::model_parameters(fit)
  expect_identical(table$CI_low, unname(confint(fit)[, 1L]))
  expect_identical(table$p, fit$table$p.value)
  expect_named(performance::model_performance(fit), c("Epsilon", "Delta"))
})

test_that("marginal means are there with a strong instrument", {
  skip_without_python()
  skip_without_package("emmeans")
  fit <- fit_iv(epsilon = 4)
  found <- as.data.frame(emmeans::emmeans(fit, ~sex, at = list(age = 40, educ = 12)))
  wanted <- predict(fit, data.frame(age = 40, educ = 12, sex = c("f", "m")))
  expect_equal(found$emmean, unname(wanted), tolerance = 1e-6)
  printed <- capture.output(print(emmeans::emmeans(fit, ~sex, at = list(age = 40, educ = 12))))
  expect_no_match(printed, "scale")
})

test_that("effects between two bars are absorbed, as by feols()", {
  skip_without_python()
  d <- schooling()
  d$state <- factor(sample(200, nrow(d), replace = TRUE))
  d$wage <- d$wage + as.integer(d$state) %% 7
  fit <- fit_iv(wage ~ age | state | educ ~ near, d, epsilon = 1e9)
  expect_named(coef(fit), c("age", "educ"))
  expect_identical(fit$cov_type, "cluster")
  centred <- lapply(d[c("wage", "age", "educ", "near")], function(x) x - ave(as.numeric(x), d$state))
  z <- cbind(centred$age, centred$near)
  x <- cbind(centred$age, centred$educ)
  expect_equal(unname(coef(fit)), drop(solve(crossprod(z, x), crossprod(z, centred$wage))),
               tolerance = 1e-4)
  expect_identical(deparse1(formula(fit)), "wage ~ age + educ | state")
  expect_match(attr(anova(fit), "heading"), "^Response: wage$", all = FALSE)
  expect_true(any(grepl("^response +wage$", capture.output(print(dp_compare(fit))))))
  expect_error(fit_iv(wage ~ age | state | near | educ ~ far, d), "as in y ~ x \\| state \\| d ~ z",
               class = "dpstats_argument_error")
})

test_that("rows are chosen, budgets charged and fits made again as for dp_ols", {
  skip_without_python()
  d <- schooling()
  limit <- 40
  men <- fit_iv(wage ~ I(age > limit) | educ ~ near, d, epsilon = 4, subset = sex == "m")
  expect_named(coef(men), c("(Intercept)", "I(age > 40)TRUE", "educ"))
  expect_lt(abs(nobs(men) - sum(d$sex == "m")), 200)
  budget <- dp_budget(2.1, 1e-6)
  fit_iv(data = d, epsilon = 2, budget = budget)
  expect_error(fit_iv(data = d, epsilon = 2, budget = budget), class = "dpstats_budget_error")
  expect_identical(budget$spent[["epsilon"]], 2)
  other <- update(men, wage ~ age | educ ~ far, data = d, subset = NULL)
  expect_s3_class(other, "dp_iv")
  expect_identical(dp_first_stage(other)$coefficients$term, "far")
  expect_error(update(men, . ~ . + sex, data = d), "written out", class = "dpstats_argument_error")
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  utils::write.csv(d, file, row.names = FALSE)
  numbers <- list(wage = "number", educ = "number", near = "number")
  of_file <- fit_iv(wage ~ 1 | educ ~ near, file, epsilon = 4, types = numbers)
  expect_equal(coef(of_file)[["educ"]], 0.5, tolerance = 0.2)
})

test_that("arguments that dp_iv has not are answered before they are evaluated", {
  skip_without_python()
  for (name in setdiff(names(instead_of_iv()), "subset")) {
    error <- tryCatch(
      do.call(dp_iv, c(list(wage ~ age | educ ~ near, quote(schooling(60)), 1),
                       stats::setNames(list(quote(nowhere)), name))),
      error = identity
    )
    expect_s3_class(error, "dpstats_argument_error")
    expect_match(conditionMessage(error), paste0("dp_iv has no ", name, ": "))
  }
  expect_error(dp_iv(list(wage ~ 1 | educ ~ near), schooling(60), 1), "takes one formula",
               class = "dpstats_argument_error")
})

test_that("there is a regression for each group, for what one costs", {
  skip_without_python()
  d <- schooling()
  d$wage <- d$wage + ifelse(d$sex == "m", 1, 0) * d$educ
  by <- fit_iv(wage ~ age | educ ~ near + far, d, epsilon = 1e8, by = sex)
  expect_s3_class(by, c("dp_iv_groups", "dp_ols_groups"), exact = TRUE)
  for (sex in c("f", "m")) {
    own <- d[d$sex == sex, ]
    wanted <- two_stages(own$wage, model.matrix(~ age + educ, own), model.matrix(~ age + near + far, own))
    expect_equal(coef(by[[sex]]), wanted$params, tolerance = 1e-3)
    expect_equal(unname(sqrt(diag(vcov(by[[sex]])))), unname(wanted$errors), tolerance = 0.02)
  }
  expect_identical(fit_iv(wage ~ age | educ ~ near + far, dplyr::group_by(d, sex))$estimates, by$estimates)
  budget <- dp_budget(1.5)
  fit_iv(epsilon = 1, by = "sex", formula = wage ~ age | educ ~ near, data = d, budget = budget)
  expect_equal(budget$spent[[1L]], 1, tolerance = 1e-6)
})

test_that("groups tell their first stages and sets, and so does one of them", {
  skip_without_python()
  by <- fit_iv(wage ~ age | educ ~ near + far, schooling(), epsilon = 4, by = sex)
  stages <- dp_first_stage(by)
  expect_named(stages, c("sex", "term", "estimate", "std.error", "statistic"))
  expect_identical(stages$term, rep(c("near", "far"), 2L))
  expect_identical(glance(by)$statistic.weakinst, stages$statistic[c(1L, 3L)])
  sets <- dp_anderson_rubin(by, level = 0.9)
  expect_named(sets, c("sex", "low", "high"))
  men <- by[["m"]]
  expect_s3_class(men, c("dp_ols_group", "dp_iv", "dp_ols"), exact = TRUE)
  expect_identical(dp_first_stage(men)$coefficients$estimate, stages$estimate[3:4])
  expect_identical(dp_first_stage(men)$statistic, stages$statistic[3L])
  expect_equal(unname(unclass(dp_anderson_rubin(men, level = 0.9))[1L, ]),
               unname(unlist(sets[sets$sex == "m", 2:3])))
  expect_identical(dp_anderson_rubin(men), by$instruments$sets[[2L]])
  expect_identical(dp_anderson_rubin(by[2L], level = 0.9)$low, sets$low[sets$sex == "m"])
  expect_equal(unname(confint(men)), unname(as.matrix(confint(by)[4:6, 3:4])), tolerance = 1e-12,
               ignore_attr = TRUE)
  shown <- paste(capture.output(print(by), summary(by)), collapse = " ")
  expect_match(shown, "wage ~ age | educ ~ near + far", fixed = TRUE)
  expect_match(shown, "F statistic of the first stage")
  expect_match(paste(capture.output(print(men), summary(men)), collapse = " "), "Anderson-Rubin 95% set of educ")
  at <- data.frame(age = 40, educ = 12, sex = c("f", "m"))
  expect_length(predict(by, at, interval = "confidence"), 6L)
  expect_s3_class(tidy(men), "tbl_df")
})

test_that("groups are fitted again with their instruments", {
  skip_without_python()
  d <- schooling(4000)
  by <- dp_iv(wage ~ age | educ ~ near, d, 4, by = sex)
  expect_identical(deparse1(by$call), "dp_iv(formula = wage ~ age | educ ~ near, epsilon = 4, by = \"sex\")")
  again <- update(by, data = d, epsilon = 2)
  expect_s3_class(again, "dp_iv_groups")
  expect_identical(again$privacy$epsilon, 2)
  expect_error(update(by, . ~ . + far, data = d), "a formula with instruments is written out",
               class = "dpstats_argument_error")
})
