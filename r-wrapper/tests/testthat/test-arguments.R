test_that("tidy() takes the level and the exponentials as broom does, for a fit and for groups", {
  skip_without_python()
  skip_without_package("broom")
  d <- people()
  fit <- fit_wage(data = d)
  reference <- lm(log(wage) ~ educ + sex * age, d)
  shown <- c("term", "estimate", "std.error", "conf.low", "conf.high")
  for (exponentiate in c(FALSE, TRUE)) {
    ours <- tidy(fit, conf.int = TRUE, conf.level = 0.5, exponentiate = exponentiate)
    theirs <- broom::tidy(reference, conf.int = TRUE, conf.level = 0.5, exponentiate = exponentiate)
    expect_identical(names(ours), names(theirs))
    expect_equal(ours[shown], theirs[shown], tolerance = 0.02)
  }
  d <- line(6000)
  by <- with_insecure_seed(1, dp_ols(y ~ x, d, "noisy_moments", 1e6, by = "tract", bounds = unit))
  alone <- lm(y ~ x, d[d$tract == 7L, ])
  for (level in c(0.5, 0.95, 0.99)) {
    for (exponentiate in c(FALSE, TRUE)) {
      ours <- tidy(by, conf.int = TRUE, conf.level = level, exponentiate = exponentiate)
      ours <- ours[ours$tract == 7L & ours$term %in% names(coef(alone)), ]
      theirs <- broom::tidy(alone, conf.int = TRUE, conf.level = level, exponentiate = exponentiate)
      expect_equal(ours[shown], theirs[shown], tolerance = 0.01)
    }
  }
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(by, file)
  expect_identical(tidy(readRDS(file), conf.int = TRUE, conf.level = 0.5),
                   tidy(by, conf.int = TRUE, conf.level = 0.5))
  fits <- dp_ols(list(y ~ x), d, "noisy_moments", 1e6, bounds = unit)
  expect_identical(tidy(fits, conf.int = TRUE, conf.level = 0.5)$conf.low,
                   unname(confint(fits[[1L]], level = 0.5)[, 1L]))
})

test_that("augment() gives the columns that broom gives for the same arguments", {
  skip_without_python()
  skip_without_package("broom")
  fit <- fit_wage()
  reference <- lm(log(wage) ~ educ + sex * age, people())
  new <- data.frame(educ = c(10, 14), sex = "f", age = c(30, 50))
  for (interval in c("none", "confidence")) {
    for (se_fit in c(FALSE, TRUE)) {
      ours <- augment(fit, newdata = new, se_fit = se_fit, interval = interval, conf.level = 0.8)
      theirs <- broom::augment(reference, newdata = new, se_fit = se_fit, interval = interval,
                               conf.level = 0.8)
      expect_setequal(names(ours), names(theirs))
      expect_equal(ours[names(theirs)], theirs, tolerance = 0.02, ignore_attr = TRUE)
    }
  }
  expect_named(augment(fit, newdata = new), c(names(new), ".fitted", ".se.fit"))
})

# Calls of a method with an argument that other methods have, or nobody has, and what to expect.
ignored <- list(
  quote(predict(fit, new, type = "terms")), "centres each term at its mean over the rows",
  quote(predict(fit, new, type = "link")), "expected type to be \"response\"",
  quote(predict(fit, new, interval = "prediction")), "interval = \"confidence\"",
  quote(predict(fit, new, interval = "both")), "expected interval to be \"none\" or \"confidence\"",
  quote(predict(fit, new, se.fit = 2)), "expected se.fit to be TRUE or FALSE",
  quote(predict(fit, new, na.action = na.omit)), "NA where a value is missing",
  quote(predict(fit, new, pred.var = 1)), "predict\\(\\) of this result has no argument pred.var",
  quote(augment(fit, newdata = new, interval = "prediction")), "interval = \"confidence\"",
  quote(augment(fit, newdata = new, conf.int = TRUE)), "no argument conf.int; it has x, newdata",
  quote(augment(fit, new, data = new)), "public values as newdata",
  quote(tidy(fit, conf.int = TRUE, conf.level = 95)), "expected level between 0 and 1",
  quote(tidy(fit, conf.int = 0.9)), "expected conf.int to be TRUE or FALSE",
  quote(tidy(fit, exponentiate = NA)), "expected exponentiate to be TRUE or FALSE",
  quote(tidy(fit, conf_level = 0.5)), "it has x, conf.int, conf.level, exponentiate",
  quote(tidy(fit, FALSE, 0.9, FALSE, 1)), "no further argument",
  quote(tidy(fit, vcov = "HC1")), "no argument vcov; .* cov_type in dp_ols\\(\\)",
  quote(tidy(by, vcov = diag(2))), "no argument vcov",
  quote(tidy(fits, Conf_Int = TRUE)), "no argument Conf_Int",
  quote(glance(fit, vcov = "HC1")), "glance\\(\\) of this result has no argument vcov",
  quote(confint(fit, type = "HC1")), "cov_type in dp_ols\\(\\)",
  quote(confint(fit, "z")), "no coefficient z to give an interval of; there are \\(Intercept\\), x",
  quote(confint(fit, 3)), "no coefficient 3",
  quote(vcov(fit, type = "HC1")), "cov_type in dp_ols\\(\\)",
  quote(coef(fit, unknown = 1)), "no argument unknown",
  quote(summary(fit, vcov = "HC1")), "cov_type in dp_ols\\(\\)",
  quote(summary(fit, correlation = TRUE)), "no argument correlation",
  quote(tidy(by, conf_level = 0.5)), "no argument conf_level",
  quote(tidy(by, conf.int = TRUE, conf.level = 2)), "expected level between 0 and 1",
  quote(glance(by, 1)), "no further argument",
  quote(summary(by, vcov = "HC1")), "no argument vcov",
  quote(coef(by, complete = TRUE)), "no argument complete",
  quote(as.list(by, all = TRUE)), "no argument all",
  quote(as.data.frame(by, conf_level = 0.5)), "no argument conf_level",
  quote(tidy(fits, conf_level = 0.5)), "no argument conf_level",
  quote(tidy(dp_compare(fit), conf.int = TRUE)), "no argument conf.int"
)

