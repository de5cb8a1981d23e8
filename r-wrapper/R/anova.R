#' Compare fits, or test the terms of one
#'
#' Wald tests from the coefficients and covariances that were released; they cost nothing. For one
#' fit each term is tested given all others, as by `car::Anova()`; the table of `lm()`, which adds
#' one term after another, needs sums of squares that are not released. Several fits are compared
#' each with the one before: the terms that only one of the two has are tested in that one, for the
#' fits have noise of their own, and their fit cannot be subtracted.
#'
#' The tests take the noise for normal; [dp_joint_test()] simulates it where it can. P-values of
#' clustered fits are of the law F with the degrees of freedom of the clusters, as those of
#' [summary()] are of Student's, and those of `car::linearHypothesis()` too, unless it is given
#' another `vcov.`.
#'
#' @param object A fit by [dp_ols()].
#' @param ... More fits of the same response and kind, with the same absorbed effects and instruments,
#'   whose terms hold each other.
#' @param test `"Chisq"`. There is no `"F"`, as the number of rows may be private.
#' @return A data frame of class `anova` with the columns `Df`, `Chisq` and `Pr(>Chisq)`; `NA` where
#'   a fit has no standard errors.
#' @examplesIf dpstats_available()
#' d <- data.frame(a = runif(5000), b = runif(5000))
#' d$y <- (d$a + d$b) / 2
#' bounds <- list(a = c(0, 1), b = c(0, 1), y = c(0, 1))
#' both <- dp_ols(y ~ a + b, d, method = "adassp", epsilon = 4, bounds = bounds)
#' anova(both)
#' @importFrom stats anova
#' @export
anova.dp_ols <- function(object, ..., test = "Chisq") {
  fits <- list(object, ...)
  if (!all(vapply(fits, inherits, logical(1L), "dp_ols"))) {
    bad_argument("expected anova() of fits by dp_ols(), got ",
                 class(Filter(Negate(function(fit) inherits(fit, "dp_ols")), fits)[[1L]])[1L])
  }
  if (!identical(test, "Chisq")) {
    bad_argument("expected test to be \"Chisq\", got ", shown(test), ": others need sums of ",
                 "squares or likelihoods, which are not released")
  }
  if (length(fits) == 1L) anova_of_terms(object) else anova_of_fits(fits)
}

anova_of_terms <- function(fit) {
  if (!length(labels(fit))) bad_argument("there is no term to test beside the intercept")
  tests <- lapply(labels(fit), function(label) wald_test(fit, label))
  anova_table(tests, labels(fit), c("Wald tests of each term given the others\n",
                                    paste0("Response: ", response_of(fit))))
}

anova_of_fits <- function(fits) {
  formulas <- vapply(fits, function(fit) deparse1(stats::formula(fit)), "")
  tests <- Map(test_of_pair, fits[-length(fits)], fits[-1L])
  none <- c(Df = NA_real_, Chisq = NA_real_, p = NA_real_)
  anova_table(c(list(none), tests), seq_along(fits),
              c("Wald tests of the terms that only one of two fits has\n",
                paste0("Model ", seq_along(fits), ": ", formulas, collapse = "\n")))
}

# What two fits have in common where one is the other with more terms.
common_parts <- function(fit) {
  list(response_of(fit), fit$absorbed, fit$family, names(fit$instruments$coefficients), fit$offset,
       fit$group)
}

# The test of the terms that one of two fits has and the other has not.
test_of_pair <- function(one, other) {
  terms <- lapply(list(one, other), labels)
  larger <- if (length(terms[[1L]]) > length(terms[[2L]])) 1L else 2L
  extra <- setdiff(terms[[larger]], terms[[3L - larger]])
  nested <- all(terms[[3L - larger]] %in% terms[[larger]]) && length(extra)
  if (!nested || !identical(common_parts(one), common_parts(other))) {
    bad_argument("expected fits of one kind and one response, with the same absorbed effects and ",
                 "instruments, where one has all terms of the other and more, got ",
                 deparse1(stats::formula(one)), " and ", deparse1(stats::formula(other)))
  }
  wald_test(list(one, other)[[larger]], extra)
}

