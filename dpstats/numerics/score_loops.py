"""Add up scores of rows in one compiled loop over blocks of rows, which stay in a cache.

Every number that is added is a whole one, so that sums are exact in any order. A row is mapped by
``to``, a :class:`~dpstats.estimators.newton.indicator_basis.RowMap` as a plain tuple, and its
residual is taken as in :mod:`~dpstats.numerics.whitening`.
"""

import numba
import numpy as np

from dpstats.numerics.whitening import residuals, whitened

# Rows of a block: few enough for what is computed from them to stay in a cache.
_ROWS = 1 << 11


@numba.njit(cache=True, nogil=True)
def _buffer(out, rows):
    """Return ``out`` (p, m) where it holds so many rows, else another array that does."""
    return out if out.shape[1] == rows else np.empty((len(out), rows))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def leverages_above(codes, numbers, to, far, unit, edges):
    """Count rows whose squared norm over ``unit`` is above each edge, as :func:`_above` does.

    They are codes (K, n) and numbers (d, n).
    """
    codes_to = to[3]
    out, counts = np.empty((len(codes_to), _ROWS)), np.zeros(len(edges) + 2, np.int64)
    for start in range(0, numbers.shape[1], _ROWS):
        out = _buffer(out, min(_ROWS, numbers.shape[1] - start))
        counts += _above(whitened(codes, numbers, start, to, far, out) / unit, edges)
    return counts


@numba.njit(cache=True, nogil=True, error_model="numpy")
def scores_above(codes, numbers, response, to, far, center, scale, eta, unit, edges):
    """Count rows whose score at ``eta`` (p,) has a norm over ``unit`` above each edge."""
    out, counts = np.empty((len(eta), _ROWS)), np.zeros(len(edges) + 2, np.int64)
    for start in range(0, len(response), _ROWS):
        out = _buffer(out, min(_ROWS, len(response) - start))
        squares = whitened(codes, numbers, start, to, far, out)
        rows = response[start : start + out.shape[1]]
        left = residuals(rows, center, scale, far, out, eta)
        counts += _above(np.sqrt(squares) * np.abs(left) / unit, edges)
    return counts


@numba.njit(cache=True, nogil=True, error_model="numpy")
def clipped_sums(codes, numbers, response, to, far, center, scale, eta, limit, cut, weight, grid):
    """Sum scores at ``eta`` (p,), clipped to ``limit``, and squared residuals to ``cut``, (p + 1,).

    In units of ``limit`` over ``grid``, and of ``cut`` squared over ``weight`` times ``grid``, each
    cut to a whole number. Exact as long as the number of rows times ``grid`` is at most 2^53.
    """
    p = len(eta)
    out, sums = np.empty((p, _ROWS)), np.zeros(p + 1)
    for start in range(0, len(response), _ROWS):
        out = _buffer(out, min(_ROWS, len(response) - start))
        squares = whitened(codes, numbers, start, to, far, out)
        rows = response[start : start + out.shape[1]]
        left = residuals(rows, center, scale, far, out, eta)
        norms = np.sqrt(squares) * np.abs(left)
        factors, weighted = _clipped_scores(left, norms, limit, cut, weight, grid)
        sums[:p] += _cut_sums(out, factors)
        sums[p] += weighted
    return sums


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _clipped_scores(left, norms, limit, cut, weight, grid):
    """Scale residuals (m,) so that scores are clipped to ``limit``; return a sum as well.

    Multiplied by these (m,), rows are scores in units of ``limit`` over ``grid``. The sum is of
    residuals' squares over ``cut`` squared, at most 1, times weight times grid, cut to whole ones.
    """
    out, total = np.empty_like(left), 0.0
    for i in range(len(left)):
        out[i] = left[i] * (grid / max(norms[i], limit))
        part = min(abs(left[i]) / cut, 1.0)
        total += np.trunc(weight * (part * part) * grid)
    return out, total


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _cut_sums(columns, factors):
    """Sum each of columns (k, m) times ``factors`` (m,), products cut to whole numbers, (k,).

    Exact as long as m times the largest product is at most 2^53.
    """
    sums = np.empty(len(columns))
    for j in range(len(columns)):
        column, total = columns[j], 0.0
        for i in range(len(column)):
            total += np.trunc(column[i] * factors[i])
        sums[j] = total
    return sums


@numba.njit(cache=True, nogil=True)
def _above(sizes, edges):
    """Count the sizes above each of the edges (k,), after their number and before 0, (k + 2,)."""
    counts = np.zeros(len(edges) + 2, np.int64)
    counts[0] = len(sizes)
    for e in range(len(edges)):
        edge, count = edges[e], 0
        for i in range(len(sizes)):
            count += sizes[i] > edge
        counts[e + 1] = count
    return counts
