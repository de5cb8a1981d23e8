"""Add up over rows what noisy Newton steps release: products, counts by size, clipped scores.

Every sum is exact and of functions of one row each, so that a row has the same part in it to the
last bit whatever rows stand beside it. With privacy units it is of functions of all rows of one
unit, whose parts add up to at most 1, and in whatever order they stand.
"""

import math
from collections.abc import Iterator

import numpy as np

from dpstats.estimators.contract import Reference
from dpstats.estimators.newton.indicator_basis import FAR, IndicatorBasis, RowMap
from dpstats.estimators.newton.score_tails import LEVERAGE_EDGES, SCORE_EDGES
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import exact_sum, whole_weights

# Rows of a block: few enough for what is computed from them to stay in a cache, and for a sum of
# products of whole numbers up to 2^20 to be exact in doubles.
_ROWS = 1 << 11
# A row is scaled to slightly less than its bound, by more than floating point can add.
_MARGIN = 1 - 2.0**-30
_ONE = 2.0**ENTRY_BITS
# Parts of a score, in units of 2^-20 of its limit, are cut here: 2^20 of them add up exactly.
_FARTHEST = 2.0**33


def rough_products(basis: IndicatorBasis, bound: float, rows: Rows):
    """Add up the products of coordinates phi, rows cut to squared norms of at most ``bound``."""
    codes, parts, ones = _codes(rows), parts_of(rows), max(basis.ones - 1, 0)
    blocks = (
        (codes[:, own], capped(entries, squares + ones, bound, parts[own]))
        for entries, squares, own in _blocks(basis.entries, rows)
    )
    return exact_sum((_indicator_products(basis, *block) for block in blocks), (basis.size,) * 2)


def leverage_counts(basis: IndicatorBasis, map_: np.ndarray, t: float, rows: Rows):
    """Count rows by squared leverage |a|^2 / t, in the bins of ``LEVERAGE_EDGES``.

    Where rows count for parts these are added up, in units of 2^-20.
    """
    to = basis.row_map(map_)
    if rows.parts is not None:
        parts, blocks = parts_of(rows), _blocks(to, rows)
        return _parts_by_size(((squares / t, parts[own]) for _, squares, own in blocks))
    from dpstats.numerics.score_loops import leverages_above

    return _in_bins(leverages_above(*_columns(rows), tuple(to), FAR, t, LEVERAGE_EDGES))


def whitened_products(basis: IndicatorBasis, map_: np.ndarray, bound: float, rows: Rows):
    """Add up the products of whitened rows, cut to squared norms of at most ``bound``."""
    from dpstats.numerics.kernels import products

    blocks, parts = _blocks(basis.row_map(map_), rows), parts_of(rows)
    terms = (
        products(capped(whitened, squares, bound, parts[own])) for whitened, squares, own in blocks
    )
    return exact_sum(terms, (map_.shape[1],) * 2)


def score_sums(
    basis: IndicatorBasis, map_, reference: Reference, eta, limit: float, cut: float, weight: float,
    rows: Rows,
) -> np.ndarray:  # fmt: skip
    """Add up s' and w C min(|e| / cut, 1)^2 in units of 2^-20 C, as whole numbers (p + 1,).

    e is the residual of a row. Units, and rows that count for parts, have w |s'|^2 / C.
    """
    if rows.parts is not None:
        s = clipped_unit_scores(basis, map_, reference, eta, limit, rows)
        squares = np.trunc(weight * 2.0**-ENTRY_BITS * (s**2).sum(axis=0))
        blocks = (np.vstack([s, squares])[:, i : i + _ROWS] for i in range(0, s.shape[1], _ROWS))
        return exact_sum((block.sum(axis=1) for block in blocks), (len(eta) + 1,))
    from dpstats.numerics.score_loops import clipped_sums

    of_rows = _score_arguments(basis, map_, reference, eta, rows)
    return clipped_sums(*of_rows, limit, cut, weight, _ONE * _MARGIN).astype(np.int64)


def score_counts(basis: IndicatorBasis, map_, reference: Reference, eta, unit: float, rows: Rows):
    """Count rows by the norm of the score over ``unit``, in the bins of ``SCORE_EDGES``."""
    if rows.parts is not None:
        _, norms = unit_scores(basis, map_, reference, eta, unit, rows)
        bins = np.searchsorted(SCORE_EDGES, norms)
        return np.bincount(bins, minlength=len(SCORE_EDGES) + 1)
    from dpstats.numerics.score_loops import scores_above

    of_rows = _score_arguments(basis, map_, reference, eta, rows)
    return _in_bins(scores_above(*of_rows, unit, SCORE_EDGES))


def score_products(
    basis: IndicatorBasis, map_, reference: Reference, eta, limit: float, rows: Rows
) -> np.ndarray:
    """Add up s' s'' over clipped scores s' of rows, or units, in units of C^2 2^-40, (p, p)."""
    blocks = clipped_scores(basis, map_, reference, eta, limit, rows)
    return exact_sum((block @ block.T for block in blocks), (len(eta),) * 2)


def clipped_scores(
    basis: IndicatorBasis, map_, reference: Reference, eta, limit: float, rows: Rows
) -> Iterator[np.ndarray]:
    """Yield scores of rows, or units, clipped to ``limit``; whole numbers (p, m) of 2^-20 of it."""
    from dpstats.numerics.kernels import cut_rows

    if rows.parts is not None:
        s = clipped_unit_scores(basis, map_, reference, eta, limit, rows)
        yield from (s[:, i : i + _ROWS] for i in range(0, s.shape[1], _ROWS))
        return
    for whitened, left, norms in scores(basis, map_, reference, eta, rows):
        yield cut_rows(whitened, left * (_ONE * _MARGIN / np.maximum(norms, limit)))


