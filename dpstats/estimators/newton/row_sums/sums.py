"""Add up over rows what Newton's method is whitened by: products, and counts by leverage.

Every sum is exact and of functions of one row each, so that a row has the same part in it to the
last bit whatever rows stand beside it. With privacy units it is of functions of all rows of one
unit, whose parts add up to at most 1, and in whatever order they stand. Rows with keys are taken in
pairs (:mod:`~dpstats.estimators.newton.row_sums.pair_sums`).
"""

import math
from collections.abc import Iterable, Iterator

import numpy as np

from dpstats.estimators.newton.row_sums import pair_sums
from dpstats.estimators.newton.row_sums.indicator_basis import FAR, IndicatorBasis, RowMap
from dpstats.estimators.newton.row_sums.mapped_rows import MappedRows
from dpstats.estimators.newton.row_sums.pair_rows import PairRows
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import exact_sum, whole_weights

# Edges of |score| / (sigma sqrt t) and of squared leverage |a|^2 / t: fine where most rows are,
# then doublings, so that rows far out stand in one bin or two.
_OCTAVES = 2.0 ** np.arange(3, 13)
SCORE_EDGES = np.array(
    [1/16, 1/8, 1/4, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, *_OCTAVES]
)  # fmt: skip
# The last bin of scores may begin earlier, and tell better that nothing is far out.
FAR_EDGES = SCORE_EDGES[SCORE_EDGES <= 32]
LEVERAGE_EDGES = np.array([0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, *_OCTAVES])
# Rows of a block: few enough for what is computed from them to stay in a cache, and for a sum of
# products of whole numbers up to 2^20 to be exact in doubles.
_ROWS = 1 << 12
# Directions that so many rows have at most; with more, blocks have a part of the rows.
_COLUMNS, _PART = 32, 4
# A row is scaled to slightly less than its bound, by more than floating point can add.
MARGIN = 1 - 2.0**-30
_ONE = 2.0**ENTRY_BITS


def rough_products(basis: IndicatorBasis, bound: float, rows: Rows):
    """Add up the products of coordinates phi, rows cut to squared norms of at most ``bound``.

    Those of single rows are cut with their weights.
    """
    if isinstance(rows, PairRows):
        return pair_sums.products(basis.row_map(np.eye(basis.size)), bound, rows)
    codes, parts, ones = _codes(rows), parts_of(rows), max(basis.ones - 1, 0)
    held = _norm_parts(rows, parts)
    blocks = (
        (codes[:, own], capped(entries, held[own] * (squares + ones), bound, parts[own]))
        for entries, squares, own in blocks_of(basis.entries, rows)
    )
    return exact_sum((_indicator_products(basis, *block) for block in blocks), (basis.size,) * 2)


def leverage_counts(basis: IndicatorBasis, map_: np.ndarray, t: float, rows: Rows):
    """Count rows by squared leverage |a|^2 / t, in the bins of ``LEVERAGE_EDGES``.

    Where rows count for parts these are added up, in units of 2^-20.
    """
    to = basis.row_map(map_)
    if isinstance(rows, PairRows):
        return pair_sums.counts(to, t * LEVERAGE_EDGES, rows)
    if rows.parts is not None:
        parts, blocks = parts_of(rows), blocks_of(to, rows)
        return parts_by_size(
            ((squares / t, parts[own]) for _, squares, own in blocks), LEVERAGE_EDGES
        )
    return counts(in_blocks(squared_lengths(basis, map_, rows)), t, LEVERAGE_EDGES)


def whitened_products(basis: IndicatorBasis, map_: np.ndarray, bound: float, rows: Rows):
    """Add up the products of whitened rows, cut to squared norms of at most ``bound``.

    Those of single rows are cut with their weights.
    """
    from dpstats.numerics.kernels import products

    if isinstance(rows, PairRows):
        return pair_sums.products(basis.row_map(map_), bound, rows)
    blocks, parts = blocks_of(basis.row_map(map_), rows), parts_of(rows)
    held = _norm_parts(rows, parts)
    terms = (
        products(capped(whitened, held[own] * squares, bound, parts[own]))
        for whitened, squares, own in blocks
    )
    return exact_sum(terms, (map_.shape[1],) * 2)


def parts_of(rows: Rows) -> np.ndarray:
    """Return what part of one row each row counts for, (m,), multiples of 2^-20."""
    return np.ones(len(rows)) if rows.parts is None else whole_weights(rows.parts) / _ONE


def _norm_parts(rows: Rows, parts: np.ndarray) -> np.ndarray:
    """Return what part of a row's squared norm is held against the bound, (m,).

    It is its weight for a single row. Among rows of a unit it is 1: the norms of their products are
    then at most the bound times parts, which add up to at most the bound.
    """
    return parts if rows.units is None else np.ones(len(rows))


def starts_of(center: float, rows: Rows) -> float | np.ndarray:
    """Return linear predictors at the position zero: the center, with offsets one a row, (m,).

    Offsets count as at most 2^20 on either side, whatever numbers they are.
    """
    return center if rows.offsets is None else center + np.fmin(np.fmax(rows.offsets, -FAR), FAR)


