# What Python makes of a column, as R values: NULL for missing.
crossed <- function(x, name = "x") {
  vectors <- reticulate::import("dpstats.engines.r_vectors", convert = FALSE)
  column <- bridge_column(x, name)
  series <- vectors$column(column$kind, column$data, column$levels)
  missing <- reticulate::py_to_r(series$isna()$tolist())
  values <- reticulate::py_to_r(series$tolist())
  list(
    missing = as.logical(unlist(missing)), values = unlist(values[!as.logical(unlist(missing))])
  )
}

test_that("columns of every kind cross exactly, with NA where it was", {
  skip_without_python()
  columns <- list(
    c(0.1 + 0.2, NA, -1e300, Inf, NaN), c(1L, NA, -2147483647L), c(TRUE, NA, FALSE),
    c("b", NA, "NA", "a"), factor(c("b", NA, "a"), levels = c("z", "b", "a")),
    factor(c("hi", NA), levels = c("lo", "hi"), ordered = TRUE), as.Date(c("2020-02-29", NA))
  )
  for (x in columns) {
    got <- crossed(x)
    expect_identical(got$missing, is.na(x))
    here <- if (is.factor(x)) as.character(x) else if (inherits(x, "Date")) as.numeric(x) else x
    expect_identical(got$values, here[!is.na(x)])
  }
})

test_that("no row and one row cross, and letters of any alphabet", {
  skip_without_python()
  expect_length(crossed(numeric())$missing, 0L)
  expect_length(crossed(character())$missing, 0L)
  expect_length(crossed(factor(character(), levels = "a"))$missing, 0L)
  expect_identical(crossed(7)$values, 7)
  expect_identical(crossed(c("\u00e5", "\u4e2d"))$values, c("\u00e5", "\u4e2d"))
})

test_that("levels keep their order and whether they have one", {
  skip_without_python()
  vectors <- reticulate::import("dpstats.engines.r_vectors", convert = FALSE)
  x <- factor("m", levels = c("s", "m", "l"), ordered = TRUE)
  column <- bridge_column(x, "x")
  dtype <- vectors$column(column$kind, column$data, column$levels)$dtype
  expect_identical(reticulate::py_to_r(dtype$categories$tolist()), c("s", "m", "l"))
  expect_true(reticulate::py_to_r(dtype$ordered))
})

test_that("columns of other classes are refused by name", {
  odd <- list(
    list(1, 2), matrix(1:2, 2), Sys.time(), as.difftime(1, units = "days"), 1i, as.raw(1),
    structure(1, class = c("haven_labelled", "vctrs_vctr", "double"))
  )
  for (x in odd) expect_error(bridge_column(x, "odd"), "column 'odd'", class = "dpstats_argument_error")
  skip_without_package("bit64")
  expect_error(bridge_column(bit64::as.integer64(2)^60, "id"), "column 'id' is of class integer64")
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
})
