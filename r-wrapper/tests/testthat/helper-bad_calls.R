# Calls that are refused, of every function and method that asks Python, to test their messages.
bad_calls <- expression(
  dp_ols(y ~ x, d), dp_ols(y ~ x, epsilon = 1), dp_ols(data = d, epsilon = 1),
  dp_ols("y ~ x", d, epsilon = 1), dp_ols(d, y ~ x, epsilon = 1), dp_ols(y ~ x, 1:3, epsilon = 1),
  dp_ols(y ~ x, d, epsilon = NULL), dp_ols(y ~ x, d, epsilon = NA), dp_ols(y ~ x, d, epsilon = -1),
  dp_ols(y ~ x, d, epsilon = "1"), dp_ols(y ~ x, d, epsilon = TRUE),
  dp_ols(y ~ x, d, epsilon = c(1, 2)), dp_ols(y ~ x, d, epsilon = Inf),
  dp_ols(y ~ x, d, epsilon = 1, delta = 2), dp_ols(y ~ x, d, epsilon = 1, delta = "0"),
  dp_ols(y ~ x, d, "adassp", 1, delta = 0), dp_ols(y ~ x, d, "noisy_stats", 1, delta = 1e-6),
  dp_ols(y ~ x, d, 3, 1), dp_ols(y ~ x, d, "ols", 1),
  dp_ols(y ~ x, d, c("adassp", "ssp"), 1), dp_ols(y ~ x, d, TRUE, 1),
  dp_ols(y ~ x, d, "adassp", 1, bounds = c(0, 1)), dp_ols(y ~ x, d, "adassp", 1, bounds = list(1)),
  dp_ols(y ~ x, d, "adassp", 1, bounds = list(x = 1, y = c(0, 1))),
  dp_ols(y ~ x, d, "adassp", 1, bounds = list(x = c(1, 0))),
  dp_ols(y ~ x, d, "adassp", 1, bounds = list(x = c(0, Inf))),
  dp_ols(y ~ x, d, "adassp", 1, bounds = list(x = c("a", "b"))),
  dp_ols(y ~ x, d, "adassp", 1, bounds = list(x = NULL)),
  dp_ols(y ~ x, d, "adassp", 1, bounds = list(x = c(TRUE, FALSE))),
  dp_ols(y ~ x, d, "adassp", 1, bounds = list(x = list(0, list(1)))),
  dp_ols(y ~ x, d, "adassp", 1, bounds = list(z = c(0, 1))),
  dp_ols(y ~ g, d, "adassp", 1, bounds = list(g = c(0, 1))),
  dp_ols(log(y) ~ x, d, "adassp", 1), dp_ols(y ~ s, d, "adassp", 1),
  dp_ols(y ~ factor(k), d, "adassp", 1),
  dp_ols(y ~ s, d, "adassp", 1, levels = c("u", "v")),
  dp_ols(y ~ s, d, "adassp", 1, levels = list(s = "u")),
  dp_ols(y ~ s, d, "adassp", 1, levels = list(s = c("u", "u"))),
  dp_ols(y ~ s, d, "adassp", 1, levels = list(s = list())),
  dp_ols(y ~ s, d, "adassp", 1, levels = list(s = c(1, 2))),
  dp_ols(y ~ factor(k), d, "adassp", 1, levels = list(k = c("1", "2"))),
  dp_ols(y ~ x, d, "adassp", 1, levels = list(z = c("a", "zz"))),
  dp_ols(y ~ x, d, "adassp", 1, types = list(x = "factor")),
  dp_ols(y ~ x, d, "adassp", 1, types = list(x = "string")),
  dp_ols(y ~ x, d, "adassp", 1, neighbors = "swap"), dp_ols(y ~ x, d, "adassp", 1, neighbors = 1),
  dp_ols(y ~ x, d, "adassp", 1, missing = "impute"),
  dp_ols(y ~ x, d, "adassp", 1, select = "aic"), dp_ols(y ~ x, d, "adassp", 1, k = 2),
  dp_ols(y ~ x, d, "adassp", 1, select = "kendall", k = 5),
  dp_ols(y ~ x + k, d, "adassp", 1, select = "kendall", k = 1.5, bounds = unit),
  dp_ols(y ~ x + k, d, "adassp", 1, select = TRUE, k = 1),
  dp_ols(y ~ x + k, d, "adassp", 1, select = "kendall", k = 1, select_share = 2),
  dp_ols(y ~ x, d, "adassp", 1, x_new = list(z = 0.5)), dp_ols(y ~ x, d, "adassp", 1, x_new = "a"),
  dp_ols(y ~ x, d, "adassp", 1, x_new = data.frame(z = 1)),
  dp_ols(y ~ x + k, d, "adassp", 1, x_new = 1:3),
  dp_ols(y ~ g, d, "adassp", 1, bounds = unit["y"], x_new = data.frame(g = "zz")),
  dp_ols(y ~ x + k, d, "adassp", 1, x_new = list(x = 1:2, k = 1:3)),
  dp_ols(y ~ x + k, d, "adassp", 1, x_new = list(x = 1, 2)),
  dp_ols(y ~ splines::ns(x, 3), d, epsilon = 1), dp_ols(y ~ dplyr::lag(x), d, epsilon = 1),
  dp_ols(base::log(y) ~ x, d, "adassp", 1), dp_ols(d$y ~ d$x, d, epsilon = 1),
  dp_ols(y ~ d[["x"]], d, epsilon = 1), dp_ols(cbind(y, k) ~ x, d, epsilon = 1),
  dp_ols(I(x > 0.5) ~ k, d, epsilon = 1), dp_ols(I(b) ~ x, d, epsilon = 1),
  dp_ols(y ~ x + i(g), d, epsilon = 1), dp_ols(y ~ x + i.g, d, epsilon = 1),
  dp_ols(y ~ x | g | k ~ real, d, epsilon = 1), dp_ols(y ~ sw(x, k), d, epsilon = 1),
  dp_ols(y ~ X, d, epsilon = 1), dp_ols(y ~ x, d, "OLS", 1), dp_ols(y ~ x, d, "logit", 1),
  dp_ols(y ~ x, d, epsilon = 1, subset = !is.na(x)),
  dp_ols(y ~ x, d, epsilon = 1, subset = complete.cases(d)),
  dp_ols(y ~ x, d, epsilon = 1, subset = d$x > 0), dp_ols(y ~ x, d, epsilon = 1, se = "hetero"),
  dp_ols(y ~ x, d, epsilon = 1, by = nowhere), dp_ols(y ~ x, d, epsilon = 1, by = ~ g + nowhere),
  dp_ols(y ~ x, d, epsilon = 1, unit = c(g, s)), dp_ols(y ~ x, d, epsilon = 1, weights = mean(k)),
  dp_ols(y ~ x, d, "adassp", 1, unknown = mean), dp_ols(y ~ x, d, "adassp", 1, unknown = ~g),
  dp_ols(y ~ x, d, "adassp", 1, budget = 2), dp_ols(y ~ x, d, "adassp", 1, unknown = 2),
  dp_ols(y ~ x, d, "adassp", 1, 2, 3), dp_ols(y ~ x, d, "adassp", 1, row_norm = "a"),
  dp_ols(y ~ x, d, "adassp", 1, row_norm = TRUE), dp_ols(y ~ x, d, "adassp", 1, n_jobs = 0),
  dp_ols(y ~ x, d, "adassp", 1, n_jobs = TRUE),
  dp_ols(y ~ x, d, "adassp", 1, companion = "ssp"),
  dp_ols(y ~ x, d, "exp_theil_sen", 1, companion = TRUE),
  dp_ols(y ~ x, d, "exp_theil_sen", 1, companion_share = 0.5),
  dp_ols(y ~ x, d, "exp_theil_sen", 1, companion = "ssp", companion_share = TRUE),
  dp_ols(y ~ x, d, "exp_theil_sen", 1, output_range = 3),
  dp_ols(y ~ x, d, "exp_theil_sen", 1, output_range = c(1, 0)),
  dp_ols(y ~ x, d, "exp_theil_sen", 1, output_range = TRUE),
  dp_ols(y ~ x, d, "exp_theil_sen", 1, ci = "yes"), dp_ols(y ~ x, d, "exp_theil_sen", 1, ci = 3),
  dp_ols(y ~ x, d, "adassp", 1, cov_type = "HC3"), dp_ols(y ~ x, d, "adassp", 1, cov_type = TRUE),
  dp_ols(y ~ x, d, "noisy_gd", 1, iterations = "many"), dp_ols(y ~ x, d, "gd", 1),
  dp_ols(y ~ x + k, d, "exp_theil_sen", 1), dp_ols(y ~ x, d, "adassp", 1, seed = 2),
  dp_ols(y ~ x, d, "adassp", 1, weights = k), dp_ols(y ~ x, d, "adassp", 1, weights = 1:3),
  dp_ols(y ~ x, d, "tukey", 1, weights = k, bounds = list(k = c(0, 9))),
  dp_ols(y ~ x, d, "adassp", 1, weights = k, bounds = list(k = c(-1, 9))),
  dp_ols(y ~ x, d, "adassp", 1, trim_weights = 2), dp_ols(y ~ x, d, "adassp", 1, subset = x + 1),
  dp_ols(y ~ x, d, "adassp", 1, subset = mean(x) > 1), dp_ols(y ~ x, d, "adassp", 1, subset = 3),
  dp_ols(y ~ x, d, "adassp", 1, subset = "x >"), dp_ols(y ~ x, d, "adassp", 1, subset = s != "u"),
  dp_ols(y ~ x, d, "adassp", 1, na.action = na.omit), dp_ols(y ~ x, d, "adassp", 1, cluster = ~g),
  dp_ols(y ~ x, d, "adassp", 1, vcov = "HC1"), dp_ols(y ~ x, d, "adassp", 1, offset = x),
  dp_ols(y ~ x, d, "adassp", 1, contrasts = list(g = "contr.sum")),
  dp_ols(y ~ x, d, "adassp", 1, family = gaussian), dp_ols(y ~ x, d, "adassp", 1, se = "robust"),
  dp_ols(y ~ x, d, "adassp", 1, by = "none"), dp_ols(y ~ x, d, "adassp", 1, by = 3),
  dp_ols(y ~ x, d, "adassp", 1, by = "x"), dp_ols(y ~ x, d, "adassp", 1, by = "real"),
  dp_ols(y ~ x, d, "adassp", 1, by = c("g", "g")), dp_ols(y ~ x, d, "adassp", 1, by = TRUE),
  dp_ols(y ~ x, d, "adassp", 1, groups = "a"),
  dp_ols(y ~ x, d, "adassp", 1, by = "g", groups = c("a", "a")),
  dp_ols(y ~ x, d, "adassp", 1, by = "g", groups = character()),
  dp_ols(y ~ x, d, "adassp", 1, by = "k", groups = c("1", "2")),
  dp_ols(y ~ x, d, "adassp", 1, by = c("g", "k"), groups = data.frame(g = "a", k = "1")),
  dp_ols(y ~ z, d, epsilon = 1), dp_ols(~x, d, epsilon = 1), dp_ols(y ~ x | g + k, d, epsilon = 1),
  dp_ols(g ~ x, d, epsilon = 1),
  dp_ols(s ~ x, d, epsilon = 1), dp_ols(as.numeric(b) ~ x, d, epsilon = 1),
  dp_ols(y ~ poly(x, 0), d, epsilon = 1), dp_ols(y ~ I(x^2), d, epsilon = 1, method = "ssp"),
  dp_ols(y ~ g + factor(g) + I(g), d, epsilon = 1), dp_ols(y ~ log(g), d, epsilon = 1),
  dp_ols(y ~ I(g == "zz"), d, epsilon = 1), dp_ols(y ~ I(b + 1), d, epsilon = 1),
  dp_ols(y ~ I(x == "a"), d, epsilon = 1), dp_ols(y ~ ifelse(g, 1, 2), d, epsilon = 1),
  dp_ols(y ~ as.numeric(g), d, epsilon = 1), dp_ols(y ~ as.integer(b), d, epsilon = 1),
  dp_ols(y ~ log(x), d, "adassp", 1, bounds = list(y = c(0, 1), x = c(0, 1))),
  dp_ols(y ~ exp(x), d, "adassp", 1, bounds = list(y = c(0, 1), x = c(0, 1e5))),
  dp_ols(y ~ x + I(1 / (x - x)), d, "adassp", 1, bounds = unit),
  dp_ols(y ~ one, d, epsilon = 1),
  dp_ols(y ~ day, d, "adassp", 1, bounds = list(day = "2020-01-01")),
  dp_ols(y ~ x, d, "noisy_stats", 5, bounds = unit, budget = budget),
  dp_ols(list(), d, epsilon = 1), dp_ols(list(y ~ x, y ~ x), d, epsilon = 1),
  dp_ols(y ~ x, d, epsilon = 1, missing = "listwise"),
  dp_ols(list(y ~ x, x ~ b), d, epsilon = 1, missing = "listwise"),
  dp_ols(list(y ~ x, y ~ x + k), d, "tukey", 1, delta = 0, bounds = unit),
  dp_ols(y ~ x, "nowhere.csv", epsilon = 1), dp_ols(y ~ x, "nowhere.xlsx", epsilon = 1),
  dp_ols(y ~ x, "folder", epsilon = 1), dp_ols(y ~ x, c("people.csv", "people.csv"), epsilon = 1),
  dp_ols(y ~ x, c("people.csv", NA), epsilon = 1), dp_ols(y ~ x, "people.csv", epsilon = 1),
  dp_ols(y ~ s, "people.csv", epsilon = 1), dp_ols(y ~ z, "people.csv", epsilon = 1),
  dp_ols(y ~ x, "people.csv", epsilon = 1, bounds = unit, by = "s", types = list(s = "text")),
  dp_ols(y ~ x, "people.csv", epsilon = 1, bounds = unit, subset = k > 1),
  dp_ols(y ~ x + interaction(g, k), d, epsilon = 1), dp_ols(y ~ x %in% c(1, 2), d, epsilon = 1),
  dp_ols(y ~ x + as.integer(g), d, epsilon = 1),
  dp_ols(y ~ scale(x), d, epsilon = 1), dp_ols(y ~ x + offset(k), d, epsilon = 1),
  dp_ols(y ~ cut(x, 3), d, epsilon = 1), dp_ols(y ~ x + (1 | g), d, epsilon = 1),
  dp_ols(y ~ g:b, d, epsilon = 1), dp_ols(y ~ lag(x), d, epsilon = 1),
  dp_ols(y ~ x + I(g), d, "adassp", 1, x_new = data.frame(x = 1, g = NA)),
  dp_ols(y ~ list_column, transform(d, list_column = I(as.list(x))), epsilon = 1),
  dp_ols(y ~ x, d, "adassp", 1, bounds = unit, select = "lasso"),
  dp_budget(0), dp_budget(NULL), dp_budget("1"), dp_budget(TRUE), dp_budget(1, 0.7),
  dp_budget(c(1, 2)),
  dp_budget(1, delta = NULL),
  predict(fit), predict(fit, 3), predict(fit, data.frame(z = 1)), predict(fit, data.frame(x = "a")),
  predict(fit, data.frame(x = 1), level = 2),
  predict(fit, data.frame(x = Inf), interval = "confidence"),
  confint(fit, level = "a"), confint(fit, level = TRUE), tidy(fit, conf.int = TRUE, conf.level = 0),
  dp_test(fit, "x == 0"), dp_test(fit, "z = 0"), dp_test(fit, 3), dp_test(fit, matrix(1, 1, 5)),
  predict(by, data.frame(x = 1)), predict(by, data.frame(x = 1, tract = 7)), predict(by),
  predict(fits), predict(fits, data.frame(z = 1)), predict(fit, data.frame(x = 1), type = "terms"),
  predict(fit, data.frame(x = 1), interval = "prediction"), augment(fit), augment(by),
  augment(fit, newdata = 3), by[["9"]], by[[1:2]], vcov(fit, type = "HC1"),
  confint(fit, "z"), confint(by, "z"), confint(by[["1"]], "z"), glance(fit, vcov = "HC1"),
  tidy(fit, conf.level = "a", conf.int = TRUE), residuals(fit), fitted(fit), logLik(fit), AIC(fit),
  anova(fit, test = "F"), model.matrix(fit), update(fit, y ~ 1), sigma(fit), model.frame(fit),
  summary(fit, vcov = "HC1"),
  dp_raw_powers(fit, "x"), dp_raw_powers(fit, 1), dp_raw_powers(d, "x"),
  dp_ledger("nowhere.ledger"), dp_ledger(3), dp_ledger("people.csv"),
  dp_ledger_create("a.ledger", "a"), dp_ledger_create("people.csv", "a", 1),
  dp_ledger_create("b.ledger", "a", -1), dp_ledger_create("b.ledger", "a", 1, aproval = TRUE),
  dp_ledger_create("b.ledger", "a", 1, approval = "yes"), dp_ledger_create(3, "a", 1),
  dp_ledger_create("b.ledger", "a", 1, 0, "add_remove"),
  dp_ledger_allocate("nowhere.ledger", "anna", 1), dp_ledger_allocate("kept.ledger", "anna", -1),
  dp_ledger_allocate("kept.ledger", "anna"), dp_ledger_analysts("nowhere.ledger"),
  dp_ledger_requests(3), dp_ledger_request("kept.ledger", 7), dp_ledger_request("kept.ledger"),
  dp_ledger_create("b.ledger", "a", 1, NULL),
  dp_ledger_create("b.ledger", "a", 1, data = 3), dp_ledger_move("kept.ledger"),
  dp_ledger_move("kept.ledger", "nowhere.csv"), dp_ledger_move("nowhere.ledger", d),
  dp_ledger_approve("kept.ledger", 7), dp_ledger_approve("kept.ledger", "a"),
  dp_ledger_deny("kept.ledger", 1.5), dp_ledger_deny("kept.ledger"), dp_ledger_verify(3),
  dp_ledger_verify("kept.ledger", NA), dp_ledger_export("kept.ledger", "kept.ledger"),
  dp_ledger_export("kept.ledger", 3), dp_ledger_export("nowhere.ledger", "out.json"),
  dp_run("nowhere.toml", "out"), dp_run("people.csv", "out"), dp_run(3, "out"),
  dp_run("people.csv", "out", ledger = 3),
  install_dpstats(3), install_dpstats("nowhere"), install_dpstats("folder"),
  install_dpstats("people.csv"), install_dpstats("dpstats==9.0.0"),
  install_dpstats("https://host/dpstats-9.0.0-py3-none-any.whl"),
  install_dpstats("dpstats", python = 3), install_dpstats("dpstats", python = "nowhere/python3"),
  dp_test(fit, "x = 0", level = 2), dp_test(fit, "x = 0; y"), dp_test(fit, "0 = 0"),
  dp_joint_test(fit, c("x = 0", "x = 1")), dp_joint_test(fit, c("x = 0", "(Intercept) = 0")),
  dp_error_bound(fit, q = 200), dp_error_bound(fit, q = "a"), dp_error_bound(fit, reference = 3),
  dp_error_bound(fit), dp_error_bound(fit, reference = data.frame(x = 1:3)),
  dp_compare(), dp_compare(3),
  dp_plan(y ~ x, "n", unit, "adassp", 1), dp_plan(y ~ x, TRUE, unit, "adassp", 1),
  dp_plan(y ~ x, -1, unit, "adassp", 1), dp_plan(y ~ x, NULL, unit, "adassp", 1),
  dp_plan(y ~ x, 100, unit, "adassp"), dp_plan(y ~ x, 100, unit, "adassp", epsilon = "a"),
  dp_plan(y ~ x, 100, unit, "adassp", epsilon = TRUE), dp_plan(y ~ x, 100, unit, "adassp", -1),
  dp_plan(y ~ x, 100, unit, "ols", 1), dp_plan(y ~ x, 100, unit, TRUE, 1),
  dp_plan(y ~ x, 100, NULL, "adassp", 1), dp_plan(y ~ x, 100, unit["y"], "adassp", 1),
  dp_plan(y ~ x, 100, unit, "adassp", 1, sd = -1),
  dp_plan(y ~ x, 100, unit, "adassp", 1, sd = TRUE),
  dp_plan(y ~ x, 100, unit, "adassp", 1, truth = c(z = 1)),
  dp_plan(y ~ x, 100, unit, "adassp", 1, truth = list(x = "a")),
  dp_plan(y ~ x, 100, unit, "adassp", 1, repetitions = 3),
  dp_plan(y ~ x, 100, unit, "adassp", 1, term = "x"),
  dp_plan(y ~ x, 100, unit, "adassp", 1, repetitions = TRUE),
  dp_plan(y ~ x, 100, unit, "adassp", 1, seed = -1),
  dp_plan(y ~ x, 100, unit, "adassp", 1, seed = "a"),
  dp_plan(y ~ x, 100, unit, "adassp", 1, alpha = 2),
  dp_plan(y ~ x, 100, unit, "adassp", 1, target_width = -1),
  dp_plan(y ~ x, 100, unit, "adassp", 1, target_width = 1, term = "z"),
  dp_plan(y ~ x, 100, unit, list(list("exp_theil_sen", ci = 3)), 1),
  dp_plan(y ~ x, 100, unit, list(list("exp_theil_sen", unknown = 3)), 1),
  dp_plan_study(), dp_plan_study(3), dp_plan_study("nowhere.toml"), dp_plan_study("people.csv"),
  dp_plan_study("nowhere.toml", truth = c(x = 1)),
  dp_plan_study("nowhere.toml", truth = list(main = c(1, 2))),
  dp_plan_study("nowhere.toml", sd = 3), dp_plan_study("nowhere.toml", data = 3),
  with_insecure_seed(-1, fit), with_insecure_seed("a", fit)
)

