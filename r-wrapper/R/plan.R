#' Plan a private regression
#'
#' Forecasts the errors of private fits before any budget is spent: synthetic tables are drawn from
#' public guesses, each method is run on them, and errors, widths of intervals and failures are
#' summarised. No data are read, so nothing is spent, as long as the guesses do not come from the
#' confidential data.
#'
#' @param formula,bounds,levels,delta,neighbors,x_new As in [dp_ols()]. Every variable needs bounds
#'   or levels, for there are no columns to tell numbers from factors; the levels of a logical
#'   are `c(FALSE, TRUE)`.
#' @param n Guessed number of rows, 1 to 10 million; with `by` those of each group: one number, with
#'   `groups`, or a number for each group.
#' @param by Names of group columns, for one regression per group as in [dp_ols()]. Each group has
#'   the whole epsilon, with `unit` that of `max_groups`.
#' @param groups Guessed number of groups: of the column after `|` in `y ~ x | column`, or of `by`.
#' @param within_share With `y ~ x | column`: the share of the variance of the numeric regressors
#'   that is within groups, 0.5 by default, or shares by name, `c(x = 0.3)`. With `unit`: the share
#'   within persons, with `cluster` within clusters, 0 for what does not change within one.
#' @param unit The name of the column of persons, whose rows are protected together, as in
#'   [dp_ols()]. `n` still is the number of rows, and least squares has clustered standard errors.
#' @param rows_per_person With `unit`: the mean number of rows of a person, or numbers that are
#'   equally common, `c(1, 4, 10)`; with `by` in one group.
#' @param icc With `unit` or `cluster`: the correlation of the residuals of two rows of a person or a
#'   cluster, by default 0.5; `sd` is that of all residuals.
#' @param cov_type,cluster As in [dp_ols()], for methods without a `cov_type` of their own.
#' @param clusters With `cluster`: the guessed number of clusters, all of about one size, or their
#'   relative sizes, `c(30, 10, 10)`; with `by` of those in one group.
#' @param max_rows,max_groups As in [dp_ols()].
#' @param methods Names of methods, or a named list that gives each its options:
#'   `list("adassp", ends = list("exp_theil_sen", ci = TRUE))`. By default `"auto"`, what [dp_ols()]
#'   would choose, which the notes name.
#' @param epsilon Privacy losses to try. With `target_width` the grid to search, by default 129
#'   values from 0.01 to 100.
#' @param truth Guessed coefficients by name, `c(educ = 0.1)`, in units of the data. Those left
#'   out are 0, except that the intercept puts the line through the middle of the bounds.
#' @param sd Guessed standard deviation of the residuals; by default a sixth of the response's
#'   range.
#' @param x_sd Guessed standard deviations by name of numeric regressors that are normal around
#'   the middle of their bounds. The others are uniform within them; all are independent.
#' @param x_range Guessed ranges within the bounds, `list(x = c(0.2, 0.8))`, of numeric regressors
#'   that are uniform on that part of them, where bounds are declared wider than the data reach.
#' @param weights,trim_weights As in [dp_ols()]: the name of a column of weights, whose bounds are
#'   among `bounds`, and the weight that larger ones count as.
#' @param weights_mean Guessed mean of the weights, lognormal within their bounds; by default the
#'   midpoint of these, which is far too large for most survey weights.
#' @param target_width Look for the minimum epsilon at which the median interval of `term` is this
#'   narrow.
#' @param term A coefficient or prediction point: the one meant by `target_width`, by default the
#'   only slope; in a picture by default the first slope.
#' @param repetitions How many synthetic tables to draw, 20 to 100,000.
#' @param precision Stop a method at an epsilon, from 9 tables on, when the median widths of its
#'   coefficients are known to this relative error, in (0, 1), with about 95% confidence; errors and
#'   coverage are then of few tables. By default all tables are fitted.
#' @param alpha One minus the level of the intervals.
#' @param seed A whole number. The same call gives the same plan.
#' @param x,object A plan.
#' @param digits Significant digits.
#' @param row.names,optional As for [as.data.frame()].
#' @param ... Passed to [graphics::matplot()] by `plot()`; else refused.
#' @return An object of class `dp_plan`: a list whose `frame` has one row for each method,
#'   epsilon and term, as [as.data.frame()] and `tidy()` give it: the median `error` and its 90th
#'   percentile, `width` and `coverage` of the intervals, the shares `unbounded` and `failed`, and
#'   the number of tables with `intervals`; with `by` also the `rows` and the number of `groups`.
#'   Its last method is least squares without privacy, with infinite epsilon. With `target_width`,
#'   `least` has one row for each method: the minimum `epsilon`, which lies between `low` and `high`
#'   with 95% confidence. `plot()` and `autoplot()` draw errors against epsilon, with `by` for groups
#'   of a middle size.
#' @examplesIf dpstats_available()
#' plan <- dp_plan(y ~ x, n = 1000, bounds = list(x = c(0, 1), y = c(0, 1)),
#'                 methods = c("adassp", "noisy_stats"), epsilon = c(0.5, 4),
#'                 truth = c(x = 0.3), sd = 0.1, repetitions = 50)
#' plan
#' plot(plan)
#' @export
dp_plan <- function(formula, n, bounds, methods = NULL, epsilon = NULL, truth = NULL, sd = NULL,
                    x_sd = NULL, levels = NULL, delta = NULL, neighbors = NULL, x_new = NULL,
                    target_width = NULL, term = NULL, repetitions = 200, alpha = 0.05, seed = 0,
                    by = NULL, groups = NULL, within_share = NULL, unit = NULL,
                    rows_per_person = NULL, icc = NULL, max_rows = NULL, max_groups = NULL,
                    x_range = NULL, weights = NULL, weights_mean = NULL, trim_weights = NULL,
                    precision = NULL, cov_type = NULL, cluster = NULL, clusters = NULL, ...) {
  refuse_unknown(entry_names(substitute(list(...)))[-1L], not_planned, "dp_plan")
  check_given(environment(), c("formula", "n", "bounds"), "dp_plan")
  if (is.data.frame(n)) {
    bad_argument("expected n to be the number of rows that is guessed, such as n = 5000, got ",
                 class(n)[1L], "; a forecast reads no data")
  }
  # there are no data, as of files
  unit <- columns_given("unit", substitute(unit), unit, "")
  by <- columns_given("by", substitute(by), by, "", several = TRUE)
  weights <- columns_given("weights", substitute(weights), weights, "")
  cluster <- columns_given("cluster", substitute(cluster), cluster, "")
  formula <- planned_formula(own_formula(formula), c(names(bounds), names(levels)))
  arguments <- list(
    formula = formula_text(formula), n = n, bounds = named_lists(bounds, "bounds"),
    methods = if (!is.null(methods)) planned_methods(methods), epsilon = epsilon, truth = named_numbers(truth, "truth"),
    sd = sd, x_sd = named_numbers(x_sd, "x_sd"), levels = named_lists(levels, "levels"),
    delta = delta, neighbors = neighbors, x_new = points_at(x_new, formula), target_width = target_width,
    term = term, repetitions = repetitions, alpha = alpha, seed = seed,
    by = if (length(by) > 1L) as.list(by) else by, groups = groups,
    within_share = if (is.null(names(within_share))) within_share
                   else named_numbers(within_share, "within_share"),
    unit = unit, rows_per_person = rows_per_person, icc = icc, max_rows = max_rows,
    max_groups = max_groups, x_range = named_lists(x_range, "x_range"), weights = weights,
    weights_mean = weights_mean, trim_weights = trim_weights, precision = precision,
    cov_type = cov_type, cluster = cluster, clusters = clusters
  )
  check_known(arguments)
  if (length(n) > 1L) arguments$n <- as.list(n)
  if (!is.null(epsilon)) arguments$epsilon <- listed(epsilon)
  if (length(rows_per_person) > 1L) arguments$rows_per_person <- as.list(rows_per_person)
  if (length(clusters) > 1L) arguments$clusters <- as.list(clusters)
  new_dp_plan(ask("plan", arguments))
}

