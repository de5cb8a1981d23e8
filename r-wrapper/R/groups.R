# One regression for each group.

# What tables of groups have beside the group columns.
columns_of_groups <- c(
  "formula", "term", "estimate", "std.error", "statistic", "p.value", "conf.low", "conf.high", "status",
  "nobs", "epsilon", "delta", "method", "neighbors", "private"
)

# Names of the group columns: by=, or those of group_by(). Tables of the result have columns `taken`.
grouping <- function(data, by, taken = columns_of_groups) {
  grouped <- setdiff(names(attr(data, "groups")), ".rows")
  if (!inherits(data, "grouped_df")) grouped <- NULL
  if (!is.null(by) && length(grouped)) {
    bad_argument("data is grouped by ", toString(grouped), "; leave by out, or ungroup() it")
  }
  by <- if (length(grouped)) grouped else by
  if (is.null(by)) return(NULL)
  if (anyDuplicated(by)) bad_argument("by names ", by[anyDuplicated(by)], " twice")
  absent <- setdiff(by, names(data))
  if (length(absent) && !is_path(data)) bad_argument("no column '", absent[1L], "' to group by")
  clash <- intersect(by, taken)
  if (length(clash)) {
    bad_argument("by = \"", clash[1L], "\" is a column of the result; rename the group column")
  }
  by
}

# The group columns and what their labels are in R: no value of each column, or NULL for files.
group_key <- function(data, by) {
  if (is.null(by)) return(NULL)
  columns <- if (!is_path(data)) lapply(as.list(data)[by], function(column) column[0L])
  list(by = by, columns = columns)
}

# The public list of groups as Python takes it: labels, or for several columns those of each.
groups_of <- function(groups, key) {
  dates <- names(Filter(function(column) inherits(column, "Date"), key$columns))
  if (is.null(groups) && length(dates)) {
    bad_argument("by = \"", dates[1L], "\" holds dates, which would become public labels; list the dates in ",
                 "groups, or make a factor of them whose levels are public")
  }
  files <- is.null(key$columns)
  if (length(key$by) < 2L) return(labels_of(groups, files))
  if (is.null(groups)) groups <- crossed_levels(key$columns)
  if (is.null(groups)) return(NULL)
  if (!is.data.frame(groups) || !setequal(names(groups), key$by)) {
    bad_argument("expected groups to be a data frame with the columns ", toString(key$by))
  }
  unname(lapply(as.list(groups)[key$by], labels_of, files))
}

# All combinations of the levels of factors; NULL where one of the columns is none.
crossed_levels <- function(columns) {
  if (is.null(columns) || !all(vapply(columns, is.factor, logical(1L)))) return(NULL)
  count <- prod(vapply(columns, nlevels, integer(1L)))
  if (count > 1e6) {
    bad_argument("the levels of ", toString(names(columns)), " have ", count, " combinations; ",
                 "list those that there can be in groups =, a data frame")
  }
  rev(expand.grid(rev(lapply(columns, levels)), stringsAsFactors = FALSE))
}

# A data frame with the values of the group columns, one row for each group.
group_labels <- function(labels, key) {
  columns <- lapply(seq_along(key$by), function(i) like(unlist(labels[[i]]), key$columns[[i]]))
  as.data.frame(stats::setNames(columns, key$by), optional = TRUE)
}

# Labels as the column has them.
like <- function(labels, column) {
  if (is.null(labels)) return(if (is.null(column)) logical() else column)
  if (is.factor(column)) return(factor(labels, union(levels(column), labels), ordered = is.ordered(column)))
  if (is.integer(column)) return(as.integer(labels))
  if (inherits(column, "Date")) return(as.Date(labels, origin = "1970-01-01"))
  if (is.logical(column)) as.logical(labels) else labels
}

