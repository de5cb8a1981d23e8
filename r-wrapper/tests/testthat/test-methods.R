test_that("a fit answers as lm does", {
  skip_without_python()
  d <- people()
  fit <- fit_wage(data = d)
  reference <- lm(log(wage) ~ educ + sex * age, d)
  expect_identical(names(coef(fit)), names(coef(reference)))
  expect_identical(dimnames(vcov(fit)), dimnames(vcov(reference)))
  expect_identical(dimnames(confint(fit)), dimnames(confint(reference)))
  expect_identical(dimnames(confint(fit, "educ", 0.9)), dimnames(confint(reference, "educ", 0.9)))
  expect_equal(formula(fit), formula(reference), ignore_formula_env = TRUE)
  expect_equal(sqrt(diag(vcov(fit))), sqrt(diag(vcov(reference))), tolerance = 0.05)
  expect_identical(colnames(coef(summary(fit))),
                   c("Estimate", "Std. Error", "z value", "Pr(>|z|)"))
  expect_output(print(summary(fit)), "educ .*\\*\\*\\*")
  expect_output(print(fit), "NOT private")
  expect_output(print(dp_ols(y ~ x, line(), "noisy_stats", 2, bounds = unit)), "epsilon = 2, delta")
})

test_that("predictions are those of lm's arithmetic and of Python's", {
  skip_without_python()
  d <- people()
  new <- d[5:9, setdiff(names(d), "wage")]
  python <- reticulate::import("dpstats", convert = FALSE)
  for (formula in c(log(wage) ~ educ + sex * age, wage ~ size * union + I(educ^2),
                    wage ~ relevel(sex, ref = "m"):educ, wage ~ C(size, contr.sum))) {
    fit <- fit_wage(formula, d)
    reference <- suppressWarnings(predict(lm(formula, d), new)) # about contrasts of its own
    expect_equal(predict(fit, new), reference, tolerance = 5e-3)
    expect_equal(predict(fit, new[3L, ]), reference[3L], tolerance = 5e-3)
    columns <- lapply(new[formula_variables(formula[-2L])], function(x) {
      as.list(if (is.factor(x)) as.character(x) else x)
    })
    there <- python$DPResults$from_json(fit$state)$predict(reticulate::dict(columns))
    expect_equal(unname(predict(fit, new)), numbers(reticulate::py_to_r(there$tolist())))
  }
})

test_that("intervals of predictions are those of their standard errors", {
  skip_without_python()
  fit <- fit_wage()
  new <- data.frame(educ = 10, sex = "f", age = c(30, 50))
  both <- predict(fit, new, se.fit = TRUE, interval = "confidence", level = 0.9)
  expect_equal(unname(both$fit[, "upr"] - both$fit[, "fit"]), unname(1.644854 * both$se.fit),
               tolerance = 1e-6)
  reference <- predict(lm(log(wage) ~ educ + sex * age, people()), new, se.fit = TRUE)
  expect_equal(both$se.fit, reference$se.fit, tolerance = 0.05)
  for (formula in c(wage ~ 1, wage ~ factor(educ), log(wage) ~ union)) {
    levels <- if ("educ" %in% all.vars(formula)) list(educ = 8:20)
    bounds <- limits["wage"]
    fit <- with_insecure_seed(1, dp_ols(formula, people(), "adassp", 1e6, levels = levels,
                                        bounds = bounds))
    new <- people(3)
    expect_equal(predict(fit, new, interval = "confidence")[, 1:2],
                 predict(lm(formula, people()), new, interval = "confidence")[, 1:2],
                 tolerance = 0.02)
  }
})

test_that("predictions and their intervals keep to the declared bounds of the response", {
  skip_without_python()
  new <- data.frame(tract = 3L, x = c(-20, 0.5, 20))
  fit <- dp_ols(y ~ x, line(6000), "noisy_moments", 8, bounds = unit)
  by <- dp_ols(y ~ x, line(6000), "noisy_moments", 8, by = "tract", bounds = unit)
  for (result in list(fit, by, by[["3"]])) {
    expect_identical(unname(predict(result, new))[c(1L, 3L)], c(0, 1))
    ends <- predict(result, new, interval = "confidence", level = 0.9)
    expect_true(all(ends >= 0 & ends <= 1 & ends[, "lwr"] <= ends[, "fit"]))
  }
  # without declared bounds it is the line
  free <- dp_ols(y ~ x, line(6000), "adassp", 8, bounds = unit["x"])
  expect_equal(unname(predict(free, new)), drop(unname(model.matrix(free, new) %*% coef(free))))
})

