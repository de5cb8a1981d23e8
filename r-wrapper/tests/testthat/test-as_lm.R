test_that("a fit says what it is, as lm does", {
  skip_without_python()
  d <- people()
  fit <- fit_wage(data = d)
  reference <- lm(log(wage) ~ educ + sex * age, d)
  for (ask_fit in list(variable.names, labels, function(fit) family(fit)$family)) {
    expect_identical(ask_fit(fit), ask_fit(reference))
  }
  summaries <- list(summary(fit), summary(reference))
  for (name in c("r.squared", "adj.r.squared", "sigma", "df")) {
    expect_equal(summaries[[1L]][[name]], summaries[[2L]][[name]], tolerance = 0.01)
  }
})

test_that("model.matrix() gives the design at public values", {
  skip_without_python()
  new <- people(6)
  for (formula in c(log(wage) ~ educ + sex * age, wage ~ size + union, wage ~ 1)) {
    fit <- fit_wage(formula)
    reference <- lm(formula, people())
    ours <- model.matrix(fit, data = new)
    theirs <- model.matrix(delete.response(terms(reference)), new, xlev = reference$xlevels)
    expect_equal(ours, theirs, ignore_attr = TRUE)
    expect_identical(attr(ours, "assign"), attr(theirs, "assign"))
    expect_identical(colnames(ours), colnames(theirs))
  }
  expect_error(model.matrix(fit), "at public values", class = "dpstats_not_released_error")
  absorbed <- dp_ols(y ~ x | tract, line(), "adassp", 1, bounds = unit)
  expect_identical(attr(model.matrix(absorbed, data.frame(x = 1)), "assign"), 1L)
})

test_that("update() makes the call again, with data", {
  skip_without_python()
  d <- people()
  bounds <- limits
  fit <- with_insecure_seed(2, dp_ols(wage ~ educ, d, "adassp", 1e6, bounds = bounds))
  expect_identical(names(fit$call), c("", "formula", "method", "epsilon", "bounds"))
  more <- with_insecure_seed(2, update(fit, . ~ . + age, data = d))
  expect_identical(more, with_insecure_seed(
    2, dp_ols(wage ~ educ + age, d, "adassp", 1e6, bounds = bounds)
  ))
  some <- update(fit, data = d, subset = sex == "m", epsilon = 2)
  expect_identical(some$privacy$epsilon, 2)
  expect_identical(some$call$subset, quote(sex == "m"))
  expect_identical(update(fit, log(.) ~ ., evaluate = FALSE)$formula, log(wage) ~ educ,
                   ignore_formula_env = TRUE)
  expect_error(update(fit, . ~ . + age), "keeps no data", class = "dpstats_not_released_error")
  by <- dp_ols(wage ~ educ, d, "adassp", 4, by = "sex", bounds = bounds)
  expect_s3_class(update(by, data = d), "dp_ols_groups")
})

test_that("update() of one group is refused, which would fit all of them", {
  skip_without_python()
  d <- line(900)
  d$state <- rep(c("A", "B"), each = 450)
  budget <- dp_budget(3)
  by <- dp_ols(y ~ x, d, "noisy_stats", 1, by = c(state, tract), bounds = unit, budget = budget)
  for (evaluate in c(TRUE, FALSE)) {
    expect_error(update(by[["A:7"]], data = d, epsilon = 1, evaluate = evaluate), paste(
      "got that of state = A, tract = 7; update(groups, data = d) fits all groups again, and",
      "dp_ols() with subset = state == \"A\" & tract == 7 in place of by this one alone"
    ), fixed = TRUE, class = "dpstats_argument_error")
  }
  expect_identical(budget$spent[["epsilon"]], 1)
  alone <- dp_ols(y ~ x, d, "noisy_stats", 1, bounds = unit, subset = state == "A" & tract == 7)
  expect_identical(nobs(alone), 150L)
})

test_that("update() keeps what is absorbed, unless the new formula absorbs something else", {
  skip_without_python()
  d <- transform(line(), z = x^2)
  fit <- with_insecure_seed(2, dp_ols(y ~ x | tract, d, epsilon = 1e6))
  formula_of <- function(new) update(fit, new, evaluate = FALSE)$formula
  expect_equal(formula_of(. ~ . + z), y ~ x + z | tract, ignore_formula_env = TRUE)
  expect_equal(formula_of(log(.) ~ . | .), log(y) ~ x | tract, ignore_formula_env = TRUE)
  expect_equal(formula_of(. ~ . | z), y ~ x | z, ignore_formula_env = TRUE)
  more <- with_insecure_seed(2, update(fit, . ~ . + z, data = d))
  expect_equal(coef(more), coef(lm(y ~ x + z + factor(tract), d))[c("x", "z")], tolerance = 1e-3)
})

