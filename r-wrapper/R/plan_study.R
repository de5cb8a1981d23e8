#' Plan a study: which epsilon its tables need
#'
#' Forecasts the widths of all intervals of a study file at several epsilons, before anything is spent.
#' Every entry is run as `dpstats run` would run it, with its share of each epsilon, on rows that are
#' not private: those of a public stand-in, or rows drawn from guesses. Beside it stands the same run
#' without privacy. The study's own data are not opened, so nothing is spent, as long as neither
#' guesses nor stand-in come from them.
#'
#' @param study The study file, `.toml`, with data, declarations and entries; `[guesses]` in it may
#'   hold what the arguments `n` to `x_range` say, and these replace it.
#' @param epsilon Privacy losses of the whole study, each > 0, by default from 0.5 to 8; the study's
#'   own is added to them.
#' @param data Public rows that resemble the private ones, with the same columns: a data frame, or
#'   paths as for [dp_ols()].
#' @param n Guessed number of rows, 1 to 10 million; needed without `data`.
#' @param truth Without `data`: guessed coefficients by entry, `list(main = c(educ = 0.1))`, of a
#'   logit in log odds. Those left out are 0, except for intercepts.
#' @param sd Without `data`: guessed standard deviations of residuals by entry, `c(main = 12)`; by
#'   default a sixth of the response's range.
#' @param x_sd,x_range As in [dp_plan()], by column.
#' @param repetitions Runs of every entry at every epsilon, 1 to 1,000; widths are their medians. By
#'   default 9 for up to 13,000 rows, and 3 for more than 30,000.
#' @param seed A whole number. The same call gives the same plan.
#' @param x,object A plan.
#' @param row.names,optional As for [as.data.frame()].
#' @param ... Passed to [graphics::matplot()] by `plot()`; refused by `tidy()` and `autoplot()`.
#' @return An object of class `dp_study_plan`: a list whose `frame` has one row for each table, term
#'   and epsilon, as [as.data.frame()] and `tidy()` give it: the table's `share` and `table_epsilon`,
#'   the median `width` and `nonprivate_width`, their `ratio`, and the share `shown` of runs with a
#'   bounded interval. `tables` has a row for each table, with its share and its median ratio at each
#'   epsilon, and `promise` says in words what the study's own epsilon promises. `plot()` and
#'   `autoplot()` draw the median ratios against epsilon.
#' @examplesIf dpstats_available()
#' study <- tempfile(fileext = ".toml")
#' writeLines(c(
#'   'data = "people.csv"', 'epsilon = 1', 'bounds = { wage = [0, 100], age = [18, 65] }',
#'   '[[ols]]', 'name = "main"', 'formula = "wage ~ age"'
#' ), study)
#' plan <- dp_plan_study(study, epsilon = c(1, 4), n = 5000, truth = list(main = c(age = 0.5)),
#'                       sd = c(main = 12), repetitions = 1)
#' plan
#' plot(plan)
#' @export
dp_plan_study <- function(study, epsilon = c(0.5, 1, 2, 4, 8), data = NULL, n = NULL, truth = NULL,
                          sd = NULL, x_sd = NULL, x_range = NULL, repetitions = NULL, seed = 0) {
  check_given(environment(), "study")
  check_text(study = study)
  arguments <- list(
    study = path.expand(study), epsilon = listed(epsilon),
    data = if (!is.null(data)) study_rows(data), n = n, truth = named_truths(truth),
    sd = named_numbers(sd, "sd"), x_sd = named_numbers(x_sd, "x_sd"),
    x_range = named_lists(x_range, "x_range"), repetitions = repetitions, seed = seed
  )
  new_dp_study_plan(ask("plan_study", arguments))
}

# Public rows as paths, or as all columns of a data frame.
study_rows <- function(data) {
  check_data(data)
  bridge_data(NULL, data, names(data))
}

