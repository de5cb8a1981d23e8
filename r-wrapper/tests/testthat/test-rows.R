# The rows of a fit: weights and subset, against lm.

surveyed <- function(n = 5000) {
  set.seed(3)
  d <- data.frame(x = runif(n), age = sample(15:80, n, TRUE), w = pmin(exp(rnorm(n)), 10))
  d$region <- sample(c("n", "s"), n, TRUE)
  d$member <- d$age %% 3 == 0
  d$f <- factor(sample(c("u", "v"), n, TRUE))
  d$y <- 0.1 + (0.4 + 0.1 * (d$age > 40)) * d$x + 0.02 * rnorm(n)
  d
}

unit <- list(x = c(0, 1), y = c(0, 1))
weighted <- c(unit, list(w = c(0, 10)))
fit <- function(d, bounds, ...) {
  with_insecure_seed(1, dp_ols(y ~ x, d, "adassp", 1e9, bounds = bounds, ...))
}

test_that("weights are those of lm, as a name, as a text and as a variable", {
  skip_without_python()
  d <- surveyed()
  column <- "w"
  theirs <- lm(y ~ x, d, weights = w)
  for (found in list(fit(d, weighted, weights = w), fit(d, weighted, weights = "w"),
                     with_insecure_seed(1, dp_ols(y ~ x, d, "adassp", 1e9, bounds = weighted,
                                                  weights = column)))) {
    expect_equal(coef(found), coef(theirs), tolerance = 5e-6)
    expect_equal(sqrt(diag(vcov(found))), sqrt(diag(vcov(theirs))), tolerance = 1e-3)
  }
  trimmed <- fit(d, weighted, weights = w, trim_weights = 2)
  d$cut <- pmin(d$w, 2)
  expect_equal(coef(trimmed), coef(lm(y ~ x, d, weights = cut)), tolerance = 5e-6)
  expect_match(trimmed$privacy$assumptions, "weighted by w: weights above 2", all = FALSE)
})

test_that("vectors of the workspace stand right of %in%, in subset and in formulas, as of lm", {
  skip_without_python()
  d <- surveyed()
  ages <- 20:40
  both <- factor(c("u", "v"))
  found <- with_insecure_seed(1, dp_ols(y ~ x, d, "adassp", 1e9, bounds = unit,
                                        subset = !(age %in% ages) & f %in% both))
  expect_equal(coef(found), coef(lm(y ~ x, d, subset = !(age %in% ages))), tolerance = 5e-6)
  found <- fit(d, unit, subset = age %in% c(20, 30, 40))
  expect_equal(coef(found), coef(lm(y ~ x, d, subset = age %in% c(20, 30, 40))), tolerance = 5e-6)
  f <- y ~ x + I(age %in% ages)
  found <- with_insecure_seed(1, dp_ols(f, d, "adassp", 1e9, bounds = c(unit, list(age = c(15, 80)))))
  expect_equal(unname(coef(found)), unname(coef(lm(f, d))), tolerance = 5e-6)
})

test_that("errors are clustered by a column, bare, as a text and after a tilde", {
  skip_without_python()
  set.seed(4)
  d <- data.frame(x = rnorm(4000), state = sample(letters, 4000, TRUE))
  d$y <- d$x + rnorm(26)[match(d$state, letters)] / 2 + rnorm(4000)
  fits <- with_insecure_seed(1, list(
    dp_ols(y ~ x, d, epsilon = 50, cov_type = "cluster", cluster = state),
    dp_ols(y ~ x, d, epsilon = 50, cov_type = "cluster", cluster = "state"),
    dp_ols(y ~ x, d, epsilon = 50, cov_type = "cluster", cluster = ~state)
  ))
  for (found in fits) {
    expect_identical(found$cov_type, "cluster")
    clusters <- found$fit_statistics["clusters", "estimate"]
    expect_equal(clusters, 26, tolerance = 0.05)
    half <- stats::qt(0.975, clusters - 1) * sqrt(diag(vcov(found)))
    expect_equal(unname(confint(found)), unname(cbind(coef(found) - half, coef(found) + half)))
    expect_equal(found$table$conf.low, unname(confint(found)[, 1L]))
    expect_equal(dp_test(found, "x = 1")$p.value,
                 2 * stats::pt(-abs(coef(found)[["x"]] - 1) / sqrt(vcov(found)["x", "x"]),
                               clusters - 1))
  }
  expect_gt(vcov(fits[[1L]])[1L, 1L], 2 * vcov(lm(y ~ x, d))[1L, 1L])
  expect_error(dp_ols(y ~ x, d, epsilon = 1, cluster = state), "add cov_type = \"cluster\"",
               class = "dpstats_argument_error")
  expect_error(dp_ols(y ~ x, d, "adassp", 1, cov_type = "cluster", cluster = state),
               "no standard errors clustered", class = "dpstats_argument_error")
})