test_that("predictions come from newdata alone", {
  skip_without_python()
  fit <- fit_wage()
  expect_error(predict(fit), class = "dpstats_not_released_error")
  assign("age", 40, globalenv())
  on.exit(rm("age", envir = globalenv()))
  expect_error(predict(fit, data.frame(educ = 10, sex = "f")), "no column 'age'")
  expect_error(predict(fit, data.frame(educ = 10, sex = "x", age = 1)), "x is not a level")
  new <- data.frame(educ = 10, sex = c(NA, "f"), age = 30)
  expect_identical(is.na(predict(fit, new)), c("1" = TRUE, "2" = FALSE))
  expect_identical(is.na(predict(fit, new, se.fit = TRUE)$se.fit), c("1" = TRUE, "2" = FALSE))
  # a missing value leaves the intervals of the other rows
  ends <- predict(fit, new, interval = "confidence")
  expect_identical(ends[2L, ], predict(fit, new[2L, ], interval = "confidence")[1L, ])
  expect_true(all(is.na(ends[1L, ])))
})

test_that("augment() replaces the columns of an earlier one", {
  skip_without_python()
  fit <- fit_wage(wage ~ educ)
  once <- augment(fit, newdata = data.frame(educ = 10:12))
  expect_identical(augment(fit, newdata = once), once)
})

test_that("values beyond declared bounds are taken for the bound, where the fit clips", {
  skip_without_python()
  fit <- dp_ols(wage ~ educ, people(), epsilon = 100, bounds = limits[c("wage", "educ")])
  ends <- data.frame(educ = c(20, 100))
  expect_identical(unname(model.matrix(fit, data = ends)[, "educ"]), c(20, 20))
  expect_length(unique(predict(fit, ends)), 1L)
})

test_that("degrees of freedom are there under lm's name", {
  skip_without_python()
  fit <- fit_wage()
  expect_identical(fit$df.residual, df.residual(fit))
})

test_that("contrasts set for the session change nothing", {
  skip_without_python()
  before <- options(contrasts = c("contr.sum", "contr.helmert"))
  on.exit(options(before))
  fit <- fit_wage(wage ~ sex + size)
  expect_identical(colnames(design_at(fit, people(5))), names(coef(fit)))
})

test_that("what a private fit does not have is an error with a reason", {
  skip_without_python()
  fit <- fit_wage(epsilon = 1)
  refused <- list(residuals, resid, fitted, logLik, AIC, BIC, deviance, model.frame, model.matrix,
                  hatvalues, cooks.distance, rstandard, rstudent, influence, dfbeta, dfbetas, dffits,
                  influence.measures, effects, qr, simulate, drop1, extractAIC, update,
                  function(fit) plot(fit, which = 1))
  for (f in refused) expect_error(f(fit), "not|budget", class = "dpstats_not_released_error")
  skip_without_package("lmtest")
  for (f in list(lmtest::waldtest, function(fit) lmtest::waldtest(fit, . ~ educ), lmtest::lrtest)) {
    expect_error(f(fit), "anova\\(", class = "dpstats_not_released_error")
  }
  skip_without_package("insight")
  expect_error(insight::get_data(fit), class = "dpstats_not_released_error")
})

test_that("what lm holds of the rows under a name is no NULL, whose sums are 0", {
  skip_without_python()
  fit <- fit_wage(epsilon = 1)
  by <- dp_ols(y ~ x, line(), "noisy_stats", 2, by = "tract", bounds = unit)
  for (object in list(fit, by, by[["7"]])) {
    expect_error(sum(object$residuals^2), "residuals do not exist", class = "dpstats_not_released_error")
    expect_error(object$fitted.values, class = "dpstats_not_released_error")
    expect_null(object$nothing)
  }
  expect_identical(fit$coef, coef(fit))
  expect_error(covratio(fit), class = "dpstats_not_released_error")
  both <- dp_ols(list(y ~ x, x ~ y), line(), "noisy_stats", 2, bounds = unit)
  for (f in list(residuals, fitted)) expect_error(f(both), class = "dpstats_not_released_error")
  expect_length(nobs(both), 2L)
  expect_error(anova(by), "anova\\(groups\\[\\[1", class = "dpstats_argument_error")
})

test_that("diagnostics of car say what they lack", {
  skip_without_python()
  fit <- fit_wage(epsilon = 1)
  skip_without_package("car")
  names <- c("influencePlot", "infIndexPlot", "influenceIndexPlot", "dfbetaPlots", "dfbetasPlots", "outlierTest",
             "ncvTest", "durbinWatsonTest", "residualPlots", "residualPlot", "spreadLevelPlot", "qqPlot", "boxCox",
             "powerTransform", "mmp", "hccm", "vif", "Anova", "crPlots")
  for (name in names) {
    expect_error(getExportedValue("car", name)(fit), class = "dpstats_not_released_error", label = name)
  }
})

