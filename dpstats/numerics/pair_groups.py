"""Say where groups of rows begin, and what rows count for in their pairs."""

from typing import NamedTuple

import numpy as np


class PairGroups(NamedTuple):
    """Hold where groups begin and what their rows count for.

    Group g has the sorted rows from ``starts[g]`` to ``starts[g + 1]``. Rows count for the
    ``parts`` (n,) of one, whole multiples of 1 / ``unit``; ``totals`` (G,) are the sums of a group
    in these, at least 1.
    """

    starts: np.ndarray
    totals: np.ndarray
    parts: np.ndarray
    unit: int

    @classmethod
    def of(cls, starts: np.ndarray, parts: np.ndarray | None = None, unit: int = 1) -> "PairGroups":
        """Add up the parts of each group; without parts each row counts for 1."""
        parts = np.ones(starts[-1]) if parts is None else parts
        below = np.append(0, np.cumsum((parts * unit).astype(np.int64)))
        return cls(starts, np.maximum(np.diff(below[starts]), 1), parts, unit)
