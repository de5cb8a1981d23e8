#' Describe columns under differential privacy
#'
#' What papers open with, Table 1: how many values there are and are missing, means, standard
#' deviations and quantiles of numbers, counts and shares of factors by level. All come from one
#' joint release. Each figure has a standard error and an interval, which hold the privacy noise and,
#' but for counts, the sampling of rows. A missing value is left out of its own column alone.
#'
#' @inheritParams dp_ols
#' @param columns What to describe: `~ wage + educ + region`, or names. `~ .` is all columns of a data
#'   frame but that of `by`. Numbers, dates, whose numbers count days since 1970-01-01, logicals and factors;
#'   character columns need `levels`.
#' @param epsilon Privacy loss of the whole call, greater than 0.
#' @param delta Probability with which epsilon may be exceeded, greater than 0; by default 1e-6.
#' @param by A column of groups, or data grouped by dplyr. Groups share no row, so all together cost
#'   what one costs.
#' @param bounds,levels,types What is declared of columns, as for [dp_ols()]. No bounds are needed;
#'   with them intervals are shorter.
#' @param groups The public labels of groups, where `by` is neither a factor nor logical.
#' @param quantiles Numbers in \[0.001, 0.999\].
#' @param statistics What you need, to be told before anything is spent what no useful release has,
#'   such as `"max"`; `"n"` and `"missing"` alone have all of epsilon, and all others are released
#'   anyway.
#' @param histogram Whether to add a histogram of each number, in bins that follow from declared bounds
#'   or from what was released, at no cost. `$histogram` tabulates it, with the counts of levels of
#'   factors, and `plot()` and `autoplot()` draw it with intervals that hold the noise.
#' @param unit A column that names persons, or whatever else is to be protected with all of its rows.
#'   Figures are then those of rows of which a person's count for one in all, so `n` is the number of
#'   persons; intervals hold however alike a person's rows are.
#' @param max_rows With how many rows in all a person counts, by default 1.
#' @param max_groups With `by`, in how many groups the rows of a person count, by default 1.
#' @param weights A column of sampling weights, with public bounds, `bounds = list(w = c(0, 50))`:
#'   figures are those of the weighted rows, and `n`, `missing` and `count` sums of weights. Noise and
#'   intervals grow with the largest weight over the mean one.
#' @param trim_weights A public number below the largest weight: larger weights count as this.
#' @param alpha One minus the level of the intervals, in \[0.001, 0.5\].
#' @param neighbors `"add_remove"`: one row more or less.
#' @param ... None.
#' @param x,object A description.
#' @param format `"text"`, `"html"`, `"latex"`, which needs the LaTeX package booktabs, or
#'   `"markdown"`.
#' @param row.names,optional As for [as.data.frame()].
#' @param conf.int Whether to keep the intervals.
#'
#' @return An object of class `dp_description`, which prints as Table 1. [as.data.frame()] and `tidy()`
#'   give one row for each figure: `variable`, `level`, the column of `by`, `statistic`, `estimate`,
#'   `std.error`, `conf.low`, `conf.high` and `status`; `$privacy` has what was spent, and `glance()` one
#'   row of it. `plot()` returns `x`, invisibly, and `autoplot()` a ggplot. `coef()` and `confint()` are
#'   refused: the table has each estimate with its interval.
#'
#' @section Guarantee:
#' (epsilon, delta)-differential privacy for tables that differ by one row, with `unit` by all rows of
#' one person; proofs are in the documentation of the Python package.
#'
#' @examplesIf dpstats_available()
#' n <- 5000
#' people <- data.frame(age = runif(n, 20, 65), sex = factor(sample(c("f", "m"), n, TRUE)))
#' people$wage <- exp(2 + 0.01 * people$age + rnorm(n, sd = 0.3))
#' dp_describe(people, ~ wage + age + sex, epsilon = 1)
#' by_sex <- dp_describe(people, ~ wage + age, epsilon = 1, by = sex)
#' print(by_sex, "latex")
#' tidy(by_sex)
#' plot(dp_describe(people, ~ wage + sex, epsilon = 1, histogram = TRUE))
#' @export
dp_describe <- function(data, columns, epsilon, delta = NULL, by = NULL, bounds = NULL,
                        levels = NULL, types = NULL, groups = NULL,
                        quantiles = c(0.25, 0.5, 0.75), statistics = NULL, alpha = 0.05,
                        subset = NULL, unit = NULL, max_rows = NULL, max_groups = NULL,
                        weights = NULL, trim_weights = NULL, histogram = FALSE,
                        neighbors = NULL, budget = NULL, ...) {
  check_given(environment(), c("data", "epsilon"), "dp_describe")
  if (missing(columns)) bad_argument("argument columns is missing") # which may name columns bare
  check_described(entry_names(substitute(list(...)))[-1L])
  check_data(data)
  by <- columns_given("by", substitute(by), by, data, several = TRUE)
  by <- grouping(data, by, columns_of_descriptions)
  if (length(by) > 1L) {
    bad_argument("a description has groups of one column, got ", toString(by),
                 "; make one of them, as by interaction(), before the call")
  }
  unit <- columns_given("unit", substitute(unit), unit, data)
  weights <- columns_given("weights", substitute(weights), weights, data)
  names <- described_columns(substitute(columns), columns, data, c(by, unit, weights))
  subset <- condition_given(substitute(subset), data, parent.frame())
  sent <- bridge_data(list(), data, c(names, by, unit, weights, all.vars(subset)))
  refuse_levels(levels, dates_of(data, names))
  check_ranges(bounds, data, "argument bounds")
  declared <- lapply(list(bounds = bounds, levels = levels, types = types), concerning, sent, data)
  arguments <- list(
    data = sent, columns = as.list(names), epsilon = epsilon, delta = delta, by = by,
    bounds = named_lists(declared$bounds, "bounds"),
    levels = named_lists(declared$levels, "levels", is_path(data)),
    types = named_types(declared$types),
    groups = labels_of(groups, is_path(data)), quantiles = listed(quantiles),
    statistics = if (!is.null(statistics)) listed(statistics), alpha = alpha,
    unit = unit, max_rows = max_rows, max_groups = max_groups, weights = weights,
    trim_weights = trim_weights, histogram = histogram,
    subset = condition_text(subset), neighbors = neighbors, block = state$block,
    dates = as.list(dates_of(data, c(names, by)))
  )
  new_dp_description(ask("describe", arguments, budget), group_key(data, by))
}

