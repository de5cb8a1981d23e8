# Pictures of descriptions.

# The bars of each picture, with where they are drawn: outer ones are as wide as their neighbours.
drawn_bars <- function(description) {
  table <- description$histogram
  if (is.null(table)) {
    bad_argument("histograms were not asked for; call dp_describe(..., histogram = TRUE), which ",
                 "costs no more")
  }
  by <- setdiff(names(table), c("variable", "level", "left", "right", "count", "std.error",
                                "conf.low", "conf.high"))
  table$picture <- if (length(by)) paste0(table$variable, ", ", by, " = ", table[[by]]) else table$variable
  table$picture <- factor(table$picture, unique(table$picture))
  table$outer <- is.infinite(table$left) | is.infinite(table$right)
  do.call(rbind, unname(lapply(split(as.data.frame(table), table$picture), placed_bars)))
}

placed_bars <- function(table) {
  if (all(is.na(table$left))) {
    table$left <- seq_len(nrow(table)) - 0.4
    table$right <- table$left + 0.8
    return(table)
  }
  widths <- (table$right - table$left)[is.finite(table$right - table$left)]
  usual <- if (length(widths)) stats::median(widths) else 1
  last <- nrow(table)
  if (is.infinite(table$left[1L])) {
    table$left[1L] <- (if (is.finite(table$right[1L])) table$right[1L] else 0) - usual
  }
  if (is.infinite(table$right[last])) table$right[last] <- table$left[last] + usual
  table
}

#' @rdname dp_describe
#' @export
plot.dp_description <- function(x, ...) {
  pictures <- split(bars <- drawn_bars(x), bars$picture)
  across <- if (length(pictures) > 3L) ceiling(sqrt(length(pictures))) else length(pictures)
  settings <- graphics::par(mfrow = c(ceiling(length(pictures) / across), across),
                            mar = c(3, 4, 2, 1))
  on.exit(graphics::par(settings))
  for (name in names(pictures)) {
    own <- pictures[[name]]
    middle <- (own$left + own$right) / 2
    of_levels <- !anyNA(own$level)
    set <- list(type = "n", main = name, xlab = "", ylab = "count",
                xaxt = if (of_levels) "n" else "s")
    draw(range(own$left, own$right), c(0, max(own$conf.high, 1)), ..., own = set)
    if (of_levels) graphics::axis(1, middle, own$level)
    graphics::rect(own$left, 0, own$right, own$count, border = "white",
                   col = ifelse(own$outer, "grey85", "grey65"))
    graphics::segments(middle, own$conf.low, middle, own$conf.high)
  }
  invisible(x)
}

#' @rdname dp_describe
#' @exportS3Method ggplot2::autoplot
autoplot.dp_description <- function(object, ...) {
  refuse_others("autoplot", ...)
  bars <- drawn_bars(object)
  bars$middle <- (bars$left + bars$right) / 2
  levels <- bars[!is.na(bars$level), ]
  ggplot2::ggplot(bars) +
    ggplot2::geom_rect(ggplot2::aes(
      xmin = .data[["left"]], xmax = .data[["right"]], ymin = 0, ymax = .data[["count"]],
      alpha = .data[["outer"]]
    ), fill = "#0072B2", colour = "white") +
    ggplot2::geom_linerange(ggplot2::aes(
      .data[["middle"]], ymin = .data[["conf.low"]], ymax = .data[["conf.high"]]
    )) +
    ggplot2::geom_text(ggplot2::aes(.data[["middle"]], 0, label = .data[["level"]]), levels,
                       vjust = 1.2, size = 3) +
    ggplot2::scale_alpha_manual(values = c("FALSE" = 0.65, "TRUE" = 0.3), guide = "none") +
    ggplot2::facet_wrap(ggplot2::vars(.data[["picture"]]), scales = "free") +
    ggplot2::labs(x = NULL, y = "count", caption = "pale bars hold all beyond")
}
