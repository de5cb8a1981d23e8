table_one <- function(columns = ~ wage + educ + sex + union, data = people(), epsilon = 1e4, ...) {
  with_insecure_seed(5, dp_describe(data, columns, epsilon, ...))
}

figure <- function(x, variable, statistic, level = NA) {
  row <- x$variable == variable & x$statistic == statistic & x$level %in% level
  x$estimate[row]
}

test_that("figures are those of the columns as epsilon grows, with labels of R", {
  skip_without_python()
  d <- people()
  d$wage[1:100] <- NA
  x <- tidy(table_one(data = d, quantiles = c(0.1, 0.5)))
  expect_named(x, c("variable", "level", "statistic", "estimate", "std.error", "conf.low",
                    "conf.high", "status"))
  expect_equal(figure(x, "wage", "mean"), mean(d$wage, na.rm = TRUE), tolerance = 1e-2)
  expect_equal(figure(x, "wage", "50%"), median(d$wage, na.rm = TRUE), tolerance = 1e-2)
  expect_equal(figure(x, "wage", "missing"), 100, tolerance = 0.02)
  expect_equal(figure(x, "educ", "sd"), sd(d$educ), tolerance = 1e-2)
  expect_equal(figure(x, "union", "share", "TRUE"), mean(d$union), tolerance = 1e-2)
  expect_equal(figure(x, "sex", "count", "m"), sum(d$sex == "m"), tolerance = 1e-2)
  expect_identical(as.data.frame(table_one(data = d, quantiles = c(0.1, 0.5))), as.data.frame(x))
  one <- generics::glance(table_one(data = d))
  expect_named(one, c("variables", "epsilon", "delta", "neighbors", "status", "private"))
  expect_identical(one$variables, 4L)
  expect_equal(c(one$epsilon, one$delta), c(1e4, 1e-6))
  expect_error(generics::glance(table_one(data = d), exponentiate = TRUE), class = "dpstats_error")
})

test_that("columns go by a formula, by name and by a dot; groups by name or group_by()", {
  skip_without_python()
  d <- people()
  names <- c("educ", "age")
  written <- table_one(~ educ + age, d, by = "sex")
  for (same in list(table_one(c("educ", "age"), d, by = sex), table_one(names, d, by = ~sex),
                    with_insecure_seed(5, dp_describe(d, c(educ, age), 1e4, by = sex)),
                    table_one(~., d[c("educ", "age", "sex")], by = "sex"))) {
    expect_identical(tidy(same), tidy(written))
  }
  expect_identical(unique(tidy(written)$sex), factor(c("f", "m")))
  expect_identical(colnames(written$table), c("f", "m"))
  grouped <- structure(d, class = c("grouped_df", class(d)), groups = data.frame(sex = 1, .rows = 1))
  expect_identical(tidy(table_one(~ educ + age, grouped)), tidy(written))
  expect_error(table_one(educ ~ sex, d), "name groups by by = sex", class = "dpstats_argument_error")
  numbered <- table_one(~age, d, by = educ, groups = 8:9)
  expect_identical(unique(tidy(numbered)$educ), 8:9)
  expect_identical(table_one(~age, d, subset = educ > 12, by = union)$table["age", ],
                   table_one(~age, d[d$educ > 12, ], by = union)$table["age", ])
})

test_that("a description prints as text, LaTeX, HTML and Markdown, names escaped", {
  skip_without_python()
  d <- people()
  d[["pay_%"]] <- d$wage
  x <- table_one(~ `pay_%` + union, d, epsilon = 2)
  expect_output(print(x), "pay_%.*union: TRUE.*made under with_insecure_seed\\(\\)")
  expect_output(print(x, "latex"), "pay\\_\\%", fixed = TRUE)
  expect_output(print(x, "html"), "<table class=\"simpletable\" style", fixed = TRUE)
  expect_output(print(x, "markdown"), "| union: TRUE |", fixed = TRUE)
  expect_false(any(grepl("insecure_seed(?!\\()", x$notes, perl = TRUE)))
  path <- tempfile(fileext = ".rds")
  saveRDS(x, path)
  expect_identical(readRDS(path), x)
})

test_that("a budget is charged once, and what is refused costs nothing", {
  skip_without_python()
  d <- people()
  budget <- dp_budget(1)
  dp_describe(d, ~ wage + educ, 0.75, budget = budget)
  expect_identical(budget$spent[["epsilon"]], 0.75)
  refused <- expression(
    dp_describe(d, ~wage, 0.9, budget = budget), dp_describe(d, ~wage, budget = budget),
    dp_describe(d, ~wage, 0.1, weights = age, budget = budget),
    dp_describe(d, ~wage, 0.1, max_rows = 2, budget = budget),
    dp_describe(d, ~wage, 0.1, histogram = NA, budget = budget),
    dp_describe(d, ~wage, 0.1, statistics = "max", budget = budget),
    dp_describe(d, ~ log(wage), 0.1, budget = budget),
    dp_describe(d, ~nowhere, 0.1, budget = budget), dp_describe(d, ~age, 0.1, by = educ),
    dp_describe(d, ~age, 0.1, by = c(sex, union)), dp_describe(d, ~age, 0.1, alpha = NA),
    dp_describe(d, ~ age, 0.1, unknown = 2), dp_describe(d, ~ age, 0.1, by = age)
  )
  for (call in refused) expect_error(eval(call), class = "dpstats_error", info = deparse1(call))
  expect_error(dp_describe(d, ~wage, 0.1, statistics = "max"), "quantiles = c(0.01, 0.99)",
               fixed = TRUE)
  expect_identical(budget$spent[["epsilon"]], 0.75)
  expect_error(dp_describe(d, ~age, 0.1, by = c(sex, union)),
               "one column, got sex, union; make one")
})

