smokers <- function(n = 20000) {
  set.seed(21)
  d <- data.frame(
    age = runif(n, 20, 65), sex = factor(sample(c("f", "m"), n, TRUE)), id = rep_len(seq_len(n / 2), n),
    w = runif(n, 0.5, 1)
  )
  d$smoker <- runif(n) < plogis(1.5 - 0.05 * d$age + 0.6 * (d$sex == "m"))
  d
}

fit_smoker <- function(formula = smoker ~ age + sex, data = smokers(), epsilon = 1e6, ...) {
  with_insecure_seed(3, dp_logit(formula, data, epsilon, ...))
}

test_that("coefficients, errors and predictions are glm's as epsilon grows", {
  skip_without_python()
  d <- smokers()
  new <- data.frame(age = c(30, 50, NA), sex = c("m", "f", "m"), row.names = c("u", "v", "w"))
  for (formula in c(smoker ~ age + sex, smoker ~ I(age^2) + age * sex,
                    sex ~ age, I((age > 40) * 1) ~ smoker, age > 40 ~ smoker, I(age > 40) ~ sex,
                    sex == "m" & age > 30 ~ smoker, !smoker ~ I(10 * (sex == "m")))) {
    bounds <- if (identical(formula[[2L]], quote(I((age > 40) * 1)))) list(`I((age > 40) * 1)` = c(0, 1))
    fit <- fit_smoker(formula, d, bounds = bounds)
    reference <- glm(formula, binomial, d)
    expect_identical(fit$status, "ok")
    expect_identical(names(coef(fit)), names(coef(reference)))
    error <- sqrt(diag(vcov(reference)))
    expect_lt(max(abs(coef(fit) - coef(reference)) / error), 0.05)
    expect_equal(sqrt(diag(vcov(fit))), error, tolerance = 0.05)
    columns <- all.vars(formula[[3L]])
    at <- new[1:2, intersect(c("age", "sex"), columns), drop = FALSE]
    if ("smoker" %in% columns) at <- data.frame(smoker = c(TRUE, FALSE), row.names = c("u", "v"))
    expect_equal(predict(fit, at), predict(reference, at), tolerance = 0.01)
    for (type in c("link", "response")) {
      found <- predict(fit, at, se.fit = TRUE, type = type)
      wanted <- predict(reference, at, se.fit = TRUE, type = type)
      expect_equal(found$fit, wanted$fit, tolerance = 0.01)
      expect_equal(found$se.fit, wanted$se.fit, tolerance = 0.05)
    }
  }
  expect_identical(is.na(predict(fit_smoker(), new, type = "response")),
                   c(u = FALSE, v = FALSE, w = TRUE))
})

test_that("a logit answers as a glm does, and says what it has not", {
  skip_without_python()
  fit <- fit_smoker(epsilon = 4)
  expect_s3_class(fit, c("dp_glm", "dp_ols"), exact = TRUE)
  expect_identical(family(fit)$link, "logit")
  expect_output(print(fit), "dp_logit\\(formula = smoker ~ age \\+ sex, epsilon = 4\\)")
  ends <- confint(fit)
  expect_true(all(ends[, 1] < coef(fit) & coef(fit) < ends[, 2]))
  expect_identical(colnames(ends), c("2.5 %", "97.5 %"))
  odds <- tidy(fit, conf.int = TRUE, exponentiate = TRUE)
  expect_identical(odds$estimate, unname(exp(coef(fit))))
  expect_identical(odds$conf.high, unname(exp(ends[, 2])))
  expect_named(glance(fit), c("pseudo.r.squared", "nobs", "epsilon", "delta", "method", "neighbors",
                              "status", "private"))
  expect_lt(abs(nobs(fit) - 20000), 200)
  shown <- capture.output(summary(fit))
  expect_false(any(grepl("R-squared|Residual|NA, Inf|left out", shown)))
  expect_true(any(grepl("^sexm ", shown)))
  expect_null(summary(fit)$r.squared)
  for (ask in list(residuals, logLik, deviance, AIC, sigma, model.frame)) {
    expect_error(ask(fit), class = "dpstats_not_released_error")
  }
  expect_error(predict(fit), class = "dpstats_not_released_error")
  expect_error(predict(fit, smokers()[1:2, ], type = "odds"), "\"link\" or \"response\"",
               class = "dpstats_argument_error")
  expect_lt(anova(fit)["age", "Pr(>Chisq)"], 1e-9)
  expect_lt(dp_joint_test(fit, c("age = 0", "sexm = 0"))$p.value, 0.001)
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file)
  again <- readRDS(file)
  expect_identical(predict(again, smokers()[1:2, ]), predict(fit, smokers()[1:2, ]))
})

