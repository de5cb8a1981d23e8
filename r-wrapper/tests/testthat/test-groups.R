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
  expect_identical(as.character(coef(by_tract(d, groups = c("7", "8")))$tract), c("7", "8"))
})

test_that("labels that no value of the group column can have are refused before anything is spent", {
  skip_without_python()
  d <- transform(line(), high = x > 0.5, half = factor(ifelse(x > 0.5, "high", "low")))
  budget <- dp_budget(4)
  by <- function(...) dp_ols(y ~ 1, d, "adassp", 1, bounds = unit["y"], budget = budget, ...)
  refused <- function(call, message) expect_error(call, message, class = "dpstats_argument_error")
  refused(by(by = tract, groups = c(3, 7.5)), "groups lists 7.5 for \"tract\", a column of type integer")
  d$day <- as.Date("2020-01-01") + d$tract
  refused(by(by = day), "by = \"day\" holds dates")
  refused(by(by = high, groups = 1:2), "groups lists 2 for \"high\"")
  refused(by(by = half, groups = 1:2), "groups lists 1 for \"half\", a column of type factor")
  expect_identical(budget$spent[["epsilon"]], 0)
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
  expect_error(dp_ols(wage ~ educ, dplyr::group_by(d, sex), "exp_theil_sen", 4, by = "size",
                      bounds = bounds), "grouped by sex")
})

test_that("a dot leaves the group column out", {
  skip_without_python()
  by <- dp_ols(y ~ ., line(), "exp_theil_sen", 8, by = "tract", bounds = unit)
  expect_identical(by$coefficients, c("(Intercept)", "x"))
})

test_that("hypotheses are tested of one group as of a fit", {
  skip_without_python()
  d <- line(6000)
  by <- with_insecure_seed(1, dp_ols(y ~ x, d, "noisy_moments", 1e6, by = "tract", bounds = unit))
  alone <- with_insecure_seed(1, dp_ols(y ~ x, d, "noisy_moments", 1e6, subset = tract == 7, bounds = unit))
  hypotheses <- c("x = 0.5", "(Intercept) + x = 0.7")
  expect_equal(dp_test(by[["7"]], hypotheses)[1:4], dp_test(alone, hypotheses)[1:4], tolerance = 1e-2)
  expect_equal(unlist(dp_test(by[["7"]], "x = 0")[c("conf.low", "conf.high")]),
               unlist(confint(by[["7"]])["x", ]), tolerance = 1e-6, ignore_attr = TRUE)
  expect_error(dp_joint_test(by, "x = 0"), "takes one", class = "dpstats_argument_error")
  expect_equal(dp_joint_test(by[["7"]], "x = 0")$p.value, dp_test(by[["7"]], "x = 0")$p.value)
  expect_error(dp_test(by, "x = 0"), "takes one", class = "dpstats_argument_error")
})

test_that("the fit of one group is a fit", {
  skip_without_python()
  d <- line(6000)
  by <- with_insecure_seed(1, dp_ols(y ~ x, d, "noisy_moments", 1e6, by = "tract", bounds = unit))
  alone <- with_insecure_seed(1, dp_ols(y ~ x, d, "noisy_moments", 1e6, subset = tract == 7, bounds = unit))
  fit <- by[["7"]]
  expect_named(tidy(fit, conf.int = TRUE), c("tract", names(tidy(alone, conf.int = TRUE))))
  expect_equal(tidy(fit, conf.int = TRUE)[-(1:2)], tidy(alone, conf.int = TRUE)[-1L], tolerance = 0.02)
  expect_identical(tidy(fit)$p.value, dp_test(fit, c("(Intercept) = 0", "x = 0"))$p.value)
  expect_identical(coef(summary(fit))[, "Std. Error"], sqrt(diag(vcov(fit))))
  expect_output(print(fit), "Group: tract = 7\n\nCoefficients")
  expect_output(print(summary(fit)), "Group: tract = 7\n.*rows: 2000")
  expect_no_match(summary(fit)$notes, "NA, Inf")
  expect_equal(anova(fit)$Chisq, tidy(fit)$statistic[2L]^2)
  new <- data.frame(x = c(0.2, 0.8))
  expect_identical(predict(fit, new, se.fit = TRUE), predict(by, cbind(new, tract = 7L), se.fit = TRUE))
  expect_identical(lapply(by, coef)[["7"]], coef(fit))
  expect_identical(list(labels(fit), family(fit)$family), list("x", "gaussian"))
  expect_identical(nobs(fit), nobs(alone))
  expect_equal(summary(fit)$r.squared, summary(alone)$r.squared, tolerance = 0.02)
  expect_equal(sigma(by[2:3][["7"]]), sigma(alone), tolerance = 0.02)
  for (refused in list(logLik, deviance, model.frame, residuals)) {
    expect_error(refused(fit), class = "dpstats_not_released_error")
  }
  for (refused in list(dp_error_bound, dp_compare, function(fit) dp_raw_powers(fit, "x"),
                       function(fit) dp_joint_test(fit, c("x = 0", "(Intercept) = 0")))) {
    expect_error(refused(fit), "without by", class = "dpstats_argument_error")
  }
})

