# Emil asks who is unemployed: Rscript unemployment.R SURVEY [LEDGER]
library(dpstats)
source("codebook.R")

given <- commandArgs(trailingOnly = TRUE)
fit <- dp_logit(
  unemployed ~ age + sex + education, given[1], epsilon = 1,
  bounds = bounds, levels = levels, types = types,
  budget = if (length(given) > 1) dp_ledger(given[2], analyst = "emil")
)
if (sys.nframe() == 0) {
  cat("odds ratios\n")
  print(as.data.frame(tidy(fit, exponentiate = TRUE, conf.int = TRUE)[-(4:5)]), digits = 3)
  cat("average marginal effects\n")
  print(as.data.frame(dp_margins(fit)[-(4:5)]), digits = 3)
}
