# Prints name and seconds of each measurement, separated by a tab; called by benchmarks/r.py.
library(dpstats)
rows <- as.integer(commandArgs(TRUE)[1L])
repeats <- as.integer(commandArgs(TRUE)[2L])

say <- function(name, seconds) cat(name, "\t", stats::median(seconds), "\n", sep = "")
seconds <- function(code) replicate(repeats, system.time(code())[["elapsed"]])

set.seed(1)
data <- data.frame(
  x = runif(rows), k = sample(1:9, rows, TRUE),
  g = factor(sample(c("a", "b", "c"), rows, TRUE)), y = runif(rows)
)
bounds <- list(x = c(0, 1), k = c(1, 9), y = c(0, 1))

vectors <- reticulate::import("dpstats.engines.columns.r_vectors", convert = FALSE)
cross <- function() {
  for (column in dpstats:::bridge_columns(data)) {
    vectors$column(column$kind, column$data, column$levels)
  }
}
cross()
say("columns to Python", seconds(cross))

fit <- function() dp_ols(y ~ x + k + g, data, method = "adassp", epsilon = 1, bounds = bounds)
invisible(fit())
in_r <- seconds(fit)
say("dp_ols in R", in_r)

reticulate::py_run_string(sprintf("
import time
import numpy as np
import pandas as pd
import dpstats as dp

rng = np.random.default_rng(1)
data = pd.DataFrame({'x': rng.random(%1$d), 'k': rng.integers(1, 10, %1$d), 'y': rng.random(%1$d)})
data['g'] = pd.Categorical.from_codes(rng.integers(0, 3, %1$d), list('abc'))
bounds = {'x': (0, 1), 'k': (1, 9), 'y': (0, 1)}
taken = []
for _ in range(%2$d + 1):
    start = time.perf_counter()
    dp.dp_ols('y ~ x + k + g', data, method='adassp', epsilon=1, bounds=bounds)
    taken.append(time.perf_counter() - start)
", rows, repeats))
in_python <- unlist(reticulate::import_main()$taken)[-1L]
say("dp_ols in Python", in_python)
say("overhead of R", stats::median(in_r) - stats::median(in_python))
