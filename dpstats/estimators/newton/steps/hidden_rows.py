"""Say which share of the rows, far out where bounds leave room for them, the noise could hide."""

import numpy as np

from dpstats.estimators.contract import Problem
from dpstats.estimators.newton.row_sums import IndicatorBasis

# Rows far out are seen from so many deviations of the noise on a bin of a histogram; from so many
# standard deviations of its column a row is far out. Set by simulation (benchmarks/coded.py).
_SEEN, LONG = 6.0, 10.0
_SAID = (
    "the noise could hide far values, such as codes for missing ones, in up to {:.2g}% of the "
    "rows, and intervals would miss then; close bounds= of all columns rule them out"
)


def note_on_hidden_rows(share: float) -> str:
    """Say that the noise could hide rows far out, where a ``share`` of them is not 0.

    Examples
    --------
    >>> note_on_hidden_rows(0.0123)[:75]
    'the noise could hide far values, such as codes for missing ones, in up to 1'
    """
    return _SAID.format(100 * share) if share else ""


def hidden_share(deviation: float, rows: float) -> float:
    """Return the share of ``rows`` that noise of a ``deviation`` on a bin could hide, at most 1."""
    return min(_SEEN * deviation / rows, 1.0)


def has_room(basis: IndicatorBasis, problem: Problem) -> bool:
    """Tell whether the bounds of some regressor leave room for values far out."""
    return bool((reach(basis, problem) > LONG * np.linalg.norm(basis.root, axis=1)).any())


def response_has_room(problem: Problem) -> bool:
    """Tell whether the bounds of the response leave room for values far out."""
    assert problem.reference is not None
    center, unit = problem.reference.y_center, LONG * problem.reference.y_scale
    far = max(problem.y_high - center, center - problem.y_low)
    return min(far, problem.y_high - problem.y_low) > unit


def reach(basis: IndicatorBasis, problem: Problem) -> np.ndarray:
    """Return how far rows within the bounds of numeric columns lie from their centers, (d,).

    Differences of rows, and columns of a design through the origin, have no center of their own.
    """
    assert problem.layout is not None
    low, high = (end[problem.layout.numeric] for end in (problem.low, problem.high))
    far = np.maximum(high - basis.center, basis.center - low)
    return far if basis.has_constant else np.minimum(far, high - low)
