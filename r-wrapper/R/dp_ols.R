#' Fit a linear regression under differential privacy
#'
#' Called like [stats::lm()]. The result is a release: it may be printed, saved and published, and
#' holds no row of the data.
#'
#' Everything but the rows counts as public and must not be chosen by looking at them: the
#' formula, `bounds`, `levels`, `x_new`, and the levels of factors. Mistakes in a call end with
#' one sentence before a row is read, and nothing is spent.
#'
#' @section Formulas:
#' `+ : * ^ %in% / -`, `.`, and functions of one row: `I()`, `log()` with any base, `exp()`,
#' `sqrt()`, `log1p()`, `abs()`, `ifelse()`, `pmin()`, `pmax()`, comparisons, `factor()`,
#' `ordered()`, `relevel()`, `C()` and others. Names and order of the coefficients are those of
#' `lm()`. Within a function, a name that is no column of a data frame stands for the single
#' number, text, truth value or date of this name in the workspace, which then counts as public.
#' A logical column is 0 and 1 in arithmetic, as in `I(100 * union)`; `as.numeric()` of a factor is refused. `poly(x, 2)` is made
#' of polynomials over the public range of `x`, and `poly(x, 2, raw = TRUE)` of its powers; see
#' [dp_raw_powers()]. `ns()`, `bs()`, `scale()`, `cut()` and `offset()` are refused, because they
#' would learn from the rows or are not supported; the error says what to write. A comparison such
#' as `I(g %in% c("a", "b"))` stands in `I()`, as for `lm()`.
#'
#' The option `contrasts` of the session changes nothing: contrasts are treatment contrasts, or
#' polynomial ones for ordered factors. Write others in the formula, as in `C(g, contr.sum)`.
#'
#' @section Arguments that name columns:
#' `by`, `unit`, `cluster` and `weights` take the name of a column as it is, `by = school`, as a text,
#' `by = "school"`, or after a tilde, `by = ~school`; several in `by = c(state, county)` or
#' `by = ~state + county`. A name that is no column of a data frame is a variable that holds such a text.
#' `subset` is a condition on such names. Where it would leave out a whole level of a factor in the formula,
#' which `lm()` then drops, declare the `levels` that stay in its place.
#'
#' @section Fixed effects:
#' `wage ~ educ | state` absorbs the effects of one column, as in fixest: the coefficients are those
#' of `lm(wage ~ educ + factor(state))`, without an intercept and without the effects, which are not
#' released. Nothing is declared about the column, whose labels stay private, and the noise does
#' not depend on their number. Standard errors are clustered by the column where it has groups enough;
#' `cov_type = "cluster"` and `"nonrobust"` ask for either, and `"HC1"` for errors of different
#' variances that are independent within groups. Methods `"auto"`, `"noisy_newton"`,
#' `"adassp"` and `"ssp"` take it.
#'
#' @param formula A formula such as `wage ~ educ + sex`, or a list of several, which share the
#'   budget in equal parts; `bounds` and `levels` then name the columns of them all.
#' @param data A data frame. Columns in use may be numeric, integer, logical, character, factor
#'   or Date. If it is grouped by dplyr's `group_by()`, there is one regression for each group. Or
#'   the paths of Parquet, CSV, TSV or Stata files, such as `"people-*.parquet"` or
#'   `c("2023.csv", "2024.csv")`, that Python reads some rows at a time; R sees none of them.
#' @param method Name of the method; see [dp_methods()]. `"auto"` needs no bounds and no tuning, and
#'   chooses by public facts; `fit$method` names its choice and the summary says why.
#' @param epsilon Privacy loss of the whole call, greater than 0. Smaller is more private.
#' @param delta Probability with which epsilon may be exceeded: by default 0 for methods that
#'   need none, else 1e-6. Keep it far below one over the number of rows.
#' @param bounds A named list, `list(wage = c(0, 100))`: where each variable may lie. Values
#'   outside are moved to the nearest bound. A term can be bounded by its text,
#'   ``list(`log(wage)` = c(0, 5))``. Ranges of plain numeric columns that are left out are
#'   estimated from 20% of the budget, half of it by `"shrunken"` and `"shrunken_pure"`;
#'   `"noisy_newton"` takes 18.5% for the distributions of columns, bounded or not.
#' @param levels A named list of levels, for character columns and `factor(number)`.
#' @param by A column of group labels, such as `school` or `"school"`: one regression a group. Or
#'   several, such as `c(state, county, tract)`: one regression for each combination of labels.
#' @param groups A public list of group labels, for several columns a data frame of them; by
#'   default the levels of a factor, or of several factors crossed, else the labels present, which
#'   are then treated as public.
#' @param x_new Public points to predict at: a data frame, whose row names label the points, or
#'   numbers for a single regressor. By default 25% and 75% of the range of a single numeric
#'   regressor, named `p25` and `p75`.
#' @param select `"kendall"` or `"lasso"`: choose `k` of the terms privately, then fit those.
#' @param k How many terms to select.
#' @param neighbors `"add_remove"` or `"replace_one"`; by default the method's own, which for
#'   `"auto"` is `"add_remove"` whatever it takes.
#' @param budget A [dp_budget()] to charge; a call that does not fit is refused.
#' @param missing `"drop"`: rows with a missing value, or at which a term such as `log(x)` has no
#'   finite one, are left out, of each formula by its own variables. So is a row with a missing value in
#'   a column that the formula or `subset` names where `lm()` would not need it: with `x` missing in
#'   `ifelse(a, x, 0)` where `a` is false, in `x > 1 | a` where `a` is true, and in `x %in% 1:2`, which
#'   to `lm()` is `FALSE`. `"listwise"` is for a list of formulas with the same terms right of
#'   `~`: a row that misses a variable of any of them is left out of all, as by `lm(cbind(a, b) ~ x)`.
#'   Each fit has less noise then, and the fits are one release, whose epsilon each of them states.
#' @param types A named list such as `list(tract = "integer")`, of `"number"`, `"integer"`,
#'   `"boolean"`, `"string"` or `"date"`, for columns of text files, which have no types of their
#'   own. A date in a file is a label, for `by` or for a factor whose `levels` are dates. Without it such
#'   a column is a factor where `levels` are given, text in `by`, and a number where `bounds` are; what
#'   nothing declares is refused.
#' @param weights A column of weights, as of [stats::lm()]. It needs public
#'   `bounds`, such as `list(w = c(0, 50))`, and the noise grows with the largest weight over the
#'   mean one. Rows whose weight is missing, zero or negative are left out. Standard errors of the
#'   default are then robust (HC1), those of `y ~ x | state` clustered by state; with other methods
#'   add `cov_type = "HC1"` for survey weights.
#' @param trim_weights A public number below the largest weight: larger weights count as this.
#' @param subset A condition on one row, such as `age > 25 & female == 1`, or a text of one; the
#'   rows for which it holds are used, as by [stats::lm()]. It is public, and values are compared
#'   before they are clipped. Columns that only it names need no bounds.
#' @param unit A column of persons, whose rows are protected together;
#'   standard errors are clustered by it. Without it the guarantee is for one row. A row without a
#'   value in it is a person of its own.
#' @param max_rows With how many rows in all a person counts, by default 1: those of a person with
#'   more have equal parts.
#' @param max_groups With `by`, in how many groups the rows of a person are used, by default 1:
#'   those where it has the most rows. Each group's fit gets the budget divided by it.
#' @param cluster With `cov_type = "cluster"`, the column that standard errors are clustered by, such
#'   as `state`: errors of rows with one label may depend on one another. One row is protected all
#'   the same, labels stay private, and rows without one are left out. Of the default alone.
#' @param ... Options of the method, by name, such as `output_range` of exp_theil_sen, or
#'   `cov_type = "HC1"` of the default, adassp, ssp, shrunken and noisy_moments: for about a tenth
#'   of the budget, standard errors that hold for errors of different variances too.
#'   `cov_type = "cluster"` is for `cluster` and `unit`.
#'
#' @return An object of class `dp_ols`, or `dp_ols_groups` with `by`; for several formulas a
#'   [list of them][formulas]. [coef()], [vcov()],
#'   [confint()], [predict()] with new data, [summary()], [plot()] and [tidy()] work as for `lm`.
#'   What was not paid for is `NA`, and the summary says why. Residuals, fitted values and
#'   likelihoods do not exist; asking for them is an error that gives the reason.
#'
#' @section Guarantee:
#' (epsilon, delta)-differential privacy for tables that differ in one row, with `unit` in all rows
#' of one person, in the sense that `$privacy$neighbors` states; proofs are in the documentation of the Python package.
#'
#' @section Errors:
#' Conditions of class `dpstats_error`: `dpstats_argument_error` (with `dpstats_formula_error`),
#' `dpstats_budget_error`, `dpstats_ledger_error`, `dpstats_not_released_error`,
#' `dpstats_python_error` and `dpstats_internal_error`.
#'
#' @examplesIf dpstats_available()
#' n <- 2000
#' people <- data.frame(educ = sample(8:20, n, replace = TRUE))
#' people$wage <- 2 + 1.5 * people$educ + rnorm(n, sd = 4)
#' fit <- dp_ols(wage ~ educ, people, method = "adassp", epsilon = 1,
#'               bounds = list(wage = c(0, 60), educ = c(8, 20)))
#' coef(fit)
#' @export
dp_ols <- function(formula, data, method = "auto", epsilon, delta = NULL, bounds = NULL,
                   levels = NULL, by = NULL, groups = NULL, x_new = NULL, select = NULL,
                   k = NULL, neighbors = NULL, budget = NULL, missing = "drop", types = NULL,
                   weights = NULL, trim_weights = NULL, subset = NULL, unit = NULL,
                   max_rows = NULL, max_groups = NULL, cluster = NULL, ...) {
  written <- match.call()
  check_given(environment(), c("formula", "data", "epsilon"))
  check_absent(entry_names(substitute(list(...))))
  check_absent(entry_names(sys.call()), instead_of_parts)
  options <- options_given(environment())
  check_options(options)
  check_data(data, "dp_ols")
  formula <- own_formula(formula)
  refuse_instruments(formula, data, levels)
  formula <- with_constants(formula, data)
  weights <- columns_given("weights", substitute(weights), weights, data)
  unit <- columns_given("unit", substitute(unit), unit, data)
  cluster <- columns_given("cluster", substitute(cluster), cluster, data)
  by <- columns_given("by", substitute(by), by, data, several = TRUE)
  subset <- condition_given(substitute(subset), data, parent.frame())
  texts <- formula_texts(formula)
  by <- grouping(data, by)
  written$by <- by
  key <- group_key(data, by)
  columns <- bridge_data(formula, data, c(by, weights, unit, cluster, all.vars(subset)))
  arguments <- c(
    shared_arguments(environment()),
    list(
      method = method, by = if (length(by) > 1L) as.list(by) else by,
      groups = groups_of(groups, key), select = select, k = k, max_groups = max_groups
    ),
    options
  )
  value <- ask("fit", arguments, budget)
  fits <- Map(function(fit, text) {
    fit <- if (is.null(by)) new_dp_ols(fit) else new_dp_ols_groups(fit, key)
    if (length(fit$selected)) fit$call$formula <- stats::as.formula(text, env = globalenv())
    with_call(fit, written, data = data)
  }, value, texts)
  fits_by_formula(fits, texts)
}