def counts(blocks: Iterator[np.ndarray], unit: float, edges: np.ndarray) -> np.ndarray:
    """Count sizes over ``unit`` in the bins between edges (k,), (k + 1,)."""
    from dpstats.numerics.score_loops import above

    below = np.zeros(len(edges) + 2, np.int64)
    for sizes in blocks:
        below += above(sizes, unit, edges)
    return below[:-1] - below[1:]


def blocks_of(row_map: RowMap, rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray, slice]]:
    """Yield mapped rows as columns (p, m), squared norms (m,) and which of the rows they are."""
    codes, numbers = _columns(rows)
    assert len(numbers) == len(row_map.center), "rows that are mapped already have no numbers"
    for own in slices(len(rows), len(row_map.codes_to)):
        yield *row_map.of(codes, numbers, own.start, own.stop), own


def squared_lengths(basis: IndicatorBasis, map_: np.ndarray, rows: Rows) -> np.ndarray:
    """Compute squared norms (m,) of rows phi @ ``map_``, in few directions where these do."""
    narrow, known = basis.narrowed(map_)
    out, codes = np.empty(len(rows)), _codes(rows).astype(np.int64)
    for _, squares, own in blocks_of(basis.row_map(narrow), rows):
        for first, code in zip(basis.offsets, codes, strict=True):
            squares += known[first + code[own]]
        out[own] = squares
    return out


def fits(basis: IndicatorBasis, coefficients: np.ndarray, rows: Rows) -> np.ndarray:
    """Compute phi @ ``coefficients`` (m,) of rows."""
    out = np.empty(len(rows))
    for columns, _, own in blocks_of(basis.row_map(coefficients[:, None]), rows):
        out[own] = columns[0]
    return out


def in_blocks(sizes: np.ndarray) -> Iterator[np.ndarray]:
    """Yield sizes (m,) few at a time."""
    return (sizes[own] for own in slices(len(sizes)))


def whitened_blocks(
    basis: IndicatorBasis, map_: np.ndarray, rows: Rows
) -> Iterator[tuple[np.ndarray, np.ndarray, slice]]:
    """Yield rows phi @ ``map_`` as :func:`blocks_of` does; mapped rows are taken as they are."""
    p = map_.shape[1]
    if isinstance(rows, MappedRows):
        return ((*rows.block(own, p), own) for own in slices(len(rows), p))
    return blocks_of(basis.row_map(map_), rows)


def mapped_rows(basis: IndicatorBasis, map_: np.ndarray, rows: Rows) -> Rows:
    """Map rows to phi @ ``map_``; those that count for parts are left as they are."""
    if rows.parts is not None:
        return rows
    p, directions, squares = map_.shape[1], np.empty(map_.shape[1] * len(rows)), []
    for columns, lengths, own in blocks_of(basis.row_map(map_), rows):
        directions[p * own.start : p * own.stop] = columns.ravel()
        squares.append(lengths)
    others = {**vars(rows), "numbers": np.empty((len(rows), 0)), "codes": None}
    return MappedRows(**others, directions=directions, squares=np.concatenate(squares))


def _columns(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return codes (K, n) and numbers (d, n), each column contiguous."""
    return _codes(rows), np.ascontiguousarray(rows.numbers.T)


def _codes(rows: Rows) -> np.ndarray:
    assert rows.codes is not None, "the request reads codes"
    return np.ascontiguousarray(rows.codes.T)


def slices(rows: int, columns: int = 1) -> Iterator[slice]:
    """Cut rows into blocks, smaller ones where each has many columns; no rows are one block.

    Loops over blocks are compiled at their first call, which no row may decide.
    """
    size = _ROWS if columns <= _COLUMNS else _ROWS // _PART
    for start in range(0, max(rows, 1), size):
        yield slice(start, min(start + size, rows))


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
    add up to at most ``bound``. So has a single row whose ``squares`` is its part w times its
    squared norm: the product w a a' is scaled to a norm of min(w |a|^2, bound).
    """
    from dpstats.numerics.kernels import cut_rows

    length = np.sqrt(np.maximum(squares / bound, 1.0))
    return cut_rows(rows, _ONE * MARGIN * np.sqrt(parts) / (math.sqrt(bound) * length))


def capped_curvature(
    curvature: np.ndarray, squares: np.ndarray, bound: float, parts: np.ndarray
) -> np.ndarray:
    """Return what rows a add to a Hessian as multiples of a a' over ``bound``, times parts, (m,).

    It is the ``curvature`` of a row, made smaller where that times |a|^2, ``squares``, is more than
    the bound.
    """
    slope = curvature / bound
    return parts * slope / np.maximum(slope * squares, 1.0)


def parts_by_size(blocks: Iterable[tuple[np.ndarray, np.ndarray]], edges: np.ndarray) -> np.ndarray:
    """Add up parts, in units of 2^-20, of rows by their sizes in the bins between ``edges``."""
    total = np.zeros(len(edges) + 1)
    for sizes, parts in blocks:
        total += np.bincount(np.searchsorted(edges, sizes), parts * _ONE, len(total))
    return total.astype(np.int64)
