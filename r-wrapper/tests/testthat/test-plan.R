plan_line <- function(...) {
  dp_plan(y ~ x, n = 1000, bounds = unit, truth = c(x = 0.3), sd = 0.1, repetitions = 20, ...)
}

test_that("a plan is Python's, with R's formulas and names", {
  skip_without_python()
  plan <- dp_plan(
    log(wage) ~ sex * educ + I(educ^2) + union, n = 1e4, bounds = limits[1:2],
    levels = list(sex = c("f", "m"), union = c(FALSE, TRUE)), methods = "adassp", epsilon = 2,
    truth = c(sexm = -0.1, `I(educ^2)` = 0.01), x_sd = c(educ = 2), repetitions = 20
  )
  frame <- as.data.frame(plan)
  expect_identical(plan$slopes, c("sexm", "educ", "I(educ^2)", "unionTRUE", "sexm:educ"))
  expect_equal(unique(frame$truth[frame$term == "I(educ^2)"]), 0.01)
  expect_identical(unique(frame$method), c("adassp", "ols (not private)"))
  expect_identical(tidy(plan), tibble::as_tibble(frame))
  expect_match(plan$notes, "educ normal with s.d. 2", all = FALSE)
  expect_output(print(plan), "sexm:educ, guessed to be 0:")
  reticulate::py_run_string(paste(
    "import dpstats as dp", "plan = dp.plan('y ~ x', n=1000, bounds={'x': (0, 1), 'y': (0, 1)},",
    "               methods=['noisy_stats'], epsilon=[1, 4], truth={'x': 0.3}, sd=0.1,",
    "               repetitions=20, seed=2).frame['error'].tolist()", sep = "\n"
  ))
  here <- plan_line(methods = "noisy_stats", epsilon = c(1, 4), seed = 2)
  expect_identical(here$frame$error, unlist(reticulate::import_main()$plan))
})

test_that("a plan without methods is of the default method", {
  skip_without_python()
  plan <- plan_line(epsilon = 4)
  expect_identical(unique(plan$frame$method)[1L], "auto")
  expect_match(plan$notes, "auto", all = FALSE)
})

test_that("methods of a plan take options, and what is missing has a reason", {
  skip_without_python()
  plan <- plan_line(methods = list("noisy_stats", ends = list("exp_theil_sen", ci = TRUE)),
                    epsilon = 4)
  slope <- plan$frame[plan$frame$term == "x", ]
  expect_identical(slope$method, c("noisy_stats", "ends", "ols (not private)"))
  expect_identical(is.na(slope$width), c(TRUE, FALSE, FALSE))
  expect_identical(slope$epsilon, c(4, 4, Inf))
  expect_match(plan$notes, "noisy_stats: the residual variance is not released", all = FALSE)
})

test_that("groups are absorbed or fitted one by one, and drawn at a middle size", {
  skip_without_python()
  grouped <- dp_plan(y ~ x, n = c(100, 4000, 900), bounds = unit, methods = "adassp", epsilon = 4,
                     repetitions = 20, by = "town")
  expect_identical(unique(grouped$frame$rows), c(100, 900, 4000))
  expect_output(print(grouped), "Forecast of y ~ x by town")
  drawn <- planned_errors(grouped, NULL)
  expect_identical(unique(drawn$private$rows), 900)
  expect_match(drawn$title, "error of x, 900 rows a group", fixed = TRUE)
  equal <- dp_plan(y ~ x, n = 100, bounds = unit, methods = "adassp", epsilon = 4,
                   repetitions = 20, by = "town", groups = 3)
  expect_identical(unique(equal$frame$groups), 3)
  absorbed <- function(...) {
    dp_plan(y ~ x | firm, n = 2000, bounds = unit, methods = "adassp", epsilon = 4,
            repetitions = 20, ...)
  }
  one <- absorbed(groups = 100, within_share = 0.3)
  expect_identical(one$slopes, "x")
  expect_identical(absorbed(groups = 100, within_share = c(x = 0.3))$frame, one$frame)
  expect_error(absorbed(), "expected groups=?, the guessed number of groups of firm")
})

test_that("persons of several rows are planned, by group too", {
  skip_without_python()
  panel <- function(...) {
    dp_plan(y ~ x, bounds = unit, methods = "adassp", epsilon = 4, repetitions = 20,
            unit = "person", ...)
  }
  one <- panel(n = 4000, rows_per_person = 4, icc = 0.2, within_share = 0)
  expect_match(one$notes, "guessed person: 4 rows each; .* residuals 0.2", all = FALSE)
  mixed <- panel(n = 4000, rows_per_person = c(1, 7), max_rows = 2)
  expect_match(mixed$notes, "guessed person: 1 to 7 rows each", all = FALSE)
  years <- panel(n = 4000, rows_per_person = 4, by = "year", groups = 2, max_groups = 2)
  expect_match(years$notes, "1/2 of the budget", all = FALSE)
  expect_error(panel(n = 4000), "expected rows_per_person=? with unit")
  expect_error(panel(n = 4000, rows_per_person = 4, max_groups = 2), "give unit=? and by=?")
})