# Arguments of fits that a forecast does not have.
not_planned <- list(
  data = "a forecast reads no data; guess the number of rows by n, and give bounds and levels",
  family = "it forecasts linear regressions; dp_plan_study() forecasts others"
)

# The formula with single values of the workspace, as of a fit; vectors are no columns of a plan.
planned_formula <- function(formula, declared) {
  if (!inherits(formula, "formula")) return(formula)
  workspace <- if (is.null(environment(formula))) globalenv() else environment(formula)
  single <- function(name) length(get0(name, envir = workspace)) == 1L
  columns <- union(declared, Filter(Negate(single), formula_variables(formula)))
  with_constants(formula, stats::setNames(as.list(columns), columns))
}

# By label, a method and its options: the entry without a name is the method's.
planned_methods <- function(methods) {
  entries <- lapply(as.list(methods), function(entry) {
    entry <- as.list(entry)
    names(entry) <- replace(entry_names(entry), entry_names(entry) == "", "method")
    check_distinct(names(entry), "an entry of methods")
    if (holds_na(entry)) bad_argument("argument methods holds NA")
    entry
  })
  names_of_methods <- lapply(entries, function(entry) entry$method)
  if (!length(entries) || !all(vapply(names_of_methods, is.character, logical(1L)))) {
    bad_argument("expected methods to name methods, such as c(\"adassp\", \"noisy_stats\")")
  }
  labels <- entry_names(methods)
  names(entries) <- ifelse(labels == "", as.character(names_of_methods), labels)
  check_distinct(names(entries), "methods")
  reticulate::dict(lapply(entries, reticulate::dict))
}

