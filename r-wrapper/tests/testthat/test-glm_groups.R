regions <- function(n = 24000) {
  set.seed(8)
  d <- data.frame(age = runif(n, 20, 65), region = factor(sample(c("n", "s"), n, TRUE), c("n", "s", "w")),
                  sex = sample(c("f", "m"), n, TRUE), id = rep_len(seq_len(n / 2), n))
  slope <- ifelse(d$region == "n", -0.05, 0.02)
  d$smoker <- runif(n) < plogis(0.5 + slope * d$age)
  d$visits <- rpois(n, exp(0.2 + 0.02 * d$age * (d$region == "s")))
  d
}

test_that("each group is glm's fit of its rows as epsilon grows", {
  skip_without_python()
  d <- regions()
  new <- data.frame(age = c(30, 50, 30), region = c("n", "s", "s"), row.names = c("u", "v", "w"))
  for (family in c("binomial", "poisson")) {
    formula <- if (family == "binomial") smoker ~ age else visits ~ age
    by <- with_insecure_seed(3, dp_glm(formula, family, d, epsilon = 1e6, by = region))
    expect_s3_class(by, c("dp_glm_groups", "dp_ols_groups"), exact = TRUE)
    expect_identical(as.character(by$groups$region), c("n", "s", "w"))
    expect_identical(by$status[1:2], c("ok", "ok"))
    expect_identical(family(by)$family, family)
    for (label in c("n", "s")) {
      reference <- glm(formula, family, d, subset = region == label)
      expect_lt(max(abs(coef(by[[label]]) - coef(reference)) / sqrt(diag(vcov(reference)))), 0.1)
      at <- new[new$region == label, ]
      for (type in c("link", "response")) {
        found <- predict(by, at, se.fit = TRUE, type = type)
        wanted <- predict(reference, at, se.fit = TRUE, type = type)
        expect_equal(found$fit, wanted$fit, tolerance = 0.01)
        expect_equal(predict(by[[label]], at["age"], type = type), found$fit)
      }
      mean <- fitted(reference)
      slope <- mean(if (family == "binomial") mean * (1 - mean) else mean)
      effects <- dp_margins(by[[label]], level = 0.9)
      expect_identical(effects$term, "age")
      expect_equal(effects$estimate, slope * coef(reference)[["age"]], tolerance = 0.02)
    }
    all <- dp_margins(by)
    expect_identical(as.character(all$region), c("n", "s", "w"))
    expect_identical(all$estimate[2], dp_margins(by["s"])$estimate)
  }
})

test_that("tables of groups hold means of predictions, and intervals of any level", {
  skip_without_python()
  d <- regions()
  by <- with_insecure_seed(3, dp_logit(smoker ~ age, d, 4, by = "region", groups = c("s", "n")))
  rows <- tidy(by, conf.int = TRUE, conf.level = 0.9)
  means <- rows[rows$term %in% c("p25", "p75"), ]
  expect_true(all(means$conf.low > 0 & means$conf.high < 1 & means$conf.low < means$estimate))
  expect_true(all(means$conf.low > tidy(by, conf.int = TRUE)[rows$term %in% c("p25", "p75"), ]$conf.low))
  odds <- tidy(by, exponentiate = TRUE)
  expect_identical(odds$estimate[odds$term == "age"], exp(rows$estimate[rows$term == "age"]))
  expect_identical(odds$estimate[odds$term == "p25"], rows$estimate[rows$term == "p25"])
  new <- data.frame(age = c(25, 60), region = c("s", "n"))
  added <- augment(by, newdata = new, interval = "confidence", type.predict = "response")
  expect_identical(added$.fitted, unname(predict(by, new, type = "response")))
  expect_equal(predict(by, new, offset = 1), predict(by, new) + 1)
  expect_error(predict(by, new, exposure = 2), "without exposure", class = "dpstats_argument_error")
  expect_output(print(by), "noisy_logit")
  expect_output(print(summary(by)), "so the groups together cost")
  again <- update(by, . ~ 1, data = d, epsilon = 2)
  expect_s3_class(again, "dp_glm_groups")
})

test_that("groups are named as for dp_ols, by columns, labels or dplyr", {
  skip_without_python()
  d <- regions()
  both <- dp_poisson(visits ~ age, d, 4, by = c(region, sex),
                     groups = data.frame(region = c("n", "s"), sex = c("f", "m")))
  expect_identical(names(both$groups), c("region", "sex"))
  persons <- dp_logit(smoker ~ age, d, 4, by = sex, unit = id, max_rows = 2, max_groups = 2)
  expect_identical(persons$cov_type, "cluster")
  fits <- dp_logit(list(a = smoker ~ age, b = smoker ~ 1), d, 4, by = sex)
  expect_s3_class(fits$b, "dp_glm_groups")
  few <- dp_logit(smoker ~ age, d[1:60, ], 0.1, by = region)
  expect_identical(unique(few$status), "not_identified")
  expect_true(all(is.na(dp_margins(few)$std.error)))
  for (wrong in list(quote(dp_logit(smoker ~ age, d, 1, by = nowhere)),
                     quote(dp_logit(smoker ~ age, d, 1, by = age)),
                     quote(dp_logit(smoker ~ age, d, 1, groups = "n")),
                     quote(dp_logit(smoker ~ age, d, 1, by = sex, max_groups = 2)))) {
    expect_error(eval(wrong), class = "dpstats_argument_error")
  }
  skip_without_package("dplyr")
  grouped <- dp_logit(smoker ~ age, dplyr::group_by(d, sex), 4)
  expect_identical(grouped$groups$sex, c("f", "m"))
})
