# What other packages ask of a fit: here with the arguments they pass, and by themselves where they
# are installed. They are called by name, for not every repository has them.
from_package <- function(package, name) {
  skip_without_optional(package)
  getExportedValue(package, name)
}

quietly <- function(code) withCallingHandlers(code, warning = function(w) stop(conditionMessage(w)))

by_tract <- function() {
  with_insecure_seed(1, dp_ols(y ~ x, line(), "noisy_moments", 1e4, by = "tract", bounds = unit))
}

two_formulas <- function() {
  with_insecure_seed(1, dp_ols(list(y ~ x, x ~ y), line(), "noisy_moments", 1e4, bounds = unit))
}

# modelsummary 0.6 to 2.6, with its defaults and with conf_level = NULL.
of_modelsummary <- list(
  tidy = list(list(conf.int = TRUE, conf.level = 0.95),
              list(conf.int = TRUE, conf.level = 0.95, vcov = NULL, coef_rename = FALSE),
              list(conf.int = FALSE, vcov = NULL, coef_rename = TRUE)),
  glance = list(list(), list(gof_map = NULL), list(gof_map = data.frame(raw = "nobs"),
                                                   gof_function = NULL))
)

test_that("tidy() and glance() take what modelsummary passes, for every kind of result", {
  skip_without_python()
  for (result in list(fit_wage(), by_tract(), by_tract()[["7"]], two_formulas())) {
    for (arguments in of_modelsummary$tidy) {
      plain <- arguments[intersect(names(arguments), c("conf.int", "conf.level"))]
      expect_identical(quietly(do.call(tidy, c(list(result), arguments))),
                       do.call(tidy, c(list(result), plain)))
    }
    for (arguments in of_modelsummary$glance) {
      expect_identical(quietly(do.call(glance, c(list(result), arguments))), glance(result))
    }
  }
})

test_that("what a package passes on for its users stops no table", {
  skip_without_python()
  fit <- fit_wage()
  expect_warning(table <- tidy(fit, booktabs = TRUE), "tidy\\(\\) of this result disregards booktabs")
  expect_identical(table, tidy(fit))
  expect_identical(quietly(glance(fit, exponentiate = TRUE, conf.level = 0.9)), glance(fit))
  # the fit's own matrix, as of modelsummary(fit, vcov = vcov)
  expect_identical(quietly(tidy(fit, vcov = vcov(fit))), tidy(fit))
  expect_error(tidy(fit, vcov = 2 * vcov(fit)), "cov_type in dp_ols", class = "dpstats_error")
})

# parameters 0.20 to 0.29 (compare_parameters), modelsummary and sjPlot.
of_parameters <- list(
  list(verbose = FALSE, effects = "all", ci = 0.95),
  list(verbose = FALSE, effects = "all", ci = NULL, ci_random = FALSE),
  list(verbose = FALSE, effects = "all", ci = 0.95, pretty_names = "labels"),
  list(ci = 0.95, effects = "fixed", component = "all", standardize = NULL, exponentiate = FALSE,
       ci_method = "wald", p_adjust = NULL, keep = NULL, drop = NULL, wb_component = FALSE,
       include_reference = FALSE, verbose = TRUE),
  list(ci = 0.95, bootstrap = FALSE, iterations = 1000, robust = FALSE, df_method = NULL,
       summary = FALSE, vcov = NULL, vcov_args = NULL, include_info = FALSE)
)

test_that("model_parameters() takes what the packages above it pass", {
  skip_without_python()
  fit <- fit_wage()
  for (arguments in of_parameters) {
    table <- quietly(do.call(model_parameters.dp_ols, c(list(fit), arguments)))
    expect_identical(table$Coefficient, unname(coef(fit)))
    expect_identical("CI_low" %in% names(table), !is.null(arguments$ci))
  }
  same <- model_parameters.dp_ols(fit, vcov = vcov(fit), ci_method = "wald")
  expect_identical(same$SE, tidy(fit)$std.error)
  refused <- list(list(vcov = "HC3"), list(bootstrap = TRUE), list(ci_method = "kenward"),
                  list(p_adjust = "holm"), list(standardize = "refit"), list(0.95, FALSE, 2, 2, 3, 1))
  for (arguments in refused) {
    expect_error(do.call(model_parameters.dp_ols, c(list(fit), arguments)), "no .*argument",
                 class = "dpstats_argument_error")
  }
})