# What tables of a description have beside the group column.
columns_of_descriptions <- c(
  "variable", "level", "statistic", "estimate", "std.error", "conf.low", "conf.high", "status", "left",
  "right", "count"
)

# The names of columns in a one-sided formula, in a text, or bare; a dot is all but those beside.
described_columns <- function(expression, value, data, beside) {
  names <- columns_given("columns", expression, value, data, TRUE, call = parent.frame())
  if (is.null(names)) {
    bad_argument("expected columns to name columns, as in ~ wage + educ, got ", deparse1(expression))
  }
  if (identical(names, ".") && !is_path(data)) setdiff(names(data), beside) else names
}

# Arguments of other functions that a description does not have.
check_described <- function(names) {
  refuse_unknown(names, list(
    formula = "name the columns by columns = ~ x + y",
    vars = "name the columns by columns = ~ x + y", probs = "name the quantiles by quantiles",
    na.rm = "missing values are left out of their own column, and counted"
  ), "dp_describe")
}

new_dp_description <- function(value, key) {
  columns <- list(variable = strings(value$variable))
  columns$level <- replace(strings(value$level), strings(value$level) == "", NA)
  if (!is.null(key)) columns[[key$by]] <- like(unlist(value$groups), key$columns[[1L]])
  columns$statistic <- strings(value$statistic)
  frame <- tibble::as_tibble(c(columns, lapply(value$numbers, numbers)))
  frame$status <- strings(value$figure_status)
  cells <- matrix(strings(value$cells), length(value$stub), byrow = TRUE,
                  dimnames = list(strings(value$stub), strings(value$headings)))
  structure(
    list(frame = frame, table = cells, notes = strings(value$notes), html = value$html,
         latex = value$latex, markdown = value$markdown, status = value$status,
         privacy = privacy(value$privacy), histogram = histogram_frame(value$histogram, key),
         state = value$state),
    class = "dp_description"
  )
}

