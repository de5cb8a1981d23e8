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
  expect_equal(budget$remaining, c(epsilon = 0.5, delta = 0))
  expect_output(print(budget), "spent: epsilon 2, delta 0; one call more: epsilon 0.5; another call like the last: 0 more")
})

test_that("a budget of epsilon alone serves the default, and says how many calls are left", {
  skip_without_python()
  budget <- dp_budget(2)
  expect_identical(budget$delta, 1e-6)
  expect_output(print(budget), "one call more: epsilon 2$")
  dp_ols(y ~ x, line(), epsilon = 1, bounds = unit, budget = budget)
  expect_output(print(budget), "another call like the last: 2 more$")
  expect_error(dp_ols(y ~ x, line(), epsilon = 1, bounds = unit, budget = dp_budget(2, 0)),
               "make it with delta = 1e-06 or more", class = "dpstats_budget_error")
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

test_that("the rule of composition is the one asked for, also after saving", {
  skip_without_python()
  spent <- vapply(c("sum", "gdp"), function(composition) {
    budget <- unserialize(serialize(dp_budget(3, 1e-5, composition), NULL))
    for (i in 1:2) dp_ols(y ~ x, line(), "adassp", 1, bounds = unit, budget = budget)
    expect_identical(budget$composition, composition)
    budget$spent[["epsilon"]]
  }, 0)
  expect_equal(spent[["sum"]], 2)
  expect_lt(spent[["gdp"]], 2)
})

test_that("a budget that cannot be is refused", {
  skip_without_python()
  earlier <- structure(new.env(), class = "dp_budget")
  expect_error(fit(earlier), "an earlier version", class = "dpstats_argument_error")
  expect_error(dp_budget(1, composition = "rdp"), "composition", class = "dpstats_argument_error")
  expect_error(dp_budget(-1), class = "dpstats_argument_error")
})

test_that("the totals and the record of a budget cannot be set", {
  skip_without_python()
  budget <- dp_budget(1)
  for (name in c("epsilon", "delta", "composition", "spent", "remaining", "record")) {
    expect_error(budget[[name]] <- 100, paste("the", name, "of a budget cannot be set"),
                 class = "dpstats_argument_error")
    expect_error(assign(name, 100, envir = budget), "locked")
  }
  expect_error(budget$epsilon <- 100, "make another budget with dp_budget",
               class = "dpstats_argument_error")
  expect_error(budget$more <- 1, class = "dpstats_argument_error")
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(budget, file)
  again <- readRDS(file)
  expect_error(again$epsilon <- 100, class = "dpstats_argument_error")
  try(assign("epsilon", 100, envir = again), silent = TRUE)
  expect_error(fit(again, 2), class = "dpstats_budget_error")
  expect_identical(c(budget$epsilon, budget$spent[["epsilon"]]), c(1, 0))
})

test_that("forked children cannot spend a budget of their parent", {
  skip_without_python()
  skip_on_os("windows")
  budget <- dp_budget(2)
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(budget, file)
  read_before <- readRDS(file)
  fit(budget, 0.5)
  budgets <- list(budget, read_before)
  answers <- parallel::mclapply(1:2, function(i) tryCatch(fit(budgets[[i]], 1), error = identity),
                                mc.cores = 2)
  for (answer in answers) {
    expect_s3_class(answer, "dpstats_budget_error")
    expect_match(conditionMessage(answer), "forked child")
  }
  expect_identical(budget$spent[["epsilon"]], 0.5)
  fit(budget, 1)
  fit(read_before, 1)
  expect_equal(c(budget$spent[["epsilon"]], read_before$spent[["epsilon"]]), c(1.5, 1))
  own <- parallel::mclapply(1:2, function(i) {
    child <- dp_budget(1)
    fit(child, 1)
    child$spent[["epsilon"]]
  }, mc.cores = 2)
  expect_identical(own, list(1, 1))
})
