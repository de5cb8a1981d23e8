make_ledger <- function(epsilon = 3, analyst = NULL) {
  path <- tempfile(fileext = ".ledger")
  dp <- reticulate::import("dpstats")
  ledger <- dp$Ledger$create(path, dataset = "lines", epsilon = epsilon,
                             neighbors = "replace_one", fingerprint = "2024")
  if (!is.null(analyst)) ledger$allocate(analyst, epsilon / 2)
  path
}

fit <- function(ledger, epsilon = 1, ...) {
  dp_ols(y ~ x, line(), "noisy_stats", epsilon, bounds = unit, budget = ledger, ...)
}

test_that("a ledger is charged, answers equal calls and refuses what does not fit", {
  skip_without_python()
  path <- make_ledger()
  ledger <- dp_ledger(path)
  first <- fit(ledger, 2)
  expect_equal(ledger$spent, c(epsilon = 2, delta = 0))
  expect_equal(coef(fit(ledger, 2)), coef(first))
  expect_equal(dp_ledger(path)$spent[["epsilon"]], 2)
  error <- tryCatch(fit(ledger, 1.5), error = identity)
  expect_s3_class(error, "dpstats_budget_error")
  expect_match(conditionMessage(error), "does not fit: the budget of \"lines\"")
  expect_equal(ledger$remaining, c(epsilon = 1, delta = 5e-7))
  expect_output(print(ledger), "Ledger of lines")
})

test_that("analysts have their allocations", {
  skip_without_python()
  path <- make_ledger(analyst = "anna")
  expect_error(fit(dp_ledger(path)), "say who you are with dp_ledger", class = "dpstats_budget_error")
  anna <- dp_ledger(path, analyst = "anna")
  fit(anna, 1.25)
  expect_equal(anna$remaining[["epsilon"]], 0.25)
  expect_error(fit(anna, 0.5), "the allocation of \"anna\"", class = "dpstats_budget_error")
})

test_that("a ledger that is none is refused, and its totals cannot be set", {
  skip_without_python()
  expect_error(dp_ledger(tempfile()), "no such file", class = "dpstats_ledger_error")
  ledger <- dp_ledger(make_ledger())
  expect_error(ledger$spent <- 0, "cannot be set")
  expect_error(fit("a.ledger"), "dp_ledger", class = "dpstats_argument_error")
})

test_that("a study runs dry and on a ledger", {
  skip_without_python()
  folder <- tempfile()
  dir.create(folder)
  utils::write.csv(line(), file.path(folder, "line.csv"), row.names = FALSE)
  study <- file.path(folder, "study.toml")
  writeLines(c(
    'data = "line.csv"', "bounds = { x = [0, 1], y = [0, 1] }",
    "[models.main]", 'formula = "y ~ x"', 'method = "noisy_stats"', "epsilon = 2"
  ), study)
  dry <- dp_run(study, file.path(folder, "dry"), dry_run = TRUE)
  expect_true(file.exists(file.path(dry, "index.html")))
  ledger <- dp_ledger(make_ledger())
  out <- dp_run(study, file.path(folder, "out"), ledger)
  expect_true(file.exists(file.path(out, "release.json")))
  expect_equal(ledger$spent[["epsilon"]], 2)
  expect_error(dp_run(study, file.path(folder, "no")), "made by dp_ledger")
  in_r <- sub("y ~ x", "I(1 - y) ~ I(x^1)", c('language = "R"', readLines(study)), fixed = TRUE)
  writeLines(in_r, study)
  expect_true(file.exists(dp_run(study, file.path(folder, "in_r"), dry_run = TRUE)))
  writeLines(in_r[-1L], study)
  expect_error(dp_run(study, file.path(folder, "none"), dry_run = TRUE),
               "of R it can be read: write language = \"R\"", class = "dpstats_argument_error")
})

test_that("a study of several kinds shares one epsilon from R too", {
  skip_without_python()
  folder <- tempfile()
  dir.create(folder)
  study <- file.path(folder, "study.toml")
  utils::write.csv(line(), file.path(folder, "line.csv"), row.names = FALSE)
  writeLines(c(
    'data = "line.csv"', "epsilon = 2", 'language = "R"', "bounds = { x = [0, 1], y = [0, 1] }",
    "[[describe]]", 'columns = ["x", "y"]', "share = 0.25", "[[ols]]", 'formula = "y ~ x + I(x^2)"'
  ), study)
  dp_ledger_create(file.path(folder, "line.ledger"), "line", epsilon = 2)
  ledger <- dp_ledger(file.path(folder, "line.ledger"))
  out <- dp_run(study, file.path(folder, "out"), ledger)
  expect_true(all(file.exists(file.path(out, c("1_describe.tex", "2_ols.csv")))))
  expect_equal(ledger$spent[["epsilon"]], 2, tolerance = 1e-6)
})