def clipped_unit_scores(
    basis: IndicatorBasis, map_, reference: Reference, eta, limit: float, rows: Rows
) -> np.ndarray:
    """Clip the scores of units to the norm ``limit``; whole numbers (p, units) of 2^-20 of it."""
    s, norms = unit_scores(basis, map_, reference, eta, limit, rows)
    return np.trunc(s * (_MARGIN / np.maximum(norms, 1.0)))


def unit_scores(
    basis: IndicatorBasis, map_, reference: Reference, eta, scale: float, rows: Rows
) -> tuple[np.ndarray, np.ndarray]:
    """Add up the scores of each unit's rows, times their parts, over ``scale``.

    Without units each row is one.
    Each row's are rounded to multiples of 2^-20 first, so that the sum is exact in any order of
    the rows, and cut to 2^13, far beyond where they are clipped.

    Returns
    -------
    sums : numpy.ndarray, shape (p, units)
        Whole numbers, in units of 2^-20.
    norms : numpy.ndarray, shape (units,)
        Their Euclidean norms, in units of 1.
    """
    from dpstats.numerics.kernels import rounded_rows, sums_of_runs

    factors, columns = parts_of(rows) / scale * _ONE, np.empty((len(eta), len(rows)))
    blocks = scores(basis, map_, reference, eta, rows)
    for (whitened, left, _), own in zip(blocks, _slices(len(rows)), strict=True):
        rounded_rows(whitened, left * factors[own], _FARTHEST, columns[:, own])
    sums = columns if rows.units is None else sums_of_runs(columns, rows.units)
    return sums, np.sqrt((sums**2).sum(axis=0)) / _ONE


def parts_of(rows: Rows) -> np.ndarray:
    """Return what part of one row each row counts for, (m,), multiples of 2^-20."""
    return np.ones(len(rows)) if rows.parts is None else whole_weights(rows.parts) / _ONE


def scores(
    basis: IndicatorBasis, map_, reference: Reference, eta, rows: Rows
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield whitened rows as columns (p, m), their residuals (m,) and the norms of scores (m,).

    A row whose response is infinite in units of the reference has a score of finite length.
    """
    from dpstats.numerics.whitening import residuals

    center, scale, y = reference.y_center, reference.y_scale, rows.response
    for whitened, squares, own in _blocks(basis.row_map(map_), rows):
        left = residuals(np.ascontiguousarray(y[own]), center, scale, FAR, whitened, eta)
        yield whitened, left, np.sqrt(squares) * np.abs(left)


def _score_arguments(basis: IndicatorBasis, map_, reference: Reference, eta, rows: Rows):
    """Return what the loops over scores take first: rows, how they are mapped, and where."""
    response = np.ascontiguousarray(rows.response)
    center, scale = reference.y_center, reference.y_scale
    return *_columns(rows), response, tuple(basis.row_map(map_)), FAR, center, scale, eta


def _blocks(row_map: RowMap, rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray, slice]]:
    """Yield mapped rows as columns (p, m), squared norms (m,) and which of the rows they are."""
    codes, numbers = _columns(rows)
    for own in _slices(len(rows)):
        yield *row_map.of(codes, numbers, own.start, own.stop), own


def _columns(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return codes (K, n) and numbers (d, n), each column contiguous."""
    return _codes(rows), np.ascontiguousarray(rows.numbers.T)


def _codes(rows: Rows) -> np.ndarray:
    assert rows.codes is not None, "the request reads codes"
    return np.ascontiguousarray(rows.codes.T)


def _slices(rows: int) -> Iterator[slice]:
    """Cut rows into blocks."""
    for start in range(0, rows, _ROWS):
        yield slice(start, min(start + _ROWS, rows))


def _indicator_products(basis: IndicatorBasis, codes: np.ndarray, entries: np.ndarray):
    """Sum the products of the coordinates of few rows: by code, and of any two numbers."""
    from dpstats.numerics.kernels import code_products, products

    if not basis.sizes:
        return products(entries if basis.indicators else entries[1:])
    sums = np.zeros((basis.size, basis.size))
    sums[basis.indicators :, basis.indicators :] = products(entries[1:])
    code_products(np.ascontiguousarray(codes), basis.offsets, entries, sums)
    return sums


def capped(
    rows: np.ndarray, squares: np.ndarray, bound: float, parts: np.ndarray | float = 1.0
) -> np.ndarray:
    """Scale rows, given as columns (k, m), to a squared norm of at most ``bound`` times ``parts``.

    ``squares`` (m,) are their squared norms. They are returned in units of sqrt(bound) 2^-20,
    whole numbers cut toward zero. Rows whose parts add up to at most 1 have products whose norms
    add up to at most ``bound``.
    """
    from dpstats.numerics.kernels import cut_rows

    length = np.sqrt(np.maximum(squares / bound, 1.0))
    return cut_rows(rows, _ONE * _MARGIN * np.sqrt(parts) / (math.sqrt(bound) * length))


def _parts_by_size(blocks: Iterator[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Add up parts, in units of 2^-20, of rows in the bins between ``LEVERAGE_EDGES``."""
    bins = len(LEVERAGE_EDGES) + 1
    total = np.zeros(bins)
    for sizes, parts in blocks:
        total += np.bincount(np.searchsorted(LEVERAGE_EDGES, sizes), parts * _ONE, bins)
    return total.astype(np.int64)


def _in_bins(above: np.ndarray) -> np.ndarray:
    """Count rows in bins, given how many lie above their ends."""
    return above[:-1] - above[1:]
