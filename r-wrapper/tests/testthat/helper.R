# Tests that need Python are skipped without it, unless a variable forbids skipping.
skip_without <- function(available, what) {
  if (available) return(invisible())
  if (nzchar(Sys.getenv("DPSTATS_REQUIRE_R"))) stop(what, " is not there")
  testthat::skip(paste(what, "is not there"))
}

skip_without_python <- function() skip_without(dpstats_available(), "the Python package dpstats")

skip_without_package <- function(name) {
  skip_without(requireNamespace(name, quietly = TRUE), paste("the package", name))
}

# Packages that not every Debian has; nothing forbids skipping these.
skip_without_optional <- function(name) {
  testthat::skip_if_not(requireNamespace(name, quietly = TRUE), paste("the package", name))
}

people <- function(n = 4000) {
  set.seed(11)
  d <- data.frame(
    educ = sample(8:20, n, TRUE), age = runif(n, 20, 65),
    sex = factor(sample(c("f", "m"), n, TRUE)), union = runif(n) < 0.3,
    size = factor(sample(c("s", "m", "l"), n, TRUE), levels = c("s", "m", "l"), ordered = TRUE)
  )
  d$wage <- exp(0.8 + 0.08 * d$educ + 0.01 * d$age - 0.1 * (d$sex == "f") + rnorm(n, 0, 0.2))
  d
}

limits <- list(wage = c(1, 60), educ = c(8, 20), age = c(20, 65))

# By default with little noise, to compare with lm; always with the same noise.
fit_wage <- function(formula = log(wage) ~ educ + sex * age, data = people(), epsilon = 1e6, ...) {
  bounds <- limits[intersect(names(limits), all.vars(formula))]
  with_insecure_seed(
    3, dp_ols(formula, data, method = "adassp", epsilon = epsilon, bounds = bounds, ...)
  )
}

line <- function(n = 600) {
  set.seed(12)
  d <- data.frame(x = runif(n), tract = rep(c(3L, 7L, 9L), length.out = n))
  d$y <- pmin(pmax(0.2 + 0.5 * d$x + rnorm(n, 0, 0.1), 0), 1)
  d
}

unit <- list(x = c(0, 1), y = c(0, 1))

# One regression for each of the three tracts of line().
by_tract <- function(d = line(), ...) {
  dp_ols(y ~ x, d, "exp_theil_sen", 8, by = "tract", bounds = unit, ...)
}

# Run code while the function that Python offers is this one.
with_answer <- function(answer, code) {
  before <- state$module
  on.exit(state$module <- before)
  state$module <- list(answer = answer)
  code
}

# Whether bytes hold this number, in either order, or this text.
contains <- function(bytes, number, text) {
  forms <- list(writeBin(number, raw()), rev(writeBin(number, raw())), charToRaw(text))
  any(vapply(forms, function(form) length(grepRaw(form, bytes, fixed = TRUE)) > 0L, logical(1L)))
}
