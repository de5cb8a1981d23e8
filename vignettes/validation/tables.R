# Fay asks for tables by education: Rscript tables.R SURVEY [LEDGER]
library(dpstats)
source("codebook.R")

given <- commandArgs(trailingOnly = TRUE)
fit <- dp_describe(
  given[1], ~ wage + hours + age + unemployed, epsilon = 1, by = education,
  bounds = bounds, levels = levels, types = types,
  budget = if (length(given) > 1) dp_ledger(given[2], analyst = "fay")
)
if (sys.nframe() == 0) print(fit)