test_that("a group column that tables of the result have is refused before anything is spent", {
  skip_without_python()
  d <- line()
  budget <- dp_budget(4)
  by <- dp_ols(y ~ x, d, "adassp", 1, by = tract, bounds = unit, budget = budget)
  described <- dp_describe(d, ~x, 1, by = tract, groups = c(3, 7, 9), histogram = TRUE, budget = budget)
  spent <- budget$spent
  logits <- dp_logit(high ~ x, transform(d, high = y > 0.5), 4, by = tract)
  tables <- list(tidy(by, conf.int = TRUE), glance(by), tidy(logits), dp_margins(logits))
  expect_length(setdiff(unlist(lapply(tables, names)), c("tract", columns_of_groups)), 0L)
  expect_length(setdiff(c(names(tidy(described)), names(described$histogram)), c("tract", columns_of_descriptions)), 0L)
  refused <- function(call) {
    expect_error(call, "is a column of the result; rename", class = "dpstats_argument_error")
  }
  for (name in columns_of_groups) {
    named <- stats::setNames(d, c("x", name, "y"))
    refused(dp_ols(y ~ x, named, "adassp", 1, by = name, bounds = unit, budget = budget))
  }
  for (name in columns_of_descriptions) {
    refused(dp_describe(stats::setNames(d, c("x", name, "y")), ~x, 1, by = name, budget = budget))
  }
  expect_identical(budget$spent, spent)
})

by_two <- function(data, by = c("state", "tract"), ...) {
  dp_ols(y ~ ., data, "noisy_moments", 1e6, by = by, bounds = unit, ...)
}

states <- function() {
  d <- line(900)
  d$state <- rep(c("B", "A"), each = 450)
  d[!(d$state == "B" & d$tract == 7L), ]
}

test_that("several columns have the combinations present, or those listed", {
  skip_without_python()
  d <- states()
  by <- by_two(d)
  present <- data.frame(state = rep(c("A", "B"), c(3, 2)), tract = c(3L, 7L, 9L, 3L, 9L))
  expect_identical(by$groups, present)
  expect_named(tidy(by)[1:3], c("state", "tract", "term"))
  alone <- dp_ols(y ~ x, d[d$state == "B" & d$tract == 9L, ], "noisy_moments", 1e6, bounds = unit)
  expect_equal(by$estimates[5L, 1:2], coef(alone), tolerance = 0.01)
  expect_named(as.list(by)[5L], "B:9")
  listed <- data.frame(tract = c(9L, 7L), state = c("A", "B"))
  expect_identical(by_two(d, groups = listed)$groups, listed[2:1])
  expect_identical(by_two(d, groups = listed)$status, c("ok", "too_few_rows"))
  expect_identical(by_two(d, by = c("tract", "state"))$groups[1L, ], present[1L, 2:1])
})

test_that("several factors are crossed unless the groups are listed", {
  skip_without_python()
  d <- states()
  d$state <- factor(d$state, levels = c("B", "A", "C"))
  d$tract <- factor(d$tract)
  crossed <- by_two(d)
  expect_identical(crossed$groups$state, factor(rep(c("B", "A", "C"), each = 3), levels(d$state)))
  expect_identical(sum(crossed$status == "ok"), 5L)
  expect_output(print(crossed[["A:7"]]), "Group: state = A, tract = 7\n\nCoefficients", fixed = TRUE)
  one <- data.frame(state = "A", tract = "3")
  expect_identical(by_two(d, groups = one)$groups$state, factor("A", levels(d$state)))
  huge <- data.frame(state = factor(1:2000), tract = factor(1:2000), x = 0, y = 0)
  expect_error(by_two(huge), "4e\\+06 combinations; list those", class = "dpstats_argument_error")
  for (groups in list(c("A", "B"), data.frame(state = "A"))) {
    expect_error(by_two(d, groups = groups), "a data frame with the columns state, tract",
                 class = "dpstats_argument_error")
  }
})

