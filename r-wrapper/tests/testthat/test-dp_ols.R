formulas <- list(
  log(wage) ~ educ + sex * age, wage ~ educ + I(educ^2), wage ~ sex - 1, wage ~ size * union,
  wage ~ ., log(wage) ~ relevel(sex, ref = "m") + log(age, 2), wage ~ educ:sex + age
)

test_that("names, order and values are those of lm", {
  skip_without_python()
  d <- people()
  for (formula in formulas) {
    bounds <- limits[intersect(names(limits), all.vars(terms(formula, data = d)))]
    fit <- with_insecure_seed(3, dp_ols(formula, d, "adassp", 1e6, bounds = bounds))
    expect_equal(coef(fit), coef(lm(formula, d)), tolerance = 5e-3)
  }
})

test_that("terms are a formula, as for lm", {
  skip_without_python()
  given <- terms(log(wage) ~ . - size, data = people())
  expect_no_warning(fit <- fit_wage(given))
  expect_identical(coef(fit), coef(fit_wage(formula(given))))
})

test_that("names and texts with backslashes, tabs and backticks are those of lm", {
  skip_without_python()
  d <- line(4000)
  d$g <- factor(rep(c("a\\b", "c\nd", "e\"f", "it's"), 1000))
  d <- stats::setNames(d[c("y", "x", "x", "x", "g")], c("y", "a\\b", "t\tab", "tick`s", "g"))
  formulas <- list(y ~ `a\\b`, y ~ log1p(`t\tab`), y ~ `tick\`s` + g, y ~ I(g == "c\nd"), y ~ relevel(g, "a\\b"))
  for (formula in formulas) {
    used <- intersect(all.vars(formula), names(d)[1:4])
    fit <- dp_ols(formula, d, "adassp", 1e6, bounds = stats::setNames(rep(list(c(0, 1)), length(used)), used))
    reference <- lm(formula, d)
    expect_equal(coef(fit), coef(reference), tolerance = 1e-3)
    expect_equal(predict(fit, d[1:4, ]), predict(reference, d[1:4, ]), tolerance = 1e-3)
  }
})

test_that("the same seed gives the same numbers in R and in Python", {
  skip_without_python()
  reticulate::py_run_string(paste(
    "import dpstats as dp", "df = dp.simulate.line(400, seed=1)", "with dp.testing.insecure_seed(5):",
    "    fit = dp.dp_ols('y ~ x', df, method='adassp', epsilon=1, bounds={'x': (0, 1), 'y': (0, 1)})",
    "x, y, params, bse = [list(map(float, v)) for v in (df['x'], df['y'], fit.params, fit.bse)]",
    sep = "\n"
  ))
  py <- reticulate::import_main()
  d <- data.frame(x = unlist(py$x), y = unlist(py$y))
  fit <- with_insecure_seed(5, dp_ols(y ~ x, d, method = "adassp", epsilon = 1, bounds = unit))
  expect_identical(unname(coef(fit)), unlist(py$params))
  expect_identical(fit$table$std.error, unlist(py$bse))
  expect_false(fit$privacy$private)
  expect_output(print(fit), "NOT private")
})

test_that("a formula, data and epsilon are enough", {
  skip_without_python()
  set.seed(1)
  d <- data.frame(x1 = rnorm(8000), x2 = rnorm(8000))
  d$y <- 3 + 2 * d$x1 - d$x2 + rnorm(8000)
  fit <- with_insecure_seed(1, dp_ols(y ~ x1 + x2, d, epsilon = 1))
  expect_identical(fit$method, "noisy_newton")
  expect_equal(unname(coef(fit)), c(3, 2, -1), tolerance = 0.1)
  expect_true(all(is.finite(confint(fit))))
  far <- predict(fit, data.frame(x1 = 1e9, x2 = -1e9))
  expect_lt(abs(far), 100)
  at_end <- data.frame(x1 = 0, x2 = fit$clipping$x2[1L])
  expect_equal(predict(fit, data.frame(x1 = 0, x2 = -1e9)), predict(fit, at_end))
  expect_output(print(summary(fit)), "neither bounds nor tuning")
})