new_dp_ols_groups <- function(value, key) {
  names <- strings(value$names)
  labels <- group_labels(value$labels, key)
  shaped <- function(values) {
    matrix(numbers(values), nrow(labels), length(names), byrow = TRUE,
           dimnames = list(NULL, names))
  }
  limits <- lapply(value$limits, numbers)
  if (length(limits$response)) limits$response <- matrix(limits$response, ncol = 2L, byrow = TRUE)
  groups <- list(
    groups = labels, estimates = shaped(value$estimate), errors = shaped(value$std_error),
    low = shaped(value$conf_low), high = shaped(value$conf_high),
    coefficients = names[seq_len(value$size)], nobs = numbers(value$nobs), status = strings(value$status),
    cov_type = value$cov_type, reasons = strings(value$reasons),
    notes = strings(value$notes),
    selected = strings(value$selected),
    method = value$method, privacy = privacy(value$privacy),
    formula = stats::as.formula(value$formula, env = globalenv()), limits = limits,
    clipping = lapply(value$clipping, numbers), polynomials = lapply(value$polynomials, numbers),
    schema = lapply(Filter(length, value$schema), schema_entry),
    x_new = matrix(numbers(value$x_new), ncol = value$size, byrow = TRUE),
    uncertainty = new_uncertainty(value$uncertainty), fit_statistics = statistics_of_groups(value$fit_statistics)
  )
  groups$family <- family_of(value$model)
  groups <- with_group_instruments(groups, value$instruments)
  own <- if (!is.null(groups$family)) "dp_glm_groups" else if (!is.null(groups$instruments)) "dp_iv_groups"
  if (!is.null(own)) groups[c("state", "place")] <- list(value$state, seq_len(nrow(labels)))
  groups <- with_terms(groups, value$formula)
  groups$call$formula <- written_formula(groups)
  structure(groups, class = c(own, "dp_ols_groups"))
}

# The formula of groups as it was written.
written_formula <- function(groups) {
  if (is.null(groups$instruments)) groups$formula else groups$instruments$formula
}

#' Many private regressions
#'
#' The result of [dp_ols()], [dp_logit()], [dp_poisson()] or [dp_iv()] with `by`, or for data grouped by dplyr: every group that was asked
#' for is present, whatever its rows. As each row is in one group, the groups together cost what
#' one costs.
#'
#' @param x,object The groups.
#' @param conf.int Whether to add confidence intervals.
#' @param conf.level Their level, as `level`.
#' @param parm Names of coefficients or predictions; by default all coefficients.
#' @param value Names, which are refused: those of groups are their labels.
#' @param i Names of groups, such as `"7"` or, for several columns, `"A:7"`, or their numbers.
#' @param newdata A data frame of public values with the group columns too: each row is predicted
#'   by the fit of its group.
#' @param se.fit,se_fit,interval,level,type As for [predict.dp_ols()] and [augment()][broom].
#' @param exponentiate Whether to give the exponentials of the estimates and of the ends of the
#'   intervals. Standard errors stay as they are.
#' @param row.names,optional As for [as.data.frame()].
#' @param ... Passed on by `print()` to the method for tibbles, by `as.data.frame()` to `tidy()`.
#'   Of `tidy()` and `glance()` as for [those of one fit][broom], else refused.
#' @return `tidy()`, and `as.data.frame()` with its intervals: one row for each group and quantity,
#'   the group columns first, then `term`, `estimate`, `std.error`, `status`. Predictions are
#'   terms too, `p25` and `p75`. `coef()`: a data frame with one row for each group, the
#'   coefficients in columns. `glance()`: one row for each group. `nobs()`: the number of rows of each
#'   group, exact where it is public and else as released, with noise. `df.residual()`: as for a single fit,
#'   for each group. `as.list()`: for each group its
#'   [fit][group], which is a `modelsummary_list` too, of which the package modelsummary makes tables.
#'   `lapply()`, `sapply()`, `vapply()`, `Map()` and, of the package purrr, `map()` go over these fits, as in
#'   `lapply(groups, coef)`; `for` and `unlist()` need `as.list(groups)`. `names()`: their labels.
#'   `confint()`: a data frame with one row for each group and coefficient. `vcov()`: a list of matrices, one for each group. `predict()` and `augment()`: as
#'   for a single fit. `groups[i]`: the groups `i`; `groups[[i]]`, and `groups$A` where no part of
#'   the result has that name: the [fit of one group][group];
#'   `length(groups)`: their number.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(600), y = runif(600), tract = rep(1:3, 200))
#' by <- dp_ols(y ~ x, d, method = "exp_theil_sen", epsilon = 8, by = "tract",
#'              bounds = list(x = c(0, 1), y = c(0, 1)))
#' tidy(by)
#' predict(by, data.frame(tract = c(1, 3), x = 0.5))
#' confint(by[["3"]])
#' @name groups
NULL