named_numbers <- function(values, argument) {
  if (is.null(values)) return(NULL)
  if (anyNA(values, recursive = TRUE)) bad_argument("argument ", argument, " holds NA")
  if (!is.numeric(unlist(values)) || any(entry_names(values) == "")) {
    bad_argument("expected ", argument, " to be numbers by name, such as c(x = 0.5)")
  }
  check_distinct(names(values), argument)
  reticulate::dict(as.list(values))
}

new_dp_plan <- function(value) {
  texts <- c("method", "term")
  columns <- function(table) {
    as.data.frame(Map(function(name, column) {
      if (name %in% texts) strings(column) else numbers(column)
    }, names(table), table))
  }
  structure(
    list(
      formula = stats::as.formula(value$formula, env = globalenv()), n = value$n,
      title = value$title,
      slopes = strings(value$slopes), frame = columns(value$frame), target = value$target,
      least = columns(value$least), notes = strings(value$notes)
    ),
    class = "dp_plan"
  )
}

#' @rdname dp_plan
#' @export
print.dp_plan <- function(x, digits = 3L, ...) {
  cat("\n", x$title, "\n", sep = "")
  if (nrow(x$least)) {
    cat("\n", x$target, ":\n", sep = "")
    print(x$least, digits = digits, row.names = FALSE)
  }
  for (slope in x$slopes) {
    rows <- x$frame[x$frame$term == slope, ]
    cat("\n", slope, ", guessed to be ", format(rows$truth[1L], digits = 4L), ":\n", sep = "")
    names(rows)[match(c("error_90", "coverage"), names(rows))] <- c("90%", "covers")
    rows[c("term", "truth", "intervals")] <- NULL
    print(format(rows, digits = digits), row.names = FALSE)
  }
  print_notes(x$notes)
  invisible(x)
}

#' @rdname dp_plan
#' @export
summary.dp_plan <- function(object, ...) object

#' @rdname dp_plan
#' @export
as.data.frame.dp_plan <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(x$frame, row.names = row.names, optional = optional, ...)
}

#' @rdname dp_plan
#' @exportS3Method generics::tidy dp_plan
tidy.dp_plan <- function(x, ...) {
  refuse_others("tidy", ...)
  tibble::as_tibble(x$frame)
}