test_that("shrunken releases a constant for few rows, and summary() says what a slope takes", {
  skip_without_python()
  set.seed(2)
  d <- data.frame(x1 = rnorm(600), x2 = rnorm(600), y = rnorm(600, 50, 4))
  fit <- with_insecure_seed(1, dp_ols(y ~ x1 + x2, d, epsilon = 1, method = "shrunken"))
  expect_identical(fit$status, "constant")
  expect_identical(unname(coef(fit)[-1]), c(0, 0))
  expect_equal(coef(fit)[["(Intercept)"]], 50, tolerance = 0.1)
  expect_equal(unname(predict(fit, d[1:2, ])), rep(coef(fit)[["(Intercept)"]], 2))
  expect_output(print(fit), "constant")
  shown <- gsub("\\s+", " ", paste(capture.output(summary(fit)), collapse = " "))
  expect_match(shown, "too few rows for a histogram of y at this epsilon")
  expect_match(shown, "the mean of the response is released; a fit that explains 10%")
})

test_that("declared bounds give shrunken intervals", {
  skip_without_python()
  d <- people(20000)
  fit <- with_insecure_seed(1, dp_ols(log(wage) ~ educ + age, d, epsilon = 8, bounds = limits,
                                      method = "shrunken"))
  expect_true(all(is.finite(confint(fit))))
  shown <- gsub("\\s+", " ", paste(capture.output(summary(fit)), collapse = " "))
  expect_match(shown, "about least squares on the same noisy sums")
})

test_that("the seed ends with its block, and there is no other", {
  skip_without_python()
  fit <- function() coef(dp_ols(y ~ x, line(), method = "noisy_stats", epsilon = 2, bounds = unit))
  expect_identical(with_insecure_seed(1, fit()), with_insecure_seed(1, fit()))
  try(with_insecure_seed(1, stop("broken off")), silent = TRUE)
  set.seed(1)
  first <- fit()
  set.seed(1)
  expect_false(identical(first, fit()))
  expect_error(
    dp_ols(y ~ x, line(), method = "noisy_stats", epsilon = 2, bounds = unit, seed = 1), "no seed"
  )
})

test_that("a seed is a whole number", {
  for (seed in list("a", 1.5, NA_real_, -1, 1:2)) {
    expect_error(with_insecure_seed(seed, 1), class = "dpstats_argument_error")
  }
})

test_that("mistakes end with one sentence and a class", {
  skip_without_python()
  d <- people(50)
  wrong <- list(
    list(quote(dp_ols(wage ~ educ, d)), "epsilon is missing"),
    list(quote(dp_ols(wage ~ educ, d, method = "ols", epsilon = 1)), "there is no method"),
    list(quote(dp_ols(wage ~ educ, d, method = "adassp", epsilon = -1)), "epsilon > 0"),
    list(quote(dp_ols(wage ~ log(age), d, method = "adassp", epsilon = 1)), "list\\(age = c\\("),
    list(quote(dp_ols("wage ~ educ", d, method = "adassp", epsilon = 1)), "y ~ x1"),
    list(quote(dp_ols(wage ~ educ, as.list(d), method = "adassp", epsilon = 1)), "data frame"),
    list(quote(dp_ols(wage ~ educ, d, "adassp", 1, bounds = c(educ = 1))), "named list"),
    list(quote(dp_ols(wage ~ educ, d, "adassp", 1, weights = d$age)), "largest weight"),
    list(quote(dp_ols(wage ~ educ, d, "adassp", 1, weights = age)), "must be public: give bounds"),
    list(quote(dp_ols(wage ~ educ, d, "adassp", 1, weights = nope)), "no column 'nope'"),
    list(quote(dp_ols(wage ~ educ, d, "adassp", 1, subset = age + 1)), "neither TRUE nor FALSE"),
    list(quote(dp_ols(wage ~ educ, d, "adassp", 1, subset = 3)), "condition on one row"),
    list(quote(dp_ols(wage ~ educ, d, "adassp", 1, subset = "a b")), "one condition"),
    list(quote(dp_ols(wage ~ educ, d, "adassp", 1, budget = 3)), "dp_budget")
  )
  for (case in wrong) {
    error <- tryCatch(eval(case[[1L]]), error = identity)
    expect_s3_class(error, c("dpstats_argument_error", "dpstats_error"), exact = FALSE)
    expect_match(conditionMessage(error), case[[2L]])
    expect_no_match(conditionMessage(error), "Traceback|\\n|Error")
  }
})

