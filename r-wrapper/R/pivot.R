# Inference about lines fitted to noisy sums, whose noise is known exactly: the pivot of the Python
# package's dpstats/inference/pivot.py, which derives it. Every argument has a row or an entry for
# each target: a slope, or the prediction at a point.

pivot_intervals <- function(uncertainty, X, level, at) {
  target <- pivot_targets(uncertainty, X, at)
  ends <- unit_intervals(uncertainty, target$unit, at, 1 - level)
  ends <- target$scale * ends + target$shift
  cbind(pmin(ends[, 1L], ends[, 2L]), pmax(ends[, 1L], ends[, 2L]))
}

pivot_p_values <- function(uncertainty, X, values) {
  at <- rep(1L, nrow(X))
  target <- pivot_targets(uncertainty, X, at)
  problem <- pivot_problem(uncertainty, target$unit, at)
  pivot_p(problem, (values - target$shift) / target$scale)
}

# Targets on the unit scale: the point to predict at, NA for the slope, with the factor and the
# summand that bring it back. A prediction c_0 + c_1 x is c_0 times that at c_1 / c_0.
pivot_targets <- function(uncertainty, X, at) {
  line <- entries(uncertainty$line, at)
  first <- line[, 1L] == 0
  constant <- ifelse(first, X[, 2L], X[, 1L])
  slope <- ifelse(first, X[, 1L], X[, 2L])
  level <- constant != 0
  list(
    unit = ifelse(level, (slope / constant - line[, 2L]) / line[, 3L], NA_real_),
    scale = ifelse(level, constant * line[, 5L], slope * line[, 5L] / line[, 3L]),
    shift = ifelse(level, constant * line[, 4L], 0)
  )
}

# The pivot g - theta * g_theta of each target, its residual regressor r_0 + r_1 u, the line
# a + b u under the null, and the sum of r(u)^2.
pivot_problem <- function(uncertainty, unit, at) {
  sums <- entries(uncertainty$sums, at)
  colnames(sums) <- c("n", "u", "v", "uu", "uv", "vv")
  scales <- entries(uncertainty$scales, at)
  parts <- c(as.list(as.data.frame(sums)), list(n_scale = scales[, 1L], scale = scales[, 2L]))
  slope <- is.na(unit)
  z <- ifelse(slope, 0, unit)
  problem <- with(parts, {
    szz <- uu - 2 * z * u + n * z * z
    k <- (u - n * z) / szz
    h <- (uv - z * v) / szz
    r0 <- ifelse(slope, -u / n, 1 + k * z)
    r1 <- ifelse(slope, 1, -k)
    list(
      r0 = r0, r1 = r1,
      g = ifelse(slope, r0 * v + r1 * uv, r0 * v + r1 * uv),
      by_theta = ifelse(slope, r0 * u + uu, r0 * n + r1 * u),
      a0 = ifelse(slope, v / n, -h * z), a1 = ifelse(slope, -u / n, 1 + k * z),
      b0 = ifelse(slope, 0, h), b1 = ifelse(slope, 1, -k),
      spread = n * (r0 + r1 * u / n)^2 + r1^2 * pmax(uu - u^2 / n, scale)
    )
  })
  c(parts, problem, list(squares = entries(uncertainty$squares, at)))
}

some_of <- function(problem, which) {
  lapply(problem, function(x) if (is.matrix(x)) x[which, , drop = FALSE] else x[which])
}

# The standard deviation of the sampling part of the pivot, and factors of the Laplace variables.
pivot_noise <- function(problem, theta) {
  with(problem, {
    a <- a0 + a1 * theta
    b <- b0 + b1 * theta
    rss <- vv - 2 * a * v - 2 * b * uv + a^2 * n + 2 * a * b * u + b^2 * uu
    within <- r0^2 * squares[, 1L] + 2 * r0 * r1 * squares[, 2L] + r1^2 * squares[, 3L]
    noise <- squares[, 4L] * sqrt(r0^4 + r0^2 * r1^2 + (r1 / 2)^4)
    beyond <- pmax(pmax(rss, scale) - squares[, 1L], 0)
    robust <- n / pmax(n - 2, 1) * (pmax(within, 0) + noise)
    list(
      normal = sqrt(robust + spread * beyond / pmax(n - 1, 1)),
      laplace = cbind(scale * r0, scale * r1, scale * (r0 * b + r1 * a), scale * r1 * b,
                      n_scale * r0 * a)
    )
  })
}

pivot_p <- function(problem, theta) {
  noise <- pivot_noise(problem, theta)
  normal_laplace_tail(abs(problem$g - theta * problem$by_theta), noise$normal, noise$laplace)
}

