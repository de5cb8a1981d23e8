#' Linear, logistic, Poisson and instrumental-variable regression under differential privacy
#'
#' [dp_ols()] is called like [stats::lm()], [dp_logit()] and [dp_poisson()] like [stats::glm()],
#' and [dp_iv()] like `feols()` of fixest with instruments. They return what may be published:
#' coefficients, standard errors and predictions with calibrated noise, never rows. The noise is
#' drawn by the Python package dpstats; [install_dpstats()] installs it. A saved release is read,
#' tabulated, predicted from, tested, compared and drawn without Python.
#'
#' @examples
#' # a release of a wage equation on synthetic rows
#' fit <- readRDS(system.file("extdata", "wages.rds", package = "dpstats"))
#' summary(fit)
#' confint(fit)
#' tidy(fit, conf.int = TRUE)
#' predict(fit, data.frame(educ = c(12, 16), exper = 10, sex = "women"), interval = "confidence")
#' dp_test(fit, "4 * educ = 0.4")
#' @keywords internal
#' @importFrom generics augment glance tidy
#' @importFrom stats coef confint nobs predict terms vcov
"_PACKAGE"

#' @export
generics::augment

#' @export
generics::glance

#' @export
generics::tidy

.onLoad <- function(libname, pkgname) {
  # what tells a budget that was made here from one of a forked child or of readRDS()
  state$session <- new.env(parent = emptyenv())
  state$process <- Sys.getpid()
  # how marginaleffects is told of a class of fits
  known <- getOption("marginaleffects_model_classes")
  options(marginaleffects_model_classes = union(known, c("dp_ols", "dp_glm", "dp_iv")))
  setHook(packageEvent("texreg", "onLoad"), tell_texreg)
  if (isNamespaceLoaded("texreg")) tell_texreg()
  reticulate::use_virtualenv(environment_name, required = FALSE)
}