#' @rdname groups
#' @exportS3Method generics::tidy dp_ols_groups
tidy.dp_ols_groups <- function(x, conf.int = FALSE, conf.level = 0.95, exponentiate = FALSE, ...) {
  leave_aside("tidy", NULL, ...)
  check_flags(conf.int = conf.int, exponentiate = exponentiate)
  terms <- colnames(x$estimates)
  group <- rep(seq_along(x$status), each = length(terms))
  columns <- c(
    lapply(x$groups, function(column) column[group]),
    list(
      term = rep(terms, length(x$status)), estimate = as.vector(t(x$estimates)),
      std.error = as.vector(t(x$errors)), status = x$status[group]
    )
  )
  if (conf.int) columns <- c(columns, group_intervals(x, conf.level))
  if (exponentiate) {
    whole <- columns
    columns <- exponentiated(columns)
    # predictions of a link are means already
    means <- !is.null(x$family) & !columns$term %in% x$coefficients
    columns <- Map(function(changed, own) replace(changed, means, own[means]), columns, whole)
  }
  tibble::as_tibble(columns)
}

# Intervals of 95% come with the groups; others are computed.
group_intervals <- function(x, level) {
  check_level(level)
  if (level == 0.95) return(list(conf.low = as.vector(t(x$low)), conf.high = as.vector(t(x$high))))
  X <- rbind(diag(length(x$coefficients)), x$x_new)
  groups <- seq_along(x$status)
  each <- rep(seq_len(nrow(X)), length(groups))
  at <- rep(groups, each = nrow(X))
  ends <- intervals_of(x$uncertainty, X[each, , drop = FALSE], level, at)
  predicted <- each > length(x$coefficients)
  if (!is.null(x$family)) ends[predicted, ] <- lapply(ends[predicted, ], families[[x$family]]$mean)
  fit <- as.vector(t(x$estimates))[predicted]
  ends[predicted, ] <- held(ends$conf.low[predicted], ends$conf.high[predicted], x$limits$declared, fit)
  as.list(ends)
}

#' @rdname groups
#' @exportS3Method generics::glance dp_ols_groups
glance.dp_ols_groups <- function(x, ...) {
  leave_aside("glance", NULL, ...)
  tibble::as_tibble(c(
    as.list(x$groups),
    list(nobs = rows_of_groups(x), epsilon = x$privacy$epsilon, delta = x$privacy$delta, method = x$method,
         neighbors = x$privacy$neighbors, status = x$status, private = x$privacy$private)
  ))
}

#' @rdname groups
#' @export
nobs.dp_ols_groups <- function(object, ...) {
  rows <- rows_of_groups(object)
  if (length(rows) && all(is.na(rows))) {
    not_released("numbers of rows of groups", "dp_describe(data, columns, by = ), which releases them")
  }
  stats::setNames(rows, names(object))
}

#' @rdname groups
#' @export
df.residual.dp_ols_groups <- function(object, ...) {
  refuse_others("df.residual", ...)
  groups <- seq_along(object$status)
  degrees <- degrees_at(object$uncertainty, groups)
  stats::setNames(rep_len(degrees, length(groups)), names(object))
}

# The number of rows of each group, of groups that an earlier version saved NA.
rows_of_groups <- function(x) {
  rows <- unclass(x)$nobs
  if (is.null(rows)) rep(NA_integer_, length(x)) else as.integer(rows)
}

#' @rdname groups
#' @export
as.data.frame.dp_ols_groups <- function(x, row.names = NULL, optional = FALSE, ...,
                                        conf.int = TRUE) {
  frame <- as.data.frame(tidy(x, conf.int = conf.int, ...))
  as.data.frame(frame, row.names = row.names, optional = optional)
}