# Intervals on the unit scale; a prediction's are finite only if its group's slope's are.
unit_intervals <- function(uncertainty, unit, at, alpha) {
  slopes <- solved_intervals(uncertainty, rep(NA_real_, length(unique(at))), unique(at), alpha)
  ends <- slopes[match(at, unique(at)), , drop = FALSE]
  level <- which(!is.na(unit) & is.finite(ends[, 1L]))
  if (length(level)) ends[level, ] <- solved_intervals(uncertainty, unit[level], at[level], alpha)
  ends
}

# The thetas that are not rejected: both ends by doubling steps and bisection, all at a time.
solved_intervals <- function(uncertainty, unit, at, alpha) {
  problem <- pivot_problem(uncertainty, unit, at)
  ends <- matrix(NA_real_, length(unit), 2L)
  known <- !is.na(problem$n)
  good <- which(is_true(problem$by_theta > 0) & !is.na(problem$g))
  ends[known, ] <- rep(c(-Inf, Inf), each = sum(known))
  if (!length(good)) return(ends)
  problem <- some_of(problem, good)
  theta <- problem$g / problem$by_theta
  noise <- pivot_noise(problem, theta)
  step <- sqrt(noise$normal^2 + 2 * rowSums(noise$laplace^2)) / problem$by_theta
  found <- cbind(pivot_end(problem, theta, -step, alpha), pivot_end(problem, theta, step, alpha))
  wide <- !is.finite(rowSums(found))
  found[wide, ] <- rep(c(-Inf, Inf), each = sum(wide))
  ends[good, ] <- found
  ends
}

# Where the p-value falls below alpha, going from the estimate in the direction of `step`; a set
# that reaches 1e7 standard errors counts as unbounded.
pivot_end <- function(problem, theta, step, alpha) {
  excess <- function(times, which) {
    pivot_p(some_of(problem, which), theta[which] + times * step[which]) - alpha
  }
  far <- ifelse(excess(1e7, seq_along(theta)) > 0, Inf, 1)
  near <- numeric(length(far))
  below <- above <- rep(1 - alpha, length(far))
  open <- bounded <- which(is.finite(far))
  while (length(open)) {
    below[open] <- excess(far[open], open)
    open <- open[below[open] > 0]
    above[open] <- below[open]
    near[open] <- far[open]
    far[open] <- 1.5 * far[open]
  }
  far[bounded] <- roots(function(times) excess(times, bounded), near[bounded], far[bounded],
                        above[bounded], below[bounded], alpha * 1e-10)
  theta + far * step
}

# Roots between `low`, where f has positive values, and `high`, where it has negative ones, by the
# rule of false position, which halves the value of an end that stays (Dowell and Jarratt 1971).
roots <- function(f, low, high, at_low, at_high, tolerance) {
  side <- numeric(length(low))
  for (i in seq_len(60L)) {
    middle <- high - at_high * (high - low) / (at_high - at_low)
    value <- f(middle)
    if (all(abs(value) < tolerance)) break
    now <- ifelse(value > 0, 1, -1)
    stays <- now == side
    at_high[now > 0 & stays] <- at_high[now > 0 & stays] / 2
    at_low[now < 0 & stays] <- at_low[now < 0 & stays] / 2
    low[now > 0] <- middle[now > 0]
    at_low[now > 0] <- value[now > 0]
    high[now < 0] <- middle[now < 0]
    at_high[now < 0] <- value[now < 0]
    side <- now
  }
  middle
}

# P(|W| >= g) of W = normal Z + the sum of laplace_i L_i, by Fourier inversion at the midpoints of
# intervals, as dpstats/numerics/normal_laplace.py; 0 beyond 12 standard deviations.
normal_laplace_tail <- function(g, normal, laplace) {
  deviation <- sqrt(normal^2 + 2 * rowSums(laplace^2))
  answer <- ifelse(g <= 0, 1, 0 * deviation)
  inner <- which(deviation > 0 & g <= 12 * deviation)
  g <- g[inner] / deviation[inner]
  half <- (normal[inner] / deviation[inner])^2 / 2
  squares <- (laplace[inner, , drop = FALSE] / deviation[inner])^2
  total <- numeric(length(inner))
  for (k in 0:1199) {
    t <- (k + 0.5) * 2 * pi / 50
    phi <- exp(-half * t^2)
    for (j in seq_len(ncol(squares))) phi <- phi / (1 + squares[, j] * t^2)
    live <- phi >= 1e-10
    if (!any(live)) break
    total <- total + live * sin(t * g) * phi / (k + 0.5)
  }
  answer[inner] <- pmin(pmax(1 - 2 / pi * total, 0), 1)
  answer
}
