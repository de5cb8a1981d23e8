test_that("poly() spans the polynomials of R, and predictions are those of lm", {
  skip_without_python()
  d <- people()
  for (formula in list(log(wage) ~ poly(age, 2) + sex, log(wage) ~ sex * poly(age, 3),
                       log(wage) ~ poly(educ, 2, raw = TRUE) + age,
                       log(wage) ~ poly(age, 1))) {
    fit <- fit_wage(formula, d)
    ols <- lm(formula, d)
    # the columns are others than those of lm, but for raw powers, and so are their names
    named <- sub("(poly\\(\\w+, [0-9]\\))([0-9])", "\\1P\\2", names(coef(ols)))
    expect_identical(names(coef(fit)), named)
    expect_identical(any(grepl("Legendre polynomials .* age in \\[20, 65\\].*dp_raw_powers",
                               summary(fit)$notes)), any(grepl("poly\\(\\w+, [0-9]\\)", named)))
    new <- data.frame(age = c(21, 40, 64), sex = c("f", "m", "f"), educ = c(8, 12, 20))
    expect_equal(predict(fit, new), predict(ols, new), tolerance = 1e-3)
    python <- predict(fit, new, interval = "confidence")
    expect_true(all(python[, "lwr"] < python[, "fit"] & python[, "fit"] < python[, "upr"]))
    expect_identical(colnames(design_at(fit, new)), names(coef(fit)))
  }
})

test_that("raw powers are read back", {
  skip_without_python()
  d <- people()
  fit <- fit_wage(log(wage) ~ poly(age, 2) + sex, d)
  raw <- dp_raw_powers(fit, "age")
  ols <- coef(lm(log(wage) ~ age + I(age^2) + sex, d))
  expect_identical(raw$term, c("(Intercept)", "age", "I(age^2)"))
  expect_equal(raw$estimate, unname(ols[1:3]), tolerance = 0.02)
  expect_true(all(raw$conf.low < raw$estimate & raw$estimate < raw$conf.high))
  expect_error(dp_raw_powers(fit, "educ"), "poly\\(educ, k\\)")
  expect_error(dp_raw_powers(fit, 1), "name of a column")
})

test_that("what is no polynomial of one column is refused", {
  skip_without_python()
  expect_error(fit_wage(wage ~ poly(log(age), 2)), "of one column")
  expect_error(fit_wage(wage ~ I(poly(age, 2) + 1)), "stands alone")
  expect_error(fit_wage(wage ~ poly(age, 2.5)), "whole number")
})
