"""Add up over rows what noisy Newton steps release: products, counts by size, clipped scores.

Every sum is exact and of functions of one row each, so that a row has the same part in it to the
last bit whatever rows stand beside it.
"""

import math
from collections.abc import Iterator

import numpy as np

from dpstats.mechanisms.shared.indicator_basis import FAR, IndicatorBasis, RowMap
from dpstats.mechanisms.shared.release import Reference
from dpstats.mechanisms.shared.score_tails import LEVERAGE_EDGES, SCORE_EDGES
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import exact_sum

# Rows of a block: few enough for what is computed from them to stay in a cache, and for a sum of
# products of whole numbers up to 2^20 to be exact in doubles.
_ROWS = 1 << 11
# A row is scaled to slightly less than its bound, by more than floating point can add.
_MARGIN = 1 - 2.0**-30


def rough_products(basis: IndicatorBasis, bound: float, X: np.ndarray, y: np.ndarray):
    """Add up the products of coordinates phi, rows cut to squared norms of at most ``bound``."""
    codes = X.T[: len(basis.sizes)]
    blocks = (
        (codes[:, rows], capped(entries, squares + max(basis.ones - 1, 0), bound))
        for entries, squares, rows in _blocks(basis.entries, X)
    )
    return exact_sum((_indicator_products(basis, *block) for block in blocks), (basis.size,) * 2)


def leverage_counts(basis: IndicatorBasis, map_: np.ndarray, t: float, X: np.ndarray, y):
    """Count rows by squared leverage |a|^2 / t, in the bins of ``LEVERAGE_EDGES``."""
    blocks = _blocks(basis.row_map(map_), X)
    return _counts((squares / t for _, squares, _ in blocks), LEVERAGE_EDGES)


def whitened_products(basis: IndicatorBasis, map_: np.ndarray, bound: float, X: np.ndarray, y):
    """Add up the products of whitened rows, cut to squared norms of at most ``bound``."""
    from dpstats.numerics.kernels import products

    blocks = _blocks(basis.row_map(map_), X)
    terms = (products(capped(whitened, squares, bound)) for whitened, squares, _ in blocks)
    return exact_sum(terms, (map_.shape[1],) * 2)


def score_sums(
    basis: IndicatorBasis, map_, reference: Reference, eta, limit: float, weight: float, X, y
) -> np.ndarray:
    """Add up s' and w |s'|^2 / C in units of 2^-20 C, as whole numbers (p + 1,)."""
    blocks = scores(basis, map_, reference, eta, X, y)
    return exact_sum((_clipped(*block, limit, weight) for block in blocks), (len(eta) + 1,))


def score_counts(basis: IndicatorBasis, map_, reference: Reference, eta, unit: float, X, y):
    """Count rows by the norm of the score over ``unit``, in the bins of ``SCORE_EDGES``."""
    blocks = scores(basis, map_, reference, eta, X, y)
    return _counts((norms / unit for _, _, norms in blocks), SCORE_EDGES)


def scores(
    basis: IndicatorBasis, map_, reference: Reference, eta, X: np.ndarray, y: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield whitened rows as columns (p, m), their residuals (m,) and the norms of scores (m,).

    A row whose response is infinite in units of the reference has a score of finite length.
    """
    from dpstats.numerics.whitening import residuals

    center, scale = reference.y_center, reference.y_scale
    for whitened, squares, rows in _blocks(basis.row_map(map_), X):
        left = residuals(np.ascontiguousarray(y[rows]), center, scale, FAR, whitened, eta)
        yield whitened, left, np.sqrt(squares) * np.abs(left)


def _blocks(row_map: RowMap, X: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, slice]]:
    """Yield mapped rows as columns (p, m), squared norms (m,) and which rows of X they are."""
    columns = np.ascontiguousarray(X.T)
    for start in range(0, len(X), _ROWS):
        stop = min(start + _ROWS, len(X))
        yield *row_map.of(columns, start, stop), slice(start, stop)


def _indicator_products(basis: IndicatorBasis, codes: np.ndarray, entries: np.ndarray):
    """Sum the products of the coordinates of few rows: by code, and of any two numbers."""
    from dpstats.numerics.kernels import code_products, products

    if not basis.sizes:
        return products(entries if basis.indicators else entries[1:])
    sums = np.zeros((basis.size, basis.size))
    sums[basis.indicators :, basis.indicators :] = products(entries[1:])
    code_products(np.ascontiguousarray(codes), basis.offsets, entries, sums)
    return sums


def capped(rows: np.ndarray, squares: np.ndarray, bound: float) -> np.ndarray:
    """Scale rows, given as columns (k, m), to a squared norm of at most ``bound``.

    ``squares`` (m,) are their squared norms. They are returned in units of sqrt(bound) 2^-20,
    whole numbers cut toward zero.
    """
    from dpstats.numerics.kernels import cut_rows

    length = np.sqrt(np.maximum(squares / bound, 1.0))
    return cut_rows(rows, 2.0**ENTRY_BITS * _MARGIN / (math.sqrt(bound) * length))


def _clipped(
    whitened: np.ndarray, left: np.ndarray, norms: np.ndarray, limit: float, weight: float
):
    """Sum the scores of few rows, clipped to ``limit``, and their squares, on the grid."""
    from dpstats.numerics.kernels import clipped_scores, cut_sums

    grid = 2.0**ENTRY_BITS * _MARGIN
    factors, squares = clipped_scores(left, norms, limit, weight, grid)
    return np.append(cut_sums(whitened, factors), squares)


def _counts(sizes: Iterator[np.ndarray], edges: np.ndarray) -> np.ndarray:
    """Count sizes in the bins between ascending edges; one at an edge is in the bin below."""
    from dpstats.numerics.kernels import above

    beyond = sum((above(block, edges) for block in sizes), np.zeros(len(edges) + 2, np.int64))
    return beyond[:-1] - beyond[1:]