test_that("subset is that of lm, as a condition, as a text and with values of the workspace", {
  skip_without_python()
  d <- surveyed()
  limit <- 30
  text <- "age > 30"
  theirs <- coef(lm(y ~ x, d, subset = age > 30))
  for (found in list(fit(d, unit, subset = age > 30), fit(d, unit, subset = "age > 30"),
                     with_insecure_seed(1, dp_ols(y ~ x, d, "adassp", 1e9, bounds = unit,
                                                  subset = text)),
                     with_insecure_seed(1, dp_ols(y ~ x, d, "adassp", 1e9, bounds = unit,
                                                  subset = age > limit)))) {
    expect_equal(coef(found), theirs, tolerance = 5e-6)
  }
  expect_equal(coef(fit(d, unit, subset = region == "n" & f %in% c("u") | member)),
               coef(lm(y ~ x, d, subset = region == "n" & f %in% c("u") | member)),
               tolerance = 5e-6)
  expect_equal(coef(fit(d, unit, subset = !member)), coef(lm(y ~ x, d, subset = !member)),
               tolerance = 5e-6)
  expect_match(found$privacy$assumptions, "rows are used where age > 30", all = FALSE)
  d$age[1:1000] <- NA
  expect_equal(coef(fit(d, unit, subset = age < 50)), coef(lm(y ~ x, d, subset = age < 50)),
               tolerance = 5e-6)
})

test_that("both work on files, in groups and with a dot", {
  skip_without_python()
  d <- surveyed()
  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  utils::write.csv(d, path, row.names = FALSE)
  theirs <- coef(lm(y ~ x, d, weights = w, subset = age > 30))
  found <- fit(path, weighted, weights = w, subset = age > 30,
               types = list(age = "integer"))
  expect_equal(coef(found), theirs, tolerance = 5e-6)
  groups <- fit(d, weighted, weights = w, subset = age > 30, by = "f")
  expect_s3_class(groups, "dp_ols_groups")
  dotted <- with_insecure_seed(1, dp_ols(y ~ ., d[c("y", "x", "w")], "adassp", 1e9,
                                         bounds = weighted, weights = w))
  expect_equal(coef(dotted), coef(lm(y ~ ., d[c("y", "x", "w")], weights = w)), tolerance = 5e-5)
})

test_that("elements of another list than the data are not the columns of their names", {
  skip_without_python()
  d <- line()
  d$w <- 1
  d$k <- as.integer(d$tract == d$tract[1L])
  other <- list(w = d$w / 2, tract = "k", z = d$x)
  limits <- c(unit, list(w = c(0, 2)))
  alone <- function(call) {
    expect_error(call, "other$w: the columns of data go by their names alone", fixed = TRUE)
  }
  alone(dp_ols(y ~ x, d, epsilon = 8, bounds = limits, weights = other$w))
  alone(dp_logit(k ~ x, d, epsilon = 8, bounds = limits, weights = other$w))
  alone(dp_describe(d, ~x, epsilon = 8, bounds = limits, weights = other$w))
  alone(dp_describe(d, other$w, epsilon = 8))
  alone(dp_poisson(k ~ x, d, epsilon = 8, offset = log(other$w)))
  # data that are a value, as of do.call(), and paths of files
  valued <- list(y ~ x, d, epsilon = 8, bounds = limits)
  for (argument in c("weights", "by", "unit", "cluster")) {
    alone(do.call(dp_ols, c(valued, stats::setNames(list(quote(other$w)), argument))))
    alone(do.call(dp_iv, c(valued, stats::setNames(list(quote(other$w)), argument))))
  }
  for (argument in c("offset", "exposure")) {
    alone(do.call(dp_poisson, c(valued, stats::setNames(list(quote(other$w)), argument))))
  }
  alone(do.call(dp_describe, list(d, quote(other$w), epsilon = 8)))
  alone(dp_ols(y ~ x, "people.csv", epsilon = 8, bounds = limits, weights = other$w))
  tilde <- ~ other$w
  alone(dp_ols(y ~ x, d, epsilon = 8, bounds = limits, weights = tilde))
  expect_error(do.call(dp_ols, c(valued, weights = quote(d$w))), "write w if it is the column of data")
  by <- function(...) {
    names(coef(with_insecure_seed(1, dp_ols(y ~ x, d, "adassp", 8, bounds = unit, ...))))[1L]
  }
  tract <- "k"
  expect_identical(by(by = other$tract), "k") # a text of a list of settings
  expect_identical(by(by = other[["tract"]]), "k")
  expect_identical(by(by = d$tract), "tract")
  expect_identical(by(by = .data$tract), "tract")
  expect_error(by(by = d[[tract]]), "name one or more columns")
})