# The arguments that every kind of fit has, as Python takes them, from the environment of a call,
# where `columns` are those of the data on their way to Python.
shared_arguments <- function(call) {
  given <- c("epsilon", "delta", "neighbors", "missing", "weights", "trim_weights", "unit", "max_rows",
             "cluster")
  texts <- call$texts
  declared <- lapply(mget(c("bounds", "levels", "types"), call), concerning, call$columns, call$data)
  points <- of_one_regressor(call$x_new, call$formula)
  if (inherits(points, "Date")) bad_points()
  check_ranges(call$bounds, call$data, "argument bounds")
  check_ranges(points, call$data, "argument x_new")
  refuse_levels(call$levels, dates_of(call$data, names(call$columns)))
  c(
    list(
      formula = if (is.list(texts)) reticulate::dict(texts) else texts,
      bounds = named_lists(declared$bounds, "bounds"),
      levels = named_lists(declared$levels, "levels", is_path(call$data)),
      types = named_types(declared$types),
      x_new = points_at(points, call$formula), subset = condition_text(call$subset),
      block = state$block, data = call$columns
    ),
    mget(intersect(given, ls(call)), call)
  )
}

# One fit, or a list of them where there is a list of formulas.
fits_by_formula <- function(fits, texts) {
  if (is.list(texts)) new_dp_ols_list(fits, texts) else fits[[1L]]
}

