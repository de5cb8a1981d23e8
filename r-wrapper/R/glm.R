#' Fit a generalised linear model under differential privacy
#'
#' [dp_logit()] or [dp_poisson()] by the name of its family, as in [stats::glm()].
#'
#' @param formula A formula, as for [dp_ols()].
#' @param family `binomial`, whose link is the logit, or `poisson`, whose link is the logarithm: the
#'   function, its value or its name. There is no other, and no default.
#' @param data A data frame, or the paths of files, as for [dp_ols()].
#' @param ... Arguments of [dp_logit()] or [dp_poisson()], `epsilon` among them.
#' @inherit dp_logit return
#' @inheritSection dp_logit Guarantee
#' @examplesIf dpstats_available()
#' n <- 5000
#' people <- data.frame(age = runif(n, 20, 65))
#' people$smoker <- runif(n) < plogis(1 - 0.05 * people$age)
#' people$visits <- rpois(n, exp(0.02 * people$age))
#' dp_glm(smoker ~ age, family = binomial, people, epsilon = 1)
#' dp_glm(visits ~ age, family = poisson, people, epsilon = 1)
#' @export
dp_glm <- function(formula, family, data, ...) {
  if (missing(family)) {
    bad_argument("argument family is missing: give binomial or poisson; dp_ols() fits linear ",
                 "regressions, as glm() does without a family")
  }
  call <- match.call()
  call$family <- NULL
  call[[1L]] <- get(families[[checked_family(family)]]$verb)
  eval(call, parent.frame())
}

# What there is of each family.
families <- list(
  binomial = list(
    verb = "dp_logit", link = "logit", noun = "a logit",
    outcomes = "two outcomes, as of a comparison with a date",
    mean = stats::plogis, slope = stats::dlogis,
    vcov = "for robust standard errors give cov_type = \"HC1\", or \"cluster\" with cluster"
  ),
  poisson = list(
    verb = "dp_poisson", link = "log", noun = "a Poisson regression", outcomes = "counts or amounts, which are numbers",
    mean = exp, slope = exp,
    vcov = "standard errors are robust (HC1) always; for clustered ones give cov_type = \"cluster\" with cluster"
  )
)

# The name of a family that there is, with its own link.
checked_family <- function(family) {
  if (is.function(family)) family <- tryCatch(family(), error = function(e) NULL)
  known <- inherits(family, "family")
  name <- if (known) family$family else family
  link <- if (known) family$link
  if (is.character(name) && length(name) == 1L && name %in% names(families) &&
      (is.null(link) || identical(link, families[[name]]$link))) return(name)
  shown <- if (is.character(name)) paste0(name, "(", link, ")") else class(name)[1L]
  bad_argument("expected family = binomial with its link, the logit, or poisson with its link, the ",
               "logarithm, got ", shown[1L], "; dp_ols() fits linear regressions")
}

# Fit by family, from the environment of a call of its verb, the call as written, and where it was.
generalized <- function(family, given, written, workspace) {
  its <- families[[family]]
  check_given(given, c("formula", "data", "epsilon"), its$verb)
  check_absent(entry_names(substitute(list(...), given)), instead_of_family(its), its$verb)
  check_absent(entry_names(sys.call(-1L)), instead_of_parts["x"], its$verb)
  options <- options_given(given)
  check_options(options, its$verb)
  data <- given$data
  check_data(data, its$verb)
  formula <- own_formula(given$formula)
  refuse_instruments(formula, data, given$levels)
  formula <- with_constants(formula, data)
  offset <- with_offsets(formula, given, family)
  formula <- given$formula <- offset$formula
  refuse_dates(formula, data, its)
  given$weights <- columns_given("weights", substitute(weights, given), given$weights, data,
                               call = given)
  given$unit <- columns_given("unit", substitute(unit, given), given$unit, data, call = given)
  given$cluster <- columns_given("cluster", substitute(cluster, given), given$cluster, data,
                               call = given)
  given$subset <- condition_given(substitute(subset, given), data, workspace)
  given$texts <- formula_texts(formula)
  by <- columns_given("by", substitute(by, given), given$by, data, TRUE, call = given)
  by <- written$by <- grouping(data, by)
  key <- group_key(data, by)
  given$columns <- bridge_data(formula, data, c(by, given$weights, given$unit, given$cluster,
                                              all.vars(given$subset), unlist(offset$columns)))
  own <- list(family = family, by = if (length(by) > 1L) as.list(by) else by,
              groups = groups_of(given$groups, key), max_groups = given$max_groups)
  value <- ask("glm", c(shared_arguments(given), offset$columns, own, options), given$budget)
  written <- with_columns(written, offset$columns)
  fits <- lapply(value, function(fit) {
    fit <- if (is.null(by)) new_dp_ols(fit) else new_dp_ols_groups(fit, key)
    if (length(offset$columns)) fit$offset <- offset$columns
    with_call(fit, written, its$verb, data)
  })
  fits_by_formula(fits, given$texts)
}

# A date, which counts days since 1970, is no outcome.
refuse_dates <- function(formula, data, its) {
  for (each in if (is.list(formula)) formula else list(formula)) {
    dates <- if (inherits(each, "formula") && is.symbol(each[[2L]])) dates_of(data, as.character(each[[2L]]))
    if (length(dates)) {
      bad_argument("the response ", dates, " is a column of dates, and ", its$noun, " takes ", its$outcomes)
    }
  }
}

# Arguments of lm, glm and dp_ols that a fit of a family does not have.
instead_of_family <- function(its) {
  terms <- "name the terms in the formula"
  own <- list(
    family = "it has one family; dp_glm() takes a family",
    method = paste(its$noun, "is fitted in one way"), select = terms, k = terms, vcov = its$vcov
  )
  absent <- utils::modifyList(instead_of, own)
  absent[setdiff(names(absent), "offset")]
}
