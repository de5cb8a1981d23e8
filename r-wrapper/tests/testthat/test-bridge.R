# Python's column, and its values as R values: NA for missing.
crossed <- function(x, name = "x") {
  vectors <- reticulate::import("dpstats.engines.columns.r_vectors", convert = FALSE)
  column <- bridge_column(x, name)
  vectors$column(column$kind, column$data, column$levels)
}

values_of <- function(column) {
  kind <- reticulate::py_to_r(column$kind)
  if (kind %in% c("string", "category")) {
    coded <- column$distinct()
    codes <- unlist(reticulate::py_to_r(coded[[0L]]$tolist()))
    labels <- as.character(unlist(reticulate::py_to_r(coded[[1L]])))
    return(labels[ifelse(codes < 0L, NA, codes + 1L)])
  }
  values <- as.numeric(unlist(reticulate::py_to_r(column$floats()$tolist())))
  if (kind == "boolean") as.logical(values) else values
}

test_that("columns of every kind cross exactly, with NA where it was", {
  skip_without_python()
  columns <- list(
    c(0.1 + 0.2, NA, -1e300, Inf, NaN), c(1L, NA, -2147483647L), c(TRUE, NA, FALSE),
    c("b", NA, "NA", "a"), factor(c("b", NA, "a"), levels = c("z", "b", "a")),
    factor(c("hi", NA), levels = c("lo", "hi"), ordered = TRUE), as.Date(c("2020-02-29", NA))
  )
  for (x in columns) {
    values <- values_of(crossed(x))
    expect_identical(is.na(values), is.na(x))
    wanted <- if (is.factor(x)) as.character(x) else if (is.logical(x)) x else unclass(x)
    if (is.integer(wanted)) wanted <- as.numeric(wanted)
    expect_identical(values[!is.na(x)], wanted[!is.na(x)])
  }
})

test_that("no row and one row cross, and letters of any alphabet", {
  skip_without_python()
  for (x in list(numeric(), character(), factor(character(), levels = "a"))) {
    expect_length(values_of(crossed(x)), 0L)
  }
  expect_identical(values_of(crossed(7)), 7)
  expect_identical(values_of(crossed(c("\u00e5", "\u4e2d"))), c("\u00e5", "\u4e2d"))
})

test_that("levels keep their order and whether they have one", {
  skip_without_python()
  column <- crossed(factor("m", levels = c("s", "m", "l"), ordered = TRUE))
  expect_identical(unlist(reticulate::py_to_r(column$levels)), c("s", "m", "l"))
  expect_true(reticulate::py_to_r(column$ordered))
})

test_that("columns of other classes are refused by name", {
  days <- structure(18262L, class = c("IDate", "Date")) # as of data.table
  expect_error(bridge_column(days, "day"), "of class IDate; convert it .* as.Date\\(\\) for days")
  odd <- list(
    list(1, 2), matrix(1:2, 2), Sys.time(), as.difftime(1, units = "days"), 1i, as.raw(1),
    structure(1, class = c("haven_labelled", "vctrs_vctr", "double"))
  )
  for (x in odd) expect_error(bridge_column(x, "odd"), "column 'odd'", class = "dpstats_argument_error")
  # within a formula as.numeric() is of no use
  expect_error(bridge_column(1i, "odd"), "before the call with as.numeric()", fixed = TRUE)
  spss <- c("haven_labelled_spss", "haven_labelled", "double")
  coded <- structure(c(8, 99), na_values = 99, class = spss)
  expect_error(bridge_column(coded, "educ"), "after haven::zap_missing()", fixed = TRUE)
  whole <- structure(4e-323, class = "integer64")
  expect_error(bridge_column(whole, "id"), "column 'id' is of class integer64")
})

test_that("integers of 64 bits are refused wherever numbers are given, as their bits are those of others", {
  skip_without_python()
  eight <- structure(c(4e-323, 6e-323), class = "integer64")
  one <- structure(4e-323, class = "integer64") # eight[1L] is one where bit64 is loaded
  d <- data.frame(x = rep(8:12, 40), y = 0.5)
  bounds <- list(x = c(8, 12), y = c(0, 1))
  fit <- dp_ols(y ~ x, d, "adassp", 4, bounds = bounds)
  rate <- dp_poisson(y ~ x, d, epsilon = 4, bounds = bounds)
  refused <- function(call) expect_error(call, "integer64", class = "dpstats_argument_error")
  budget <- dp_budget(4)
  refused(predict(fit, structure(list(x = eight), class = "data.frame", row.names = 1:2)))
  refused(predict(rate, data.frame(x = 8), exposure = one))
  refused(dp_ols(y ~ x, d, "adassp", 1, budget = budget, bounds = list(x = eight, y = c(0, 1))))
  refused(dp_ols(y ~ x, d, "adassp", 1, budget = budget, bounds = bounds, x_new = eight))
  refused(dp_ols(y ~ 1, d, "adassp", 1, budget = budget, bounds = bounds["y"], by = x, groups = eight))
  refused(dp_ols(y ~ x, d, "adassp", one, budget = budget, bounds = bounds))
  expect_identical(budget$spent[["epsilon"]], 0)
})

test_that("contrasts of a factor are refused rather than ignored", {
  g <- factor(c("a", "b", "c"))
  contrasts(g) <- "contr.sum"
  expect_error(bridge_column(g, "g"), "carries contrasts", class = "dpstats_argument_error")
})

test_that("a level without a name is refused", {
  expect_error(bridge_column(addNA(factor(c("a", NA))), "g"), "NA among its levels")
})

test_that("columns that the formula does not use do not cross", {
  d <- data.frame(y = 1, x = 2)
  d$odd <- list(1)
  expect_named(used_columns(y ~ x, d, NULL), c("y", "x"))
  expect_named(used_columns(y ~ ., d[1:2], NULL), c("y", "x"))
  expect_error(used_columns(y ~ z, d, NULL), "no column 'z'; the columns are y, x, odd")
  expect_error(used_columns(y ~ C(odd, sum), d, NULL), "no column 'sum'; .* write contr.sum")
})