# Refuse a call, from its environment, without what it needs, which may be misspelled in the dots.
check_given <- function(call, needed, of = "dp_ols") {
  for (name in needed) {
    if (do.call(missing, list(name), envir = call)) {
      refuse_misspelled(entry_names(substitute(list(...), call)), of)
      bad_argument("argument ", name, " is missing")
    }
    if (is.null(get(name, call))) bad_argument("argument ", name, " is NULL")
  }
}

# The first of the names of arguments that is close to one of a function.
refuse_misspelled <- function(names, of) {
  own <- setdiff(names(formals(get(of))), "...")
  for (name in names) {
    near <- nearest_name(name, own)
    if (length(near)) bad_argument(of, " has no argument ", name, "; did you mean ", near, "?")
  }
}

# Arguments of lm and its like, before they are evaluated: they may name columns of the data.
check_absent <- function(names, instead = instead_of, of = "dp_ols") {
  absent <- intersect(names, names(instead))
  if (length(absent)) bad_argument(of, " has no ", absent[1L], ": ", instead[[absent[1L]]])
}

# Arguments of a function that none other takes up.
refuse_unknown <- function(names, instead, of) {
  check_absent(names, instead, of)
  if (!length(names)) return(invisible())
  refuse_misspelled(names[1L], of)
  named <- if (nzchar(names[1L])) paste("argument", names[1L]) else "further argument"
  bad_argument(of, " has no ", named, "; it has ", toString(setdiff(names(formals(get(of))), "...")))
}