test_that("a steward makes and keeps a ledger from R", {
  skip_without_python()
  path <- tempfile(fileext = ".ledger")
  made <- dp_ledger_create(path, "lines", epsilon = 3, neighbors = "replace_one", approval = TRUE,
                           fingerprint = "2024")
  expect_s3_class(made, "dp_ledger")
  expect_output(print(made), "Ledger of lines")
  expect_error(dp_ledger_create(path, "lines", 3), "exists", class = "dpstats_argument_error")
  analysts <- dp_ledger_allocate(made, "anna", epsilon = 2)
  expect_identical(analysts, dp_ledger_analysts(path))
  expect_identical(analysts$epsilon, 2)
  expect_identical(nrow(dp_ledger_requests(path)), 0L)
  anna <- dp_ledger(path, "anna")
  expect_error(fit(anna), class = "dpstats_budget_error")
  waiting <- dp_ledger_requests(path, state = "requested")
  expect_identical(as.list(waiting[c("id", "analyst", "formula")]),
                   list(id = 1, analyst = "anna", formula = "y ~ x"))
  whole <- dp_ledger_request(path, 1)
  expect_identical(whole$value[match(c("formula", "epsilon", "state"), whole$entry)],
                   c("y ~ x", "1.0", "requested"))
  expect_identical(dp_ledger_approve(path, 1)$state, "approved")
  expect_s3_class(fit(anna), "dp_ols")
  expect_identical(dp_ledger_requests(path)$state, "released")
  expect_error(dp_ledger_deny(path, 1), "cannot be denied", class = "dpstats_argument_error")
  expect_error(dp_ledger_approve(path, 7), "no request 7", class = "dpstats_argument_error")
  found <- dp_ledger_verify(made)
  expect_true(found$ok)
  expect_output(print(found), "audit entries, all rows and totals agree; head")
  expect_false(dp_ledger_verify(path, head = "none")$ok)
  out <- tempfile(fileext = ".json")
  expect_identical(dp_ledger_export(path, out), out)
  expect_true(file.exists(out))
})

test_that("a ledger is for one data set, whose place the steward moves", {
  skip_without_python()
  path <- tempfile(fileext = ".ledger")
  made <- dp_ledger_create(path, "lines", epsilon = 3, neighbors = "replace_one",
                           data = cbind(line(), town = "a"))
  expect_equal(made$remaining, c(epsilon = 3, delta = 5e-7))
  expect_error(dp_ols(y ~ x, transform(line(), x = x > 0.5), "noisy_stats", 1, bounds = unit["y"],
                      budget = made), "dp_ledger_move\\(\\)", class = "dpstats_budget_error")
  expect_s3_class(fit(made), "dp_ols")
  file <- tempfile(fileext = ".csv")
  utils::write.csv(line(), file, row.names = FALSE)
  dp_ledger_allocate(path, "anna", epsilon = 3)
  moved <- dp_ledger_move(dp_ledger(path, "anna"), file)
  expect_identical(moved$analyst, "anna")
  expect_error(fit(moved), "this ledger is for other data", class = "dpstats_budget_error")
  expect_s3_class(dp_ols(y ~ x, file, "noisy_stats", 1, bounds = unit, budget = moved), "dp_ols")
  expect_equal(moved$spent[["epsilon"]], 2)
  expect_error(dp_ledger_move(path, 3), "expected data to be", class = "dpstats_argument_error")
  expect_error(dp_ledger_move(path), "data is missing", class = "dpstats_argument_error")
})

test_that("mistakes about ledgers are named", {
  skip_without_python()
  path <- make_ledger()
  expect_error(dp_ledger_create(tempfile(), "a", 1, aproval = TRUE), "did you mean approval",
               class = "dpstats_argument_error")
  expect_error(dp_ledger_create(tempfile(), "a", 1, NULL), "delta is NULL",
               class = "dpstats_argument_error")
  expect_error(dp_ledger_create(tempfile(), "a", 1, 0, "add_remove"), "go by name",
               class = "dpstats_argument_error")
  expect_error(dp_ledger_requests(path, "requestd"), "expected state to be \"requested\" or",
               class = "dpstats_argument_error")
  expect_error(dp_ledger_requests(3), "expected ledger to be one path, got 3",
               class = "dpstats_argument_error")
})
