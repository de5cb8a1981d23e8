# Arguments that packages which make tables pass to the methods of every kind of fit.

# For such methods: an argument that asks for other numbers, or is one of the method's own in
# another spelling, is refused; what concerns the look of a table is left aside, with a warning
# where no package is known to pass it. `.covariance` is what the standard errors come from.
leave_aside <- function(.generic, .covariance, ...) {
  others <- list(...)
  names <- entry_names(others)
  own <- own_arguments(sys.function(-1L))
  wrong <- names[!nzchar(names) | spelled_plainly(names) %in% spelled_plainly(own)]
  if (length(wrong)) refuse_argument(.generic, wrong[1L], own)
  set <- names[!vapply(others, is_off, logical(1L))]
  for (name in intersect(set, other_numbers)) {
    if (!asks_for_these(others[[name]], name, .covariance)) refuse_argument(.generic, name, own)
  }
  unknown <- setdiff(set, c(other_numbers, passed_to_all))
  if (length(unknown) && !isFALSE(others$verbose)) {
    warning(.generic, "() of this result disregards ", toString(unknown), call. = FALSE)
  }
}

spelled_plainly <- function(names) gsub("[._]", "", tolower(names))

is_off <- function(value) is.null(value) || isFALSE(value)

# Whether an argument asks for the numbers that there are.
asks_for_these <- function(value, name, vcov) {
  switch(
    name,
    vcov = isTRUE(value) || isTRUE(all.equal(value, vcov, check.attributes = FALSE)),
    ci_method = isTRUE(value %in% c("wald", "normal", "residual")),
    p_adjust = identical(value, "none"),
    FALSE
  )
}

# Arguments by which methods for other fits compute other standard errors, intervals or p-values.
other_numbers <- c(
  "vcov", "vcov.", "vcov_args", "vcov_estimation", "vcov_type", "robust", "cluster", "se",
  "se_type", "se.type", "type", "bootstrap", "standardize", "ci_method", "df_method", "df",
  "p_adjust", "conf.method", "conf.type"
)

# What modelsummary, parameters, performance and broom.helpers pass whatever the fit is.
passed_to_all <- c(
  "verbose", "coef_rename", "gof_map", "gof_function", "shape", "effects", "component",
  "iterations", "pretty_names", "metrics", "estimator", "conf.int", "conf.level", "exponentiate"
)
