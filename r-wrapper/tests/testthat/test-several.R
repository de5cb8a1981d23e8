outcomes <- function() {
  d <- line(900)
  d$z <- 1 - d$y
  d
}

fit_both <- function(formula = list(y ~ x, z ~ x), epsilon = 1e6, ...) {
  dp_ols(formula, outcomes(), "noisy_moments", epsilon, bounds = c(unit, list(z = c(0, 1))), ...)
}

test_that("several formulas are fitted in one call, and tidy below one another", {
  skip_without_python()
  fits <- fit_both()
  expect_named(fits, c("y ~ x", "z ~ x"))
  expect_equal(coef(fits[["z ~ x"]]), coef(lm(z ~ x, outcomes())), tolerance = 0.01)
  rows <- tidy(fits, conf.int = TRUE)
  expect_named(rows[1:2], c("formula", "term"))
  expect_identical(rows$formula, rep(names(fits), each = 2L))
  expect_identical(rows$estimate, unlist(lapply(fits, coef), use.names = FALSE))
  expect_identical(glance(fits)$formula, names(fits))
  expect_output(print(fits), "z ~ x")
  expect_identical(coef(fits)[["y ~ x"]], coef(fits[["y ~ x"]]))
  expect_s3_class(summary(fits)[[2L]], "summary.dp_ols")
  expect_identical(unique(as.data.frame(do.call(dp_compare, fits))$model), names(fits))
  expect_true(is.list(fits))
})

test_that("formulas go by their names, one keeps the shape, and a dot has its own columns", {
  skip_without_python()
  expect_named(fit_both(list(first = y ~ x, z ~ x)), c("first", "z ~ x"))
  one <- dp_ols(list(y ~ x), line(), "noisy_moments", 1, bounds = unit)
  expect_s3_class(one, "dp_ols_list")
  dotted <- fit_both(list(y ~ x, z ~ . - y - tract))
  expect_named(coef(dotted[[2L]]), c("(Intercept)", "x"))
})

test_that("groups of several formulas are below one another too", {
  skip_without_python()
  rows <- tidy(fit_both(by = "tract"))
  expect_named(rows[1:3], c("formula", "tract", "term"))
  expect_identical(dim(rows), c(24L, 6L))
  expect_identical(unique(rows$tract), c(3L, 7L, 9L))
})

test_that("formulas share one budget in equal parts", {
  skip_without_python()
  budget <- dp_budget(epsilon = 2)
  fits <- fit_both(epsilon = 2, budget = budget)
  expect_identical(budget$spent[["epsilon"]], 2)
  expect_equal(glance(fits)$epsilon, c(1, 1))
  expect_error(fit_both(epsilon = 1, budget = budget), class = "dpstats_budget_error")
})

test_that("outcomes of the same rows are one release, which costs what one fit does", {
  skip_without_python()
  d <- outcomes()
  d$z <- d$z^2
  d$z[1:9] <- NA
  budget <- dp_budget(epsilon = 1e6)
  fits <- dp_ols(list(y ~ x, z ~ x), d, epsilon = 1e6, missing = "listwise", budget = budget)
  both <- coef(lm(cbind(y, z) ~ x, d))
  for (name in colnames(both)) {
    expect_equal(coef(fits[[paste(name, "~ x")]]), both[, name], tolerance = 0.01)
  }
  expect_equal(glance(fits)$epsilon, c(1e6, 1e6))
  expect_identical(budget$spent[["epsilon"]], 1e6)
  text <- paste(capture.output(dp_compare(fits)), collapse = " ")
  expect_match(text, "have epsilon = 1e+06", fixed = TRUE)
  expect_error(dp_ols(list(y ~ x, z ~ tract), d, epsilon = 1, missing = "listwise"),
               "one right-hand side", class = "dpstats_argument_error")
})

test_that("lists that are none of different formulas are refused", {
  skip_without_python()
  wrong <- list(list(), list(y ~ x, y ~ x), list(y ~ x, "z ~ x"), list(a = y ~ x, a = z ~ x))
  for (formula in wrong) {
    expect_error(fit_both(formula), "formula", class = "dpstats_argument_error")
  }
})

test_that("a list of fits is asked as each of its fits is", {
  skip_without_python()
  fits <- fit_both()
  new <- data.frame(x = c(0.2, 0.6))
  at_new <- function(fit) predict(fit, new, interval = "confidence")
  for (ask_fit in list(vcov, confint, sigma, formula, df.residual, at_new)) {
    expect_identical(ask_fit(fits)[["z ~ x"]], ask_fit(fits[["z ~ x"]]))
  }
  rows <- augment(fits, newdata = new)
  expect_identical(rows$formula, rep(names(fits), each = 2L))
  expect_identical(rows[3:4, -1L], augment(fits[[2L]], newdata = new))
  expect_s3_class(fits["z ~ x"], "dp_ols_list")
  expect_error(confint(fits, vcov = "HC1"), class = "dpstats_argument_error")
  expect_error(AIC(fits), "likelihoods", class = "dpstats_not_released_error")
  groups <- fit_both(by = "tract")
  expect_error(plot(groups), "plot(fits[[1]])", fixed = TRUE, class = "dpstats_argument_error")
})