test_that("an argument that a method does not have is refused rather than ignored", {
  skip_without_python()
  fit <- dp_ols(y ~ x, line(), "noisy_moments", 4, bounds = unit)
  fits <- dp_ols(list(y ~ x), line(), "noisy_moments", 4, bounds = unit)
  by <- dp_ols(y ~ x, line(), "noisy_moments", 4, by = "tract", bounds = unit)
  new <- data.frame(x = 0.5)
  for (i in seq(1L, length(ignored), 2L)) {
    error <- tryCatch(eval(ignored[[i]]), error = identity)
    expect_s3_class(error, "dpstats_argument_error")
    expect_match(conditionMessage(error), ignored[[i + 1L]], info = deparse1(ignored[[i]]))
  }
  expect_identical(vcov(fit, complete = FALSE), vcov(fit))
  expect_identical(row.names(as.data.frame(by, row.names = letters[1:12])), letters[1:12])
})

test_that("a name that stands twice is refused, wherever names are given", {
  skip_without_python()
  doubled <- line()[c("x", "y", "x")]
  names(doubled)[3L] <- "x"
  fit <- dp_ols(y ~ x, line(), "noisy_stats", 4, bounds = unit)
  once <- function(..., data = line()) dp_ols(y ~ x, data, "adassp", 1, ...)
  plan <- function(...) dp_plan(y ~ x, 10, methods = "adassp", epsilon = 1, ...)
  twice <- list(
    bounds = quote(once(bounds = c(unit, list(x = c(0, 9))))),
    levels = quote(once(bounds = unit, levels = list(g = "a", g = "b"))),
    `the call` = quote(once(bounds = unit, lambda = 1, lambda = 2)),
    x_new = quote(once(bounds = unit, x_new = doubled)),
    newdata = quote(predict(fit, doubled)),
    bounds = quote(plan(bounds = c(unit, unit))),
    truth = quote(plan(bounds = unit, truth = c(x = 1, x = 2))),
    x_sd = quote(plan(bounds = unit, x_sd = list(x = 1, x = 2))),
    methods = quote(dp_plan(y ~ x, 10, unit, c("adassp", "adassp"), 1)),
    methods = quote(dp_plan(y ~ x, 10, unit, list(list("exp_theil_sen", ci = TRUE, ci = FALSE)), 1))
  )
  for (i in seq_along(twice)) {
    error <- tryCatch(eval(twice[[i]]), error = identity)
    expect_s3_class(error, "dpstats_argument_error")
    expect_match(conditionMessage(error), paste0(names(twice)[i], " holds .+ twice"),
                 info = deparse1(twice[[i]]))
  }
  expect_error(once(bounds = unit, data = doubled), "more than once: x",
               class = "dpstats_argument_error")
})

test_that("a misspelled argument is refused with the one that is meant, though one that is needed is missing", {
  skip_without_python()
  refused <- list(
    epsilon = quote(dp_ols(y ~ x, line(), epsilom = 1)), data = quote(dp_ols(y ~ x, dta = line(), epsilon = 1)),
    formula = quote(dp_ols(formla = y ~ x, line(), epsilon = 1)), epsilon = quote(dp_logit(y ~ x, line(), epsilom = 1)),
    epsilon = quote(dp_iv(y ~ 1 | x ~ tract, line(), epsilom = 1)),
    epsilon = quote(dp_describe(line(), x, epsilom = 1)),
    epsilon = quote(dp_ledger_create("a.ledger", "a", epsilom = 1)),
    precision = quote(dp_plan(y ~ x, 9, unit, precison = 1))
  )
  for (i in seq_along(refused)) {
    verb <- as.character(refused[[i]][[1L]])
    expect_error(eval(refused[[i]]), paste0(verb, " has no argument .*; did you mean ", names(refused)[i], "[?]$"),
                 class = "dpstats_argument_error")
  }
  expect_error(dp_ols(y ~ x, line(), tau = 1), "argument epsilon is missing", class = "dpstats_argument_error")
})

test_that("data before the formula, as pipes of magrittr give them, are told their places", {
  skip_without_python()
  for (verb in c("dp_ols", "dp_logit", "dp_poisson", "dp_iv")) {
    swapped <- call(verb, quote(line()), y ~ x, epsilon = 1)
    expect_error(eval(swapped), paste0("comes first: write ", verb, "(formula, data)"), fixed = TRUE,
                 class = "dpstats_argument_error")
  }
  expect_error(dp_ols(y ~ x, line(), epsilon = 1, nthreads = 2), "no nthreads: leave it out",
               class = "dpstats_argument_error")
})
