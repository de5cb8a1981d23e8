# Columns of fits in tables of the package texreg, whose generic extract() is of S4: the method is
# set once texreg is loaded, before or after this package.

tell_texreg <- function(...) {
  for (class in c("dp_ols", "dp_glm", "dp_iv")) {
    methods::setMethod(getExportedValue("texreg", "extract"), methods::className(class, "dpstats"),
                       extract_fit, where = new.env())
  }
}

extract_fit <- function(model, ...) {
  leave_aside("extract", vcov(model), ...)
  do.call(getExportedValue("texreg", "createTexreg"), texreg_parts(model))
}

# What createTexreg() takes. Where an interval is not bounded there is no p-value, and so no star.
# Numbers have two decimals at most there, so delta stands as its logarithm.
texreg_parts <- function(fit) {
  column <- private_column(fit)
  own <- column$quantities[match(column$names, column$quantities$term), ]
  row <- as.list(glance(fit))
  figures <- c(
    "R$^2$" = row$r.squared, "Adj. R$^2$" = row$adj.r.squared, "Pseudo R$^2$" = row$pseudo.r.squared,
    "First-stage F" = row$statistic.weakinst, "Num. obs." = row$nobs, "Epsilon" = row$epsilon,
    "log10(Delta)" = if (row$delta > 0) log10(row$delta), "NOT PRIVATE (seeded)" = if (!row$private) 1
  )
  figures <- figures[!is.na(figures)]
  list(coef.names = own$term, coef = own$estimate, se = own$std.error, pvalues = own$p.value,
       gof.names = names(figures), gof = unname(figures),
       gof.decimal = !names(figures) %in% c("Num. obs.", "NOT PRIVATE (seeded)"))
}