# By entry, coefficients by name.
named_truths <- function(truth) {
  if (is.null(truth)) return(NULL)
  if (!is.list(truth) || any(entry_names(truth) == "")) {
    bad_argument("expected truth to be a list by entry, such as list(main = c(x = 0.5))")
  }
  check_distinct(names(truth), "truth")
  reticulate::dict(lapply(truth, named_numbers, "truth"))
}

new_dp_study_plan <- function(value) {
  columns <- function(table) {
    made <- Map(function(name, column) {
      if (name %in% c("table", "term")) strings(column) else numbers(column)
    }, names(table), table)
    as.data.frame(made, check.names = FALSE)
  }
  structure(
    list(
      study = value$study, n = value$n, epsilon = value$epsilon, promise = value$promise,
      frame = columns(value$frame), tables = columns(value$tables), text = value$text
    ),
    class = "dp_study_plan"
  )
}

#' @rdname dp_plan_study
#' @export
print.dp_study_plan <- function(x, ...) {
  cat(x$text, "\n", sep = "")
  invisible(x)
}

#' @rdname dp_plan_study
#' @export
summary.dp_study_plan <- function(object, ...) object

#' @rdname dp_plan_study
#' @export
as.data.frame.dp_study_plan <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(x$frame, row.names = row.names, optional = optional, ...)
}

#' @rdname dp_plan_study
#' @exportS3Method generics::tidy dp_study_plan
tidy.dp_study_plan <- function(x, ...) {
  refuse_others("tidy", ...)
  tibble::as_tibble(x$frame)
}

# Epsilons, and the median ratios of each table, with gaps where most intervals are not shown.
planned_ratios <- function(plan) {
  epsilon <- sort(unique(plan$frame$epsilon))
  # tables have a column for each between their share and the even one
  ratios <- t(as.matrix(plan$tables[, 2L + seq_along(epsilon), drop = FALSE]))
  ratios[!is.finite(ratios)] <- NA
  dimnames(ratios) <- list(epsilon, plan$tables$table)
  list(epsilon = epsilon, ratios = ratios)
}

#' @rdname dp_plan_study
#' @export
plot.dp_study_plan <- function(x, ...) {
  drawn <- planned_ratios(x)
  kinds <- seq_len(ncol(drawn$ratios))
  span <- range(1, drawn$ratios, na.rm = TRUE)
  own <- list(type = "b", pch = kinds, lty = 1, col = kinds, log = "xy", xaxt = "n", ylim = span,
              xlab = "epsilon of the study",
              ylab = "width of the median interval / without privacy")
  draw(drawn$epsilon, drawn$ratios, ..., own = own, by = graphics::matplot)
  graphics::axis(1, drawn$epsilon, drawn$epsilon)
  graphics::abline(h = 1, lty = 2, col = "grey40")
  graphics::legend("topright", c(colnames(drawn$ratios), "not private"), bty = "n",
                   pch = c(kinds, NA), lty = c(rep(1, length(kinds)), 2),
                   col = c(kinds, "grey40"))
  invisible(x)
}

#' @rdname dp_plan_study
#' @exportS3Method ggplot2::autoplot
autoplot.dp_study_plan <- function(object, ...) {
  refuse_others("autoplot", ...)
  drawn <- planned_ratios(object)
  long <- data.frame(
    epsilon = rep(drawn$epsilon, ncol(drawn$ratios)), ratio = c(drawn$ratios),
    table = factor(rep(colnames(drawn$ratios), each = length(drawn$epsilon)), colnames(drawn$ratios))
  )
  ggplot2::ggplot(long, ggplot2::aes(
    .data[["epsilon"]], .data[["ratio"]], colour = .data[["table"]], shape = .data[["table"]]
  )) +
    ggplot2::geom_hline(yintercept = 1, linetype = "dashed") +
    ggplot2::geom_line(na.rm = TRUE) +
    ggplot2::geom_point(na.rm = TRUE) +
    ggplot2::scale_x_log10(breaks = drawn$epsilon) +
    ggplot2::scale_y_log10() +
    ggplot2::labs(x = "epsilon of the study", y = "width of the median interval / without privacy",
                  colour = NULL, shape = NULL, caption = "dashed: not private")
}