# The degrees of freedom and the statistic of the hypothesis that the coefficients of terms are 0.
wald_test <- function(fit, terms) {
  tested <- term_numbers(fit) %in% match(terms, labels(fit))
  b <- coef(fit)[tested]
  V <- vcov(fit)[tested, tested, drop = FALSE]
  known <- all(is.finite(b)) && all(is.finite(V)) && rcond(V) > .Machine$double.eps
  value <- if (known) drop(b %*% solve(V, b)) else NA_real_
  c(Df = length(b), Chisq = value, p = p_of_wald(fit$uncertainty, value, length(b)))
}

# P-values of Wald's statistic, with instruments and with clusters as the Python package has them.
p_of_wald <- function(uncertainty, value, df) {
  root <- sqrt(value)
  counted <- root / (1 + root / strength_at(uncertainty, 1L))
  degrees <- degrees_at(uncertainty, 1L)
  if (df > 1L) return(stats::pf(counted^2 / df, df, degrees, lower.tail = FALSE))
  max(stats::pf(value, df, degrees, lower.tail = FALSE), stats::pt(-counted, degrees))
}

anova_table <- function(tests, rows, heading) {
  table <- as.data.frame(do.call(rbind, tests))
  names(table)[3L] <- "Pr(>Chisq)"
  row.names(table) <- rows
  structure(table, heading = heading, class = c("anova", "data.frame"))
}

#' @rdname anova.dp_ols
#' @param model,white.adjust As of `car::linearHypothesis()`, whose `white.adjust` is refused.
#' @exportS3Method car::linearHypothesis
linearHypothesis.dp_ols <- function(model, ..., white.adjust = FALSE) {
  if (!isFALSE(white.adjust)) {
    bad_argument("linearHypothesis() of this result has no white.adjust", why_not$vcov)
  }
  own <- !"vcov." %in% entry_names(list(...))
  if (own && anyNA(vcov(model))) {
    not_released("the covariances of all coefficients", "dp_test(), which tests those that have errors")
  }
  table <- NextMethod()
  if (!own) return(table)
  last <- ncol(table)
  value <- table[2L, last - 1L] * if (names(table)[last - 1L] == "F") table[2L, "Df"] else 1
  table[2L, last] <- p_of_wald(model$uncertainty, value, table[2L, "Df"])
  table
}

#' @rdname formulas
#' @export
anova.dp_ols_list <- function(object, ...) {
  one_of_fits("anova()")
}

#' @rdname anova.dp_ols
#' @export
anova.dp_ols_groups <- function(object, ...) one_of_groups("anova()")

#' @rdname anova.dp_ols
#' @exportS3Method car::linearHypothesis
linearHypothesis.dp_ols_groups <- function(model, ...) one_of_groups("linearHypothesis()")

#' @rdname anova.dp_ols
#' @exportS3Method car::linearHypothesis
linearHypothesis.dp_ols_list <- function(model, ...) one_of_fits("linearHypothesis()")

#' @rdname anova.dp_ols
#' @param x Groups, or fits of several formulas, of which `lmtest::coeftest()` takes one.
#' @exportS3Method lmtest::coeftest
coeftest.dp_ols_groups <- function(x, ...) one_of_groups("coeftest()")

#' @rdname anova.dp_ols
#' @exportS3Method lmtest::coeftest
coeftest.dp_ols_list <- function(x, ...) one_of_fits("coeftest()")

one_of_groups <- function(call) {
  bad_argument(call, " takes the fit of one group, as in ", sub("()", "(groups[[1]])", call, fixed = TRUE))
}

one_of_fits <- function(call) {
  bad_argument(call, " takes one fit, as in ", sub("()", "(fits[[1]])", call, fixed = TRUE), "; lapply() goes over ",
               "all of them")
}
