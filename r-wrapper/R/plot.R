#' Pictures of private regressions
#'
#' For a fit with one numeric regressor, the line over the regressor's declared range; for other
#' fits, the coefficients with their confidence intervals; for groups, the predictions `p25` and
#' `p75`, one point for each group, or the first two coefficients; for fits of several formulas, the
#' picture of [dp_compare()]. There are no points of the data.
#'
#' @param x,object A result of [dp_ols()].
#' @param level Confidence level.
#' @param ... Passed to [graphics::plot()] by `plot()`; refused by `autoplot()`.
#' @return `plot()` returns `x`, invisibly; `autoplot()` returns a ggplot.
#' @examplesIf dpstats_available()
#' d <- data.frame(x = runif(500), y = runif(500))
#' b <- list(x = c(0, 1), y = c(0, 1))
#' plot(dp_ols(y ~ x, d, method = "adassp", epsilon = 4, bounds = b))
#' @name plot
NULL

# Points of the fitted line with its band, or NULL if there is no single numeric regressor.
line_data <- function(fit, level) {
  if (!is.null(fit$absorbed)) return(NULL)
  names <- formula_variables(stats::delete.response(fit$terms))
  entry <- if (length(names) == 1L) fit$schema[[names]]
  if (is.null(entry$low)) return(NULL)
  at <- data.frame(seq(entry$low, entry$high, length.out = 101L))
  names(at) <- names
  drawn <- predict(fit, at, interval = "confidence", level = level, type = "response")
  data.frame(x = if (names %in% fit$dates) as.Date(at[[1L]], "1970-01-01") else at[[1L]], drawn)
}

axis_names <- function(fit) {
  right <- formula_variables(stats::delete.response(fit$terms))
  c(x = right[1L], y = response_of(fit))
}

# The two quantities of groups that are drawn against each other.
pair_data <- function(groups) {
  if (!length(groups)) bad_argument("there are no groups to draw")
  points <- setdiff(colnames(groups$estimates), groups$coefficients)
  pair <- if (length(points) > 1L) points[1:2] else colnames(groups$estimates)[1:2]
  if (anyNA(pair)) bad_argument("there is one quantity for each group; a picture needs two")
  as.data.frame(groups$estimates[, pair, drop = FALSE], optional = TRUE)
}

#' @rdname plot
#' @export
plot.dp_ols <- function(x, level = 0.95, ...) {
  refuse_which(...)
  line <- line_data(x, level)
  if (is.null(line)) plot_coefficients(x, level, ...) else plot_line(x, line, ...)
  invisible(x)
}

# Draw with the arguments that are given, and of a picture's own those that are not.
draw <- function(x, y, ..., own, by = plot) {
  given <- list(...)
  do.call(by, c(list(x, y), own[setdiff(names(own), entry_names(given))], given))
}

plot_line <- function(fit, line, ...) {
  axes <- axis_names(fit)
  span <- range(unlist(line[c("fit", "lwr", "upr")]), finite = TRUE)
  own <- list(type = "n", ylim = span, xlab = axes[["x"]], ylab = axes[["y"]])
  draw(line$x, line$fit, ..., own = own)
  if (!anyNA(line$lwr)) {
    # what is unbounded goes to the edges of the picture
    edges <- graphics::par("usr")[3:4]
    lower <- pmax(line$lwr, edges[1L])
    upper <- pmin(line$upr, edges[2L])
    graphics::polygon(c(line$x, rev(line$x)), c(lower, rev(upper)), col = "grey85", border = NA)
  }
  graphics::lines(line$x, line$fit, lwd = 2)
}

plot_coefficients <- function(fit, level, ...) {
  table <- tidy(fit, conf.int = TRUE, conf.level = level)
  rows <- rev(seq_len(nrow(table)))
  span <- range(unlist(table[c("estimate", "conf.low", "conf.high")]), finite = TRUE)
  margins <- graphics::par(mar = c(5, 2 + 0.5 * max(nchar(table$term)), 2, 1))
  on.exit(graphics::par(margins))
  own <- list(pch = 19, xlim = span, yaxt = "n", xlab = "estimate", ylab = "")
  draw(table$estimate, rows, ..., own = own)
  edges <- graphics::par("usr")
  graphics::segments(pmax(table$conf.low, edges[1L]), rows, pmin(table$conf.high, edges[2L]), rows)
  graphics::abline(v = 0, lty = 3)
  graphics::axis(2, rows, table$term, las = 1)
}

#' @rdname plot
#' @export
plot.dp_ols_groups <- function(x, ...) {
  refuse_which(...)
  pair <- pair_data(x)
  own <- list(xlab = names(pair)[1L], ylab = names(pair)[2L])
  draw(pair[[1L]], pair[[2L]], ..., own = own)
  graphics::abline(0, 1, lty = 3)
  invisible(x)
}

#' @rdname plot
#' @export
plot.dp_ols_list <- function(x, ...) {
  refuse_which(...)
  plot(drawn_together(x), ...)
  invisible(x)
}

#' @rdname plot
#' @exportS3Method ggplot2::autoplot
autoplot.dp_ols <- function(object, level = 0.95, ...) {
  refuse_others("autoplot", ...)
  line <- line_data(object, level)
  if (!is.null(line)) return(gg_line(object, line))
  table <- tidy(object, conf.int = TRUE, conf.level = level)
  table$term <- factor(table$term, rev(table$term))
  ggplot2::ggplot(table, ggplot2::aes(.data[["estimate"]], .data[["term"]])) +
    ggplot2::geom_vline(xintercept = 0, linetype = "dotted") +
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = .data[["conf.low"]], xmax = .data[["conf.high"]]), na.rm = TRUE
    ) +
    ggplot2::geom_point() +
    ggplot2::labs(y = NULL)
}

gg_line <- function(fit, line) {
  axes <- axis_names(fit)
  ggplot2::ggplot(line, ggplot2::aes(.data[["x"]], .data[["fit"]])) +
    (if (!anyNA(line$lwr)) {
      ggplot2::geom_ribbon(
        ggplot2::aes(ymin = .data[["lwr"]], ymax = .data[["upr"]]), alpha = 0.2
      )
    }) +
    ggplot2::geom_line() +
    ggplot2::labs(x = axes[["x"]], y = axes[["y"]])
}

#' @rdname plot
#' @exportS3Method ggplot2::autoplot
autoplot.dp_ols_groups <- function(object, ...) {
  refuse_others("autoplot", ...)
  pair <- pair_data(object)
  ggplot2::ggplot(pair, ggplot2::aes(.data[[names(pair)[1L]]], .data[[names(pair)[2L]]])) +
    ggplot2::geom_abline(linetype = "dotted") +
    ggplot2::geom_point(alpha = 0.5) +
    ggplot2::labs(x = names(pair)[1L], y = names(pair)[2L])
}

#' @rdname plot
#' @exportS3Method ggplot2::autoplot
autoplot.dp_ols_list <- function(object, ...) {
  refuse_others("autoplot", ...)
  ggplot2::autoplot(drawn_together(object))
}

drawn_together <- function(fits) {
  if (inherits(fits[[1L]], "dp_ols_groups")) {
    bad_argument("a picture has the groups of one formula, as in plot(fits[[1]])")
  }
  dp_compare(fits)
}

#' @importFrom utils globalVariables
globalVariables(".data")
