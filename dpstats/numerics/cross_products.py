"""Sum cross-products of clipped rows exactly, as a summary that merges."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dpstats.numerics.clipping import ENTRY_BITS, Box

# Products of two entries come in multiples of 2^-40.
PRODUCT_UNIT = 2.0 ** (-2 * ENTRY_BITS)
# 2^13 products of at most 2^40 add up to at most 2^53: exact in float64 in any order.
BLOCK = 1 << 13
_BLOCKS_IN_INT64 = 1 << 9
_ROWS_IN_INT64 = 1 << 20


def exact_sum(terms: Iterable[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Add integer-valued float arrays, each at most 2^53, as Python integers."""
    total, partial = np.zeros(shape, dtype=object), np.zeros(shape, dtype=np.int64)
    for number, term in enumerate(terms, start=1):
        partial += term.astype(np.int64)
        if number % _BLOCKS_IN_INT64 == 0:
            total, partial = total + partial, np.zeros_like(partial)
    return total + partial


@dataclass(frozen=True)
class Moments:
    """Hold the exact sum of z z' over rows z = (u, v), in units of 2^-40.

    Parameters
    ----------
    cross : numpy.ndarray, shape (S + 1, S + 1)
        Python integers (dtype object), so that no number of rows can overflow. With a
        third axis, of length G, the sums of G groups.
    """

    cross: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray, box: Box) -> "Moments":
        """Summarise rows; X has shape (m, S), y shape (m,)."""
        from dpstats.numerics.kernels import products

        starts = range(0, len(y), BLOCK)
        blocks = (box.integers(X[i : i + BLOCK], y[i : i + BLOCK]) for i in starts)
        return cls(exact_sum((products(rows.T) for rows in blocks), (X.shape[1] + 1,) * 2))

    @classmethod
    def each(cls, X: np.ndarray, y: np.ndarray, edges: np.ndarray, box: Box) -> "Moments":
        """Summarise G consecutive groups of rows; cross has shape (S + 1, S + 1, G)."""
        return cls.of_groups(box.integers(X, y).astype(np.int64), edges)

    @classmethod
    def of_groups(cls, rows: np.ndarray, edges: np.ndarray) -> "Moments":
        """Summarise groups of rows of whole numbers, at most 2^20 in magnitude, int64.

        Runs of at most 2^20 rows are added in int64, and the runs of a group as Python integers.
        """
        cuts = np.union1d(edges[:-1], np.arange(0, len(rows), _ROWS_IN_INT64))
        empty = np.diff(edges) == 0
        cross = np.zeros((rows.shape[1],) * 2 + (len(edges) - 1,), dtype=object)
        starts = np.searchsorted(cuts, edges[:-1][~empty])
        for j in range(rows.shape[1]):
            for l in range(j, rows.shape[1]) if len(rows) else ():
                runs = np.add.reduceat(rows[:, j] * rows[:, l], cuts[cuts < len(rows)])
                sums = np.add.reduceat(runs.astype(object), starts)
                cross[j, l, ~empty] = cross[l, j, ~empty] = sums
        return cls(cross)

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(self.cross + other.cross)
