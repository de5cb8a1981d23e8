study_file <- function() {
  path <- tempfile(fileext = ".toml")
  writeLines(c(
    'data = "people.csv"', "epsilon = 1", "bounds = { wage = [0, 100], age = [18, 65] }",
    "[[describe]]", 'columns = ["wage"]', "share = 0.2",
    "[[ols]]", 'name = "main"', 'formula = "wage ~ age"'
  ), path)
  path
}

planned_study <- function(...) {
  dp_plan_study(study_file(), c(1, 4), n = 3000, truth = list(main = c(age = 0.5)),
                sd = c(main = 12), repetitions = 2, ...)
}

test_that("a plan of a study is Python's", {
  skip_without_python()
  plan <- planned_study(x_range = list(age = c(20, 60)), seed = 3)
  frame <- as.data.frame(plan)
  expect_identical(unique(frame$table), c("describe", "main"))
  expect_identical(unique(frame$epsilon), c(1, 4))
  expect_identical(tidy(plan), tibble::as_tibble(frame))
  expect_equal(plan$tables$share, c(0.2, 0.8))
  expect_output(print(plan), "Which epsilon for .*: 2 tables", perl = TRUE)
  expect_match(plan$promise, "epsilon")
  reticulate::py_run_string(paste(
    "import dpstats as dp",
    sprintf("made = dp.plan_study(%s, [1, 4], n=3000, truth={'main': {'age': 0.5}},",
            shQuote(study_file())),
    "    sd={'main': 12}, x_range={'age': (20, 60)}, repetitions=2, seed=3, progress=False)",
    "widths = made.frame['width'].tolist()", sep = "\n"
  ))
  expect_identical(frame$width, unlist(reticulate::import_main()$widths))
})

test_that("a stand-in takes the place of guesses", {
  skip_without_python()
  rows <- data.frame(wage = stats::runif(500, 0, 100), age = rep(18:65, length.out = 500))
  plan <- dp_plan_study(study_file(), 4, data = rows, repetitions = 1)
  expect_identical(plan$n, 500)
  expect_error(dp_plan_study(study_file(), 4, data = rows, truth = list(main = c(age = 1))), "truth")
})

test_that("the pictures of a study's plan have a line for each table", {
  skip_without_python()
  plan <- planned_study()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(plan, xlab = "privacy loss"), plan)
  drawn <- planned_ratios(plan)
  expect_identical(colnames(drawn$ratios), c("describe", "main"))
  expect_identical(unname(drawn$ratios["4", ]), plan$tables[["4.0"]])
  skip_if_not_installed("ggplot2")
  built <- ggplot2::layer_data(ggplot2::autoplot(plan), 3L)
  expect_identical(nrow(built), 4L)
  expect_error(tidy(plan, conf.int = TRUE), "conf.int")
})
