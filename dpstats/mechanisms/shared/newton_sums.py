"""Add up over rows what noisy Newton steps release: products, counts by size, clipped scores.

Every sum is exact and of functions of one row each, so that a row has the same part in it to the
last bit whatever rows stand beside it.
"""

import numpy as np

from dpstats.mechanisms.shared.indicator_basis import FAR, IndicatorBasis, capped, products
from dpstats.mechanisms.shared.release import Reference
from dpstats.mechanisms.shared.score_tails import LEVERAGE_EDGES, SCORE_EDGES
from dpstats.numerics.clipping import ENTRY_BITS


def rough_products(basis: IndicatorBasis, bound: float, X: np.ndarray, y: np.ndarray):
    """Add up the products of coordinates phi, rows cut to squared norms of at most ``bound``."""
    phi = basis.rows(X)
    squares = basis.ones + np.square(phi[:, basis.indicators :]).cumsum(axis=1)[:, -1:].sum(axis=1)
    return products(capped(phi, squares, bound))


def leverage_counts(basis: IndicatorBasis, map_: np.ndarray, t: float, X: np.ndarray, y):
    """Count rows by squared leverage |a|^2 / t, in the bins of ``LEVERAGE_EDGES``."""
    _, squares = basis.whitened(X, map_)
    return _counts(squares / t, LEVERAGE_EDGES)


def whitened_products(basis: IndicatorBasis, map_: np.ndarray, bound: float, X: np.ndarray, y):
    """Add up the products of whitened rows, cut to squared norms of at most ``bound``."""
    rows, squares = basis.whitened(X, map_)
    return products(capped(rows, squares, bound))


def score_sums(
    basis: IndicatorBasis, map_, reference: Reference, eta, limit: float, weight: float, X, y
) -> np.ndarray:
    """Add up s' and w |s'|^2 / C in units of 2^-20 C, as whole numbers (p + 1,)."""
    rows, left, norms = scores(basis, map_, reference, eta, X, y)
    grid = 2.0**ENTRY_BITS * (1 - 2.0**-30)
    scale = grid / np.maximum(norms, limit)
    sums = np.trunc(rows * (left * scale)[:, None])
    squares = np.trunc(weight * np.minimum(norms / limit, 1.0) ** 2 * grid)
    return np.append(sums.sum(axis=0), squares.sum()).astype(np.int64).astype(object)


def score_counts(basis: IndicatorBasis, map_, reference: Reference, eta, unit: float, X, y):
    """Count rows by the norm of the score over ``unit``, in the bins of ``SCORE_EDGES``."""
    _, _, norms = scores(basis, map_, reference, eta, X, y)
    return _counts(norms / unit, SCORE_EDGES)


def scores(basis: IndicatorBasis, map_, reference: Reference, eta, X: np.ndarray, y: np.ndarray):
    """Return whitened rows (n, p), residuals (n,) and norms of scores (n,), row by row."""
    from dpstats.numerics.whitening import residuals

    rows, squares = basis.whitened(X, map_)
    # a row whose response is infinite in these units still has a score of finite length
    with np.errstate(over="ignore"):  # on any thread, whatever the caller has set
        v = np.clip((y - reference.y_center) / reference.y_scale, -FAR, FAR)
    left = np.empty(len(y))
    residuals(v, rows, eta, left)
    return rows, left, np.sqrt(squares) * np.abs(left)


def _counts(sizes: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.bincount(np.searchsorted(edges, sizes), minlength=len(edges) + 1)
