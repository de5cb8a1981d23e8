by_tract <- function(d = line(), ...) {
  dp_ols(y ~ x, d, "exp_theil_sen", 8, by = "tract", bounds = unit, ...)
}

test_that("groups are tidy, the group column first, and keep its type", {
  skip_without_python()
  by <- by_tract()
  tidied <- tidy(by, conf.int = TRUE)
  expect_named(
    tidied,
    c("tract", "term", "estimate", "std.error", "status", "conf.low", "conf.high")
  )
  expect_identical(unique(tidied$tract), c(3L, 7L, 9L))
  expect_identical(unique(tidied$term), c("(Intercept)", "x", "p25", "p75"))
  expect_identical(nrow(coef(by)), 3L)
  expect_identical(nrow(glance(by)), 3L)
  expect_s3_class(as.data.frame(by), "data.frame")
  expect_output(print(by), "3 groups: 3 ok")
  expect_output(print(summary(by)), "each row belongs to one tract")
})

test_that("a list of groups has one for each, with its own numbers", {
  skip_without_python()
  by <- by_tract()
  fits <- as.list(by)
  expect_named(fits, c("3", "7", "9"))
  expect_identical(fits[["7"]]$tidy$estimate, unlist(coef(by)[2L, -1L], use.names = FALSE))
  expect_identical(fits[["7"]]$glance$tract, 7L)
})

test_that("every group that was asked for is there", {
  skip_without_python()
  expect_identical(coef(by_tract(groups = c(9L, 4L)))$tract, c(9L, 4L))
  d <- line()
  d$tract <- factor(d$tract, levels = c("1", "3", "7", "9"))
  expect_identical(coef(by_tract(d))$tract, factor(levels(d$tract)))
  expect_identical(coef(by_tract(d, groups = "7"))$tract, factor("7", levels(d$tract)))
})

test_that("group_by and by are one thing, and several factors are crossed", {
  skip_without_python()
  skip_without_package("dplyr")
  d <- people(2000)
  bounds <- limits[1:2]
  one <- with_insecure_seed(2, dp_ols(wage ~ educ, d, "exp_theil_sen", 4, by = "sex",
                                      bounds = bounds))
  two <- with_insecure_seed(2, dp_ols(wage ~ educ, dplyr::group_by(d, sex), "exp_theil_sen", 4,
                                      bounds = bounds))
  expect_identical(one, two)
  crossed <- with_insecure_seed(2, dp_ols(wage ~ educ, dplyr::group_by(d, sex, size),
                                          "exp_theil_sen", 1e4, bounds = bounds))
  expect_identical(dim(crossed$groups), c(6L, 2L))
  here <- d$sex == "m" & d$size == "l"
  alone <- with_insecure_seed(2, dp_ols(wage ~ educ, d[here, ], "exp_theil_sen", 1e4,
                                        bounds = bounds))
  wanted <- crossed$groups$sex == "m" & crossed$groups$size == "l"
  expect_equal(crossed$estimates[wanted, 1:2], coef(alone), tolerance = 0.02)
  expect_error(dp_ols(wage ~ educ, d, "exp_theil_sen", 4, by = c("sex", "union"), bounds = bounds),
               "must be factors")
  expect_error(dp_ols(wage ~ educ, dplyr::group_by(d, sex), "exp_theil_sen", 4, by = "size",
                      bounds = bounds), "grouped by sex")
})

test_that("a dot leaves the group column out", {
  skip_without_python()
  by <- dp_ols(y ~ ., line(), "exp_theil_sen", 8, by = "tract", bounds = unit)
  expect_identical(by$coefficients, c("(Intercept)", "x"))
})