test_that("groups have the intervals and covariances of lm on their own rows", {
  skip_without_python()
  d <- line(6000)
  by <- with_insecure_seed(1, dp_ols(y ~ x, d, "noisy_moments", 1e6, by = "tract", bounds = unit))
  alone <- lm(y ~ x, d[d$tract == 9L, ])
  expect_named(vcov(by), c("3", "7", "9"))
  expect_equal(vcov(by)[["9"]], vcov(alone), tolerance = 0.02)
  ends <- confint(by, level = 0.8)
  expect_named(ends, c("tract", "term", "10 %", "90 %"))
  expect_equal(as.matrix(ends[ends$tract == 9L, 3:4]), confint(alone, level = 0.8),
               tolerance = 0.01, ignore_attr = TRUE)
  expect_identical(confint(by, "p25")$term, rep("p25", 3L))
  expect_error(confint(by, "z"), "no coefficient z", class = "dpstats_argument_error")
})

test_that("intervals of predictions keep to the declared bounds at every level", {
  skip_without_python()
  by <- with_insecure_seed(2, dp_ols(y ~ x, line(), "adassp", 0.7, by = "tract", bounds = unit))
  for (level in c(0.99, 0.999)) {
    rows <- tidy(by, conf.int = TRUE, conf.level = level)
    predicted <- rows$term %in% c("p25", "p75")
    ends <- as.matrix(rows[c("conf.low", "conf.high")])
    expect_true(all(is.finite(ends)))
    expect_identical(range(ends[predicted, ]), c(0, 1))
    expect_gt(max(abs(ends[!predicted, ])), 1)
  }
})

test_that("new data are predicted by the fit of their group, as by its own fit", {
  skip_without_python()
  d <- line(6000)
  new <- data.frame(tract = c(9, 3, 9), x = c(0.1, 0.5, 2), row.names = c("a", "b", "c"))
  fit <- function(data, method, ...) {
    bounds <- if (method == "noisy_newton") NULL else unit
    with_insecure_seed(4, dp_ols(y ~ x + I(x^2), data, method, 1e7, bounds = bounds, ...))
  }
  for (method in c("adassp", "shrunken", "noisy_newton")) {
    by <- fit(d, method, by = "tract")
    for (tract in c(3, 9)) {
      alone <- fit(d[d$tract == tract, ], method)
      rows <- new$tract == tract
      ours <- predict(by, new, se.fit = TRUE, interval = "confidence", level = 0.8)
      theirs <- predict(alone, new[rows, ], se.fit = TRUE, interval = "confidence", level = 0.8)
      expect_equal(ours$fit[rows, , drop = FALSE], theirs$fit, tolerance = 1e-2, info = method)
      expect_equal(ours$se.fit[rows], theirs$se.fit, tolerance = 0.05, info = method)
    }
    expect_identical(predict(by, new), predict(by, new, interval = "confidence")[, "fit"])
  }
  rows <- augment(by, newdata = new, interval = "confidence")
  expect_named(rows, c("tract", "x", ".fitted", ".lower", ".upper", ".se.fit"))
  missing <- data.frame(tract = c(3, 9), x = c(NA, 0.5))
  expect_identical(is.na(unname(predict(by, missing, se.fit = TRUE)$se.fit)), c(TRUE, FALSE))
  refused <- "dpstats_argument_error"
  expect_error(predict(by, data.frame(x = 1)), "merge(groups$groups, newdata)", fixed = TRUE,
               class = refused)
  expect_identical(nrow(merge(by$groups, data.frame(x = 1:2))), 6L)
  expect_error(predict(by, data.frame(x = 1, tract = 4)), "no group 4; the groups are 3, 7, 9",
               class = refused)
  expect_error(predict(by), class = "dpstats_not_released_error")
  expect_error(augment(by), class = "dpstats_not_released_error")
})