test_that("groups and one of them say what they do not have, as a fit does", {
  skip_without_python()
  by <- dp_ols(y ~ x, line(), "noisy_stats", 2, by = "tract", bounds = unit)
  for (f in list(residuals, fitted, sigma, logLik, AIC, model.frame, function(fit) plot(fit, which = 1))) {
    for (object in list(by, by[["7"]])) expect_error(f(object), class = "dpstats_not_released_error")
  }
})

test_that("weights of groups are refused as those of a fit are, and are NULL where there are none", {
  skip_without_python()
  d <- transform(line(), w = rep(1:2, 300))
  by <- dp_ols(y ~ x, d, "adassp", 2, by = tract, bounds = c(unit, list(w = c(0, 2))), weights = w)
  for (object in list(by, by[["7"]])) expect_error(weights(object), class = "dpstats_not_released_error")
  expect_null(weights(by_tract()))
})

test_that("tests of other packages are told to take one group, or one fit of a list", {
  skip_without_python()
  by <- dp_ols(y ~ x, line(), "noisy_moments", 2, by = "tract", bounds = unit)
  fits <- dp_ols(list(y ~ x, x ~ y), line(), "noisy_moments", 2, bounds = unit)
  one <- function(call, what, of = "groups") {
    expect_error(call, paste0(what, "(", of, "[[1]])"), fixed = TRUE, class = "dpstats_argument_error")
  }
  one(anova(by), "anova")
  one(anova(fits), "anova", "fits")
  for (several in list(by, fits)) expect_error(deviance(several), "deviances", class = "dpstats_not_released_error")
  expect_identical(df.residual(by), c("3" = Inf, "7" = Inf, "9" = Inf))
  skip_without_package("lmtest")
  one(lmtest::coeftest(by), "coeftest")
  one(lmtest::coeftest(fits), "coeftest", "fits")
  skip_without_package("car")
  one(car::linearHypothesis(by, "x = 0"), "linearHypothesis")
  one(car::linearHypothesis(fits, "x = 0"), "linearHypothesis", "fits")
})

test_that("summary() of what prints as a whole is that", {
  skip_without_python()
  budget <- dp_budget(1)
  expect_identical(summary(budget), budget)
  described <- dp_describe(line(), ~x, 1)
  expect_identical(summary(described), described)
  compared <- dp_compare(fit_wage())
  expect_identical(summary(compared), compared)
  plan <- dp_plan(y ~ x, 500, unit, "noisy_stats", 1, repetitions = 20)
  expect_identical(summary(plan), plan)
  study <- structure(list(), class = "dp_study_plan")
  expect_identical(summary(study), study)
})

test_that("R-squared and the residual standard error are those of lm without noise", {
  skip_without_python()
  d <- people()
  fit <- fit_wage(log(wage) ~ educ + age, d)
  ols <- summary(lm(log(wage) ~ educ + age, d))
  expect_equal(glance(fit)$r.squared, ols$r.squared, tolerance = 1e-3)
  expect_equal(glance(fit)$adj.r.squared, ols$adj.r.squared, tolerance = 1e-3)
  expect_equal(sigma(fit), ols$sigma, tolerance = 1e-3)
  expect_identical(c(glance(fit)$nobs, glance(fit)$df.residual), c(4000, 3997))
  expect_output(print(summary(fit)), "R-squared: 0\\.[0-9]+ \\(.*residual standard error")
  none <- dp_ols(y ~ x, line(), "noisy_stats", 2, bounds = unit)
  expect_error(sigma(none), class = "dpstats_not_released_error")
  expect_identical(is.na(glance(none)$r.squared), TRUE)
})

test_that("the number of rows is known where it is public", {
  skip_without_python()
  fit <- dp_ols(y ~ x, line(), "noisy_stats", 2, bounds = unit)
  expect_identical(nobs(fit), 600L)
  expect_output(print(summary(fit)), "rows: 600\\n")
})

test_that("where the number of rows is private it is the one released, or NA with the reason", {
  skip_without_python()
  fit <- fit_wage(epsilon = 1)
  expect_identical(nobs(fit), glance(fit)$nobs)
  expect_identical(nobs(fit), as.integer(round(fit$fit_statistics["nobs", "estimate"])))
  expect_output(print(summary(fit)), sprintf("rows: %d \\([0-9]+\\)", nobs(fit)))
  none <- dp_ols(y ~ x, line(), "exp_theil_sen", 2, neighbors = "add_remove", bounds = unit)
  expect_identical(as.integer(nobs(none)), NA_integer_)
  expect_match(attr(nobs(none), "reason"), "private")
  expect_output(print(summary(none)), "rows: private")
})

