"""Exact cross-products of clipped rows, as a summary that merges."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dpstats.bounds import ENTRY_BITS, Box

# Products of two entries come in multiples of 2^-40.
PRODUCT_UNIT = 2.0 ** (-2 * ENTRY_BITS)
# 2^13 products of at most 2^40 add up to at most 2^53: exact in float64 in any order.
BLOCK = 1 << 13
_BLOCKS_IN_INT64 = 1 << 9


def exact_sum(terms: Iterable[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Sum of integer-valued float arrays, each at most 2^53, as Python integers."""
    total, partial = np.zeros(shape, dtype=object), np.zeros(shape, dtype=np.int64)
    for number, term in enumerate(terms, start=1):
        partial += term.astype(np.int64)
        if number % _BLOCKS_IN_INT64 == 0:
            total, partial = total + partial, np.zeros_like(partial)
    return total + partial


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
        starts = range(0, len(y), BLOCK)
        blocks = (box.integers(X[i : i + BLOCK], y[i : i + BLOCK]) for i in starts)
        return cls(exact_sum((rows.T @ rows for rows in blocks), (X.shape[1] + 1,) * 2))

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(self.cross + other.cross)
