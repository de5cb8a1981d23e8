# Refuse quantities that are the data, or were not paid for. The defaults would return NULL, or
# evaluate the call again and so read the rows.

not_released <- function(what, instead = "coef(), confint(), summary() and predict(newdata)") {
  fail("dpstats_not_released_error", what, " do not exist for a private fit: ", reason(what),
       "; use ", instead)
}

reason <- function(what) {
  if (grepl("likelihood|criteri|deviance|variances|covariances|numbers", what)) return("they were not paid for")
  "row by row they are the confidential data"
}

#' Quantities that a private fit does not have
#'
#' Residuals, fitted values, the data, likelihoods and what is made of them are errors of class
#' `dpstats_not_released_error`, which give the reason. `sigma()` is one where the release does not
#' tell the residual variance. `waldtest()` and `lrtest()` of the package lmtest would fit again.
#'
#' What `lm()` and `glm()` hold of the rows under a name, such as `fit$residuals`, is such an error too, and
#' so are the diagnostics of the package car. What fits of estimatr and fixest hold of the coefficients, such as
#' `fit$std.error`, `fit$p.value` and `fit$coeftable`, is there.
#'
#' @param object,x,formula,model,fit,name,k,focal.predictors,mod,... As for the generic functions; not used.
#' @return None: they stop; but `sigma()` gives the residual standard error where it follows from what
#'   was released, and `weights()` of a fit without weights `NULL`, as for `lm`.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' fit <- dp_ols(y ~ x, d, method = "noisy_stats", epsilon = 4, bounds = b)
#' try(residuals(fit))
#' @name not-released
NULL

#' @rdname not-released
#' @importFrom stats residuals
#' @export
residuals.dp_ols <- function(object, ...) not_released("residuals")

#' @rdname not-released
#' @importFrom stats fitted
#' @export
fitted.dp_ols <- function(object, ...) not_released("fitted values")

#' @rdname not-released
#' @importFrom stats model.frame
#' @export
model.frame.dp_ols <- function(formula, ...) not_released("the rows of the model frame")

#' @rdname not-released
#' @importFrom stats hatvalues
#' @export
hatvalues.dp_ols <- function(model, ...) not_released("leverages")

#' @rdname not-released
#' @importFrom stats cooks.distance
#' @export
cooks.distance.dp_ols <- function(model, ...) not_released("Cook's distances")

#' @rdname not-released
#' @importFrom stats rstandard
#' @export
rstandard.dp_ols <- function(model, ...) not_released("standardised residuals")

#' @rdname not-released
#' @importFrom stats rstudent
#' @export
rstudent.dp_ols <- function(model, ...) not_released("studentised residuals")

#' @rdname not-released
#' @importFrom stats influence
#' @export
influence.dp_ols <- function(model, ...) not_released("influences of rows")

#' @rdname not-released
#' @importFrom stats dfbeta
#' @export
dfbeta.dp_ols <- influence.dp_ols

#' @rdname not-released
#' @importFrom stats dfbetas
#' @export
dfbetas.dp_ols <- influence.dp_ols

#' @rdname not-released
#' @importFrom stats effects
#' @export
effects.dp_ols <- function(object, ...) not_released("effects of the rows")

#' @rdname not-released
#' @export
qr.dp_ols <- function(x, ...) not_released("decompositions of the rows")

#' @rdname not-released
#' @importFrom stats simulate
#' @export
simulate.dp_ols <- function(object, ...) not_released("simulated rows")

#' @rdname not-released
#' @importFrom stats weights
#' @export
weights.dp_ols <- function(object, ...) {
  if (!is.null(object$call$weights)) not_released("weights of the rows")
}

#' @rdname not-released
#' @export
weights.dp_ols_groups <- weights.dp_ols

#' @rdname not-released
#' @importFrom stats logLik
#' @export
logLik.dp_ols <- function(object, ...) not_released("likelihoods")

no_criteria <- function() not_released("information criteria", "anova(), which tests terms and compares fits")

#' @rdname not-released
#' @importFrom stats AIC
#' @export
AIC.dp_ols <- function(object, ..., k) no_criteria()

#' @rdname not-released
#' @importFrom stats BIC
#' @export
BIC.dp_ols <- function(object, ...) no_criteria()

#' @rdname not-released
#' @importFrom stats extractAIC
#' @export
extractAIC.dp_ols <- function(fit, ...) no_criteria()

#' @rdname not-released
#' @importFrom stats deviance
#' @export
deviance.dp_ols <- function(object, ...) not_released("deviances")

#' @rdname not-released
#' @importFrom stats sigma
#' @export
sigma.dp_ols <- function(object, ...) {
  scale <- object$fit_statistics["scale", "estimate"]
  if (is.na(scale)) not_released("residual variances")
  sqrt(scale)
}

#' @rdname not-released
#' @export
residuals.dp_ols_groups <- residuals.dp_ols

#' @rdname not-released
#' @export
fitted.dp_ols_groups <- fitted.dp_ols

#' @rdname not-released
#' @export
model.frame.dp_ols_groups <- model.frame.dp_ols

#' @rdname not-released
#' @export
logLik.dp_ols_groups <- logLik.dp_ols

#' @rdname not-released
#' @export
logLik.dp_ols_list <- logLik.dp_ols

#' @rdname not-released
#' @export
deviance.dp_ols_groups <- deviance.dp_ols

#' @rdname not-released
#' @export
deviance.dp_ols_list <- deviance.dp_ols

#' @rdname not-released
#' @export
residuals.dp_ols_list <- residuals.dp_ols

#' @rdname not-released
#' @export
fitted.dp_ols_list <- fitted.dp_ols