# Those of logits, after the others on the page.
bad_calls <- c(bad_calls, expression(
  dp_logit(b ~ x, d), dp_logit("b ~ x", d, 1), dp_logit(b ~ x, as.list(d), 1),
  dp_logit(b ~ x, d, -1), dp_logit(b ~ x, d, 1, delta = 0), dp_logit(b ~ nowhere, d, 1),
  dp_logit(day ~ x, d, 1, bounds = list(day = c(0, 5))), dp_logit(s ~ x, d, 1), dp_logit(one ~ x, d, 1),
  dp_logit(s ~ x, d, 1, levels = list(s = c("u", "v", "w"))), dp_logit(log(y) ~ x, d, 1),
  dp_logit(I((x > 0.5) * 2) ~ y, d, 1, bounds = list(`I((x > 0.5) * 2)` = c(0, 2))),
  dp_logit(b ~ x | g, d, 1), dp_logit(b ~ x, d, 1, by = x), dp_logit(b ~ x, d, 1, offset = 3),
  dp_logit(b ~ x, d, 1, method = "auto"), dp_logit(b ~ x, d, 1, cluster = g),
  dp_logit(b ~ x, d, 1, cov_type = "HC3"), dp_logit(b ~ x, d, 1, cov_type = "cluster"),
  dp_logit(b ~ x, d, 1, unknown = 2), dp_logit(b ~ x, d, 1, seed = 1), dp_logit(b ~ x, d, 1, unit = nowhere),
  dp_logit(b ~ x, d, 1, budget = 2), dp_logit(b ~ x, d, 1, neighbors = "swap"),
  dp_glm(b ~ x, gaussian, d, epsilon = 1), dp_glm(b ~ x, binomial("probit"), d, epsilon = 1),
  dp_margins(fit), dp_margins(3), dp_glm(b ~ x, 3, d, epsilon = 1), dp_glm(b ~ x, data = d), dp_ols(b ~ x, d, epsilon = 1, family = binomial)
))