test_that("a missing value is no argument", {
  skip_without_python()
  fit <- function(...) dp_ols(y ~ x, line(), "exp_theil_sen", ..., by = "tract")
  class <- "dpstats_argument_error"
  expect_error(fit(NA, bounds = unit), "epsilon is NA", class = class)
  expect_error(fit(1, bounds = list(x = c(0, NA))), "bounds holds NA", class = class)
  expect_error(fit(1, bounds = unit, groups = c(3, NA)), "groups holds NA", class = class)
  expect_error(fit(1, bounds = unit, x_new = NA), "x_new holds NA", class = class)
  expect_error(fit(1, bounds = unit, k = NA), "k is NA", class = class)
})

test_that("terms that would learn from the rows are refused", {
  skip_without_python()
  refused <- list(wage ~ poly(educ, 0), wage ~ scale(educ), wage ~ cut(educ, 3), wage ~ educ^2,
                  wage ~ educ + offset(age), wage ~ splines::ns(educ), wage ~ factor(educ),
                  wage ~ educ | sex + age, wage ~ (1 | sex), wage ~ sex:size)
  for (formula in refused) {
    expect_error(fit_wage(formula, people(50)), class = "dpstats_argument_error")
  }
})

test_that("what a failure says of the rows is nothing", {
  skip_without_python()
  with_answer(function(...) stop("the row was 0.123456789"), {
    error <- tryCatch(fit_wage(data = people(50)), error = identity)
    expect_s3_class(error, "dpstats_internal_error")
    expect_no_match(conditionMessage(error), "0.123")
  })
})

test_that("numbers of R are taken for what they are", {
  skip_without_python()
  d <- people(3000)
  fit <- dp_ols(wage ~ educ + age + sex + union, d, "adassp", 1, select = "kendall", k = 2)
  expect_length(fit$selected, 2L)
  expect_identical(deparse1(fit$call$formula), "wage ~ educ + age + sex + union")
  expect_length(update(fit, data = d)$selected, 2L) # of the same four
  fit <- dp_ols(wage ~ educ, d, "exp_theil_sen", 4L, bounds = limits[c("wage", "educ")], k = 3)
  expect_identical(fit$status, "ok")
  fit <- dp_ols(wage ~ educ, d, "adassp", 1, bounds = limits[1:2],
                x_new = data.frame(educ = c(9, 12), row.names = c("few", "more")))
  expect_identical(row.names(fit$predictions), c("few", "more"))
  fit <- dp_ols(wage ~ educ, d, "adassp", 1, bounds = limits[1:2], x_new = 12)
  expect_identical(nrow(fit$predictions), 1L)
})

test_that("no row and one row are fitted", {
  skip_without_python()
  for (n in 0:1) {
    d <- people(10)[seq_len(n), ]
    expect_s3_class(fit_wage(data = d, epsilon = 1), "dp_ols")
  }
})

test_that("a logical is 0 and 1 in arithmetic, on either side, and predict() agrees", {
  skip_without_python()
  d <- transform(people(), member = age > 40)
  new <- data.frame(educ = c(10, 12), union = c(TRUE, FALSE), member = c(TRUE, TRUE), sex = "m", age = 30)
  for (formula in list(log(wage) ~ I(100 * union) + educ, log(wage) ~ I(educ * union),
                       log(wage) ~ I(union + member), log(wage) ~ I(-union) + as.integer(member),
                       I(100 * union) ~ educ, educ > 12 ~ union, I(wage > 5) ~ I(2 * member))) {
    fit <- fit_wage(formula, d)
    reference <- lm(formula, d)
    expect_identical(names(coef(fit)), names(coef(reference)))
    expect_equal(coef(fit), coef(reference), tolerance = 0.01)
    expect_equal(predict(fit, new), predict(reference, new), tolerance = 0.01)
  }
})