test_that("persons count once each, and weights weigh rows", {
  skip_without_python()
  d <- people()
  d$person <- rep(seq_len(nrow(d) / 2), each = 2)
  x <- tidy(table_one(~ wage + sex, d, unit = person, histogram = FALSE))
  expect_equal(figure(x, "wage", "n"), nrow(d) / 2, tolerance = 1e-2)
  expect_equal(figure(x, "wage", "mean"), mean(d$wage), tolerance = 1e-2)
  twice <- tidy(table_one(~wage, d, unit = "person", max_rows = 2))
  expect_equal(figure(twice, "wage", "n"), nrow(d), tolerance = 1e-2)
  expect_identical(table_one(~wage, d, unit = person)$privacy$unit, "person")
  d$w <- ifelse(d$sex == "f", 2, 0.5)
  x <- tidy(table_one(~ wage + sex, d, weights = w, bounds = list(w = c(0, 2))))
  expect_equal(figure(x, "wage", "mean"), weighted.mean(d$wage, d$w), tolerance = 1e-2)
  expect_equal(figure(x, "wage", "n"), sum(d$w), tolerance = 1e-2)
  trimmed <- tidy(table_one(~wage, d, weights = w, trim_weights = 1, bounds = list(w = c(0, 2))))
  expect_equal(figure(trimmed, "wage", "n"), sum(pmin(d$w, 1)), tolerance = 1e-2)
  expect_identical(tidy(table_one(~., d[c("age", "person", "w")], unit = person, weights = w,
                                  bounds = list(w = c(0, 2))))$variable[1L], "age")
})

test_that("intervals and figures of a description are those of its table", {
  skip_without_python()
  x <- table_one(~ wage + sex, people())
  refused <- function(call, why) expect_error(call, why, class = "dpstats_argument_error")
  refused(confint(x), "each figure in conf.low and conf.high, of the level that alpha of dp_describe")
  refused(coef(x), "have each figure in estimate")
  expect_identical(tidy(x, conf.int = TRUE), x$frame)
  expect_named(tidy(x, conf.int = FALSE), setdiff(names(x$frame), c("conf.low", "conf.high")))
  refused(tidy(x, conf.level = 0.9), "no argument conf.level")
})

test_that("histograms are tabulated and drawn", {
  skip_without_python()
  d <- people()
  x <- table_one(~ educ + sex, d, by = union, histogram = TRUE)
  expect_named(x$histogram, c("variable", "level", "union", "left", "right", "count", "std.error",
                              "conf.low", "conf.high"))
  counts <- tapply(x$histogram$count, list(x$histogram$variable, x$histogram$union), sum)
  expect_equal(unname(counts["educ", "TRUE"]), sum(d$union), tolerance = 1e-2)
  expect_equal(unname(counts["sex", "FALSE"]), sum(!d$union), tolerance = 1e-2)
  path <- tempfile(fileext = ".pdf")
  grDevices::pdf(path)
  on.exit(unlink(path))
  expect_identical(plot(x, ylab = "people"), x)
  grDevices::dev.off()
  skip_if_not_installed("ggplot2")
  shown <- ggplot2::autoplot(x)
  built <- ggplot2::layer_data(shown, 1L)
  expect_equal(built$ymax, x$histogram$count[order(x$histogram$variable != "educ")])
  expect_true(all(is.finite(built$xmin)) && all(built$xmin < built$xmax))
  expect_error(ggplot2::autoplot(table_one(~educ, d)), "histogram = TRUE")
})

test_that("dates count days, which the description says, and have no levels", {
  skip_without_python()
  d <- transform(people(), day = as.Date("2020-01-01") + age, hour = as.POSIXct("2020-01-01", tz = "UTC"))
  x <- table_one(~ age + day, d)
  expect_equal(figure(tidy(x), "day", "mean") - figure(tidy(x), "age", "mean"), 18262, tolerance = 1e-4)
  expect_output(print(x), "day counts days since 1970-01-01: as.Date\\(x, \"1970-01-01\"\\) makes dates")
  for (format in c("latex", "html", "markdown")) {
    expect_output(print(x, format), "day counts days since 1970-01-01: as.Date")
  }
  by_day <- table_one(~educ, transform(d, day = as.Date("2020-01-01") + union), by = "day", groups = as.Date("2020-01-01") + 0:1)
  expect_match(by_day$notes, "day counts days", all = FALSE)
  expect_identical(unique(tidy(by_day)$day), as.Date("2020-01-01") + 0:1)
  expect_no_match(table_one(~age, d)$notes, "1970")
  expect_error(dp_describe(d, ~day, 1, levels = list(day = as.Date(c("2020-01-21", "2020-01-22")))),
               "levels lists day, a column of dates; make it a factor", class = "dpstats_argument_error")
  expect_error(dp_describe(d, ~hour, 1), "or with as.Date", class = "dpstats_argument_error")
})

test_that("a description has no columns of rows, and says where its figures are", {
  skip_without_python()
  described <- dp_describe(line(), ~x, 1)
  for (call in expression(mean(described), median(described), quantile(described), described$x, described$mean)) {
    expect_error(eval(call), "tidy() and as.data.frame() of it", fixed = TRUE, class = "dpstats_argument_error")
  }
  expect_null(described$histogram)
  expect_identical(described$frame, tidy(described))
})