test_that("the call holds no values of the data, however it was made", {
  secret <- "nobody may read this"
  d <- data.frame(x = 1:4, y = 1:4, note = secret)
  written <- as.call(list(dp_ols, formula = y ~ x, data = d, budget = structure(list(), class = "b")))
  kept <- with_call(list(call = quote(dp_ols(formula = y ~ x, epsilon = 1))), written)
  expect_false(contains(serialize(kept, NULL), 0.123, secret))
  expect_identical(kept$call, quote(dp_ols(formula = y ~ x, epsilon = 1)))
})

test_that("anova() has Wald tests of the terms of a fit, and of nested fits", {
  skip_without_python()
  d <- people()
  fit <- fit_wage(log(wage) ~ educ + size + age, d)
  table <- anova(fit)
  expect_s3_class(table, "anova")
  expect_identical(row.names(table), c("educ", "size", "age"))
  reference <- drop1(lm(log(wage) ~ educ + size + age, d), test = "F")[-1L, ]
  expect_identical(as.integer(table$Df), as.integer(reference$Df))
  expect_equal(table$Chisq / table$Df, reference[["F value"]], tolerance = 0.05)
  expect_equal(table["educ", "Pr(>Chisq)"], tidy(fit)$p.value[2L])
  small <- fit_wage(log(wage) ~ educ + age, d)
  pair <- anova(small, fit)
  expect_equal(unlist(pair[2L, ]), unlist(table["size", ]))
  expect_identical(pair$Chisq, anova(fit, small)$Chisq)
  expect_output(print(pair), "Model 2: log\\(wage\\) ~ educ \\+ size \\+ age")
  skip_without_package("car")
  by_car <- car::linearHypothesis(fit, c("size.L = 0", "size.Q = 0"), test = "Chisq")
  expect_equal(pair$Chisq[2L], by_car$Chisq[2L])
})

test_that("anova() refuses what it cannot compare, and has NA without standard errors", {
  skip_without_python()
  fit <- dp_ols(y ~ x, line(), "noisy_moments", 4, bounds = unit)
  other <- dp_ols(x ~ y, line(), "noisy_moments", 4, bounds = unit)
  d <- transform(line(), y = y > 0.5)
  larger <- dp_ols(y ~ x + tract, d, epsilon = 4)
  absorbing <- dp_ols(y ~ x | tract, d, epsilon = 4)
  odds <- dp_logit(y ~ x, d, epsilon = 4)
  expect_identical(anova(larger, dp_ols(y ~ x, d, epsilon = 4))$Df, c(NA, 1))
  refused <- list(quote(anova(fit, other)), quote(anova(fit, fit)), quote(anova(fit, lm(y ~ x, line()))),
                  quote(anova(fit, test = "F")), quote(anova(larger, absorbing)),
                  quote(anova(larger, odds)))
  for (call in refused) {
    expect_error(eval(call), "expected", class = "dpstats_argument_error")
  }
  expect_error(anova(dp_ols(y ~ 1, line(), epsilon = 4)), "no term to test", class = "dpstats_argument_error")
  none <- dp_ols(y ~ x, line(), "exp_theil_sen", 2, bounds = unit)
  expect_identical(anova(none)$Chisq, NA_real_)
})

test_that("update() does not lose the parentheses of conditions, as that of R does", {
  skip_without_python()
  d <- people()
  fit <- dp_ols(log(wage) ~ (educ > 12) + age, d, "adassp", 4, bounds = limits)
  formula_of <- function(new) update(fit, new, evaluate = FALSE)$formula
  lost <- "loses the parentheses of the condition (educ > 12|!union); write the new formula out"
  for (new in list(. ~ . + sex, . ~ . - age, ~ . + sex, log(.) ~ (educ > 12) + sex, wage ~ . + (!union))) {
    expect_error(formula_of(new), lost, class = "dpstats_argument_error")
  }
  expect_equal(formula_of(wage ~ (educ > 12) + sex), wage ~ (educ > 12) + sex, ignore_attr = TRUE)
  expect_equal(formula_of(~ (educ > 12) + sex), log(wage) ~ (educ > 12) + sex, ignore_attr = TRUE)
  expect_equal(formula_of("wage ~ sex"), wage ~ sex, ignore_attr = TRUE)
  expect_equal(formula_of(log(.) ~ sex), log(log(wage)) ~ sex, ignore_attr = TRUE)
  cutoff <- 12
  again <- with_insecure_seed(3, update(fit, log(wage) ~ I(educ > cutoff), data = d))
  expect_named(coef(again), c("(Intercept)", "I(educ > 12)TRUE"))
  expect_error(update(fit, 3, data = d), "formula. to be a formula such as . ~ . \\+ z, got 3",
               class = "dpstats_argument_error")
})
