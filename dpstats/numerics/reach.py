"""Pull in design rows that lie farther out than the rows of a fit."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def within_reach(
    rows: np.ndarray, is_outside: np.ndarray, statistics: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Scale design rows (q, S) to the reach of a fit, with what that adds to predictions (q,).

    A row that is outside the ranges, and whose squared length in the whitened ``directions`` (S, p)
    exceeds ``reach``, is scaled until it does not, and its prediction moves toward ``center`` in
    the same proportion. Others stay as they are, and so do all rows of a fit without a reach.

    >>> far = np.array([[1.0, 1.0], [1.0, 9.0]])
    >>> released = {"directions": [[0.0], [1.0]], "reach": 9.0, "center": 6.0}
    >>> within_reach(far, np.array([True, True]), released)
    (array([[1.        , 1.        ],
           [0.33333333, 3.        ]]), array([0., 4.]))
    """
    if "reach" not in statistics:
        return rows, np.zeros(len(rows))
    with np.errstate(over="ignore"):  # a row of infinite length is scaled to nothing
        lengths = np.sum((rows @ np.asarray(statistics["directions"])) ** 2, axis=1)
    part = np.sqrt(np.minimum(statistics["reach"] / np.maximum(lengths, 1e-300), 1.0))
    part = np.where(is_outside, part, 1.0)
    return rows * part[:, None], (1 - part) * statistics["center"]
