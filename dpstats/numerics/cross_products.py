"""Sum cross-products of clipped rows exactly, as a summary that merges."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dpstats.numerics.clipping import ENTRY_BITS, Box
from dpstats.numerics.coordinates import Coordinates, GridRows
from dpstats.numerics.rows import Rows

# Products of two entries come in multiples of 2^-40, and of 2^-60 times a weight.
PRODUCT_UNIT = 2.0 ** (-2 * ENTRY_BITS)
WEIGHTED_UNIT = 2.0 ** (-3 * ENTRY_BITS)
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
    """Hold the exact sum of z z', or of w z z', over rows z = (u, v).

    Parameters
    ----------
    cross : numpy.ndarray, shape (S + 1, S + 1)
        Python integers (dtype object), so that no number of rows can overflow. With a
        third axis, of length G, the sums of G groups.
    extra : int or None
        One more sum of whole numbers, of the number of weighted rows or of units if not said
        otherwise.
    unit : float
        That of ``cross``: 2^-40, or 2^-60 where rows have weights.
    """

    cross: np.ndarray
    extra: int | None = None
    unit: float = PRODUCT_UNIT

    @classmethod
    def of(cls, rows: Rows, coordinates: Coordinates) -> Self:
        """Sum rows in these coordinates, each as often as it counts."""
        columns, extra = rows.numbers.shape[1] + 1, None if rows.parts is None else rows.count
        return cls.summed(coordinates.blocks(rows), columns, extra)

    @classmethod
    def summed(cls, blocks: Iterable[GridRows], columns: int, extra: int | None = None) -> Self:
        """Sum blocks of rows of so many columns, which have weights if ``extra`` is given.

        Weights w multiply rows that have been clipped, at the bounds of the unweighted columns: to
        clip rows that have been multiplied by sqrt w would give rows of large weights a smaller
        one. They are cut to multiples of 2^-20. The integers w z_j (at most 2^40) are written as
        h 2^20 + l with h and l at most 2^20, so that the sums of h z_l and of l z_l over a block
        are as exact as those without weights.
        """
        from dpstats.numerics import kernels

        shape, one = (columns, columns), 2.0**ENTRY_BITS
        if extra is None:
            return cls(exact_sum((kernels.products(block.columns) for block in blocks), shape))
        terms = (
            kernels.weighted_products(block.columns, whole_weights(block.weights), one)
            for block in blocks
        )
        high, low = exact_sum(terms, (2, *shape))
        return cls(high * 2**ENTRY_BITS + low, extra, WEIGHTED_UNIT)

    @classmethod
    def each(cls, rows: Rows, edges: np.ndarray, box: Box) -> "Moments":
        """Summarise G consecutive groups of rows; cross has shape (S + 1, S + 1, G)."""
        return cls.of_groups(box.integers(rows.numbers, rows.response).astype(np.int64), edges)

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

    def __add__(self, other: Self) -> Self:
        extra = None if self.extra is None or other.extra is None else self.extra + other.extra
        return replace(self, cross=self.cross + other.cross, extra=extra)


def whole_weights(weights: np.ndarray) -> np.ndarray:
    """Cut weights in [0, 1] toward zero to whole multiples of 2^-20; what is no number counts 0.

    A weight never grows, so that the weights of some rows add up to no more than they did.
    """
    from dpstats.numerics import kernels

    return kernels.whole_parts(np.ascontiguousarray(weights, dtype=float), 2.0**ENTRY_BITS)
