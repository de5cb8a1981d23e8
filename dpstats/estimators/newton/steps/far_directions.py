"""Tell in which directions rows far out in long-tailed columns lie."""

import numpy as np

from dpstats.estimators.contract import Problem
from dpstats.estimators.newton.row_sums import IndicatorBasis

# Nothing shorter is scaled to a length of 1, and rows lie no farther out.
_SHORTEST, _FARTHEST = 1e-300, 1e100


def far_directions(
    basis: IndicatorBasis, map_: np.ndarray, problem: Problem, tails: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return directions (k, p) of length 1, and the tails (k,) of rows along them.

    A tail is by how much the mean fourth power of rows mapped by ``map_`` exceeds that of normal
    ones. Rows far out in a column lie along it and the columns that move with it, and their tail is
    that of the column, of ``tails`` (d,). Those of an interaction x:g with a code lie along x and
    along the column of the code, d times as far as x is within the code, in its deviations; as the
    variance of all rows is 1 in any direction the code has at most a part 1 / d^2 of them, and the
    tail is at most d^2 times that of x.
    """
    assert problem.layout is not None and problem.reference is not None
    extremes = problem.reference.extremes
    within, moves = extremes.within, extremes.moves.copy()
    for one in problem.layout.slopes:
        if one.main is not None:
            moves[one.places, one.main] = 1.0
    found = (moves @ basis.directions(map_))[tails > 0]
    # squares of what is at most 1 neither overflow nor vanish
    reach = np.maximum(np.abs(found).max(axis=1, initial=0.0), _SHORTEST)
    units = found / reach[:, None]
    lengths = np.maximum(np.linalg.norm(units, axis=1), _SHORTEST)
    within_codes = np.minimum(within[tails > 0] * reach * lengths, _FARTHEST)
    return units / lengths[:, None], tails[tails > 0] * np.maximum(within_codes**2, 1.0)