# Those of Poisson regressions.
bad_calls <- c(bad_calls, expression(
  dp_poisson(k ~ x, d), dp_poisson("k ~ x", d, 1), dp_poisson(k ~ x, as.list(d), 1), dp_poisson(k ~ x, d, -1),
  dp_poisson(k ~ x, d, 1, delta = 0), dp_poisson(k ~ nowhere, d, 1), dp_poisson(g ~ x, d, 1),
  dp_poisson(s ~ x, d, 1), dp_poisson(k ~ x + offset(k / 2), d, 1),
  dp_poisson(k ~ x | g, d, 1), dp_poisson(k ~ x, d, 1, groups = "a"), dp_poisson(k ~ x, d, 1, offset = 3),
  dp_poisson(k ~ x, d, 1, exposure = "nowhere"), dp_poisson(k ~ x, d, 1, family = poisson),
  dp_poisson(k ~ x, d, 1, method = "auto"), dp_poisson(k ~ x, d, 1, cluster = g),
  dp_poisson(k ~ x, d, 1, vcov = "HC1"), dp_poisson(k ~ x, d, 1, cov_type = "nonrobust"),
  dp_poisson(k ~ x, d, 1, unknown = 2), dp_poisson(k ~ x, d, 1, seed = 1), dp_poisson(k ~ x, d, 1, budget = 2),
  dp_poisson(k ~ x, d, 1, unit = nowhere), dp_glm(k ~ x, poisson("sqrt"), d, epsilon = 1),
  dp_glm(k ~ x, quasipoisson, d, epsilon = 1), dp_glm(k ~ x, poisson, d)
))