test_that("some groups are groups, and one is asked as a fit is", {
  skip_without_python()
  by <- by_tract()
  some <- by[c("9", "3")]
  expect_identical(coef(some)$tract, c(9L, 3L))
  expect_identical(confint(some, level = 0.8)[3:4, -1L], confint(by, level = 0.8)[1:2, -1L],
                   ignore_attr = TRUE)
  expect_identical(by[by$status == "ok"], by)
  expect_identical(list(labels(by), variable.names(by), family(by)$family),
                   list("x", c("(Intercept)", "x"), "gaussian"))
  for (i in list("7", 2L)) {
    fit <- by[[i]]
    expect_identical(coef(fit), unlist(coef(by)[2L, -1L]))
    expect_identical(vcov(fit), vcov(by)[["7"]])
    expect_identical(dimnames(confint(fit, "x")), list("x", c("2.5 %", "97.5 %")))
    expect_identical(unname(confint(fit)["x", ]), unlist(confint(by)[4L, 3:4], use.names = FALSE))
    expect_identical(predict(fit, data.frame(x = 0.5)),
                     predict(by, data.frame(x = 0.5, tract = 7)))
    expect_identical(augment(fit, newdata = data.frame(x = 0.5))$.fitted, unname(predict(fit, data.frame(x = 0.5))))
    expect_identical(list(tidy(fit)$term, glance(fit)$tract), list(c("(Intercept)", "x"), 7L))
    expect_output(print(summary(fit)), "Predictions:.*p75")
  }
  for (wrong in list("8", 4L)) {
    expect_error(by[[wrong]], "no group", class = "dpstats_argument_error")
  }
  for (wrong in list(1:2, 0, -1, TRUE)) {
    expect_error(by[[wrong]], "one group", class = "dpstats_argument_error")
  }
  last <- factor("9", levels = c("9", "3")) # is the first of its levels and the last group
  expect_identical(coef(by[[last]]), coef(by[["9"]]))
  expect_identical(as.data.frame(by, conf.int = FALSE), as.data.frame(tidy(by)))
  expect_error(confint(fit, "z"), "no coefficient z", class = "dpstats_argument_error")
})

test_that("a summary says in up to which share of a group's rows noise could hide far values", {
  skip_without_python()
  d <- people(9000)
  d$part <- rep(c("a", "b", "c"), 3000)
  by <- with_insecure_seed(1, dp_ols(wage ~ age, d, by = "part", epsilon = 8,
                                     groups = c("a", "b", "c")))
  said <- "could hide far values.*% of the rows of a group"
  expect_match(by$notes, said, all = FALSE)
  expect_match(paste(capture.output(print(summary(by))), collapse = " "), said)
})

test_that("groups are counted, and head() and tail() take some of them", {
  skip_without_python()
  by <- dp_ols(y ~ x, line(), "noisy_stats", 4, by = "tract", bounds = unit)
  expect_length(by, 3L)
  expect_identical(head(by, 2)$groups$tract, c(3L, 7L))
  expect_identical(head(by)$groups, by$groups)
  expect_identical(tail(by, 1)$groups$tract, 9L)
})

test_that("what one group lacks has a reason, and no groups are no picture", {
  skip_without_python()
  none <- by_tract()[["7"]]
  expect_identical(glance(none)[c("r.squared", "df.residual")], tibble::tibble(r.squared = NA_real_, df.residual = 198))
  expect_match(summary(none)$notes, "^NA, Inf: .* no R-squared", all = FALSE)
  expect_error(sigma(none), class = "dpstats_not_released_error")
  noisy <- with_insecure_seed(1, dp_ols(y ~ x, line(), "adassp", 0.1, by = "tract", bounds = unit))[[2L]]
  expect_identical(glance(noisy)$r.squared, NA_real_)
  expect_match(summary(noisy)$notes, "^NA, Inf: .*R-squared", all = FALSE)
  logit <- with_insecure_seed(1, dp_logit(I(y > 0.4) ~ x, line(3000), 1e6, by = "tract"))[["9"]]
  expect_gt(glance(logit)$pseudo.r.squared, 0.2)
  expect_error(plot(by_tract()[0L]), "no groups", class = "dpstats_argument_error")
  skip_without_package("ggplot2")
  expect_error(ggplot2::autoplot(by_tract()[0L]), "no groups", class = "dpstats_argument_error")
})

test_that("what is for tables is answered with the table that groups have", {
  skip_without_python()
  by <- by_tract()
  for (call in expression(by["3", ], by[, 1], by[["3", "x"]], subset(by, tract == 3))) {
    expect_error(eval(call), "tidy(groups)", fixed = TRUE, class = "dpstats_argument_error")
  }
  expect_error(coef(summary(by)), "coef(groups)", fixed = TRUE, class = "dpstats_argument_error")
  expect_error(by$se, "lapply(groups, function(fit) fit$se)", fixed = TRUE, class = "dpstats_argument_error")
  expect_identical(lapply(by, function(fit) fit$se)[["7"]], by[["7"]]$std.error)
  expect_error(plot(by, "x"), "by name", class = "dpstats_argument_error")
})