instead_of <- list(
  na.action = "rows with a missing value are left out, as by na.omit",
  vcov = paste("name the standard errors by cov_type, such as cov_type = \"HC1\", or",
               "cov_type = \"cluster\" with the column that clusters them in cluster"),
  offset = "subtract it from the response, as in I(y - z) ~ x",
  contrasts = "write them in the formula, as in C(g, contr.sum)",
  family = "it fits linear regressions; for binomial() and poisson() call dp_glm()",
  singular.ok = "columns that add up to each other are refused or shrunken",
  clusters = "name the column by cluster, with cov_type = \"cluster\"",
  fixed_effects = "write them in the formula, as in y ~ x | g",
  split = "fit each group by by = g", fsplit = "fit each group by by = g, and all rows by another call",
  conf.level = "give it to tidy(fit, conf.int = TRUE, conf.level = ), which costs nothing",
  ssc = "standard errors contain the noise, and have no other choice than cov_type",
  notes = "leave it out", lean = "leave it out", warn = "leave it out", nthreads = "leave it out",
  model = "a fit keeps no rows", y = "a fit keeps no rows", qr = "a fit keeps no rows"
)

# Arguments that R would take for select and x_new, whose names begin with them.
instead_of_parts <- list(se = instead_of$vcov, x = "a fit keeps no rows")

# The arguments in the dots of a call. One that names columns, as fixest's panel.id = ~ id + year, is
# the text of it, which Python refuses by name.
options_given <- function(call) {
  written <- as.list(substitute(list(...), call))[-1L]
  lapply(stats::setNames(seq_along(written), names(written)), function(i) {
    value <- tryCatch(eval(bquote(...elt(.(i))), call), error = identity)
    columns <- names_in(written[[i]])
    named <- length(columns) && (is_path(call$data) || all(columns %in% names(call$data)))
    if (named && inherits(value, c("error", "function", "formula"))) return(toString(columns))
    if (inherits(value, "error")) stop(value)
    value
  })
}

check_options <- function(options, of = "dp_ols") {
  given <- entry_names(options)
  if (any(given == "")) bad_argument("options of the method go by name, such as tau = 2")
  check_distinct(given, "the call")
  for (name in given) check_plain(options[[name]], name)
  if (any(given %in% c("seed", "block", "data"))) {
    bad_argument(of, " has no seed; for reproducible noise, which is not private, see ",
                 "with_insecure_seed()")
  }
}

is_path <- function(data) is.character(data) && length(data) && !anyNA(data)

check_data <- function(data, of = NULL) {
  if (is_path(data)) return()
  if (!is.null(of) && inherits(data, "formula")) {
    bad_argument("data is a formula, which comes first: write ", of, "(formula, data), or data |> ", of,
                 "(formula = ...)")
  }
  if (!is.data.frame(data)) {
    bad_argument("expected data to be a data frame, or paths of files, got ", class(data)[1L])
  }
  twice <- unique(names(data)[duplicated(names(data))])
  if (length(twice)) bad_argument("column names used more than once: ", toString(twice))
}