# Those of regressions with instruments.
bad_calls <- c(bad_calls, expression(
  dp_iv(y ~ 1 | x ~ k, d), dp_iv("y ~ 1 | x ~ k", d, 1), dp_iv(y ~ x, d, 1), dp_iv(y ~ x + k | real + k, d, 1),
  dp_iv(y ~ g | g | x ~ k, d, 1), dp_iv(y ~ 1 | g | s | x ~ k, d, 1), dp_iv(y ~ real | x + k ~ b, d, 1), dp_iv(y ~ x | x ~ k, d, 1),
  dp_iv(y ~ k | x ~ k, d, 1), dp_iv(y ~ 1 | y ~ k, d, 1), dp_iv(y ~ . | x ~ k, d, 1),
  dp_iv(y ~ 1 | g ~ k, d, 1), dp_iv(y ~ 1 | x ~ nowhere, d, 1), dp_iv(y ~ 1 | x ~ s, d, 1),
  dp_iv(y ~ 1 | x ~ k - 1, d, 1), dp_iv(y ~ 1 | x ~ k, d, -1), dp_iv(y ~ 1 | x ~ k, d, 1, delta = 0),
  dp_iv(y ~ 1 | x ~ k, as.list(d), 1), dp_iv(list(y ~ 1 | x ~ k), d, 1), dp_iv(y ~ 1 | x ~ k, d, 1, by = g),
  dp_iv(y ~ 1 | x ~ k, d, 1, weights = k), dp_iv(y ~ 1 | x ~ k, d, 1, cluster = g),
  dp_iv(y ~ 1 | x ~ k, d, 1, cov_type = "nonrobust"), dp_iv(y ~ 1 | x ~ k, d, 1, unit = nowhere),
  dp_iv(y ~ 1 | x ~ k, d, 1, vcov = "HC1"), dp_iv(y ~ 1 | x ~ k, d, 1, unknown = 2),
  dp_iv(y ~ 1 | x ~ k, d, 1, seed = 1), dp_iv(y ~ 1 | x ~ k, d, 1, budget = 2),
  dp_first_stage(fit), dp_anderson_rubin(fit), dp_anderson_rubin(3), dp_ols(y ~ 1 | x ~ k, d, epsilon = 1)
))

