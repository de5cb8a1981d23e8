"""Add up by group what rows count for."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import whole_weights


@dataclass(frozen=True)
class GroupSizes:
    """Hold the numbers of rows of groups (G,), and the sums of their weights and of the squares.

    Weights are whole multiples of 1 / ``unit``, and ``totals`` and ``squares`` in units of this and
    of its square; without weights each row has 1.
    """

    rows: np.ndarray
    totals: np.ndarray
    squares: np.ndarray
    unit: int = 1

    @classmethod
    def of(cls, rows: Rows) -> "GroupSizes":
        """Add up over the rows of each key, the number of a group."""
        assert rows.keys is not None, "rows come with keys"
        keys, sizes = rows.keys, np.bincount(rows.keys)
        if rows.parts is None:
            return cls(sizes, sizes, sizes)
        weights = whole_weights(rows.parts).astype(np.int64)
        totals, squares = np.zeros((2, len(sizes)), np.int64)
        np.add.at(totals, keys, weights)
        np.add.at(squares, keys, weights**2)
        return cls(sizes, totals, squares, 1 << ENTRY_BITS)

    @property
    def weighted(self) -> bool:
        """Tell whether rows count for parts of one."""
        return self.unit > 1

    @property
    def freedom(self) -> int:
        """Return twice the weight of all pairs, the sum of W - sum w^2 / W, rounded down by group.

        Without weights it is the number of rows less that of groups, the degrees of freedom.
        """
        return int((self.totals + -self.squares // np.maximum(self.totals, 1)).sum())

    def norms(self, bits: int) -> list[int]:
        """Return the norm of the sums of weights, and with weights of the numbers of rows.

        They are Euclidean, in steps of 2^-``bits``, rounded down.
        """
        norms = [_norm(self.totals, self.unit, bits)]
        return [*norms, _norm(self.rows, 1, bits)] if self.weighted else norms


def _norm(sums: np.ndarray, unit: int, bits: int) -> int:
    square = int((sums.astype(object) ** 2).sum())
    return math.isqrt((square << 2 * bits) // unit**2)
