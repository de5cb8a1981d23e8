# Make inst/extdata/wages.rds, a release on synthetic rows, which examples read without Python. Run
# it in this folder's parent when what a fit holds has changed.
library(dpstats)
set.seed(1)
n <- 50000
workers <- data.frame(
  educ = sample(8:20, n, replace = TRUE), exper = round(runif(n, 0, 40)),
  sex = factor(sample(c("men", "women"), n, replace = TRUE))
)
workers$wage <- with(workers, exp(
  1.2 + 0.08 * educ + 0.01 * exper - 0.12 * (sex == "women") + rnorm(n, sd = 0.4)
))
fit <- dp_ols(log(wage) ~ educ + exper + sex, workers, method = "adassp", epsilon = 4,
              bounds = list(wage = c(2, 100), educ = c(8, 20), exper = c(0, 40)))
saveRDS(fit, "inst/extdata/wages.rds", version = 2)