test_that("columns are named by one rule in by, unit and weights", {
  skip_without_python()
  d <- line()
  d$area <- rep(c("a", "b"), 300)
  d$w <- 1
  limits <- c(unit, list(w = c(0, 2)))
  named <- function(...) {
    fit <- with_insecure_seed(1, dp_ols(y ~ x, d, "adassp", 8, bounds = limits, ...))
    if (inherits(fit, "dp_ols_groups")) coef(fit) else fit$privacy$unit
  }
  column <- "tract"
  both <- c("tract", "area")
  tilde <- ~tract
  reference <- named(by = "tract")
  expect_identical(named(by = tract), reference)
  expect_identical(named(by = ~tract), reference)
  expect_identical(named(by = column), reference)
  expect_identical(named(by = tilde), reference)
  expect_identical(named(by = d$tract), reference)
  expect_identical(named(by = d[["tract"]]), reference)
  reference <- named(by = c("tract", "area"))
  expect_identical(named(by = c(tract, area)), reference)
  expect_identical(named(by = ~ tract + area), reference)
  expect_identical(named(by = both), reference)
  expect_identical((function(by) named(by = by))("tract"), named(by = "tract"))
  for (found in list(named(unit = tract), named(unit = ~tract), named(unit = "tract"),
                     named(unit = column))) {
    expect_identical(found, "tract")
  }
  expect_identical(named(unit = tract, weights = ~w), "tract")
  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  utils::write.csv(d, path, row.names = FALSE)
  of_file <- function(...) dp_ols(y ~ x, path, "adassp", 8, bounds = limits[1:2], ...)
  expect_identical(of_file(unit = tract)$privacy$unit, "tract")
  expect_identical(of_file(unit = column)$privacy$unit, "tract")
  expect_named(coef(of_file(by = c(tract, area), types = list(tract = "integer")))[1:2],
               c("tract", "area"))
  expect_identical(named(by = tract, subset = ~ x > 0.5), named(by = tract, subset = x > 0.5))
})

test_that("what names no column is refused", {
  skip_without_python()
  d <- line()
  named <- function(...) dp_ols(y ~ x, d, "adassp", 1, bounds = unit, ...)
  expect_error(named(by = nowhere), "no column 'nowhere'; the columns are", fixed = TRUE,
               class = "dpstats_argument_error")
  expect_error(named(by = ~tract + nowhere), "no column 'nowhere'", class = "dpstats_argument_error")
  expect_error(named(unit = c(tract, x)), "expected unit to be the name of a column, as in unit = id",
               class = "dpstats_argument_error")
  expect_error(named(by = 3), "expected by to name one or more columns, as in by = tract",
               class = "dpstats_argument_error")
  expect_identical(named(by = .(tract))$groups, named(by = list(tract))$groups) # as in data.table
  expect_error(named(by = c(tract, tract)), "by names tract twice", class = "dpstats_argument_error")
  path <- tempfile(fileext = ".csv")
  on.exit(unlink(path))
  utils::write.csv(d, path, row.names = FALSE)
  squared <- ~x^2
  for (data in list(d, path)) {
    refused <- function(...) {
      expect_error(dp_ols(y ~ x, data, "adassp", 1, bounds = unit, ...), "to name a column of data, got",
                   class = "dpstats_argument_error")
    }
    refused(unit = ~ factor(tract))
    refused(unit = factor(tract))
    refused(weights = ~ x^2)
    refused(weights = squared)
    refused(by = ~ tract:x)
    refused(by = y ~ tract)
  }
  expect_error(dp_logit(y ~ x, d, 1, offset = ~ 2 * x), "to name a column of data, got ~2 \\* x",
               class = "dpstats_argument_error")
})
