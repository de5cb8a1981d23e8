# Make tests/testthat/stored.rds, releases on synthetic rows of each kind of inference, which tests
# read without Python. Run it in this folder's parent when what a fit holds has changed.
library(dpstats)
set.seed(2)
n <- 3000
people <- data.frame(
  x = runif(n), g = factor(sample(c("a", "b"), n, replace = TRUE)),
  tract = rep(c(3L, 7L, 9L), length.out = n)
)
people$y <- with(people, 0.2 + 0.5 * x + 0.05 * (g == "b") + rnorm(n, sd = 0.05))
bounds <- list(x = c(0, 1), y = c(0, 1))
fit <- function(formula, method, ..., epsilon = 4) {
  dp_ols(formula, people, method, epsilon, bounds = bounds, ...)
}
# a fit that the noise leaves open, as it does not always
unsure <- function(...) repeat if (all(is.infinite(confint(made <- fit(...))))) return(made)
stored <- list(
  default = fit(y ~ x + g, "auto"), adassp = fit(y ~ x * g, "adassp"),
  weak = unsure(y ~ x, "adassp", epsilon = 0.01), absorbed = fit(y ~ x | tract, "adassp"),
  polynomial = fit(y ~ poly(x, 2), "adassp"),
  pivot = fit(y ~ x, "noisy_moments"), robust = fit(y ~ x, "noisy_moments", cov_type = "HC1"),
  weak_pivot = unsure(y ~ x, "noisy_moments", epsilon = 0.01),
  ends = fit(y ~ x, "exp_theil_sen", ci = TRUE, epsilon = 8),
  companion = fit(y ~ x, "exp_theil_sen", companion = "noisy_moments", epsilon = 8),
  none = fit(y ~ x, "noisy_stats"),
  groups = fit(y ~ x, "auto", by = "tract"),
  groups_pivot = fit(y ~ x, "noisy_moments", by = "tract", epsilon = 8),
  groups_ends = fit(y ~ x, "exp_theil_sen", by = "tract", ci = TRUE, epsilon = 8)
)
saveRDS(stored, "tests/testthat/stored.rds", version = 2)
