"""Add up over groups what their rows count for."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.code_sums import CodeSums
from dpstats.numerics.cross_products import whole_weights


@dataclass(frozen=True)
class GroupSizes:
    """Hold the number of rows, the sum of their weights and sums over groups, which add up.

    Weights are whole multiples of 1 / ``unit``, and sums in units of this and of its square;
    without weights each row has 1. ``freedom`` is twice the weight of all pairs, the sum over
    groups of W - sum w^2 / W, W that of the weights w, rounded down by group. Without weights it is
    the number of rows less that of groups, the degrees of freedom. ``squares`` are the sums of the
    squares of W and of the numbers of rows.
    """

    rows: int
    total: int
    freedom: int
    squares: tuple[int, int]
    unit: int = 1

    @classmethod
    def of(cls, rows: Rows) -> "GroupSizes":
        """Add up over the rows of each key, the number of a group, all of which are there."""
        assert rows.keys is not None, "rows come with keys"
        keys, sizes, unit = rows.keys, np.bincount(rows.keys), 1
        totals = squares = sizes
        if rows.parts is not None:
            weights, unit = whole_weights(rows.parts), 1 << ENTRY_BITS
            totals, squares = (_sums(of, keys, len(sizes)) for of in (weights, weights**2))
        freedom = int((totals + -squares // np.maximum(totals, 1)).sum())
        of_squares = _square(totals), _square(sizes)
        return cls(len(rows), int(totals.sum()), freedom, of_squares, unit)

    def __add__(self, other: "GroupSizes") -> "GroupSizes":
        weights, rows = (sum(two) for two in zip(self.squares, other.squares, strict=True))
        return GroupSizes(
            self.rows + other.rows, self.total + other.total, self.freedom + other.freedom,
            (weights, rows), self.unit,
        )  # fmt: skip

    @property
    def weighted(self) -> bool:
        """Tell whether rows count for parts of one."""
        return self.unit > 1

    def norms(self, bits: int) -> list[int]:
        """Return the norm of the sums of weights, and with weights of the numbers of rows.

        They are Euclidean, in steps of 2^-``bits``, rounded down.
        """
        units = (self.unit, 1)[: 1 + self.weighted]
        return [
            math.isqrt((square << 2 * bits) // unit**2)
            for square, unit in zip(self.squares, units, strict=False)
        ]


def _sums(weights: np.ndarray, keys: np.ndarray, groups: int) -> np.ndarray:
    """Add up whole numbers of at most 2^40 by group, as Python integers."""
    sums = CodeSums(groups, 1, wide=True)
    sums.add(keys, weights[:, None])
    return sums.total()[:, 0]


def _square(sums: np.ndarray) -> int:
    return int((sums.astype(object) ** 2).sum())
