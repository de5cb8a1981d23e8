# Dora asks what schooling pays: Rscript wages.R SURVEY [LEDGER]
library(dpstats)
source("codebook.R")

given <- commandArgs(trailingOnly = TRUE)
fit <- dp_ols(
  log(wage) ~ age + I(age^2) + sex + education, given[1], epsilon = 1,
  weights = weight, cov_type = "cluster", cluster = state,
  bounds = bounds, levels = levels, types = types,
  budget = if (length(given) > 1) dp_ledger(given[2], analyst = "dora")
)
if (sys.nframe() == 0) {
  print(as.data.frame(tidy(fit, conf.int = TRUE)[-(4:5)]), digits = 3)
}
