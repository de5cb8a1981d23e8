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

test_that("the default clusters errors by the absorbed column", {
  skip_without_python()
  fit <- absorbing(y ~ x | state)
  expect_identical(fit$cov_type, "cluster")
  named <- absorbing(y ~ x | state, cov_type = "cluster", cluster = "state")
  expect_identical(vcov(named), vcov(fit))
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
  expect_error(absorbing(y ~ x | state + name), "\\(name\\) \\| state",
               class = "dpstats_argument_error")
  expect_error(absorbing(y ~ x | state^name), "column of their own",
               class = "dpstats_argument_error")
  expect_error(absorbing(y ~ x | state, cov_type = "HC1"), "clustered by the column",
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