# Those of descriptions.
bad_calls <- c(bad_calls, expression(
  dp_describe(d, ~x), dp_describe(d, epsilon = 1), dp_describe(columns = ~x, epsilon = 1),
  dp_describe(1:3, ~x, 1), dp_describe(d, ~x, -1), dp_describe(d, ~x, 1, delta = 0),
  dp_describe(d, ~nowhere, 1), dp_describe(d, ~ log(x), 1), dp_describe(d, ~ factor(k), 1),
  dp_describe(d, 3, 1), dp_describe(d, ~s, 1), dp_describe(d, c(x, x), 1),
  dp_describe(d, ~x, 1, by = k), dp_describe(d, ~x, 1, by = c(g, b)), dp_describe(d, ~g, 1, by = g),
  dp_describe(d, ~x, 1, groups = 1:2),
  dp_describe(d, ~x, 1, bounds = list(x = c(1, 0))), dp_describe(d, ~x, 1, quantiles = 2),
  dp_describe(d, ~x, 1, quantiles = "median"), dp_describe(d, ~x, 1, quantiles = c(0.5, 0.5)),
  dp_describe(d, ~x, 1, statistics = "max"), dp_describe(d, ~x, 1, statistics = "nunique"),
  dp_describe(d, ~x, 1, statistics = "median"), dp_describe(d, ~x, 1, alpha = 2),
  dp_describe(d, ~x, 1, weights = k), dp_describe(d, ~x, 1, unit = 3),
  dp_describe(d, ~x, 1, max_rows = 2), dp_describe(d, ~x, 1, trim_weights = 2),
  dp_describe(d, ~x, 1, histogram = NA), dp_describe(d, ~x, 1, probs = 0.5),
  dp_describe(d, ~x, 1, unknown = 2), dp_describe(d, ~x, 1, budget = 2),
  dp_describe(d, ~x, 1, neighbors = "replace_one"), dp_describe(d, ~x, 1, subset = x + 1)
))

