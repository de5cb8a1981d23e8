"""Add up over pairs of rows of equal keys what Newton's method asks of rows.

In a group of n rows sum_i (a_i - m)(r_i - m_r) = (1/n) sum_{i<j} (a_i - a_j)(r_i - r_j), m and m_r
the means. So sums over pairs of one group at the weight 1/n are those of deviations from means, and
each of their terms is a function of two rows alone, which can be clipped. With weights w, W their
sum, it is sum_i w_i (a_i - m)(r_i - m_r) = (1/W) sum_{i<j} w_i w_j (a_i - a_j)(r_i - r_j), m and
m_r the weighted means. Rows come sorted by key; sums are as :mod:`dpstats.numerics.pairs` has them.
"""

import numpy as np

from dpstats.estimators.newton.indicator_basis import RowMap
from dpstats.numerics import PairGroups, Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import whole_weights

# Rows beyond so many units of a column count as it, however far from zero the column is: only
# differences matter, which doubles then have to 2^-12 of a unit.
FAR = 2.0**40
_ONE = 1 << ENTRY_BITS
# A pair is scaled to slightly less than its bound, by more than floating point can add.
_WITHIN = _ONE * (1 - 2.0**-30)
_NONE = np.zeros(0)


def products(to: RowMap, bound: float, rows: Rows) -> np.ndarray:
    """Add up a a' of pairs a cut to a squared norm of ``bound``, in units of bound 2^-40."""
    from dpstats.numerics import pairs

    return pairs.products(_mapped(to, rows), np.sqrt(bound), groups(rows), _WITHIN).astype(object)


def counts(
    to: RowMap, squares: np.ndarray, rows: Rows, y_scale: float = 0.0, eta: np.ndarray = _NONE
) -> np.ndarray:
    """Count pairs by |a|^2, or of their scores at ``eta``, between ``squares``; units of 2^-20."""
    from dpstats.numerics import pairs

    mapped = _mapped(to, rows)
    left = _left(mapped, rows, y_scale, eta) if len(eta) else _NONE
    return pairs.counts(mapped, left, squares, groups(rows), _ONE)


def scores(
    to: RowMap, y_scale: float, eta: np.ndarray, limit: float, cut: float, weight: float, rows: Rows
) -> np.ndarray:
    """Add up clipped scores and residuals' squares by group, (G, p + 1), in units of 2^-20."""
    from dpstats.numerics import pairs

    mapped = _mapped(to, rows)
    left = _left(mapped, rows, y_scale, eta)
    sums = pairs.scores(mapped, left, limit, cut, weight, groups(rows), _WITHIN)
    return sums.astype(object)


def squares(y_scale: float, cut: float, rows: Rows) -> int:
    """Add up min(|y| / cut, 1)^2 over the differences y of responses, in units of 2^-20."""
    from dpstats.numerics import pairs

    none = np.zeros((0, len(rows)))
    left = _left(none, rows, y_scale, _NONE)
    return int(pairs.scores(none, left, 1.0, cut, 1.0, groups(rows), _WITHIN).sum())


def differences(values: np.ndarray, edges: np.ndarray, rows: Rows) -> np.ndarray:
    """Count pairs by the size of the difference of ``values`` (n,), in units of 2^-20."""
    from dpstats.numerics import pairs

    column = np.clip(np.nan_to_num(values, posinf=_LARGEST, neginf=-_LARGEST), -_LARGEST, _LARGEST)
    return pairs.counts(column[None].copy(), _NONE, edges**2, groups(rows), _ONE)


# Squares of differences of such values are finite.
_LARGEST = 2.0**500


def starts(rows: Rows) -> np.ndarray:
    """Return where each group of equal keys begins, and the number of rows, (G + 1,)."""
    assert rows.keys is not None, "rows come with keys"
    first = np.ones(len(rows), dtype=bool)
    first[1:] = rows.keys[1:] != rows.keys[:-1]
    return np.append(np.flatnonzero(first), len(rows))


def groups(rows: Rows) -> tuple:
    """Return :class:`PairGroups`, as a plain tuple: numba's files on disk would name the class."""
    if rows.parts is None:
        return tuple(PairGroups.of(starts(rows)))
    return tuple(PairGroups.of(starts(rows), whole_weights(rows.parts) / _ONE, _ONE))


def _mapped(to: RowMap, rows: Rows) -> np.ndarray:
    """Return mapped rows as columns (p, n), each by itself."""
    from dpstats.numerics.whitening import whitened

    assert rows.codes is not None, "the request reads codes"
    out = np.empty((len(to.codes_to), len(rows)))
    codes, numbers = np.ascontiguousarray(rows.codes.T), np.ascontiguousarray(rows.numbers.T)
    whitened(codes, numbers, 0, tuple(to), FAR, out)
    return out


def _left(mapped: np.ndarray, rows: Rows, y_scale: float, eta: np.ndarray) -> np.ndarray:
    """Return responses in units of ``y_scale`` less their fit, (n,), each by itself."""
    from dpstats.numerics.whitening import residuals

    return residuals(np.ascontiguousarray(rows.response), 0.0, y_scale, FAR, mapped, eta)
