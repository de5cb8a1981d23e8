"""Add up over pairs of rows of equal keys what Newton's method asks of rows.

In a group of n rows sum_i (a_i - m)(r_i - m_r) = (1/n) sum_{i<j} (a_i - a_j)(r_i - r_j), m and m_r
the means. So sums over pairs of one group at the weight 1/n are those of deviations from means, and
each of their terms is a function of two rows alone, which can be clipped. With weights w, W their
sum, it is sum_i w_i (a_i - m)(r_i - m_r) = (1/W) sum_{i<j} w_i w_j (a_i - a_j)(r_i - r_j), m and
m_r the weighted means. Rows come sorted by key; sums are as :mod:`dpstats.numerics.pairs` has them.
"""

import numpy as np

from dpstats.estimators.newton.row_sums.indicator_basis import RowMap
from dpstats.estimators.newton.row_sums.pair_rows import FAR, PairRows
from dpstats.numerics.clipping import ENTRY_BITS

_ONE = 1 << ENTRY_BITS
# A pair is scaled to slightly less than its bound, by more than floating point can add.
_WITHIN = _ONE * (1 - 2.0**-30)
_NONE = np.zeros(0)


def products(to: RowMap, bound: float, rows: PairRows) -> np.ndarray:
    """Add up a a' of pairs a cut to a squared norm of ``bound``, in units of bound 2^-40."""
    from dpstats.numerics import pairs

    return pairs.products(rows.along(to), np.sqrt(bound), rows.groups, _WITHIN).astype(object)


def counts(
    to: RowMap, squares: np.ndarray, rows: PairRows, y_scale: float = 0.0, eta: np.ndarray = _NONE
) -> np.ndarray:
    """Count pairs by |a|^2, or of their scores at ``eta``, between ``squares``; units of 2^-20."""
    from dpstats.numerics import pairs

    mapped = rows.along(to)
    left = _left(mapped, rows, y_scale, eta) if len(eta) else _NONE
    return pairs.counts(mapped, left, squares, rows.groups, _ONE)


def scores(
    to: RowMap,
    y_scale: float,
    eta: np.ndarray,
    limit: float,
    cut: float,
    weight: float,
    rows: PairRows,
) -> np.ndarray:
    """Add up clipped scores and residuals' squares by group, (G, p + 1), in units of 2^-20."""
    from dpstats.numerics import pairs

    mapped = rows.along(to)
    left = _left(mapped, rows, y_scale, eta)
    return pairs.scores(mapped, left, limit, cut, weight, rows.groups, _WITHIN)


def squares(y_scale: float, cut: float, rows: PairRows) -> int:
    """Add up min(|y| / cut, 1)^2 over the differences y of responses, in units of 2^-20."""
    from dpstats.numerics import pairs

    none = np.zeros((0, len(rows)))
    left = _left(none, rows, y_scale, _NONE)
    return int(pairs.scores(none, left, 1.0, cut, 1.0, rows.groups, _WITHIN).sum())


def differences(values: np.ndarray, edges: np.ndarray, rows: PairRows) -> np.ndarray:
    """Count pairs by the size of the difference of ``values`` (n,), in units of 2^-20."""
    from dpstats.numerics import pairs

    column = np.clip(np.nan_to_num(values, posinf=_LARGEST, neginf=-_LARGEST), -_LARGEST, _LARGEST)
    return pairs.counts(column[None].copy(), _NONE, edges**2, rows.groups, _ONE)


# Squares of differences of such values are finite.
_LARGEST = 2.0**500


def _left(mapped: np.ndarray, rows: PairRows, y_scale: float, eta: np.ndarray) -> np.ndarray:
    """Return responses in units of ``y_scale`` less their fit, (n,), each by itself."""
    from dpstats.numerics.whitening import residuals

    return residuals(np.ascontiguousarray(rows.response), 0.0, y_scale, FAR, mapped, eta)
