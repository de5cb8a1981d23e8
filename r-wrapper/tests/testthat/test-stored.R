# What docs/coming-from.md promises of saved releases, without Python.

stored <- function() readRDS(test_path("stored.rds"))

without_python <- function(code) with_answer(function(...) stop("Python was asked"), code)

is_groups <- function(fit) inherits(fit, "dp_ols_groups")

singles <- function() Filter(Negate(is_groups), stored())

groups <- function() Filter(is_groups, stored())

# Standard errors, intervals and p-values are computed twice: by Python with the fit, and in R.
expect_as_python <- function(fit) {
  S <- length(fit$coefficients)
  of_fit <- function(part) intervals_of(fit$uncertainty, part, 0.95)
  ends <- of_fit(diag(S))
  expect_equal(ends$conf.low, fit$table$conf.low, tolerance = 1e-6)
  expect_equal(ends$conf.high, fit$table$conf.high, tolerance = 1e-6)
  expect_equal(errors_of(fit$uncertainty, diag(S)), fit$table$std.error, tolerance = 1e-10)
  expect_equal(p_values_of(fit$uncertainty, diag(S), numeric(S)), fit$table$p.value,
               tolerance = 1e-8)
  expect_equal(covariance_of(fit$uncertainty, 1L), unname(fit$vcov), tolerance = 1e-10)
}

test_that("R computes the standard errors, intervals and p-values that Python computes", {
  for (fit in singles()) expect_as_python(fit)
  for (by in groups()) {
    ends <- group_intervals(by, 0.95 + 1e-12)
    expect_equal(ends$conf.low, as.vector(t(by$low)), tolerance = 1e-6)
    expect_equal(ends$conf.high, as.vector(t(by$high)), tolerance = 1e-6)
    X <- diag(length(by$coefficients))
    errors <- t(vapply(seq_along(by$status), function(g) {
      errors_of(by$uncertainty, X, rep(g, nrow(X)))
    }, numeric(nrow(X))))
    expect_equal(errors, unname(by$errors[, by$coefficients]), tolerance = 1e-10)
  }
})

test_that("R infers as Python does from fits of every method", {
  skip_without_python()
  for (method in setdiff(dp_methods()$method, "auto")) {
    for (epsilon in c(0.05, 8)) {
      fit <- with_insecure_seed(4, dp_ols(y ~ x, line(), method, epsilon, bounds = unit))
      expect_as_python(fit)
    }
  }
})

test_that("a saved fit is printed, tabulated, predicted from and drawn without Python", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  new <- data.frame(x = c(0.25, NA, 0.75), g = "b", row.names = c("low", "none", "high"))
  without_python(for (fit in singles()) {
    expect_output(print(fit))
    expect_output(print(summary(fit)), "Method")
    expect_identical(dim(confint(fit, level = 0.8)), c(length(coef(fit)), 2L))
    expect_identical(tidy(fit, conf.int = TRUE, conf.level = 0.9)$term, names(coef(fit)))
    expect_identical(nrow(glance(fit)), 1L)
    at <- predict(fit, new, se.fit = TRUE, interval = "confidence", level = 0.9)
    expect_identical(dim(at$fit), c(3L, 3L))
    expect_identical(names(at$se.fit), row.names(new))
    expect_true(all(is.na(at$fit["none", ])))
    added <- augment(fit, newdata = new, interval = "confidence", conf.level = 0.9)
    expect_identical(added$.lower, unname(at$fit[, "lwr"]))
    expect_identical(added$.se.fit, unname(at$se.fit))
    expect_identical(plot(fit), fit)
    if (requireNamespace("ggplot2", quietly = TRUE)) expect_no_warning(ggplot2::autoplot(fit))
  })
})

test_that("predictions without Python are those that came with the fit", {
  without_python(for (fit in Filter(function(fit) nrow(fit$predictions) == 2L, singles())) {
    at <- predict(fit, data.frame(x = c(0.25, 0.75)), se.fit = TRUE, interval = "confidence")
    expect_equal(unname(at$fit), unname(as.matrix(fit$predictions[c(1, 3, 4)])), tolerance = 1e-6)
    expect_equal(unname(at$se.fit), fit$predictions$std.error, tolerance = 1e-10)
  })
})