test_that("a reason stands where a number does not", {
  skip_without_python()
  fit <- dp_ols(y ~ x, line(), "exp_theil_sen", 2, bounds = unit)
  expect_true(all(is.na(vcov(fit))))
  expect_output(print(summary(fit)), "NA, Inf: ")
  expect_true(all(is.na(tidy(fit)$std.error)))
})

test_that("a fit survives saving, and holds nothing of the data", {
  skip_without_python()
  secret <- 0.123456789
  marked <- people(300)
  marked$age[17] <- secret
  marked$note <- "nobody may read this"
  fit <- (function() {
    here <- marked
    dp_ols(wage ~ educ + age, here, "adassp", 1, bounds = limits)
  })()
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file)
  again <- readRDS(file)
  expect_equal(again, fit)
  expect_equal(confint(again, level = 0.8), confint(fit, level = 0.8))
  expect_false(contains(serialize(fit, NULL), secret, "nobody may read"))
  expect_true(contains(serialize(marked, NULL), secret, "nobody may read"))
  by <- dp_ols(wage ~ educ, marked, "exp_theil_sen", 2, by = "sex", bounds = limits[1:2])
  expect_false(contains(serialize(by, NULL), secret, "nobody may read"))
  expect_lt(length(serialize(by, NULL)), 20000)
})

test_that("a saved release is read without Python, and holds what a fit holds", {
  fit <- readRDS(system.file("extdata", "wages.rds", package = "dpstats"))
  with_answer(function(...) stop("Python was asked"), {
    expect_output(print(summary(fit)), "educ .*\\*\\*\\*")
    expect_identical(dim(confint(fit)), c(4L, 2L))
    expect_identical(nrow(tidy(fit, conf.int = TRUE)), 4L)
    new <- data.frame(educ = c(12, 16), exper = 10, sex = "women")
    expect_equal(diff(predict(fit, new)), 4 * coef(fit)["educ"], ignore_attr = TRUE)
  })
  skip_without_python()
  expect_named(fit, names(fit_wage(log(wage) ~ educ + age + sex)))
  expect_named(fit$privacy, names(fit_wage()$privacy))
})

test_that("notes are no wider than the terminal", {
  skip_without_python()
  fit <- dp_ols(y ~ x, line(), "noisy_moments", 4, bounds = unit)
  before <- options(width = 50L)
  on.exit(options(before))
  for (result in list(summary(fit), dp_compare(fit), dp_describe(line(), ~x, 4))) {
    lines <- utils::capture.output(print(result))
    expect_true(all(nchar(utils::tail(lines, 3L)) <= 50L))
  }
})

test_that("summaries count persons as persons where their rows are protected together", {
  skip_without_python()
  d <- transform(line(), id = rep(1:300, 2))
  fit <- dp_ols(y ~ x, d, "adassp", 4, bounds = unit, unit = id, max_rows = 2)
  expect_output(print(summary(fit)), sprintf("status [a-z_]+, number of id: %d", nobs(fit)))
})

test_that("terms that are left of others taken away are those of lm, conditions too", {
  skip_without_python()
  d <- people()
  formulas <- list(
    log(wage) ~ (educ > 12) + age + union - union, log(wage) ~ . - size - educ - union + (educ > 12):sex,
    log(wage) ~ (age > 40) * sex + educ - educ - 1, log(wage) ~ . - size - educ - sex - union - age
  )
  for (formula in formulas) {
    fit <- with_insecure_seed(3, dp_ols(formula, d, "adassp", 1e6, bounds = limits))
    reference <- lm(formula, d)
    expect_named(coef(fit), names(coef(reference)), info = deparse1(formula))
    expect_equal(predict(fit, d[1:3, ]), predict(reference, d[1:3, ]), tolerance = 5e-3)
    expect_identical(labels(fit), labels(reference))
  }
})

test_that("a fit holds what those of estimatr and fixest do under their names", {
  skip_without_python()
  fit <- fit_wage()
  table <- tidy(fit, conf.int = TRUE)
  for (name in c("std.error", "statistic", "p.value", "conf.low", "conf.high")) {
    expect_identical(eval(call("$", quote(fit), name)), stats::setNames(table[[name]], names(coef(fit))))
  }
  expect_identical(fit$se, fit$std.error)
  expect_identical(fit$coeftable, coef(summary(fit)))
  expect_identical(fit$r.squared, glance(fit)$r.squared)
  expect_identical(fit$adj.r.squared, glance(fit)$adj.r.squared)
  for (ask in list(AIC, extractAIC, drop1)) {
    expect_error(ask(fit), "use anova()", fixed = TRUE, class = "dpstats_not_released_error")
  }
})
