# What Python writes and R does not: its constants, types, operators, brackets, whole floats, texts
# in single quotes, which R has around the names of columns, and arguments with nothing after =.
python_words <- paste(
  "NOT A dpstats_error",
  "\\b(None|True|False|NoneType|tuple|dict|mapping|dtype|Categorical|DataFrame)\\b",
  "\\b(pandas|polars|numpy)\\b", "\\b(np|dp|dpstats)\\.[a-zA-Z_]", "\\b(float|int)(32|64)\\b", "\\*\\*",
  "\\bQ\\(|\\bC\\((?!.*contr)", "\\{", "(^|[^n]) \\[", "\\(['\"]", "(got|only) \\(", "(?<![0-9.])[0-9]+\\.0\\b(?!\\.)",
  "(write|as in) \"[^\"]* ~ ", # formulas of R have no quotes
  "Error\\b", "stopped|failed", "(?<!column )(?<!\\w)'[^'\"]*'", "\\b[a-z_]+=([ ,;.?)]|$)", sep = "|"
)

test_that("what is refused is a condition of this package in R's words", {
  skip_without_python()
  messages <- messages_of(bad_calls)
  for (i in seq_along(messages)) {
    call <- deparse1(bad_calls[[i]])
    expect_false(is.na(messages[i]), info = call)
    words <- gsub("c\\((['\"])", "c( \\1", messages[i])
    expect_no_match(words, python_words, perl = TRUE, info = call)
    expect_no_match(messages[i], "\\n", info = call)
  }
  words <- c("got None", "a['x']: [1.0, 2.0]", "got (1, 2)", "np.log(x)", "x ** 2", "got 1.0",
             "one of 'a', 'b'", "an ArgumentError", "name it with by=", "a tuple", "bounds={x: 1}")
  for (word in words) expect_match(word, python_words, perl = TRUE)
  for (word in c("no column 'z'", "x == 2", "lm's", "type = \"terms\"")) {
    expect_no_match(word, python_words, perl = TRUE)
  }
})

test_that("every function that takes arguments is among those whose messages are tested", {
  called <- unlist(lapply(bad_calls, all.names))
  without_arguments <- c("dp_methods", "dpstats_available")
  for (name in setdiff(getNamespaceExports("dpstats"), without_arguments)) {
    expect_true(name %in% called, info = name)
  }
  for (method in c("predict", "confint", "vcov", "summary", "residuals", "[[")) {
    expect_true(method %in% called, info = method)
  }
})

test_that("what results print is in R's words", {
  skip_without_python()
  d <- line(800)
  results <- list(
    dp_ols(y ~ x, d, epsilon = 1), dp_ols(y ~ x, d, epsilon = 1, bounds = unit),
    dp_ols(y ~ x, d, "exp_theil_sen", 1, bounds = unit),
    dp_ols(y ~ x, d, "noisy_stats", 1, bounds = unit, by = "tract"),
    dp_ols(y ~ x + tract, d, "adassp", 1, select = "kendall", k = 1,
           bounds = c(unit, list(tract = c(0, 10)))),
    dp_ols(y ~ x, d, "exp_theil_sen", 1, companion = "noisy_moments", bounds = unit)
  )
  for (result in results) {
    for (note in summary(result)$notes) expect_no_match(note, python_words, perl = TRUE)
  }
})

test_that("arguments of lm that do not exist are answered before they are evaluated", {
  skip_without_python()
  fit <- function(...) dp_ols(y ~ x, line(), "noisy_stats", 1, bounds = unit, ...)
  for (name in names(instead_of)) {
    error <- tryCatch(do.call(fit, stats::setNames(list(quote(nowhere)), name)), error = identity)
    expect_s3_class(error, "dpstats_argument_error")
    expect_match(conditionMessage(error), paste0("dp_ols has no ", name, ": "))
  }
  budget <- dp_budget(1)
  expect_error(dp_ols(y ~ x, line(), epsilon = NULL, budget = budget), "argument epsilon is NULL",
               class = "dpstats_argument_error")
  expect_identical(budget$spent[["epsilon"]], 0)
})