test_that("intervals of probabilities are those of log odds, and stay within 0 and 1", {
  skip_without_python()
  fit <- fit_smoker(epsilon = 1)
  new <- data.frame(age = c(-1e4, 40, 1e4), sex = "m")
  odds <- predict(fit, new, interval = "confidence", level = 0.9)
  chances <- predict(fit, new, interval = "confidence", level = 0.9, type = "response")
  expect_equal(plogis(odds), chances)
  expect_true(all(chances >= 0 & chances <= 1 & chances[, "lwr"] <= chances[, "upr"]))
  added <- augment(fit, newdata = new, interval = "confidence", conf.level = 0.9,
                   type.predict = "response")
  expect_identical(added$.upper, unname(chances[, "upr"]))
  expect_identical(augment(fit, newdata = new)$.fitted, unname(odds[, "fit"]))
  expect_error(augment(fit), class = "dpstats_not_released_error")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(fit), fit)
  line <- line_data(fit_smoker(smoker ~ age, epsilon = 1, bounds = list(age = c(20, 65))), 0.95)
  expect_true(all(line$lwr >= 0 & line$upr <= 1))
})

test_that("a table of two outcomes that tells little shows no interval", {
  skip_without_python()
  fit <- fit_smoker(smoker ~ age, smokers(60), epsilon = 0.1)
  expect_identical(fit$status, "not_identified")
  expect_true(all(is.infinite(confint(fit))))
  expect_true(all(is.na(tidy(fit)$std.error)))
  chances <- predict(fit, data.frame(age = 40), interval = "confidence", type = "response")
  expect_identical(unname(chances[, c("lwr", "upr")]), c(0, 1))
  expect_output(print(summary(fit)), "NA, Inf: the")
})

test_that("errors are clustered by a column, and glance has McFadden's R-squared", {
  skip_without_python()
  d <- transform(smokers(), town = paste("town", seq_along(age) %% 40))
  fits <- list(fit_smoker(smoker ~ age, d, cov_type = "cluster", cluster = town),
               fit_smoker(smoker ~ age, d, cov_type = "cluster", cluster = "town"))
  expect_equal(vcov(fits[[1L]]), vcov(fits[[2L]]))
  clusters <- fits[[1L]]$fit_statistics["clusters", "estimate"]
  expect_equal(clusters, 40, tolerance = 0.05)
  half <- stats::qt(0.975, clusters - 1) * sqrt(diag(vcov(fits[[1L]])))
  expect_equal(unname(confint(fits[[1L]])[, 2L] - coef(fits[[1L]])), unname(half))
  reference <- glm(smoker ~ age, binomial, d)
  mcfadden <- 1 - reference$deviance / reference$null.deviance
  expect_equal(glance(fits[[1L]])$pseudo.r.squared, mcfadden, tolerance = 1e-3)
})

test_that("columns are named, weighted and chosen as for dp_ols", {
  skip_without_python()
  d <- smokers()
  fit <- fit_smoker(smoker ~ age, d, weights = w, bounds = list(w = c(0, 1)), subset = sex == "m")
  reference <- suppressWarnings(
    glm(smoker ~ age, binomial, d, weights = w, subset = sex == "m")
  )
  expect_equal(coef(fit), coef(reference), tolerance = 0.02)
  expect_identical(fit$cov_type, "HC1")
  expect_identical(fit_smoker(epsilon = 4, unit = id, max_rows = 2)$cov_type, "cluster")
  expect_identical(fit_smoker(epsilon = 4, cov_type = "HC1")$cov_type, "HC1")
  words <- fit_smoker(answer ~ age, transform(d, answer = ifelse(smoker, "yes", "no")),
                      levels = list(answer = c("no", "yes")))
  expect_equal(coef(words), coef(fit_smoker(smoker ~ age, d)))
  fits <- fit_smoker(list(all = smoker ~ age, men = sex ~ age), d, epsilon = 2)
  expect_identical(unique(tidy(fits)$formula), c("all", "men"))
  expect_equal(fits$men$privacy$epsilon, fits$all$privacy$epsilon)
  budget <- dp_budget(2.1, 1e-6)
  fit_smoker(epsilon = 2, budget = budget)
  expect_error(fit_smoker(epsilon = 2, budget = budget), class = "dpstats_budget_error")
  expect_identical(budget$spent[["epsilon"]], 2)
  other <- update(fit_smoker(epsilon = 1), . ~ . - sex, data = d, epsilon = 4)
  expect_s3_class(other, "dp_glm")
  expect_named(coef(other), c("(Intercept)", "age"))
})