test_that("model_performance() and insight's questions are answered", {
  skip_without_python()
  fit <- fit_wage()
  for (arguments in list(list(), list(verbose = FALSE, metrics = "common"),
                         list(metrics = "all", estimator = "ML", verbose = FALSE))) {
    row <- quietly(do.call(model_performance.dp_ols, c(list(fit), arguments)))
    expect_identical(row$R2, glance(fit)$r.squared)
    expect_identical(row$Sigma, sigma(fit))
  }
  expect_identical(get_varcov.dp_ols(fit, verbose = TRUE, vcov = TRUE, component = "all"), vcov(fit))
  expect_error(get_varcov.dp_ols(fit, vcov = "HC1"), "cov_type", class = "dpstats_argument_error")
  expect_error(estfun.dp_ols(fit), "cluster for clustered", class = "dpstats_not_released_error")
  expect_identical(get_df.dp_ols(fit, type = "any"), Inf)
  expect_identical(get_df.dp_ols(fit, type = "model"), 5L)
  skip_without_package("insight")
  expect_true(insight::model_info(fit)$is_linear)
  expect_identical(insight::n_obs(fit), nobs(fit))
  expect_identical(insight::get_varcov(fit), vcov(fit))
  expect_identical(insight::find_variables(fit, flatten = TRUE), c("wage", "educ", "sex", "age"))
})

# What marginaleffects 0.5 to 0.32 does to a fit.
test_that("predictions follow coefficients that are set, as delta methods need", {
  skip_without_python()
  fit <- fit_wage()
  new <- data.frame(educ = c(10, 12), sex = "f", age = 30)
  moved <- fit
  moved$coefficients["educ"] <- coef(fit)[["educ"]] + 0.01
  expect_equal(unname(predict(moved, newdata = new, type = "response") - predict(fit, new)),
               c(0.1, 0.12))
  steep <- data.frame(educ = 200, sex = "f", age = 30, rowid = 7L)
  for (arguments in list(list(), list(vcov = FALSE, conf_level = 0.95, type = "response"),
                         list(type = NULL, mfx = NULL, newparams = NULL, ndraws = NULL,
                              se.fit = NULL, internal_call = TRUE))) {
    line <- do.call(get_predict.dp_ols, c(list(fit, newdata = steep), arguments))
    expect_identical(line$rowid, 7L)
    expect_equal(line$estimate, drop(model.matrix(fit, steep) %*% coef(fit)), ignore_attr = TRUE)
    expect_gt(line$estimate, predict(fit, steep))
  }
  expect_true("dp_ols" %in% getOption("marginaleffects_model_classes"))
})

test_that("modelsummary makes tables of fits, groups and lists", {
  skip_without_python()
  modelsummary <- from_package("modelsummary", "modelsummary")
  for (first in c("easystats", "broom")) {
    before <- options(modelsummary_get = first)
    table <- modelsummary(fit_wage(), output = "data.frame")
    options(before)
    expect_true(all(c("educ", "sexm") %in% table$term))
    expect_true("epsilon" %in% tolower(table$term))
  }
  for (fits in list(as.list(by_tract()), as.list(two_formulas()))) {
    expect_true(all(names(fits) %in% names(modelsummary(fits, output = "data.frame"))))
  }
  expect_error(modelsummary(fit_wage(), vcov = "HC1"), "cov_type")
})

test_that("marginaleffects gives the slopes and predictions that it gives of lm", {
  skip_without_python()
  fit <- fit_wage()
  reference <- lm(log(wage) ~ educ + sex * age, people())
  new <- people(40)
  for (name in c("avg_slopes", "avg_comparisons", "predictions")) {
    ask_fit <- from_package("marginaleffects", name)
    ours <- ask_fit(fit, newdata = new)
    theirs <- ask_fit(reference, newdata = new)
    expect_equal(ours$estimate, theirs$estimate, tolerance = 0.02)
    expect_equal(ours$std.error, theirs$std.error, tolerance = 0.05)
  }
})

test_that("performance and sandwich find their methods", {
  skip_without_python()
  fit <- fit_wage()
  expect_output(print(from_package("performance", "model_performance")(fit)), "Epsilon")
  expect_error(from_package("sandwich", "vcovCL")(fit), "cluster for clustered", class = "dpstats_not_released_error")
})

test_that("texreg is given coefficients, N and epsilon, and no star where nothing is shown", {
  skip_without_python()
  fit <- fit_wage()
  parts <- texreg_parts(fit)
  expect_identical(parts[c("coef.names", "coef")], list(coef.names = names(coef(fit)), coef = unname(coef(fit))))
  expect_equal(parts$se, unname(sqrt(diag(vcov(fit)))))
  figures <- setNames(parts$gof, parts$gof.names)
  expect_identical(figures[["Num. obs."]], as.numeric(nobs(fit)))
  expect_identical(figures[["Epsilon"]], fit$privacy$epsilon)
  expect_equal(figures[["log10(Delta)"]], log10(fit$privacy$delta))
  expect_equal("NOT PRIVATE (seeded)" %in% names(figures), !fit$privacy$private)
  few <- with_insecure_seed(1, dp_ols(y ~ x, line(40), epsilon = 0.3))
  expect_identical(texreg_parts(few)$pvalues, c(NA_real_, NA_real_))
  extract <- from_package("texreg", "extract")
  expect_identical(quietly(extract(fit))@gof, parts$gof)
  table <- getExportedValue("texreg", "screenreg")(list(fit, lm(y ~ x, line())))
  expect_match(table, paste0("Num. obs. +", nobs(fit), " +"))
})