# What the calls are about, and the messages of those that are refused; NA where one is not.
messages_of <- function(calls) {
  folder <- tempfile()
  dir.create(file.path(folder, "folder"), recursive = TRUE)
  before <- setwd(folder)
  on.exit({
    setwd(before)
    unlink(folder, recursive = TRUE)
  })
  here <- new.env()
  with(here, {
    n <- 40L
    d <- data.frame(
      x = rep(c(0.2, 0.8), 20), y = 0.5, k = rep(1:2, 20), g = factor(rep(c("a", "b"), 20)),
      s = rep(c("u", "v"), 20), b = rep(c(TRUE, FALSE), 20), real = rep(c(0.5, 1.5), 20),
      one = factor(rep("a", n)), day = as.Date("2020-01-01") + 1:n
    )
    # of one seed, as noise decides on the reason why a test is refused
    with_insecure_seed(1, {
      fit <- dp_ols(y ~ x, d, "noisy_stats", 1, bounds = unit)
      fits <- dp_ols(list(y ~ x), d, "noisy_stats", 1, bounds = unit)
      by <- dp_ols(y ~ x, transform(d, tract = k), "noisy_stats", 1, by = "tract", bounds = unit)
    })
    budget <- dp_budget(2)
    utils::write.csv(d, "people.csv", row.names = FALSE)
    dp_ledger_create("kept.ledger", "people", 2)
  })
  vapply(calls, function(call) {
    tryCatch(
      {
        eval(call, here)
        NA_character_
      },
      dpstats_error = conditionMessage,
      error = function(e) paste0("NOT A dpstats_error: ", conditionMessage(e))
    )
  }, "")
}