histogram_frame <- function(value, key) {
  if (!length(value)) return(NULL)
  levels <- strings(value$level)
  columns <- list(variable = strings(value$variable), level = replace(levels, levels == "", NA))
  if (!is.null(key)) columns[[key$by]] <- like(unlist(value$groups), key$columns[[1L]])
  tibble::as_tibble(c(columns, lapply(value$numbers, numbers)))
}

#' @rdname dp_describe
#' @export
print.dp_description <- function(x, format = c("text", "html", "latex", "markdown"), ...) {
  format <- chosen_format(format, eval(formals()$format))
  if (format != "text") cat(x[[format]], sep = "\n") else {
    cat("\nDifferentially private description\n\n")
    print(x$table, quote = FALSE, right = TRUE)
    cat("\n", paste0(unlist(lapply(x$notes, strwrap, note_width())), "\n"), sep = "")
  }
  invisible(x)
}

#' @rdname dp_describe
#' @export
summary.dp_description <- function(object, ...) object

#' @rdname dp_describe
#' @export
as.data.frame.dp_description <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(x$frame, row.names = row.names, optional = optional, ...)
}

#' @rdname dp_describe
#' @export
confint.dp_description <- function(object, ...) {
  bad_argument("confint() takes a fit; tidy() and as.data.frame() of a description have the interval of each ",
               "figure in conf.low and conf.high, of the level that alpha of dp_describe() chose")
}

#' @rdname dp_describe
#' @export
coef.dp_description <- function(object, ...) {
  bad_argument("coef() takes a fit; tidy() and as.data.frame() of a description have each figure in estimate")
}

#' @rdname dp_describe
#' @export
mean.dp_description <- function(x, ...) no_column_of_rows("mean()")

#' @rdname dp_describe
#' @importFrom stats median
#' @export
median.dp_description <- function(x, na.rm = FALSE, ...) no_column_of_rows("median()")

#' @rdname dp_describe
#' @importFrom stats quantile
#' @export
quantile.dp_description <- function(x, ...) no_column_of_rows("quantile()")

#' @rdname dp_describe
#' @param name,na.rm Name of a part of the description, of which a column or a statistic is none; and not used.
#' @export
`$.dp_description` <- function(x, name) {
  found <- .subset2(x, name, exact = FALSE)
  frame <- .subset2(x, "frame")
  if (is.null(found) && name %in% c(frame$variable, frame$statistic)) no_column_of_rows(paste0("$", name))
  found
}

no_column_of_rows <- function(call) {
  bad_argument(call, " of a description does not exist; tidy() and as.data.frame() of it have a row for each variable ",
               "and statistic, the figure in estimate")
}

#' @rdname dp_describe
#' @exportS3Method generics::tidy dp_description
tidy.dp_description <- function(x, conf.int = TRUE, ...) {
  refuse_others("tidy", ...)
  check_flags(conf.int = conf.int)
  if (conf.int) x$frame else x$frame[setdiff(names(x$frame), c("conf.low", "conf.high"))]
}

#' @rdname dp_describe
#' @exportS3Method generics::glance dp_description
glance.dp_description <- function(x, ...) {
  refuse_others("glance", ...)
  tibble::tibble(
    variables = length(unique(x$frame$variable)), epsilon = x$privacy$epsilon,
    delta = x$privacy$delta, neighbors = x$privacy$neighbors, status = x$status,
    private = x$privacy$private
  )
}
