# Pictures of a plan: errors of a term against epsilon, on logarithmic axes.

# Rows of the private methods, failures left as gaps, and the error of least squares.
planned_errors <- function(plan, term) {
  if (is.null(term)) term <- plan$slopes[1L]
  rows <- plan$frame[plan$frame$term == term, ]
  if (!nrow(rows)) {
    bad_argument("expected term to be one of ", toString(unique(plan$frame$term)))
  }
  size <- ""
  if (!is.null(rows$rows)) {
    sizes <- unique(rows$rows)
    rows <- rows[rows$rows == sizes[length(sizes) %/% 2L + 1L], ]
    size <- paste(",", format(rows$rows[1L], big.mark = ","), "rows a group")
  }
  private <- rows[is.finite(rows$epsilon), ]
  private[c("error", "error_90")] <- lapply(private[c("error", "error_90")], function(error) {
    replace(error, !is.finite(error), NA)
  })
  private$method <- factor(private$method, unique(private$method))
  list(private = private, ols = rows$error[!is.finite(rows$epsilon)],
       title = paste0("error of ", term, size))
}

#' @rdname dp_plan
#' @export
plot.dp_plan <- function(x, term = NULL, ...) {
  drawn <- planned_errors(x, term)
  private <- drawn$private
  wide <- tapply(private$error, private[c("epsilon", "method")], identity)
  upper <- tapply(private$error_90, private[c("epsilon", "method")], identity)
  kinds <- seq_len(ncol(wide))
  span <- range(wide, upper, drawn$ols, na.rm = TRUE)
  epsilon <- as.numeric(rownames(wide))
  own <- list(type = "b", pch = kinds, lty = 1, col = kinds, log = "xy", xaxt = "n", ylim = span,
              xlab = "epsilon", ylab = drawn$title)
  draw(epsilon, wide, ..., own = own, by = graphics::matplot)
  at <- graphics::axTicks(1)
  graphics::axis(1, at, format(at, scientific = FALSE, drop0trailing = TRUE, trim = TRUE))
  graphics::matlines(epsilon, upper, lty = 3, col = kinds)
  graphics::abline(h = drawn$ols, lty = 2, col = "grey40")
  graphics::legend(
    "topright", c(colnames(wide), "90th percentile", "ols (not private)"), bty = "n",
    pch = c(kinds, NA, NA), lty = c(rep(1, ncol(wide)), 3, 2), col = c(kinds, "black", "grey40")
  )
  invisible(x)
}

#' @rdname dp_plan
#' @exportS3Method ggplot2::autoplot
autoplot.dp_plan <- function(object, term = NULL, ...) {
  refuse_others("autoplot", ...)
  drawn <- planned_errors(object, term)
  ggplot2::ggplot(drawn$private, ggplot2::aes(
    .data[["epsilon"]], .data[["error"]], colour = .data[["method"]], shape = .data[["method"]]
  )) +
    ggplot2::geom_hline(yintercept = drawn$ols, linetype = "dashed") +
    ggplot2::geom_line(na.rm = TRUE) +
    ggplot2::geom_point(na.rm = TRUE) +
    ggplot2::geom_line(ggplot2::aes(y = .data[["error_90"]]), linetype = "dotted", na.rm = TRUE) +
    ggplot2::scale_x_log10() +
    ggplot2::scale_y_log10() +
    ggplot2::labs(y = drawn$title, colour = NULL, shape = NULL,
                  caption = "median, 90th percentile dotted; dashed: least squares, not private")
}
