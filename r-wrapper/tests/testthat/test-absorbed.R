# y ~ x | state: the coefficients of lm with dummies, and no effects.

panel <- function(n = 4000, groups = 60) {
  set.seed(1)
  state <- sample(groups, n, replace = TRUE)
  effect <- rnorm(groups, sd = 0.1)
  x <- pmin(pmax(runif(n) + effect[state], 0), 1)
  size <- factor(sample(c("s", "m", "l"), n, replace = TRUE))
  y <- 0.1 + 0.5 * x + 0.05 * (size == "l") + effect[state] + rnorm(n, sd = 0.1)
  data.frame(x, y = pmin(pmax(y, -0.5), 1.5), size, state, name = paste0("s", state))
}

ranges <- list(x = c(0, 1), y = c(-0.5, 1.5))

absorbing <- function(formula, data = panel(), epsilon = 1e9, ...) {
  with_insecure_seed(1, dp_ols(formula, data, epsilon = epsilon, bounds = ranges, ...))
}

test_that("without noise coefficients and errors are those of lm with dummies", {
  skip_without_python()
  data <- panel()
  ols <- lm(y ~ x + size + factor(state), data)
  fits <- list(
    absorbing(y ~ x + size | state, data, cov_type = "nonrobust"),
    absorbing(y ~ x + size | state, data, method = "adassp"),
    absorbing(y ~ x + size | state, data, method = "ssp")
  )
  for (fit in fits) {
    expect_identical(names(coef(fit)), c("x", "sizem", "sizes"))
    expect_equal(coef(fit), coef(ols)[names(coef(fit))], tolerance = 1e-4)
    ratio <- sqrt(diag(vcov(fit)) / diag(vcov(ols))[names(coef(fit))])
    expect_lt(max(abs(ratio - 1)), 0.01)
  }
})

test_that("with weights coefficients are those of lm with dummies and weights", {
  skip_without_python()
  data <- panel()
  data$w <- 0.1 + 0.9 * data$x^2
  ols <- lm(y ~ x + size + factor(state), data, weights = w)
  fit <- with_insecure_seed(1, dp_ols(
    y ~ x + size | state, data, epsilon = 1e9, weights = w, bounds = c(ranges, list(w = c(0, 1)))
  ))
  expect_equal(coef(fit), coef(ols)[names(coef(fit))], tolerance = 1e-4)
  expect_identical(fit$cov_type, "cluster")
})

test_that("two columns and i() of fixest are lm's dummies", {
  skip_without_python()
  data <- panel()
  data$treated <- data$state %% 2
  data$year <- sample(2007:2010, nrow(data), replace = TRUE)
  for (year in c(2007, 2008, 2010)) {
    data[[paste0("t", year)]] <- data$treated * (data$year == year)
  }
  ols <- lm(y ~ x + t2007 + t2008 + t2010 + factor(year) + factor(state), data)
  fit <- absorbing(y ~ x + i(year, treated, ref = 2009) | state + year, data,
    levels = list(year = 2007:2010)
  )
  later <- paste0("year::", c(2007, 2008, 2010), ":treated")
  expect_identical(names(coef(fit)), c("x", later, paste0("factor(year)", 2008:2010)))
  expect_equal(unname(coef(fit)[c("x", later)]),
    unname(coef(ols)[c("x", "t2007", "t2008", "t2010")]),
    tolerance = 1e-4
  )
})

test_that("predictions know the columns of i()", {
  skip_without_python()
  data <- transform(panel(), year = sample(2007:2010, 4000, replace = TRUE))
  fit <- with_insecure_seed(1, dp_ols(y ~ i(year, x, ref = 2009L) + i(size, ref = "l") + x, data,
    epsilon = 1e8, bounds = ranges, levels = list(year = 2007:2010)
  ))
  years <- paste0("year::", c(2007, 2008, 2010), ":x")
  expect_identical(names(coef(fit)), c("(Intercept)", years, "size::m", "size::s", "x"))
  at <- data.frame(year = c(2009, 2010), x = 0.5, size = "s")
  values <- coef(fit)[["(Intercept)"]] + coef(fit)[["size::s"]] + 0.5 * coef(fit)[["x"]] +
    c(0, 0.5 * coef(fit)[["year::2010:x"]])
  expect_equal(unname(predict(fit, at)), values, tolerance = 1e-6)
})

test_that("predictions know i() of columns whose names need backticks", {
  skip_without_python()
  data <- transform(panel(), `my size` = size, `my x` = x, check.names = FALSE)
  for (formula in c(y ~ i(`my size`, ref = "l"), y ~ i(`my size`, `my x`))) {
    fit <- with_insecure_seed(1, dp_ols(formula, data, epsilon = 1e8))
    design <- model.matrix(fit, data = data[1:3, ])
    expect_identical(colnames(design), names(coef(fit)))
    expect_equal(predict(fit, data[1:3, ]), drop(design %*% coef(fit)), tolerance = 0.1)
  }
})

