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

test_that("dates in files are labels, declared by dates", {
  skip_without_python()
  d <- line(900)
  days <- as.Date("2020-01-01") + 0:2
  d$day <- days[1L + (d$tract > 3) + (d$tract > 7)]
  files <- in_files(d)
  on.exit(unlink(dirname(files), recursive = TRUE))
  for (groups in list(NULL, days)) {
    by <- dp_ols(y ~ x, files, "noisy_moments", 1e4, by = day, bounds = unit, groups = groups,
                 types = list(day = "date"))
    expect_identical(by$groups$day, format(days))
    middle <- predict(by, data.frame(day = days, x = 0.5))
    expect_equal(unname(middle), rep(0.45, 3L), tolerance = 0.1)
  }
  fit <- dp_ols(y ~ x + day, files, "adassp", 1e6, bounds = unit, levels = list(day = days))
  reference <- lm(y ~ x + day, transform(d, day = factor(day)))
  expect_equal(coef(fit), coef(reference), tolerance = 0.01)
  expect_equal(predict(fit, d[1:3, ]), predict(reference, transform(d[1:3, ], day = factor(day))),
               tolerance = 0.01)
  refused <- function(call, why) expect_error(call, why, class = "dpstats_argument_error")
  range <- list(day = range(days))
  refused(dp_ols(y ~ day, files, epsilon = 1, bounds = range), "bounds has dates for 'day'")
  refused(dp_describe(files, ~day, 1, bounds = range), "bounds has dates for 'day', and dates of")
  points <- data.frame(x = days)
  refused(dp_ols(y ~ x, files, epsilon = 1, x_new = points), "x_new has dates for 'x'")
  # of a data frame they are numbers, whose levels would be numbers of days
  for (levels in list(days, c(days, NA))) {
    refused(dp_ols(y ~ day, d, epsilon = 1, levels = list(day = levels)), "a column of dates")
  }
  absent <- list(day = c(days, NA))
  refused(dp_ols(y ~ day, files, epsilon = 1, levels = absent), "levels holds NA")
})
