# What a fit puts into its column of a comparison.

fact_names <- c("response", "method", "epsilon", "delta", "neighbours", "N", "R-squared",
                "R-squared Adj.", "Pseudo R-squared", "status", "private")

# A p-value is missing where the interval is not bounded, so that no star stands there.
private_column <- function(fit) {
  ends <- confint(fit)
  at <- fit$predictions
  bounded <- unname(is.finite(ends[, 1L]) & is.finite(ends[, 2L]))
  nothing <- rep(NA_real_, nrow(at))
  privacy <- fit$privacy
  hidden <- if (has_rsquared(fit)) character() else figures_of_fit
  list(
    names = names(coef(fit)),
    quantities = data.frame(
      term = c(names(coef(fit)), row.names(at)), estimate = unname(c(coef(fit), at$estimate)),
      std.error = c(fit$table$std.error, at$std.error),
      p.value = c(ifelse(bounded, fit$table$p.value, NA), nothing),
      conf.low = c(unname(ends[, 1L]), nothing), conf.high = c(unname(ends[, 2L]), nothing)
    ),
    facts = facts_of(fit), status = fit$status, private = TRUE,
    caveats = c(paste0(if (!privacy$private) "NOT PRIVATE, ", privacy$guarantee),
                unique(unlist(fit$reasons[setdiff(names(fit$reasons), hidden)])))
  )
}

facts_of <- function(fit) {
  privacy <- fit$privacy
  rows <- rows_line(list(nobs = nobs(fit), fit_statistics = fit$fit_statistics))
  has <- c(rep(has_rsquared(fit), 2L), "prsquared" %in% rownames(fit$fit_statistics))
  squared <- rep("", 3L)
  squared[has] <- vapply(c("rsquared", "rsquared_adj", "prsquared")[has], figure_of, "", fit = fit)
  c(response_of(fit), fit$method, sprintf("%g", privacy$epsilon),
    sprintf("%g", privacy$delta), relation_of(privacy), rows,
    squared, fit$status, if (privacy$private) "yes" else "NO (seeded)")
}

# Links and instruments have no R-squared that could be missing.
has_rsquared <- function(fit) !inherits(fit, c("dp_glm", "dp_iv"))

relation_of <- function(privacy) {
  paste0(privacy$neighbors, if (nzchar(privacy$unit)) paste(" of", privacy$unit))
}

figure_of <- function(fit, name) {
  figure <- fit$fit_statistics[name, ]
  paste0(cell(figure$estimate, "%.3f"),
         if (!is.na(figure$std.error)) sprintf(" (%.2g)", figure$std.error))
}

# The column of a fit of another package, by broom's names.
non_private_column <- function(fit) {
  if (inherits(fit, "dp_ols")) {
    bad_argument("ols takes fits that are not private; put fits by dp_ols() first")
  }
  need_package("broom", "ols")
  table <- tryCatch(generics::tidy(fit, conf.int = TRUE), error = function(e) NULL)
  row <- tryCatch(generics::glance(fit), error = function(e) NULL)
  parts <- c("term", "estimate", "std.error", "p.value", "conf.low", "conf.high")
  if (!all(parts %in% names(table)) || is.null(row$nobs)) {
    bad_argument("expected ols to list fits that tidy() and glance() of the package broom take, as ",
                 "by lm(), got one of class ", class(fit)[1L])
  }
  figure <- function(name) if (is.null(row[[name]])) "" else cell(row[[name]], "%.3f")
  list(
    names = table$term, quantities = as.data.frame(table)[parts], status = "not private",
    facts = c(deparse1(stats::formula(fit)[[2L]]), class(fit)[1L], "", "", "",
              sprintf("%.0f", row$nobs), figure("r.squared"), figure("adj.r.squared"),
              figure("pseudo.r.squared"), "", "NO"),
    private = FALSE,
    caveats = paste("NOT PRIVATE, computed from the rows without noise; no guarantee covers what",
                    "is printed there")
  )
}

need_package <- function(package, argument) {
  if (requireNamespace(package, quietly = TRUE)) return(invisible())
  bad_argument(argument, " needs the package ", package, ": install.packages(\"", package, "\")")
}