test_that("as.numeric() of a logical is lm's 0 and 1, of a factor refused, and predict() agrees", {
  skip_without_python()
  d <- people()
  formula <- log(wage) ~ as.numeric(union) * educ
  fit <- fit_wage(formula, d)
  reference <- lm(formula, d)
  expect_equal(coef(fit), coef(reference), tolerance = 5e-3)
  expect_equal(predict(fit, d[1:5, ]), predict(reference, d[1:5, ]), tolerance = 5e-3)
  expect_equal(predict(fit, d[1:5, ], se.fit = TRUE)$se.fit,
               predict(reference, d[1:5, ], se.fit = TRUE)$se.fit, tolerance = 0.05)
  for (formula in c(wage ~ as.numeric(sex), wage ~ age + as.numeric(size))) {
    expect_error(fit_wage(formula, d), "number the levels", class = "dpstats_formula_error")
  }
})

test_that("calls under one seed draw from one stream, as in Python, and the block repeats", {
  skip_without_python()
  draw <- function(n, seed = 5) {
    slope <- function(i) {
      coef(dp_ols(y ~ x, line(), method = "noisy_stats", epsilon = 4, bounds = unit))[["x"]]
    }
    with_insecure_seed(seed, vapply(seq_len(n), slope, 0))
  }
  first <- draw(5)
  expect_identical(anyDuplicated(first), 0L)
  expect_identical(draw(5), first)
  expect_identical(draw(2), first[1:2])
  expect_identical(with_insecure_seed(5, c(draw(1, 9), draw(1, 9))), rep(draw(1, 9), 2))
  nested <- with_insecure_seed(5, {
    draw(1, 9)
    coef(dp_ols(y ~ x, line(), method = "noisy_stats", epsilon = 4, bounds = unit))[["x"]]
  })
  expect_identical(nested, first[1L])
  try(with_insecure_seed(5, stop("inside")), silent = TRUE)
  expect_true(dp_ols(y ~ x, line(), "noisy_stats", 4, bounds = unit)$privacy$private)
  bridge_table <- reticulate::dict(bridge_columns(line()[c("x", "y")]))
  reticulate::py_run_string("import dpstats as dp; from dpstats.r.inputs import table")
  py <- reticulate::import_main(convert = FALSE)
  py$columns <- bridge_table
  reticulate::py_run_string(paste(
    "with dp.testing.insecure_seed(5):", "    slopes = [float(dp.dp_ols('y ~ x', table(columns),",
    "        method='noisy_stats', epsilon=4, bounds={'x': (0, 1), 'y': (0, 1)}).params['x'])",
    "        for _ in range(5)]", sep = "\n"
  ))
  expect_identical(unlist(reticulate::py_to_r(py$slopes)), first)
})

test_that("numbers at which to predict count from 1, as rows do", {
  skip_without_python()
  for (fit in list(fit_wage(log(wage) ~ educ, x_new = c(10, 16)), fit_wage(log(wage) ~ educ, x_new = data.frame(educ = c(10, 16))),
                   dp_logit(union ~ educ, people(), 4, x_new = c(10, 16)))) {
    expect_identical(row.names(fit$predictions), c("1", "2"))
  }
  expect_error(fit_wage(log(wage) ~ educ + age, x_new = 1:2), "with the columns educ, age", class = "dpstats_argument_error")
})

test_that("a bound of errors is simulated from public rows where a method releases too little", {
  skip_without_python()
  fit <- dp_ols(y ~ x, line(), "exp_theil_sen", 4, bounds = unit)
  bound <- dp_error_bound(fit, reference = line(300))
  expect_named(bound, c("(Intercept)", "x", "p25", "p75"))
  expect_true(all(bound > 0 & bound < 1))
  expect_error(dp_error_bound(fit, reference = line()["x"]), "y", class = "dpstats_argument_error")
})

