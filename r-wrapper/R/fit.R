# The fitted object: plain values only, so that it can be saved and outlives Python.

new_dp_ols <- function(value) {
  names <- strings(value$names)
  named <- function(values) stats::setNames(numbers(values), names)
  fit <- list(
    coefficients = named(value$estimate),
    vcov = matrix(numbers(value$vcov), length(names), dimnames = list(names, names)),
    table = data.frame(
      estimate = numbers(value$estimate), std.error = numbers(value$std_error),
      statistic = numbers(value$statistic), p.value = numbers(value$p_value),
      conf.low = numbers(value$conf_low), conf.high = numbers(value$conf_high),
      row.names = names
    ),
    predictions = data.frame(predicted(value$predictions), row.names = strings(value$points)),
    nobs = numbers(value$nobs),
    fit_statistics = data.frame(
      estimate = numbers(value$fit_statistics$estimate),
      std.error = numbers(value$fit_statistics$std_error),
      row.names = strings(value$fit_statistics$name)
    ),
    status = value$status,
    cov_type = value$cov_type,
    reasons = lapply(value$reasons, as.character),
    selected = strings(value$selected),
    method = value$method,
    method_report = value$method_report,
    notes = strings(value$notes),
    limits = lapply(value$limits, numbers),
    clipping = lapply(value$clipping, numbers),
    polynomials = lapply(value$polynomials, numbers),
    privacy = privacy(value$privacy),
    # nothing is declared of an absorbed column
    schema = lapply(Filter(length, value$schema), schema_entry),
    uncertainty = new_uncertainty(value$uncertainty),
    state = value$state
  )
  fit$family <- family_of(value$model)
  own <- switch(value$model, Logit = , Poisson = "dp_glm", `IV-2SLS` = "dp_iv")
  structure(with_instruments(with_terms(fit, value$formula), value$instruments), class = c(own, "dp_ols"))
}

# The family of a model with a link, else NULL.
family_of <- function(model) switch(model, Logit = "binomial", Poisson = "poisson")

privacy <- function(value) {
  list(
    epsilon = value$epsilon, delta = value$delta, neighbors = value$neighbors,
    unit = value$unit, max_rows = value$max_rows, together = value$together,
    private = value$private, gaussian = value$gaussian, mu = value$mu, failing = value$failing,
    guarantee = value$guarantee,
    assumptions = strings(value$assumptions),
    steps = data.frame(
      step = strings(value$step), mechanism = strings(value$mechanism),
      sensitivity = numbers(value$sensitivity), scale = numbers(value$scale),
      share = numbers(value$share)
    )
  )
}

# Predictions with their errors and intervals, by broom's names.
predicted <- function(value) {
  list(
    estimate = numbers(value$mean), std.error = numbers(value$mean_se),
    conf.low = numbers(value$mean_ci_lower), conf.high = numbers(value$mean_ci_upper)
  )
}

schema_entry <- function(entry) {
  if (is.null(entry$levels)) return(list(low = entry$low, high = entry$high))
  list(levels = strings(entry$levels), ordered = entry$ordered, logical = entry$logical)
}

# Terms, levels and contrasts as lm keeps them, from public facts. The formula's environment is
# the global one: the caller's would save his variables, the data among them, with the fit.
with_terms <- function(fit, text) {
  written <- stats::as.formula(text, env = globalenv())
  fit$absorbed <- after_bar(written)[1L]
  fit$terms <- terms_of(without_absorbed(written), names(fit$schema))
  shown <- if (is.null(fit$absorbed)) stats::formula(fit$terms) else written
  fit$call <- call("dp_ols", formula = shown, epsilon = fit$privacy$epsilon)
  right <- right_side(fit)
  frame <- suppressWarnings(stats::model.frame(right, public_frame(fit$schema)))
  fit$xlevels <- stats::.getXlevels(right, frame)
  factors <- Filter(function(x) is.factor(x) || is.logical(x), frame)
  coded <- vapply(factors, function(x) !is.null(attr(x, "contrasts")), logical(1L))
  contrasts <- lapply(factors[!coded], function(x) {
    if (is.ordered(x)) "contr.poly" else "contr.treatment"
  })
  fit$contrasts <- if (length(contrasts)) contrasts
  fit
}

# The columns after |, or NULL: the effects of the first are absorbed, the others are indicators.
after_bar <- function(formula) {
  right <- formula[[length(formula)]]
  if (is.call(right) && identical(right[[1L]], as.name("|"))) all.vars(right[[3L]])
}

# The regression, without the column that is absorbed, whose effects are its intercepts:
# y ~ 0 + g | state codes g as y ~ g | state does.
without_absorbed <- function(formula) {
  columns <- after_bar(formula)
  if (!is.null(columns)) formula[[3L]] <- formula[[3L]][[2L]]
  for (column in columns[-1L]) {
    formula[[3L]] <- call("+", formula[[3L]], call("factor", as.name(column)))
  }
  if (length(columns) && !attr(stats::terms(formula), "intercept")) {
    formula[[3L]] <- call("+", formula[[3L]], 1)
  }
  formula
}

# The right-hand side, in which poly(), i() and as.Date() are those of this package.
right_side <- function(fit) {
  right <- indicators_first(stats::delete.response(fit$terms))
  own <- list(i = level_indicators, as.Date = days)
  if (length(fit$polynomials)) own$poly <- public_poly(fit$polynomials)
  environment(right) <- list2env(own, parent = globalenv())
  right
}