test_that("bounds, points and new data may be dates, and points a list by name", {
  skip_without_python()
  set.seed(3)
  d <- data.frame(day = as.Date("2020-01-01") + sample(0:365, 5000, TRUE))
  d$y <- as.numeric(d$day - as.Date("2020-01-01")) / 365 + rnorm(5000, 0, 0.05)
  at <- as.Date(c("2020-03-01", "2020-10-01"))
  year <- as.Date(c("2020-01-01", "2020-12-31"))
  fit <- function(...) {
    dp_ols(y ~ day, d, "adassp", 1e6, bounds = list(day = year, y = c(-1, 2)), ...)
  }
  wanted <- unname(predict(lm(y ~ day, d), data.frame(day = at)))
  expect_equal(unname(predict(fit(), data.frame(day = at))), wanted, tolerance = 0.02)
  for (points in list(at, data.frame(day = at), list(day = at))) {
    expect_equal(fit(x_new = points)$predictions$estimate, wanted, tolerance = 0.02)
  }
  expect_error(fit(x_new = list(other = at)), "no column day", class = "dpstats_argument_error")
  since <- at[1L]
  last <- at[2L]
  parts <- with_insecure_seed(1, dp_ols(y ~ I(day > since), d, "adassp", 1e6, bounds = list(day = year, y = c(-1, 2)),
                                        subset = day < last & day != as.Date("2020-05-01")))
  reference <- lm(y ~ I(day > since), d, subset = day < last & day != as.Date("2020-05-01"))
  expect_equal(unname(coef(parts)), unname(coef(reference)), tolerance = 1e-3)
  weeks <- y ~ I((day - as.Date("2020-01-01")) / 7) + as.numeric(day - since > 0)
  parts <- with_insecure_seed(1, dp_ols(weeks, d, "adassp", 1e6, bounds = list(day = year, y = c(-1, 2))))
  reference <- lm(weeks, d)
  expect_equal(unname(coef(parts)), unname(coef(reference)), tolerance = 1e-3)
  expect_equal(predict(parts, data.frame(day = at)), predict(reference, data.frame(day = at)), tolerance = 1e-3)
  by <- dp_ols(y ~ 1, d, "adassp", 1e6, bounds = list(y = c(-1, 2)), by = day, groups = at)
  expect_identical(by$groups$day, at)
})

test_that("a message does not show the data that stand in the place of an argument", {
  skip_without_python()
  d <- data.frame(x = 1:40 / 40, y = 0.5, id = 1001:1040)
  fit <- dp_ols(y ~ x, d, "noisy_stats", 1, bounds = unit)
  logit <- dp_logit(b ~ x, transform(d, b = x > 0.5), epsilon = 1, bounds = unit["x"])
  calls <- expression(
    dp_margins(logit, d), confint(fit, level = d$id), predict(fit, d, type = d), predict(fit, d, interval = d$id),
    anova(fit, test = d), plot(fit, level = d), dp_ols(y ~ x, d, epsilon = 1, unit = paste(d$id)),
    dp_ols(y ~ x, d, epsilon = 1, weights = paste(d$id))
  )
  for (call in calls) {
    error <- tryCatch(eval(call), error = identity)
    expect_s3_class(error, "dpstats_argument_error")
    expect_no_match(conditionMessage(error), "1001|structure", info = deparse1(call))
  }
  expect_error(confint(fit, level = 95), "got 95$", class = "dpstats_argument_error")
})

test_that("columns whose names formulas keep are refused in R's words", {
  skip_without_python()
  d <- setNames(line(), c("Q", "C", "y"))
  for (formula in c(y ~ Q, y ~ Q + factor(C))) {
    expect_error(dp_ols(formula, d, epsilon = 1), "column (Q|C) has a name that formulas keep for themselves; rename",
                 class = "dpstats_formula_error")
  }
})
