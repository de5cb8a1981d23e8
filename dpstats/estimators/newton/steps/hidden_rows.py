"""Bound the share of rows, far out within the declared bounds, that the noise could hide."""

import numpy as np

from dpstats.estimators.contract import Problem
from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.evidence import Evidence, NewtonEvidence

# Rows far out are seen from so many deviations of the noise on a bin of a histogram; from so many
# standard deviations of its column a row is far out. Set by simulation (benchmarks/coded.py).
_SEEN, LONG = 6.0, 10.0
_SAID = (
    "the noise could hide far values, such as codes for missing ones, in up to {:.2g}% of the "
    "rows{}, and intervals would miss then; close bounds= of all columns rule them out"
)


def note_on_hidden_rows(evidence: Evidence) -> str:
    """Say that noise could hide rows far out, where their share in a fit or in a group is not 0.

    Examples
    --------
    >>> found = NewtonEvidence(privacy_cov=np.eye(2), down_weighted=0.0, hidden_rows=0.0123)
    >>> note_on_hidden_rows(found)[:75]
    'the noise could hide far values, such as codes for missing ones, in up to 1'
    """
    if not isinstance(evidence, NewtonEvidence) or evidence.hidden_rows is None:
        return ""
    share = np.fmax.reduce(evidence.hidden_rows, axis=None, initial=0.0)
    return note_on_share(share, " of a group" if np.ndim(evidence.hidden_rows) else "")


def note_on_share(share: float, of_whom: str = "") -> str:
    """Say that noise could hide a share of the rows far out, if any."""
    return _SAID.format(100 * share, of_whom) if share else ""


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