# Dates as numbers of days, which columns of dates are here.
days <- function(x, ...) as.numeric(as.Date(x, ...))

# Terms with the variables of i() before others, as fixest names year::2010:treated.
indicators_first <- function(terms) {
  variables <- as.list(attr(terms, "variables"))[-1L]
  order <- order(!vapply(variables, is_indicators, TRUE))
  if (!is.unsorted(order)) return(terms)
  attr(terms, "variables") <- as.call(c(as.name("list"), variables[order]))
  attr(terms, "factors") <- attr(terms, "factors")[order, , drop = FALSE]
  terms
}

is_indicators <- function(variable) is.call(variable) && identical(variable[[1L]], as.name("i"))

# Indicators of the levels of x but ref, times z, as i() of fixest makes them.
level_indicators <- function(x, z = NULL, ref = NULL) {
  kept <- setdiff(levels_of(x), label_text(ref))
  columns <- vapply(kept, function(level) as.numeric(x == level), numeric(length(x)))
  columns <- matrix(columns, length(x), dimnames = list(NULL, indicator_names(kept, substitute(z))))
  if (is.null(z)) columns else columns * z
}

levels_of <- function(x) if (is.logical(x)) c("FALSE", "TRUE") else levels(x)

indicator_names <- function(kept, z) {
  paste0("::", kept, if (!is.null(z)) paste0(":", written_name(z)))
}

# A name as it stands in a formula, `my year` in backticks.
written_name <- function(expression) deparse1(expression, backtick = TRUE)

# Names of design columns, year::2010:treated for i(year, treated, ref = 2009)::2010:treated. A call
# with one column has its name alone in R.
named_as_fixest <- function(names, terms, schema) {
  for (each in Filter(is_indicators, as.list(attr(terms, "variables")))) {
    written <- deparse1(each, control = NULL) # as R names columns, with 2 for 2L
    parts <- match.call(level_indicators, each)
    kept <- setdiff(schema[[as.character(parts$x)]]$levels, label_text(eval(parts$ref)))
    alone <- if (length(kept) == 1L) indicator_names(kept, parts$z)
    names <- sub(written, paste0(written_name(parts$x), alone), names, fixed = TRUE)
  }
  names
}

# poly() over public ranges: Legendre polynomials P1, P2 and so on, orthonormal for a uniform
# column, or raw powers.
public_poly <- function(ranges) {
  function(x, degree = 1, raw = FALSE) {
    range <- ranges[[all.vars(substitute(x))]]
    t <- if (raw) x else (x - range[1L]) / (range[2L] - range[1L]) * 2 - 1
    names <- if (degree > 1) paste0(if (!raw) "P", seq_len(degree))
    columns <- matrix(t, length(x), degree, dimnames = list(NULL, names))
    before <- 1
    for (j in seq_len(degree - 1L)) {
      now <- columns[, j]
      columns[, j + 1L] <- if (raw) t * now else ((2 * j + 1) * t * now - j * before) / (j + 1)
      before <- now
    }
    if (raw) columns else sweep(columns, 2L, sqrt(2 * seq_len(degree) + 1), "*")
  }
}

# Terms without those that were taken away, as in y ~ . - x: their variables are in no schema.
terms_of <- function(formula, variables) {
  terms <- stats::terms(formula)
  if (all(formula_variables(formula) %in% variables)) return(terms)
  formula[[3L]] <- sum_of_terms(terms)
  stats::terms(formula)
}

# The right-hand side of terms that are left, each variable in parentheses that is a condition, which
# simplify = TRUE of R leaves out.
sum_of_terms <- function(terms) {
  variables <- lapply(as.list(attr(terms, "variables"))[-1L], function(variable) {
    if (is.null(bare_condition(variable))) variable else call("(", variable)
  })
  factors <- attr(terms, "factors")
  crossed <- lapply(seq_along(attr(terms, "term.labels")), function(term) {
    Reduce(function(a, b) call(":", a, b), variables[factors[, term] > 0])
  })
  intercept <- as.numeric(attr(terms, "intercept"))
  if (!length(crossed)) return(intercept)
  right <- Reduce(function(a, b) call("+", a, b), crossed)
  if (intercept) right else call("-", right, 1)
}

# Synthetic rows that cover the declared ranges and levels.
public_frame <- function(schema) {
  n <- max(2L, vapply(schema, function(entry) length(entry$levels), integer(1L)))
  as.data.frame(
    lapply(schema, function(entry) {
      if (is.null(entry$levels)) return(seq(entry$low, entry$high, length.out = n))
      as_declared(rep_len(entry$levels, n), entry)
    }),
    optional = TRUE
  )
}

as_declared <- function(values, entry) {
  if (entry$logical) return(as.logical(values))
  labels <- as.character(values)
  unknown <- !labels %in% entry$levels # R writes 1e+05, and levels of a factor may be so
  labels[unknown] <- label_text(values)[unknown]
  factor(labels, levels = entry$levels, ordered = entry$ordered)
}

# Labels as texts, 100000 of a double too, for which as.character() has 1e+05.
label_text <- function(values) {
  if (!is.numeric(values)) return(as.character(values))
  replace(sprintf("%.15g", values), is.na(values), NA)
}
