"""Exact cross-products of clipped rows, as a summary that merges."""

from dataclasses import dataclass

import numpy as np

from dpstats.bounds import ENTRY_BITS, Box

# Products of two entries come in multiples of 2^-40.
PRODUCT_UNIT = 2.0 ** (-2 * ENTRY_BITS)
# 2^13 products of at most 2^40 add up to at most 2^53: exact in float64 in any order.
_BLOCK = 1 << 13
_BLOCKS_IN_INT64 = 1 << 9


@dataclass(frozen=True)
class Moments:
    """Sum of z z' over rows z = (u, v), exact, in units of 2^-40.

    Parameters
    ----------
    cross : numpy.ndarray, shape (S + 1, S + 1)
        Python integers (dtype object), so that no number of rows can overflow.
    """

    cross: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray, box: Box) -> "Moments":
        """Summarise rows; X has shape (m, S), y shape (m,)."""
        columns = X.shape[1] + 1
        total = np.zeros((columns, columns), dtype=object)
        partial = np.zeros((columns, columns), dtype=np.int64)
        for number, start in enumerate(range(0, len(y), _BLOCK), start=1):
            rows = box.integers(X[start : start + _BLOCK], y[start : start + _BLOCK])
            partial += (rows.T @ rows).astype(np.int64)
            if number % _BLOCKS_IN_INT64 == 0:
                total, partial = total + partial, np.zeros_like(partial)
        return cls(total + partial)

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(self.cross + other.cross)
