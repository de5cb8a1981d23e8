# Python sends this process what Ctrl-C sends, at the place where it would read the rows.
interrupt_fits <- function() {
  reticulate::py_run_string(paste(
    "import os, signal, time, dpstats.run.charge as _api",
    "_fit_single = _api.fit_single",
    "def _interrupted(*arguments):",
    "    os.kill(os.getpid(), signal.SIGINT)",
    "    time.sleep(60)",
    "_api.fit_single = _interrupted",
    sep = "\n"
  ))
}

test_that("Ctrl-C is an interrupt, which a loop of try() does not pay for again", {
  skip_without_python()
  skip_on_os("windows")
  interrupt_fits()
  on.exit(reticulate::py_run_string("_api.fit_single = _fit_single"))
  budget <- dp_budget(3)
  calls <- 0
  expect_message(
    stopped <- tryCatch(
      for (i in 1:3) {
        calls <- i
        try(dp_ols(y ~ x, line(), "noisy_stats", 1, bounds = unit, budget = budget), silent = TRUE)
      },
      interrupt = identity
    ),
    "^interrupted; the budget of this call counts as spent\n$"
  )
  expect_s3_class(stopped, "interrupt")
  expect_equal(calls, 1)
  expect_equal(budget$spent[["epsilon"]], 1)
})
