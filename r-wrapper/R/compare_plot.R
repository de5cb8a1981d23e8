# Pictures of comparisons.

# A row for each coefficient that is printed and each column that has it.
drawn_coefficients <- function(comparison) {
  coefficients <- unlist(lapply(comparison$columns, `[[`, "names"))
  terms <- comparison$terms[comparison$terms %in% coefficients]
  parts <- Map(function(column, name) {
    own <- column$quantities[column$quantities$term %in% terms & !is.na(column$quantities$estimate), ]
    stamp <- if (!column$private) ", not private" else if (column$facts[length(fact_names)] != "yes") ", NOT PRIVATE"
    cbind(own, model = rep(paste0(name, stamp), nrow(own)))
  }, unname(comparison$columns), comparison$names)
  table <- do.call(rbind, parts)
  labels <- vapply(terms, label_of, "", comparison$layout)
  table$place <- match(table$term, terms)
  table$label <- labels[table$place]
  table$bounded <- is.finite(table$conf.low) & is.finite(table$conf.high)
  table$model <- factor(table$model, unique(table$model))
  shift <- (as.integer(table$model) - 0.5) / nlevels(table$model) - 0.5
  table$at <- -table$place - 0.8 * shift
  table
}

# The ends of a picture: those of bounded intervals, else of estimates; what is beyond is cut.
picture_span <- function(table) {
  bounded <- table[table$bounded, ]
  shown <- if (nrow(bounded)) c(bounded$conf.low, bounded$conf.high) else table$estimate
  range(shown, 0)
}

#' @rdname dp_compare
#' @export
plot.dp_comparison <- function(x, ...) {
  table <- drawn_coefficients(x)
  models <- nlevels(table$model)
  colours <- grDevices::hcl.colors(models, "Dark 3")[table$model]
  margins <- graphics::par(mar = c(5, 2 + 0.5 * max(nchar(table$label)), 1 + models, 1))
  on.exit(graphics::par(margins))
  own <- list(pch = ifelse(table$bounded, 19, 1), col = colours, yaxt = "n",
              xlim = picture_span(table), xlab = "estimate, 95% interval", ylab = "")
  draw(table$estimate, table$at, ..., own = own)
  edges <- graphics::par("usr")
  graphics::segments(pmax(table$conf.low, edges[1L]), table$at,
                     pmin(table$conf.high, edges[2L]), table$at,
                     col = colours, lty = ifelse(table$bounded, 1, 3))
  graphics::abline(v = 0, lty = 3)
  ticks <- table[!duplicated(table$place), ]
  graphics::axis(2, -ticks$place, ticks$label, las = 1)
  # above the picture, where no interval is
  graphics::legend("bottomright", levels(table$model), inset = c(0, 1), xpd = TRUE, bty = "n", cex = 0.8,
                   col = grDevices::hcl.colors(models, "Dark 3"), pch = 19)
  invisible(x)
}

#' @rdname dp_compare
#' @exportS3Method ggplot2::autoplot
autoplot.dp_comparison <- function(object, ...) {
  refuse_others("autoplot", ...)
  table <- drawn_coefficients(object)
  ticks <- table[!duplicated(table$place), ]
  ggplot2::ggplot(table, ggplot2::aes(.data[["estimate"]], .data[["at"]],
                                      colour = .data[["model"]])) +
    ggplot2::geom_vline(xintercept = 0, linetype = "dotted") +
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = .data[["conf.low"]], xmax = .data[["conf.high"]],
                   linetype = .data[["bounded"]]), na.rm = TRUE
    ) +
    ggplot2::geom_point(ggplot2::aes(shape = .data[["bounded"]])) +
    ggplot2::scale_shape_manual(values = c("TRUE" = 19, "FALSE" = 1), guide = "none") +
    ggplot2::scale_linetype_manual(values = c("TRUE" = 1, "FALSE" = 3), guide = "none") +
    ggplot2::scale_y_continuous(breaks = -ticks$place, labels = unname(ticks$label)) +
    ggplot2::coord_cartesian(xlim = picture_span(table)) +
    ggplot2::labs(x = "estimate, 95% interval", y = NULL, colour = NULL)
}
