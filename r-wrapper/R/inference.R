# Standard errors, intervals and p-values of combinations of coefficients, by the formulas of the
# Python package's dpstats/inference, from what was released of one fit or of many groups.

# The released numbers as arrays whose first index is the group.
new_uncertainty <- function(value) {
  G <- value$groups
  S <- value$size
  shapes <- list(
    params = c(S, G), cov = c(S, S, G), hidden = c(S, S, G), unbounded = G, level = G,
    points = c(S, -1, G), ends = c(2, -1, G), sums = c(6, G), scales = c(2, G),
    squares = c(4, G), line = c(5, G), degrees = G, strength = G
  )
  parts <- lapply(stats::setNames(nm = intersect(names(shapes), names(value))), function(name) {
    values <- numbers(value[[name]])
    shape <- shapes[[name]]
    shape[shape < 0] <- length(values) / prod(shape[shape > 0])
    aperm(array(values, shape))
  })
  c(list(kind = value$kind), parts)
}

# Some of the groups.
uncertainty_of <- function(uncertainty, at) {
  c(uncertainty["kind"], lapply(uncertainty[-1L], function(part) {
    dims <- c(length(at), dim(part)[-1L])
    array(asplit_rows(part)[at, , drop = FALSE], dims)
  }))
}

# An array as a matrix with a row for each group.
asplit_rows <- function(part) matrix(part, dim(part)[1L])

# A matrix for each of several arguments: the entries of a part for the group of each combination.
entries <- function(part, at) asplit_rows(part)[at, , drop = FALSE]

# Standard deviations of combinations, the rows of X, each of the group `at`.
deviations <- function(cov, X, at) {
  S <- ncol(X)
  variance <- if (dim(cov)[1L] == 1L) {
    rowSums((X %*% matrix(cov, S)) * X)
  } else {
    of_rows <- entries(cov, at)
    sums <- lapply(seq_len(S), function(t) {
      rowSums(of_rows[, (t - 1L) * S + seq_len(S), drop = FALSE] * X) * X[, t]
    })
    Reduce(`+`, sums, 0)
  }
  sqrt(pmax(variance, 0))
}

# Where directions that noise could account for make up half of a variance, and where it is of a
# coefficient of which nothing is known, as of the Python package's dpstats/inference/wald.py.
hidden_rows <- function(uncertainty, X, at) {
  if (is.null(uncertainty$hidden)) return(logical(nrow(X)))
  part <- deviations(uncertainty$hidden, X, at)^2
  variances <- entries(uncertainty$hidden, at)[, seq(1, ncol(X)^2, ncol(X) + 1), drop = FALSE]
  overflows <- rowSums(is_true(variances >= 1e300) & X != 0) > 0
  is_true(part >= 0.5 * deviations(uncertainty$cov, X, at)^2) | overflows
}

is_true <- function(x) !is.na(x) & x

# Standard errors, NA where there is no interval.
errors_of <- function(uncertainty, X, at = rep(1L, nrow(X))) {
  if (uncertainty$kind == "ends") return(rep(NA_real_, nrow(X)))
  errors <- deviations(uncertainty$cov, X, at)
  replace(errors, hidden_rows(uncertainty, X, at) | is.nan(errors), NA_real_)
}

# The covariance of the coefficients of one group, NA where one has no interval.
covariance_of <- function(uncertainty, group) {
  S <- ncol(uncertainty$params)
  if (uncertainty$kind == "ends") return(matrix(NA_real_, S, S))
  cov <- matrix(entries(uncertainty$cov, group), S)
  hidden <- hidden_rows(uncertainty, diag(S), rep(group, S))
  cov[hidden, ] <- NA
  cov[, hidden] <- NA
  cov
}

# A data frame of the ends of intervals: infinite where the release agrees with any value, NA where
# there is no valid interval.
intervals_of <- function(uncertainty, X, level, at = rep(1L, nrow(X))) {
  ends <- switch(uncertainty$kind,
    wald = wald_intervals(uncertainty, X, level, at),
    ends = bought_intervals(uncertainty, X, level, at),
    pivot = pivot_intervals(uncertainty, X, level, at)
  )
  ends[is.nan(ends)] <- NA_real_
  data.frame(conf.low = ends[, 1L], conf.high = ends[, 2L])
}

