# Write tests/suites/r_refusals.md: calls that are refused in R, with what is said. From the root of the
# sources:
#   Rscript tests/suites/r_refusals.R [--check]
# with RETICULATE_PYTHON naming a Python that has this package. --check compares the page instead.
page <- normalizePath("tests/suites/r_refusals.md", mustWork = FALSE)
tests <- normalizePath("r-wrapper/tests/testthat")
library(dpstats)
helpers <- new.env(parent = asNamespace("dpstats"))
for (file in c("helper.R", "helper-bad_calls.R")) sys.source(file.path(tests, file), helpers)

calls <- helpers$bad_calls
messages <- helpers$messages_of(calls)
stopifnot("every call must be refused" = !anyNA(messages), length(calls) >= 100L)
asked <- vapply(calls, function(call) as.character(call[[1L]]), "")
section <- function(name) {
  here <- asked == name
  entries <- rbind("", vapply(calls[here], deparse1, ""), paste("#>", messages[here]))
  c("", paste0("## `", name, "`"), "", "```r", entries[-1L], "```")
}
lines <- enc2utf8(c(
  "# What R says to calls that are refused", "",
  "Each call ends with an error of class `dpstats_error` before a row is read, and costs nothing.",
  "`d` is a data frame with the columns x, y, k (numbers), g, one (factors), s (text), b (logical),",
  "real and day (a date); `fit` is a fit of `y ~ x`, `by` groups of it and `fits` a list of it; `unit`",
  "is `list(x = c(0, 1), y = c(0, 1))`. Written by `tests/suites/r_refusals.R`.",
  unlist(lapply(unique(asked), section), use.names = FALSE)
))
if (!"--check" %in% commandArgs(TRUE)) {
  writeLines(lines, page, useBytes = TRUE)
} else if (!identical(written <- readLines(page, encoding = "UTF-8"), lines)) {
  writeLines(c("only in the page:", setdiff(written, lines), "only said now:", setdiff(lines, written)))
  stop("tests/suites/r_refusals.md is not what R says now; run Rscript tests/suites/r_refusals.R")
}
