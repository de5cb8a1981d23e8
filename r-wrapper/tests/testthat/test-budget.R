fit <- function(budget, epsilon = 1, ...) {
  dp_ols(y ~ x, line(), "noisy_stats", epsilon, bounds = unit, budget = budget, ...)
}

test_that("a budget adds up and refuses what does not fit", {
  skip_without_python()
  budget <- dp_budget(2.5)
  fit(budget)
  fit(budget)
  expect_equal(budget$spent, c(epsilon = 2, delta = 0))
  error <- tryCatch(fit(budget), error = identity)
  expect_s3_class(error, "dpstats_budget_error")
  expect_match(conditionMessage(error), "does not fit")
  expect_equal(budget$spent[["epsilon"]], 2)
  expect_output(print(budget), "spent: epsilon 2, delta 0")
})

test_that("a mistake costs nothing, and a budget survives saving", {
  skip_without_python()
  budget <- dp_budget(2, 1e-5)
  try(fit(budget, unknown = 1), silent = TRUE)
  expect_equal(budget$spent[["epsilon"]], 0)
  fit(budget, 0.5)
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(budget, file)
  again <- readRDS(file)
  fit(again, 0.5)
  expect_equal(c(again$spent[["epsilon"]], budget$spent[["epsilon"]]), c(1, 0.5))
})

test_that("what Gaussian calls cost together is what Python says", {
  skip_without_python()
  budget <- dp_budget(3, 1e-5)
  for (i in 1:3) dp_ols(y ~ x, line(), "adassp", 1, bounds = unit, budget = budget)
  expect_lt(budget$spent[["epsilon"]], 3)
  expect_gt(budget$spent[["epsilon"]], 1)
})

test_that("a budget that cannot be is refused", {
  skip_without_python()
  expect_error(dp_budget(-1), class = "dpstats_argument_error")
})
