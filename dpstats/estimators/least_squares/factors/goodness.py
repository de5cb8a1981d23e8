"""Compute N, R-squared and the residual variance from released sums in indicators."""

import math

import numpy as np

from dpstats.estimators.least_squares.factors.basis import BlockBasis
from dpstats.estimators.least_squares.factors.elimination import Solution
from dpstats.estimators.least_squares.factors.sums import NoisyBlockSums
from dpstats.inference.goodness_of_fit import Estimate, shown_rsquared


def goodness(
    sums: NoisyBlockSums, basis: BlockBasis, solution: Solution, intercept: bool
) -> dict[str, float]:
    """Return N, R-squared, the residual variance and the mean of the response, with their errors.

    Let u be the coefficients of all coordinates phi = (e_1, ..., e_K, z), A the sum of phi phi', c
    that of phi v and q that of v^2. The residual sum of squares is q - 2 u'c + u'A u, in which
    noise e on q, w on c and E on A add e - 2 u'w + u'E u; that u was fitted to the noisy sums makes
    it too small by ``solution.lost`` on average, which is added. With o the indicators of the block
    with the fewest codes, N = o'A o, m = o'c / N is the mean of v and q - m o'c its sum of squares,
    with the noise e - 2 m o'w + m^2 o'E o. There is no noise on products that are zero in every
    row. So the noise on the quotient r of the two is to first order that of

        (1 - r) e - 2 (u - r m o)'w + u'E u - r m^2 o'E o

    over the second, a sum of independent terms. These are the standard errors: those of the privacy
    noise alone. R-squared is missing where the noise leaves it open
    (:func:`~dpstats.inference.goodness_of_fit.shown_rsquared`).
    """
    u, parts = coefficients(solution, basis)
    products, cross = _products(sums, basis, u, parts), _cross(sums)
    residual = float(sums.square - 2 * u @ cross + products + solution.lost)
    smallest = min(range(len(parts)), key=lambda k: basis.sizes[k])
    o = np.zeros(len(u))
    o[parts[smallest]] = 1.0
    rows, weight = max(solution.rows, 1.0), max(solution.total, 1.0)
    has_constant = intercept or basis.saturated is not None
    mean = float(o @ cross) / weight if has_constant else 0.0
    total = float(sums.square - mean * float(o @ cross) * has_constant)

    def deviation(of_square: float, of_cross: np.ndarray, fit: float, of_mean: float) -> float:
        """Return that of of_square e + of_cross'w + fit u'E u - of_mean o'E o."""
        diagonal = fit * u**2 - of_mean * o
        squares = diagonal @ diagonal + fit**2 * _off_diagonal(u, parts)
        variance = (of_square * sums.square_sd) ** 2 + sums.cross_sd**2 * (of_cross @ of_cross)
        return math.sqrt(variance + sums.gram_sd**2 * squares)

    freedom = max(rows - basis.columns, 1.0)
    unit = basis.box.y_scale**2 / freedom
    scale = Estimate(max(residual, 0.0) * unit, deviation(1.0, -2 * u, 1.0, 0.0) * unit)
    if sums.rows is None:
        counted = Estimate(rows, sums.gram_sd * math.sqrt(basis.sizes[smallest]))
    else:  # the residual variance is that of a row of the largest weight, or of parts of rows
        counted, scale = Estimate(sums.rows + sums.rows_sd, sums.rows_sd), Estimate()
    found = {"fit_rows": counted, "fit_scale": scale}
    ratio = residual / total if total > 0 else math.nan
    noise = deviation(1 - ratio, -2 * (u - ratio * mean * o), 1.0, ratio * mean**2)
    spread = deviation(1.0, -2 * mean * o, 0.0, -(mean**2))
    fitted = Estimate(1 - ratio, noise / max(abs(total), 1e-300))
    if has_constant:
        of_mean = mean * sums.gram_sd * math.sqrt(basis.sizes[smallest])
        of_mean = math.hypot(sums.cross_sd * math.sqrt(basis.sizes[smallest]), of_mean) / weight
        middle, unit = basis.box.y_center, basis.box.y_scale
        center = middle + unit * min(max(mean, -1.0), 1.0)
        found["response_mean"] = Estimate(center, unit * of_mean)
    found["fit_rsquared"], _ = shown_rsquared(fitted, total, spread)
    values = {name: estimate.value for name, estimate in found.items()}
    errors = {f"{name}_error": estimate.error for name, estimate in found.items()}
    return {name: value for name, value in {**values, **errors}.items() if not math.isnan(value)}


def coefficients(solution: Solution, basis: BlockBasis):
    """Return the coefficients of all coordinates, and where those of each block and of z are."""
    ends = np.cumsum([0, *basis.sizes, basis.numbers])
    parts = [slice(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    u, rest = np.zeros(ends[-1]), basis.rest @ solution.gamma
    start = 0
    for k in basis.others:
        u[parts[k]] = rest[start : start + basis.sizes[k]]
        start += basis.sizes[k]
    u[parts[-1]] = rest[start:]
    if basis.saturated is not None:
        u[parts[basis.saturated]] = solution.alpha
    return u, parts[:-1]


def _products(sums: NoisyBlockSums, basis: BlockBasis, u: np.ndarray, parts) -> float:
    """Return u'A u."""
    d = basis.numbers
    z = u[len(u) - d :]
    total = float(z @ sums.gram @ z)
    for k, part in enumerate(parts):
        total += float(u[part] ** 2 @ sums.counts[k] + 2 * u[part] @ sums.levels[k][:, :d] @ z)
    for (j, k), counts in sums.pairs.items():
        total += 2 * float(u[parts[j]] @ counts @ u[parts[k]])
    return total


def _cross(sums: NoisyBlockSums) -> np.ndarray:
    """Return c."""
    return np.concatenate([*(level[:, -1] for level in sums.levels), sums.cross])


def _off_diagonal(u: np.ndarray, parts) -> float:
    """Return the sum of (2 u_j u_k)^2 over pairs j < k whose product is not structurally zero."""
    squares = u**2
    inside = sum(float(squares[part].sum()) ** 2 for part in parts)
    numbers = squares[parts[-1].stop :]
    return 2 * (float(squares.sum()) ** 2 - inside - float(numbers @ numbers))