test_that("single values of the workspace may stand in functions, as in lm", {
  skip_without_python()
  d <- people()
  cutoff <- 14
  who <- "m"
  rows <- d$age
  formula <- log(wage) ~ I(educ > cutoff) + I((age - cutoff) / pi) + I(sex == who)
  fit <- fit_wage(formula, d)
  reference <- lm(formula, d)
  expect_equal(unname(coef(fit)), unname(coef(reference)), tolerance = 5e-3)
  c <- 14
  expect_equal(coef(with_insecure_seed(3, dp_ols(log(wage) ~ I(educ > c & size %in% c("m", "l")), d, "adassp",
                                                 1e6, bounds = limits[c("wage", "educ")]))),
               coef(lm(log(wage) ~ I(educ > 14 & size %in% c("m", "l")), d)), tolerance = 1e-3, ignore_attr = TRUE)
  whole <- 14L
  fit <- fit_wage(log(wage) ~ I(educ > whole) + I(educ %in% c(9L, 10L)) + poly(age, 2L, raw = TRUE), d)
  reference <- lm(formula(fit), d)
  expect_named(coef(fit), names(coef(reference)))
  expect_equal(predict(fit, d[1:3, ]), predict(reference, d[1:3, ]), tolerance = 5e-3)
  fit <- fit_wage(formula, d)
  some <- c("m", "l")
  missing_one <- c(some, NA)
  for (f in list(wage ~ I(size == some), wage ~ some, wage ~ I(size %in% missing_one))) {
    expect_error(dp_ols(f, d, epsilon = 1), "a vector of the workspace", class = "dpstats_argument_error")
  }
  rm(cutoff)
  expect_equal(predict(fit, d[1:3, ]), predict(lm(formula(fit), d), d[1:3, ]), tolerance = 5e-3)
  for (formula in c(wage ~ I(educ > nowhere), wage ~ educ + who, wage ~ I(educ + rows))) {
    expect_error(fit_wage(formula, d), "no column '(nowhere|who|rows)'",
                 class = "dpstats_argument_error")
  }
  settings <- list(x = 0.5) # whose x is not the column x
  expect_error(dp_ols(y ~ I(x > settings$x), line(), epsilon = 1),
               "of another list, give the value a name")
  threshold <- c("50%" = 0.5) # as quantile() and coef() name their values
  named <- with_insecure_seed(1, dp_ols(y ~ I(x > threshold), line(), "adassp", 1e9, bounds = unit))
  expect_named(coef(named), c("(Intercept)", "I(x > 0.5)TRUE"))
})

test_that("there are no residual degrees of freedom, so that others take z values", {
  skip_without_python()
  expect_identical(df.residual(fit_wage(epsilon = 4)), Inf)
})

test_that("dates are not taken for other numbers", {
  skip_without_python()
  d <- data.frame(x = runif(500), day = as.Date("2020-01-01") + 1:500)
  d$y <- d$x + as.numeric(d$day) / 1e5
  day <- as.Date("2021-01-01")
  fit <- with_insecure_seed(1, dp_ols(y ~ x + day, d, epsilon = 100))
  new <- data.frame(x = 0.5, day = day)
  expect_equal(predict(fit, new), predict(fit, data.frame(x = 0.5, day = as.numeric(day))))
  alone <- dp_ols(y ~ day, d, epsilon = 100, bounds = list(day = day + c(0, 9)))
  expect_identical(range(line_data(alone, 0.95)$x), day + c(0, 9)) # of pictures
  refused <- function(call, why) expect_error(call, why, class = "dpstats_argument_error")
  refused(predict(fit, data.frame(x = day, day = day)), "newdata has dates for 'x', a column that is none")
  refused(predict(fit, data.frame(x = 0.5, day = "2021-01-01")), "as of as.Date\\(\\), or numeric, got character")
  refused(predict(fit, data.frame(x = "0.5", day = day)), "to be numeric, got character")
  wide <- data.frame(day = day)
  wide$x <- matrix(0.5, 1, 2)
  refused(predict(fit, wide), "'x' of newdata to be one column, got matrix")
  wide$x <- matrix(0.5, 1, 1) # as scale() makes them
  expect_equal(predict(fit, wide), predict(fit, new))
  refused(dp_ols(y ~ x, d, epsilon = 1, bounds = list(x = c(day, day + 1))), "bounds has dates for 'x'")
  refused(dp_ols(y ~ x, d, epsilon = 1, x_new = data.frame(x = day)), "x_new has dates for 'x'")
  refused(dp_ols(y ~ x, d, epsilon = 1, x_new = day), "x_new has dates for 'x'") # not 18262 of x
  refused(dp_ols(y ~ ., d, epsilon = 1, x_new = day), "x_new to be a data frame")
})
