"""Infer about a line from noisy sums by a pivot whose noise is known exactly."""

import math
from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np

from dpstats.inference.wald import deviations
from dpstats.numerics import Meat
from dpstats.numerics.normal_laplace import tail

# A confidence set that reaches this many standard errors from the estimate counts as unbounded.
_FAR = 1e7


@dataclass(frozen=True)
class Pivot:
    r"""Test and bound G lines fitted to noisy sums of u and v in [-1/2, 1/2].

    For a target theta, the slope or the prediction at a point, let r(u) = r_0 + r_1 u be
    orthogonal to the other coefficient's regressor z_2 and z_1 be the target's own. Then

        G(theta) = sum r(u) (v - theta z_1)

    is, at the true theta, sum r(u) e plus noise that is exactly linear in the noise on the
    sums: r_0 L_v + r_1 L_uv - r_0 a L_n - (r_0 b + r_1 a) L_u - r_1 b L_uu, where a + b u is the
    line. What is approximate: r and the nuisance coefficient are read off the noisy sums, and
    the errors e are taken as of one variance, whose estimate under the null is
    max(residual sum of squares, scale) / (n - 1); the sum of squares of u about its mean is taken
    as at least the scale. Where squared scores were released, the variance of sum r(u) e is read
    off them, as :class:`~dpstats.numerics.sandwich.Meat` does for all directions at once. An
    interval is the set of theta not rejected, by inverting the distribution of
    :func:`~dpstats.numerics.normal_laplace.tail`; there is no matrix to invert that noise could
    make singular, so weak data give long or unbounded intervals, not wrong ones.

    Parameters
    ----------
    sums : numpy.ndarray, shape (G, 6)
        Noisy n, Su, Sv, Suu, Suv and Svv; NaN where nothing was released.
    scales : numpy.ndarray, shape (G, 2)
        Laplace scales of the noise on n (0 where n is public) and on the other sums.
    line : numpy.ndarray, shape (G, 5)
        Public: index of x among the columns, middle and width of the range of x, and of y.
    meat : Meat
        Released sums of e^2, u e^2 and u^2 e^2, as (G, 2, 2).
    """

    sums: np.ndarray
    scales: np.ndarray
    line: np.ndarray
    meat: Meat

    @cached_property
    def squares(self) -> np.ndarray:
        """Return the sums of e^2, u e^2 and u^2 e^2, and the noise on the first, (G, 4)."""
        products = self.meat.products
        sums = products[:, 0, 0], products[:, 0, 1], products[:, 1, 1]
        return np.column_stack([*sums, self.meat.deviation])

    def intervals(self, rows: np.ndarray, alpha: float) -> np.ndarray:
        """Return intervals (G, q, 2) of the combinations ``rows`` (q, 2) of the coefficients."""
        unit, scale, shift = self._targets(rows)
        ends = _intervals(self.sums, self.scales, self.squares, unit, alpha)
        ends = scale[..., None] * ends + shift[..., None]
        return np.sort(ends, axis=2)

    def p_values(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return two-sided p-values (G, q) of rows @ coefficients = values (q,)."""
        unit, scale, shift = self._targets(rows)
        values = (values - shift) / scale
        return _p_values(self.sums, self.scales, self.squares, unit, values)

    @cached_property
    def unbounded(self) -> np.ndarray:
        """Return whether any slope at all is compatible with the release at the 5% level, (G,)."""
        return _unbounded(self.sums, self.scales, self.squares, 0.05)

    def unbounded_at(self, columns: np.ndarray) -> np.ndarray:
        """Tell the ``columns`` (k,) whose coefficients have no bounded interval, (G, k).

        The intercept's is bounded only if the slope's is.
        """
        return np.repeat(self.unbounded[:, None], len(columns), axis=1)

    @np.errstate(all="ignore")
    def errors(self, rows: np.ndarray) -> np.ndarray:
        """Return standard errors (G, q) of linear combinations of the coefficients."""
        return deviations(self.covariance(), rows)

    def covariance(self) -> np.ndarray:
        """Return the covariance (G, 2, 2) of the coefficients to first order; NaN if unbounded.

        With A the matrix of n, Su and Suu, the estimate is off by A^-1 (sum (1, u) e + noise),
        and noise in the two equations is L_v - a L_n - b L_u and L_uv - a L_u - b L_uu.
        """
        cov = _covariances(self.sums, self.scales, self.meat)
        cov[self.unbounded] = np.nan
        column, x_middle, x_width, _, y_width = self.line.T
        to_user = np.zeros_like(cov)
        j = np.nan_to_num(column).astype(int)
        groups = np.arange(len(j))
        to_user[groups, j, 1] = y_width / x_width
        to_user[groups, 1 - j, 0] = y_width
        to_user[groups, 1 - j, 1] = -x_middle * y_width / x_width
        return to_user @ cov @ to_user.transpose(0, 2, 1)

    def _targets(self, rows: np.ndarray):
        """Convert targets to the unit scale, (G, q): the point to predict at, NaN for the slope.

        With them the factor and the summand that bring it back to the user's units. For a
        prediction c_0 + c_1 x that is c_0 times the prediction at c_1 / c_0.
        """
        column, x_middle, x_width, y_middle, y_width = (part[:, None] for part in self.line.T)
        weights = np.where(column == 1, rows.T[:, None], rows[:, ::-1].T[:, None])
        constant, slope = weights
        level = constant != 0
        safe = np.where(level, constant, 1.0)
        unit = np.where(level, (slope / safe - x_middle) / x_width, np.nan)
        scale = np.where(level, constant * y_width, slope * y_width / x_width)
        return unit, scale, np.where(level, constant * y_middle, 0.0)


@numba.njit(cache=True)
def _problem(sums, scales, unit):
    """Return (g, r, line, spread): G = g_0 - theta g_1, r = (r_0, r_1), and the null's line."""
    n, su, sv, suu, suv, svv = sums
    if math.isnan(unit):
        r0, r1 = -su / n, 1.0
        line = np.array([sv / n, -su / n, 0.0, 1.0])
        g1 = r0 * su + r1 * suu
    else:
        sz, szz = su - n * unit, suu - 2 * unit * su + n * unit * unit
        k, h = sz / szz, (suv - unit * sv) / szz
        r0, r1 = 1 + k * unit, -k
        line = np.array([-h * unit, 1 + k * unit, h, -k])
        g1 = r0 * n + r1 * su
    about_mean = max(suu - su * su / n, scales[1])
    spread = n * (r0 + r1 * su / n) ** 2 + r1 * r1 * about_mean
    return np.array([r0 * sv + r1 * suv, g1]), np.array([r0, r1]), line, spread


@numba.njit(cache=True)
def _distribution(sums, scales, squared, r, line, spread, theta):
    """Return the standard deviation of the sampling part and factors of the Laplace variables.

    The sampling variance is n / (n - 2) times the sum of r(u)^2 min(e^2, c^2), at least 0, and
    the standard deviation of its noise; and ``spread``, the sum of r(u)^2, times what the residual
    sum of squares has beyond the released squares, over n - 1.
    """
    n, su, sv, suu, suv, svv = sums
    a, b = line[0] + line[1] * theta, line[2] + line[3] * theta
    rss = svv - 2 * a * sv - 2 * b * suv + a * a * n + 2 * a * b * su + b * b * suu
    one, half = r[0], r[1] / 2
    within = one**2 * squared[0] + 2 * one * r[1] * squared[1] + r[1] ** 2 * squared[2]
    noise = squared[3] * math.sqrt(one**4 + 4 * one**2 * half**2 + half**4)
    beyond = max(max(rss, scales[1]) - squared[0], 0.0)
    robust = n / max(n - 2, 1.0) * (max(within, 0.0) + noise)
    normal = math.sqrt(robust + spread * beyond / max(n - 1, 1.0))
    laplace = scales[1] * np.array(
        [r[0], r[1], r[0] * b + r[1] * a, r[1] * b, r[0] * a * scales[0] / scales[1]]
    )
    return normal, laplace


@numba.njit(cache=True)
def _p_value(sums, scales, squared, problem, theta):
    g, r, line, spread = problem
    normal, laplace = _distribution(sums, scales, squared, r, line, spread, theta)
    return tail(abs(g[0] - theta * g[1]), normal, laplace)


@numba.njit(cache=True)
def _end(sums, scales, squared, problem, start, step, alpha):
    """Find where the p-value falls below alpha, going from ``start`` in the direction of step."""
    if _p_value(sums, scales, squared, problem, start + _FAR * step) > alpha:
        return math.copysign(math.inf, step)
    near, far = 0.0, 1.0
    while _p_value(sums, scales, squared, problem, start + far * step) > alpha:
        near, far = far, 1.5 * far
    for _ in range(26):
        midpoint = (near + far) / 2
        if _p_value(sums, scales, squared, problem, start + midpoint * step) > alpha:
            near = midpoint
        else:
            far = midpoint
    return start + far * step


@numba.njit(cache=True)
def _center(sums, scales, squared, problem):
    """Return the estimate and its standard error, where G falls with theta."""
    g, r, line, spread = problem
    theta = g[0] / g[1]
    normal, laplace = _distribution(sums, scales, squared, r, line, spread, theta)
    return theta, math.sqrt(normal**2 + 2 * np.sum(laplace**2)) / g[1]


@numba.njit(cache=True)
def _interval(sums, scales, squared, unit, alpha):
    """Find both ends of the interval; a prediction's are finite only if the slope's are."""
    problem = _problem(sums, scales, unit)
    g = problem[0]
    if math.isnan(g[0]) or g[1] <= 0:
        return -math.inf, math.inf
    theta, step = _center(sums, scales, squared, problem)
    low = _end(sums, scales, squared, problem, theta, -step, alpha)
    high = _end(sums, scales, squared, problem, theta, step, alpha)
    if math.isinf(low) or math.isinf(high):
        return -math.inf, math.inf
    return low, high


@numba.njit(cache=True)
def _unbounded(sums, scales, squared, alpha):
    """Tell where the interval of the slope is unbounded, by its p-values far away alone."""
    result = np.zeros(len(sums), dtype=np.bool_)
    for i in range(len(sums)):
        if math.isnan(sums[i, 0]):
            continue
        problem = _problem(sums[i], scales[i], math.nan)
        g = problem[0]
        result[i] = math.isnan(g[0]) or g[1] <= 0
        if not result[i]:
            theta, step = _center(sums[i], scales[i], squared[i], problem)
            for far in (-_FAR * step, _FAR * step):
                beyond = _p_value(sums[i], scales[i], squared[i], problem, theta + far)
                result[i] = result[i] or beyond > alpha
    return result


@numba.njit(cache=True)
def _intervals(sums, scales, squared, units, alpha):
    ends = np.full((*units.shape, 2), np.nan)
    for i in range(len(units)):
        if math.isnan(sums[i, 0]):
            continue
        slope = _interval(sums[i], scales[i], squared[i], math.nan, alpha)
        for j in range(units.shape[1]):
            if math.isinf(slope[0]) or math.isnan(units[i, j]):
                ends[i, j] = slope
            else:
                ends[i, j] = _interval(sums[i], scales[i], squared[i], units[i, j], alpha)
    return ends


@numba.njit(cache=True)
def _p_values(sums, scales, squared, units, values):
    result = np.full(units.shape, np.nan)
    for i in range(len(units)):
        if not math.isnan(sums[i, 0]):
            for j in range(units.shape[1]):
                problem = _problem(sums[i], scales[i], units[i, j])
                result[i, j] = _p_value(sums[i], scales[i], squared[i], problem, values[i, j])
    return result


def _covariances(sums: np.ndarray, scales: np.ndarray, meat: Meat) -> np.ndarray:
    """Compute the covariance of intercept and slope on the unit scale, (G, 2, 2)."""
    n, su, sv, suu, suv, svv = sums.T
    gram = np.array([[n, su], [su, suu]]).transpose(2, 0, 1)
    determinant = n * suu - su * su
    determinant = np.where(determinant > 0, determinant, np.nan)
    inverse = np.array([[suu, -su], [-su, n]] / determinant).transpose(2, 0, 1)
    a, b = np.einsum("gij,gj->ig", inverse, np.array([sv, suv]).T)
    energy = np.maximum(svv - a * sv - b * suv, scales[:, 1])
    of_n, of_sums = 2 * scales.T**2
    noise = np.array(
        [
            [of_sums * (1 + b * b) + of_n * a * a, of_sums * a * b],
            [of_sums * a * b, of_sums * (1 + a * a + b * b)],
        ]
    ).transpose(2, 0, 1)
    return inverse @ (meat.covariance(gram, energy, n) + noise) @ inverse
