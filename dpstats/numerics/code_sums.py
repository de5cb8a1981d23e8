"""Add up whole numbers of rows by their codes, exactly."""

import numpy as np

from dpstats.numerics.clipping import ENTRY_BITS

_ONE = 2.0**ENTRY_BITS


class CodeSums:
    """Hold the sums of c columns over the rows with each of ``size`` codes.

    Columns hold whole numbers of at most 2^20 in magnitude, or of at most 2^40 where they are
    ``wide``: these are written as h 2^20 + l with h and l at most 2^20. So sums of up to 2^33 rows
    are exact in doubles.

    Examples
    --------
    >>> sums = CodeSums(2, 1, wide=True)
    >>> sums.add(np.array([0, 1, 1]), np.array([[2.0**40], [3.0], [-1.0]]))
    >>> sums.total().tolist()
    [[1099511627776], [2]]
    """

    def __init__(self, size: int, columns: int, wide: bool = False):
        self._parts = np.zeros((1 + wide, size, columns))

    def add(self, codes: np.ndarray, columns: np.ndarray) -> None:
        """Add rows: codes, int64 (m,), and columns (m, c)."""
        parts = [columns]
        if len(self._parts) == 2:
            high = np.trunc(columns / _ONE)
            parts = [columns - high * _ONE, high]
        for total, part in zip(self._parts, parts, strict=True):
            for j, column in enumerate(part.T):
                total[:, j] += np.bincount(codes, weights=column, minlength=len(total))

    def total(self) -> np.ndarray:
        """Return the sums (size, c): int64, or Python integers where columns are wide."""
        whole = self._parts.astype(np.int64)
        if len(whole) == 1:
            return whole[0]
        return whole[1].astype(object) * int(_ONE) + whole[0]