test_that("dp_glm is dp_logit by the name of a family", {
  skip_without_python()
  d <- smokers(4000)
  wanted <- with_insecure_seed(3, dp_logit(smoker ~ age, d, epsilon = 1, subset = sex == "m"))
  for (family in list(binomial, binomial(), "binomial", quote(binomial), quote(stats::binomial("logit")))) {
    found <- with_insecure_seed(3, eval(bquote(
      dp_glm(smoker ~ age, .(family), d, epsilon = 1, subset = sex == "m")
    )))
    expect_identical(found, wanted)
  }
  expect_error(dp_glm(smoker ~ age, data = d, epsilon = 1), "family is missing: give binomial",
               class = "dpstats_argument_error")
  for (family in list(gaussian(), "gaussian", binomial("probit"), quasibinomial, 3, NULL)) {
    expect_error(dp_glm(smoker ~ age, family, d, epsilon = 1), "expected family = binomial",
                 class = "dpstats_argument_error")
  }
})

test_that("arguments that a logit has not are answered before they are evaluated", {
  skip_without_python()
  for (name in names(instead_of_family(families$binomial))) {
    error <- tryCatch(
      do.call(dp_logit, c(list(smoker ~ age, quote(smokers(60)), 1),
                          stats::setNames(list(quote(nowhere)), name))),
      error = identity
    )
    expect_s3_class(error, "dpstats_argument_error")
    expect_match(conditionMessage(error), paste0("dp_logit has no ", name, ": "))
  }
})

test_that("average marginal effects are those of glm's probabilities as epsilon grows", {
  skip_without_python()
  d <- smokers()
  fit <- fit_smoker()
  reference <- glm(smoker ~ age + sex, binomial, d)
  found <- dp_margins(fit, level = 0.9)
  wanted <- coef(reference)[-1] * mean(stats::dlogis(predict(reference)))
  expect_identical(found$term, c("age", "sexm"))
  expect_equal(found$estimate, unname(wanted), tolerance = 0.01)
  # by the delta method, with the slopes of the mean of p (1 - p) by differences
  moved <- function(b) b[-1] * mean(stats::dlogis(model.matrix(reference) %*% b))
  at <- coef(reference)
  steps <- vapply(seq_along(at), function(k) {
    step <- replace(numeric(length(at)), k, 1e-5)
    (moved(at + step) - moved(at - step)) / 2e-5
  }, numeric(2L))
  error <- sqrt(diag(steps %*% vcov(reference) %*% t(steps)))
  expect_equal(found$std.error, unname(error), tolerance = 0.05)
  expect_equal(found$conf.high, found$estimate + qnorm(0.95) * found$std.error, tolerance = 1e-9)
  few <- dp_margins(fit_smoker(smoker ~ age, smokers(60), epsilon = 0.1))
  expect_true(is.na(few$std.error) && is.infinite(few$conf.high))
  expect_error(dp_margins(fit_wage()), "are its coefficients", class = "dpstats_argument_error")
})

test_that("marginal means of a logit are probabilities", {
  skip_without_python()
  skip_without_package("emmeans")
  fit <- fit_smoker(bounds = list(age = c(20, 65)))
  reference <- glm(smoker ~ age + sex, binomial, smokers())
  at <- list(age = 40)
  found <- as.data.frame(emmeans::emmeans(fit, ~sex, at = at, type = "response"))
  wanted <- as.data.frame(emmeans::emmeans(reference, ~sex, at = at, type = "response"))
  expect_equal(found$prob, wanted$prob, tolerance = 0.01)
  expect_equal(found$SE, wanted$SE, tolerance = 0.05)
})

test_that("tables of easystats show no R-squared of a logit", {
  skip_without_python()
  skip_without_optional("performance")
  expect_named(performance::model_performance(fit_smoker(epsilon = 4)), c("Epsilon", "Delta"))
})

test_that("slopes by marginaleffects would be of probabilities", {
  skip_without_python()
  fit <- fit_smoker()
  new <- data.frame(age = c(30, 40), sex = "f", rowid = 5:6)
  expect_identical(get_predict.dp_glm(fit, new)$estimate,
                   unname(predict(fit, new, type = "response")))
  expect_identical(get_predict.dp_glm(fit, new, type = "link")$rowid, 5:6)
})

test_that("a response may have a name in backticks", {
  skip_without_python()
  rows <- data.frame(x = rep(c(-1, 0, 1), 400), check.names = FALSE)
  rows$`up=1` <- rows$x + rep(c(-1, 1, 0, 2), 300) > 0
  rows$`is up` <- factor(ifelse(rows$`up=1`, "yes", "no"))
  rows$up <- rows$`up=1`
  fits <- lapply(list(up ~ x, `up=1` ~ x, `is up` ~ x), function(formula) {
    with_insecure_seed(1, dp_logit(formula, rows, epsilon = 4))
  })
  expect_equal(coef(fits[[2L]]), coef(fits[[1L]]))
  expect_equal(coef(fits[[3L]]), coef(fits[[1L]]))
})