test_that("a plan takes guesses of clusters", {
  skip_without_python()
  clustered <- function(...) {
    dp_plan(y ~ x, n = 4000, bounds = unit, epsilon = 4, repetitions = 20, cov_type = "cluster",
            cluster = "state", ...)
  }
  even <- clustered(clusters = 30, icc = 0.1)
  expect_match(even$notes, "guessed state: 30 clusters, effectively 30; .* residuals 0.1",
               all = FALSE)
  mixed <- clustered(clusters = c(30, 10, 10, 10))
  expect_match(mixed$notes, "4 clusters, effectively 3;", all = FALSE)
  expect_error(clustered(), "expected clusters=? with cluster")
})

test_that("a plan finds the least epsilon for a width, and is drawn", {
  skip_without_python()
  plan <- plan_line(methods = c("adassp", "noisy_stats"), epsilon = 2^(-2:3), target_width = 0.1)
  expect_true(plan$least$epsilon[1L] %in% 2^(-2:3))
  expect_true(is.na(plan$least$epsilon[2L]))
  expect_output(print(plan), "Minimum epsilon for a median interval of x of width 0.1")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(plan, xlab = "privacy loss", col = 1), plan)
  expect_error(plot(plan, term = "z"), "one of (Intercept), x, p25, p75", fixed = TRUE)
  skip_without_package("ggplot2")
  expect_no_warning(print(ggplot2::autoplot(plan, term = "p25")))
})

test_that("guesses that cannot be used are refused in one sentence", {
  skip_without_python()
  wrong <- list(
    list(quote(dp_plan(y ~ x, 10)), "bounds is missing"),
    list(quote(plan_line(methods = "adassp")), "such as c\\(0.5, 1\\)"),
    list(quote(plan_line(methods = list(), epsilon = 1)), "such as c\\(\"adassp\""),
    list(quote(plan_line(methods = list(2), epsilon = 1)), "such as c\\(\"adassp\""),
    list(quote(plan_line(methods = "adassp", epsilon = c(1, NA))), "epsilon is NA"),
    list(quote(plan_line(methods = "adassp", epsilon = 1, x_sd = 2)), "c\\(x = 0.5\\)"),
    list(quote(plan_line(methods = "adassp", epsilon = 1, x_sd = c(x = NA))), "x_sd holds NA"),
    list(quote(plan_line(methods = "adassp", epsilon = 1, x_sd = c(z = 2))), "names \"z\""),
    list(quote(dp_plan(y ~ x, 10, unit["y"], "adassp", 1)), "list\\(x = c\\(low, high\\)\\)"),
    list(quote(dp_plan(y ~ ., 10, unit, "adassp", 1)), "write out what")
  )
  for (case in wrong) {
    error <- tryCatch(eval(case[[1L]]), error = identity)
    expect_s3_class(error, "dpstats_argument_error")
    expect_match(conditionMessage(error), case[[2L]])
  }
})

test_that("weights, narrower ranges and a precision are planned as in Python", {
  skip_without_python()
  weighted <- function(...) {
    dp_plan(y ~ x, n = 2000, bounds = c(unit, list(w = c(1, 10))), methods = "adassp", epsilon = 4,
            sd = 0.1, ...)
  }
  one <- weighted(weights = w, weights_mean = 2, trim_weights = 8, x_range = list(x = c(0.2, 0.6)),
                  precision = 0.3, repetitions = 60, seed = 3)
  reticulate::py_run_string(paste(
    "import dpstats as dp", "plan = dp.plan('y ~ x', n=2000, weights='w', weights_mean=2.0,",
    "               bounds={'x': (0, 1), 'y': (0, 1), 'w': (1, 10)}, methods=['adassp'],",
    "               epsilon=[4], sd=0.1, trim_weights=8.0, x_range={'x': (0.2, 0.6)}, precision=0.3,",
    "               repetitions=60, seed=3).frame['error'].tolist()", sep = "\n"
  ))
  expect_identical(one$frame$error, unlist(reticulate::import_main()$plan))
  few <- weighted(weights = "w", repetitions = 20)
  wider <- weighted(weights = "w", x_range = list(x = c(0, 1)), repetitions = 20)
  expect_identical(few$frame, wider$frame)
  expect_error(weighted(weights = "w", x_range = c(x = 0.2)), "x_range")
  expect_error(weighted(weights = "w", precision = 2), "precision")
  expect_error(weighted(weights = c("w", "v")), "weights to be the name of a column")
})

test_that("single values of the workspace stand in the formula of a plan, as of a fit", {
  skip_without_python()
  cutoff <- 0.5
  x <- c(1, 2)
  y <- 3
  plan <- dp_plan(y ~ x + I(x > cutoff), n = 500, bounds = unit, epsilon = 4, repetitions = 20)
  expect_true("I(x > 0.5)TRUE" %in% plan$frame$term)
  expect_error(dp_plan(y ~ x, n = 500, bounds = unit["y"], epsilon = 4), "expected bounds = list(x",
               fixed = TRUE)
})
