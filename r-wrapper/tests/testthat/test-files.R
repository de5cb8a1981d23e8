in_files <- function(d) {
  folder <- tempfile("people ")
  dir.create(folder)
  parts <- split(d, rep_len(1:2, nrow(d)))
  for (i in 1:2) {
    utils::write.csv(parts[[i]], file.path(folder, paste0("part-", i, ".csv")), row.names = FALSE)
  }
  file.path(folder, "part-*.csv")
}

test_that("files are fitted as the data frame they hold", {
  skip_without_python()
  d <- line(4000)
  files <- in_files(d)
  on.exit(unlink(dirname(files), recursive = TRUE))
  for (formula in c(y ~ x + I(x^2), y ~ .)) {
    bounds <- if ("." %in% all.vars(formula)) c(unit, list(tract = c(0, 10))) else unit
    fit <- dp_ols(formula, files, "adassp", 1e6, bounds = bounds)
    expect_equal(coef(fit), coef(lm(formula, d)), tolerance = 0.01)
  }
  expect_false(contains(serialize(fit, NULL), d$y[1L], "part-"))
  each <- c(first = Sys.glob(files)[1L], second = Sys.glob(files)[2L])
  seeded <- function(data) {
    with_insecure_seed(1, dp_ols(y ~ x, data, "adassp", 1, bounds = unit))
  }
  expect_identical(coef(seeded(each)), coef(seeded(files)))
  expect_error(seeded(c(files, each[1L])), "each file once", class = "dpstats_argument_error")
})

test_that("groups of files have labels of R, however large", {
  skip_without_python()
  d <- line(900)
  d$tract <- 48201100000 + d$tract
  files <- in_files(d)
  on.exit(unlink(dirname(files), recursive = TRUE))
  fits <- lapply(list(files, d), function(data) {
    dp_ols(y ~ ., data, "noisy_moments", 1e4, by = "tract", bounds = unit, groups = unique(d$tract))
  })
  expect_identical(fits[[1L]]$groups, fits[[2L]]$groups)
  expect_equal(fits[[1L]]$estimates, fits[[2L]]$estimates, tolerance = 0.01)
  present <- function(...) {
    dp_ols(y ~ x, files, "noisy_moments", 1e4, by = "tract", bounds = unit, ...)$groups$tract
  }
  expect_identical(present(types = list(tract = "integer")), 48201100000 + c(3, 7, 9))
  expect_identical(present(types = c(tract = "string")), paste0("4820110000", c(3, 7, 9)))
  expect_identical(present(), present(types = c(tract = "string")))
  wrong <- list("integer", list(tract = 1), list(tract = NA), c(tract = "integer", "number"))
  for (types in wrong) {
    expect_error(present(types = types), "types", class = "dpstats_argument_error")
  }
})

test_that("files are grouped by several columns", {
  skip_without_python()
  d <- line(900)
  d$state <- rep(c("A", "B"), each = 450)
  files <- in_files(d)
  on.exit(unlink(dirname(files), recursive = TRUE))
  fits <- Map(dp_ols, data = list(files, d), types = list(list(tract = "integer"), NULL),
              MoreArgs = list(formula = y ~ ., method = "noisy_moments", epsilon = 1e6,
                              by = c("state", "tract"), bounds = unit))
  expect_identical(fits[[1L]]$groups, fits[[2L]]$groups)
  expect_identical(dim(fits[[1L]]$groups), c(6L, 2L))
  expect_equal(fits[[1L]]$estimates, fits[[2L]]$estimates, tolerance = 0.01)
})

test_that("files that cannot be read are refused in one sentence", {
  skip_without_python()
  files <- in_files(line(20))
  on.exit(unlink(dirname(files), recursive = TRUE))
  fit <- function(formula = y ~ x, data = files, ...) {
    dp_ols(formula, data, "noisy_stats", 1, bounds = unit, ...)
  }
  class <- "dpstats_argument_error"
  expect_error(fit(data = "nowhere.csv"), "there is no file nowhere.csv", class = class)
  expect_error(fit(y ~ z), "z", class = class)
  expect_error(fit(by = "county"), "county", class = class)
  expect_error(fit(by = c("tract", "county")), "county", class = class)
  expect_error(fit(data = c(files, "nowhere.csv")), "there is no file nowhere.csv", class = class)
  for (data in list(c(files, NA), character(), 1)) {
    expect_error(fit(data = data), "a data frame, or paths of files", class = class)
  }
})