#' @rdname groups
#' @export
as.list.dp_ols_groups <- function(x, ...) {
  refuse_others("as.list", ...)
  rows <- tidy(x, conf.int = TRUE)
  columns <- c("term", "estimate", "std.error", "conf.low", "conf.high")
  all <- glance(x)
  fits <- lapply(seq_along(x$status), function(i) {
    of_group <- (i - 1L) * ncol(x$estimates) + seq_along(x$coefficients)
    fit <- x[[i]]
    structure(c(unclass(fit), list(tidy = rows[of_group, columns], glance = all[i, ])),
              class = c("modelsummary_list", class(fit)))
  })
  stats::setNames(fits, group_names(x))
}

#' @rdname groups
#' @export
coef.dp_ols_groups <- function(object, ...) {
  refuse_others("coef", ...)
  wide <- object$estimates[, object$coefficients, drop = FALSE]
  cbind(object$groups, as.data.frame(wide, optional = TRUE))
}

#' @rdname groups
#' @export
confint.dp_ols_groups <- function(object, parm = object$coefficients, level = 0.95, ...) {
  refuse_others("confint", ...)
  rows <- as.data.frame(tidy(object, conf.int = TRUE, conf.level = level))
  unknown <- setdiff(parm, colnames(object$estimates))
  if (length(unknown)) {
    bad_argument("there is no coefficient ", unknown[1L], " to give an interval of; there are ",
                 toString(object$coefficients))
  }
  ends <- rows[rows$term %in% parm, c(names(object$groups), "term", "conf.low", "conf.high")]
  names(ends)[ncol(ends) - 1:0] <- percent_of(level)
  row.names(ends) <- NULL
  ends
}

#' @rdname groups
#' @export
vcov.dp_ols_groups <- function(object, ...) {
  refuse_others("vcov", ...)
  names <- object$coefficients
  matrices <- lapply(seq_along(object$status), function(group) {
    structure(covariance_of(object$uncertainty, group), dimnames = list(names, names))
  })
  stats::setNames(matrices, group_names(object))
}

#' @rdname groups
#' @export
names.dp_ols_groups <- function(x) group_names(x)

#' @rdname groups
#' @export
`names<-.dp_ols_groups` <- function(x, value) {
  if (is.null(value) || identical(value, names(x))) return(x)
  bad_argument("the names of groups are their labels and cannot be set; ",
               "setNames(as.list(groups), names) names a list of the fits")
}

# A name for each group, its labels joined.
group_names <- function(x) do.call(paste, c(lapply(x$groups, label_text), sep = ":"))

#' @rdname groups
#' @export
print.dp_ols_groups <- function(x, ...) {
  cat("\nPrivate regressions, one for each ", paste(names(x$groups), collapse = ", "), ":\n",
      deparse1(written_formula(x)), "\n", sep = "")
  counts <- table(x$status)
  cat("method ", x$method, errors_line(x, x$errors), ", ", privacy_line(x$privacy), "\n",
      nrow(x$groups), if (nrow(x$groups) == 1L) " group: " else " groups: ",
      paste(counts, names(counts), collapse = ", "), "\n\n", sep = "")
  print(tidy(x), ...)
  invisible(x)
}

#' @rdname groups
#' @export
summary.dp_ols_groups <- function(object, ...) {
  refuse_others("summary", ...)
  notes <- c(
    paste("NA, Inf:", object$reasons)[length(object$reasons) > 0L],
    object$notes, object$privacy$guarantee, object$privacy$assumptions
  )
  structure(
    list(
      groups = object,
      quantiles = apply(object$estimates, 2L, stats::quantile, na.rm = TRUE), notes = notes
    ),
    class = "summary.dp_ols_groups"
  )
}

#' @rdname groups
#' @export
print.summary.dp_ols_groups <- function(x, ...) {
  cat("\nPrivate regressions, one for each ", paste(names(x$groups$groups), collapse = ", "), ":\n",
      deparse1(written_formula(x$groups)), "\n\nReleased values over ", nrow(x$groups$groups),
      " groups:\n", sep = "")
  print(t(x$quantiles), digits = 4L)
  cat("\n")
  print_steps(x$groups$privacy$steps)
  print_notes(x$notes)
  invisible(x)
}