#' @rdname not-released
#' @export
sigma.dp_ols_groups <- function(object, ...) not_released("residual variances of groups")

#' @rdname not-released
#' @exportS3Method insight::get_data
get_data.dp_ols <- function(x, ...) {
  not_released("the rows of the data", "predict(newdata), plot() or emmeans::emmeans()")
}

#' @rdname not-released
#' @exportS3Method sandwich::estfun
estfun.dp_ols <- function(x, ...) {
  not_released("the scores of rows",
               "cov_type in dp_ols() for robust standard errors, and cluster for clustered ones")
}

#' @rdname not-released
#' @exportS3Method lmtest::waldtest
waldtest.dp_ols <- function(object, ...) {
  fail("dpstats_not_released_error", "waldtest() fits again, which would spend another budget; ",
       "anova(fit) tests each term, anova(fit1, fit2) compares two fits, and dp_joint_test() tests ",
       "hypotheses together")
}

#' @rdname not-released
#' @exportS3Method lmtest::lrtest
lrtest.dp_ols <- function(object, ...) {
  not_released("likelihood ratios", "anova(), whose tests are Wald's")
}

#' @rdname not-released
#' @export
`$.dp_ols` <- function(x, name) {
  if (name %in% names(held_by_others) && inherits(x, "dp_ols")) return(held_by_others[[name]](x))
  found <- .subset2(x, name, exact = FALSE)
  if (name == "df.residual" && inherits(x, "dp_ols")) return(stats::df.residual(x))
  if (is.null(found) && name %in% names(held_by_lm)) not_released(held_by_lm[[name]])
  found
}

#' @rdname not-released
#' @export
`$.dp_ols_groups` <- function(x, name) {
  if (name %in% names(held_by_others) && !name %in% names(x)) {
    bad_argument("groups have no $", name, "; each of their fits has one, as in lapply(groups, function(fit) fit$", name,
                 ")")
  }
  found <- `$.dp_ols`(x, name)
  if (is.null(found) && name %in% names(x)) x[[name]] else found
}

# Of what is not there $ gives NULL, whose sums are 0.
held_by_lm <- list(
  residuals = "residuals", resid = "residuals", fitted.values = "fitted values", fitted = "fitted values",
  linear.predictors = "fitted values", effects = "effects of the rows", qr = "decompositions of the rows",
  deviance = "deviances", null.deviance = "deviances", aic = "information criteria"
)

# What fits of estimatr and fixest hold under a name, of which $ would give NULL, or of se what was selected.
held_by_others <- local({
  column <- function(name) function(fit) stats::setNames(fit$table[[name]], names(coef(fit)))
  figure <- function(name) function(fit) fit$fit_statistics[name, "estimate"]
  columns <- c("std.error", "statistic", "p.value", "conf.low", "conf.high")
  c(lapply(stats::setNames(nm = columns), column), list(
    se = column("std.error"), coeftable = function(fit) summary(fit)$coefficients, r.squared = figure("rsquared"),
    adj.r.squared = figure("rsquared_adj")
  ))
})

# Diagnostics of the package car.

#' @rdname not-released
#' @exportS3Method car::influencePlot
influencePlot.dp_ols <- influence.dp_ols

#' @rdname not-released
#' @exportS3Method car::infIndexPlot
infIndexPlot.dp_ols <- influence.dp_ols

#' @rdname not-released
#' @exportS3Method car::influenceIndexPlot
influenceIndexPlot.dp_ols <- influence.dp_ols

#' @rdname not-released
#' @exportS3Method car::dfbetaPlots
dfbetaPlots.dp_ols <- influence.dp_ols

#' @rdname not-released
#' @exportS3Method car::dfbetasPlots
dfbetasPlots.dp_ols <- influence.dp_ols

#' @rdname not-released
#' @exportS3Method car::outlierTest
outlierTest.dp_ols <- function(model, ...) not_released("residuals")

#' @rdname not-released
#' @exportS3Method car::ncvTest
ncvTest.dp_ols <- outlierTest.dp_ols

#' @rdname not-released
#' @exportS3Method car::durbinWatsonTest
durbinWatsonTest.dp_ols <- outlierTest.dp_ols

#' @rdname not-released
#' @exportS3Method car::residualPlots
residualPlots.dp_ols <- outlierTest.dp_ols

#' @rdname not-released
#' @exportS3Method car::residualPlot
residualPlot.dp_ols <- outlierTest.dp_ols

#' @rdname not-released
#' @exportS3Method car::spreadLevelPlot
spreadLevelPlot.dp_ols <- function(x, ...) not_released("residuals")

#' @rdname not-released
#' @exportS3Method car::qqPlot
qqPlot.dp_ols <- spreadLevelPlot.dp_ols

#' @rdname not-released
#' @exportS3Method car::boxCox
boxCox.dp_ols <- function(object, ...) not_released("likelihoods")

#' @rdname not-released
#' @exportS3Method car::powerTransform
powerTransform.dp_ols <- boxCox.dp_ols

#' @rdname not-released
#' @exportS3Method car::mmp
mmp.dp_ols <- function(model, ...) not_released("fitted values")

#' @rdname not-released
#' @exportS3Method car::hccm
hccm.dp_ols <- function(model, ...) estfun.dp_ols(model)

#' @rdname not-released
#' @exportS3Method effects::Effect
Effect.dp_ols <- function(focal.predictors, mod, ...) get_data.dp_ols(mod)

# The plots of residuals that plot() of lm draws by number.
refuse_which <- function(...) {
  names <- entry_names(list(...))
  if ("which" %in% names) not_released("plots of residuals", "plot() without which")
  if (!all(nzchar(names))) bad_argument("plot() takes arguments of graphics::plot() by name, such as main = \"Tracts\"")
}
