sent <- function(formula, data) formula_texts(with_constants(formula, data))

test_that("constants of the workspace are sent so that Python computes with what R does", {
  d <- data.frame(x = 1, y = 2)
  third <- 1 / 3
  tenth <- 0.1
  expect_identical(sent(y ~ I(x - third) + I(x * tenth), d),
                   "y ~ I(x - 0.33333333333333331) + I(x * 0.1)")
  expect_identical(sent(y ~ I(x > `third`) + I(x %in% c(0.1 + 0.2, 1)), d),
                   "y ~ I(x > 0.33333333333333331) + I(x %in% c(0.1 + 0.2, 1))")
  both <- c(0.1 + 0.2, -1)
  expect_identical(sent(y ~ I(x %in% both), d), "y ~ I(x %in% c(0.30000000000000004, -1))")
  condition <- condition_given(quote(x >= third), d, environment())
  expect_identical(condition_text(condition), "x >= 0.33333333333333331")
  low <- -2
  expect_identical(sent(y ~ I(low^2 * x) + I(x - low), d), "y ~ I((-2)^2 * x) + I(x - -2)")
  for (endless in c(Inf, -Inf)) {
    expect_error(sent(y ~ I(x < endless), d), "no column 'endless', and that of the workspace is -?Inf",
                 class = "dpstats_argument_error")
  }
})

test_that("coefficients have R's names of constants, and predictions the constants themselves", {
  skip_without_python()
  d <- people()
  third <- 1 / 3
  low <- -2
  fit <- fit_wage(log(wage) ~ I(educ * third) + I(low^2 * age), d)
  reference <- lm(formula(fit), d)
  expect_named(coef(fit), names(coef(reference)))
  expect_identical(names(coef(fit))[2L], "I(educ * 0.333333333333333)")
  expect_equal(coef(fit), coef(reference), tolerance = 5e-3)
  expect_equal(predict(fit, d[1:3, ]), predict(reference, d[1:3, ]), tolerance = 5e-3)
  d$share <- rep(c(0.1 + 0.2, 0.3), length.out = nrow(d))
  sum <- 0.1 + 0.2
  half <- dp_describe(d, ~age, 1000, subset = share == sum, statistics = "n")
  expect_equal(tidy(half)$estimate[1L], nrow(d) / 2, tolerance = 0.01)
})
