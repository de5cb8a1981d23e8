"""Name the status of a fit, by which slopes have a bounded interval."""

from collections.abc import Sequence

import numpy as np

# The reasons of "not_identified" and "imprecise".
UNBOUNDED = (
    "the noise could account for all that the data say about the coefficients, so intervals are "
    "unbounded; raise epsilon or n, or narrow bounds that are too wide"
)
PARTLY_UNBOUNDED = (
    "the noise could account for what decides some coefficients, so their intervals are unbounded; "
    "raise epsilon or n"
)
# What a release says where it found nothing to object to, or that its noise is large.
_FITTED = ("ok", "imprecise")


def statuses(released: Sequence[str], unbounded: np.ndarray) -> tuple[str, ...]:
    """Name the status of each of G fits: what it released, unless intervals are unbounded.

    - ``"ok"``: every slope has a bounded interval, or the method has no intervals at all.
    - ``"imprecise"``: a slope has an unbounded interval and another one has not, or the release
      says that its noise is large.
    - ``"not_identified"``: no slope has a bounded interval.
    - Any other is a released outcome, such as ``"constant"`` or ``"failed"``, and stays.

    Parameters
    ----------
    released : sequence of str, length G
    unbounded : numpy.ndarray of bool, shape (G, k)
        Where the interval of a slope is unbounded; k is at least 1.

    Examples
    --------
    >>> unbounded = np.array([[False, False], [False, True], [True, True], [True, True]])
    >>> statuses(["ok", "ok", "imprecise", "constant"], unbounded)
    ('ok', 'imprecise', 'not_identified', 'constant')
    """
    some = np.where(unbounded.any(axis=1), "imprecise", "")
    named = np.where(unbounded.all(axis=1), "not_identified", some)
    pairs = zip(released, map(str, named), strict=True)
    return tuple(name if name and said in _FITTED else said for said, name in pairs)


def slopes_of(columns: int, intercept: int | None) -> np.ndarray:
    """Return the places of the slopes among columns; a model of a constant has that one."""
    places = np.arange(columns)
    slopes = places[places != intercept]
    return slopes if len(slopes) else places