test_that("hypotheses are tested and fits compared without Python", {
  without_python(for (fit in singles()) {
    name <- names(coef(fit))[length(coef(fit))]
    test <- dp_test(fit, paste0("2*", name, " - 1 = -", name), 0.9)
    expect_identical(test$hypothesis, paste0("3 ", name, " = 1"))
    expect_identical(test, dp_test(fit, paste0(name, " - 1 = -2 * ", name), 0.9))
    alone <- dp_test(fit, paste(name, "= 0"))
    expect_identical(alone$p.value, dp_joint_test(fit, paste(name, "= 0"))$p.value)
    expect_equal(c(alone$conf.low, alone$conf.high), unname(confint(fit)[name, ]), tolerance = 1e-6)
  })
  side <- without_python(do.call(dp_compare, singles()))
  expect_identical(unique(tidy(side)$model), names(singles()))
  for (format in c("text", "html", "latex")) expect_output(print(side, format = format), "companion")
})

test_that("groups are picked, predicted and summed up without Python", {
  new <- data.frame(tract = c(9, 3), x = 0.25)
  without_python(for (by in groups()) {
    expect_output(print(by), "3 groups")
    expect_output(print(summary(by)), "Released values")
    expect_output(print(summary(by[["7"]])), "Group: tract = 7")
    if (is.null(by$fit_statistics)) expect_match(summary(by[["7"]])$notes, "an earlier version saved", all = FALSE)
    wide <- confint(by, c("x", "p25"), level = 0.9)
    expect_identical(dim(wide), c(6L, 4L))
    expect_equal(confint(by[["7"]], level = 0.9), confint(by[2L][[1L]], level = 0.9))
    expect_identical(unname(confint(by[["7"]], "x", level = 0.9)[1L, ]),
                     as.numeric(wide[wide$tract == 7 & wide$term == "x", 3:4]))
    expect_identical(vcov(by[["7"]]), vcov(by)[["7"]])
    at <- predict(by, new, se.fit = TRUE, interval = "confidence")
    came <- tidy(by, conf.int = TRUE)
    came <- came[came$term == "p25", ][c(3, 1), ]
    expect_equal(unname(at$fit), unname(as.matrix(came[c("estimate", "conf.low", "conf.high")])),
                 tolerance = 1e-6)
    expect_equal(unname(at$se.fit), came$std.error, tolerance = 1e-10)
    expect_identical(augment(by, newdata = new)$.fitted, unname(at$fit[, "fit"]))
    expect_identical(augment(by[["9"]], newdata = new["x"])$.fitted, rep(at$fit[[1L]], 2L))
    expect_length(as.list(by), 3L)
  })
})

test_that("emmeans averages a saved fit without Python", {
  skip_without_package("emmeans")
  fit <- stored()$default
  means <- without_python(as.data.frame(emmeans::emmeans(fit, ~g)))
  expect_identical(nrow(means), 2L)
})

test_that("what is simulated needs Python, and says so", {
  skip_if(dpstats_available(), "Python is there")
  fit <- stored()$adassp
  for (call in expression(dp_joint_test(fit, c("x = 0", "gb = 0")), dp_error_bound(fit))) {
    expect_error(eval(call), "install_dpstats", class = "dpstats_python_error")
  }
})

test_that("what the release leaves open is open in R too", {
  weak <- stored()$weak
  expect_true(all(is.infinite(confint(weak, level = 0.5))))
  expect_true(all(is.infinite(confint(stored()$weak_pivot, level = 0.999))))
  expect_true(all(is.na(confint(stored()$ends, level = 0.99))))
  expect_true(all(is.na(dp_test(stored()$none, "x = 0")[3:7])))
})

test_that("what releases cost together is what Python says", {
  skip_without_python()
  python <- reticulate::import("dpstats", convert = FALSE)
  for (pair in list(c("adassp", "polynomial"), c("pivot", "robust"), c("default", "pivot"),
                    c("adassp", "weak", "companion"))) {
    fits <- unname(stored()[pair])
    states <- lapply(fits, function(fit) python$DPResults$from_json(fit$state))
    joint <- reticulate::py_to_r(do.call(python$compare, states)$joint_guarantee)
    if (is.null(joint)) {
      expect_output(print(do.call(dp_compare, fits)), "no joint epsilon")
    } else {
      expect_equal(joint_guarantee(lapply(fits, function(fit) fit$privacy)), unlist(joint),
                   tolerance = 1e-6)
    }
  }
})