# Degrees of freedom, which clustered standard errors have; infinitely many are the normal law.
degrees_at <- function(uncertainty, at) {
  if (is.null(uncertainty$degrees)) Inf else uncertainty$degrees[at]
}

# Roots f of first-stage F statistics, infinite where there are no instruments.
strength_at <- function(uncertainty, at) {
  if (is.null(uncertainty$strength)) Inf else uncertainty$strength[at]
}

# Critical values by which t-ratios hold with instruments, as of the Python package's
# dpstats/inference/instrument_wald.py.
critical_with_instruments <- function(strength, level, degrees = Inf) {
  z <- stats::qt(level, degrees)
  z / pmax(1 - z / strength, 0)
}

wald_intervals <- function(uncertainty, X, level, at) {
  degrees <- degrees_at(uncertainty, at)
  with_instruments <- critical_with_instruments(strength_at(uncertainty, at), level, degrees)
  critical <- pmax(stats::qt((1 + level) / 2, degrees), with_instruments)
  half <- critical * deviations(uncertainty$cov, X, at)
  half[uncertainty$unbounded[at] == 1 | hidden_rows(uncertainty, X, at)] <- Inf
  center <- rowSums(entries(uncertainty$params, at) * X)
  cbind(center - half, center + half)
}

# Two-sided p-values of the hypotheses that combinations have these values.
p_values_of <- function(uncertainty, X, values) {
  at <- rep(1L, nrow(X))
  p <- switch(uncertainty$kind,
    wald = {
      distance <- rowSums(entries(uncertainty$params, at) * X) - values
      t <- abs(distance) / errors_of(uncertainty, X)
      degrees <- degrees_at(uncertainty, at)
      pmax(2 * stats::pt(-t, degrees),
           stats::pt(-t / (1 + t / strength_at(uncertainty, at)), degrees))
    },
    ends = rep(NA_real_, nrow(X)),
    pivot = pivot_p_values(uncertainty, X, values)
  )
  replace(p, is.nan(p), NA_real_)
}

# Where bought ends hold combinations P of the coefficients in a box, the interval of c'beta adds
# them up with the weights c'P^+; NA for what they do not determine, or a level beyond theirs.
bought_intervals <- function(uncertainty, X, level, at) {
  ends <- matrix(NA_real_, nrow(X), 2L)
  for (group in unique(at)) {
    points <- matrix(entries(uncertainty$points, group), ncol = ncol(X))
    box <- matrix(entries(uncertainty$ends, group), ncol = 2L)
    here <- which(at == group)
    if (is_true(level <= uncertainty$level[group] + 1e-12)) {
      ends[here, ] <- box_intervals(points, box, X[here, , drop = FALSE])
    }
  }
  ends
}

box_intervals <- function(points, box, X) {
  box[is.na(box)] <- rep(c(-Inf, Inf), each = nrow(box))[is.na(box)]
  weights <- X %*% pseudoinverse(replace(points, is.na(points), 0))
  weights[abs(weights) <= 1e-12] <- 0
  known <- apply(abs(weights %*% points - X), 1L, max) < 1e-6
  sum_of <- function(below, above) {
    parts <- sweep(weights, 2L, box[, below], "*")
    swapped <- sweep(weights, 2L, box[, above], "*")
    rowSums(replace(ifelse(weights > 0, parts, swapped), weights == 0, 0))
  }
  replace(cbind(sum_of(1L, 2L), sum_of(2L, 1L)), !is_true(known), NA_real_)
}

pseudoinverse <- function(matrix) {
  parts <- svd(matrix)
  large <- parts$d > 1e-15 * max(parts$d)
  parts$v[, large, drop = FALSE] %*% (t(parts$u[, large, drop = FALSE]) / parts$d[large])
}