test_that("predictions know i() with one level left, crossed with a number and of truth values", {
  skip_without_python()
  data <- transform(panel(), year = sample(2007:2010, 4000, replace = TRUE), late = state > 5)
  at <- data.frame(year = rep(c(2007, 2010), 2), x = c(0.2, 0.5), late = c(FALSE, FALSE, TRUE, TRUE))
  pairs <- list(
    list(y ~ i(late, ref = FALSE) * x, y ~ late * x), list(y ~ x + i(late, x, ref = FALSE), y ~ x + late:x),
    list(y ~ i(late, x), y ~ late:x), list(y ~ x * i(year, ref = 2007), y ~ x * factor(year)),
    list(y ~ i(year, x, ref = 2007:2009) + x, y ~ I((year == 2010) * x) + x),
    list(y ~ poly(x, 2):i(year, ref = 2007), y ~ I((x - 0.5) * (year > 2007)):factor(year) +
                                               I((12 * (x - 0.5)^2 - 1) * (year > 2007)):factor(year))
  )
  for (pair in pairs) {
    fit <- with_insecure_seed(1, dp_ols(pair[[1L]], data, "adassp", 1e8, bounds = ranges,
                                        levels = list(year = 2007:2010)))
    lines <- suppressWarnings(predict(lm(pair[[2L]], data), at))
    expect_equal(predict(fit, at), lines, tolerance = 1e-4)
  }
})

test_that("the default clusters errors by the absorbed column", {
  skip_without_python()
  fit <- absorbing(y ~ x | state)
  expect_identical(fit$cov_type, "cluster")
  named <- absorbing(y ~ x | state, cov_type = "cluster", cluster = "state")
  expect_identical(vcov(named), vcov(fit))
  expect_equal(anova(fit)[["Pr(>Chisq)"]], tidy(fit)$p.value, tolerance = 1e-12)
  robust <- absorbing(y ~ x | state, cov_type = "HC1")
  expect_true(robust$cov_type %in% c("HC1", "cluster"))
  expect_true(all(is.finite(vcov(robust))))
})

test_that("factors have the columns of the fit where the intercept is taken away too", {
  skip_without_python()
  data <- panel()
  with <- absorbing(y ~ size + x | state, data)
  without <- absorbing(y ~ 0 + size + x | state, data)
  expect_identical(coef(without), coef(with))
  expect_identical(model.matrix(without, data[1:3, ]), model.matrix(with, data[1:3, ]))
  expect_identical(anova(without), anova(with))
})

test_that("character labels sort rows as numbers do, and need no levels", {
  skip_without_python()
  data <- panel()
  expect_identical(coef(absorbing(y ~ x | name, data, 4)), coef(absorbing(y ~ x | state, data, 4)))
  expect_identical(coef(absorbing(y ~ 0 + x | name, data, 4)),
                   coef(absorbing(y ~ x | name, data, 4)))
})

test_that("the dot leaves the absorbed column out", {
  skip_without_python()
  data <- panel()[c("y", "x", "size", "state")]
  expect_identical(names(coef(absorbing(y ~ . | state, data))), c("x", "sizem", "sizes"))
})

test_that("predictions need the effects and are NA", {
  skip_without_python()
  fit <- absorbing(y ~ x + size | state, epsilon = 8)
  at <- data.frame(x = c(0.2, 0.7), size = "s")
  expect_identical(predict(fit, at), c("1" = NA_real_, "2" = NA_real_))
  expect_true(all(is.na(predict(fit, at, interval = "confidence"))))
  expect_error(predict(fit, data.frame(x = 1)), "no column 'size'")
  expect_match(fit$reasons$predictions, "effect of its group")
  expect_output(print(summary(fit)), "state")
  expect_identical(deparse1(formula(fit)), "y ~ x + size | state")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(fit))
})

test_that("several absorbed columns are refused with what to write", {
  skip_without_python()
  expect_error(absorbing(y ~ x | state + name), "levels of name must be declared.*first column",
               class = "dpstats_argument_error")
  expect_error(absorbing(y ~ x | state^name), "column of their own",
               class = "dpstats_argument_error")
  expect_error(absorbing(y ~ x | state, method = "adassp", cov_type = "HC1"),
               "group means are private", class = "dpstats_argument_error")
})

test_that("there is one fit for each group of by", {
  skip_without_python()
  data <- panel()
  data$area <- factor(ifelse(seq_len(nrow(data)) %% 2, "n", "s"))
  fits <- absorbing(y ~ x | state, data, by = "area")
  for (area in c("n", "s")) {
    ols <- lm(y ~ x + factor(state), data[data$area == area, ])
    found <- fits$estimates[match(area, c("n", "s")), "x"]
    expect_equal(unname(found), unname(coef(ols)["x"]), tolerance = 1e-4)
  }
})
