"""Sum cross-products of deviations from group means exactly, as a summary that merges."""

from dataclasses import dataclass

import numpy as np

from dpstats.numerics.code_sums import CodeSums
from dpstats.numerics.coordinates import Coordinates
from dpstats.numerics.cross_products import Moments
from dpstats.numerics.rows import Rows

# Up to so many rows the products below stay within int64 for entries of at most 2^20.
_ROWS_IN_INT64 = 1 << 22
_LOW_BITS = 32


@dataclass(frozen=True)
class GroupedMoments:
    """Hold exact sums over rows z = (u, v) from which the within-group cross-products follow.

    W = sum_g sum_{i in g} (z_i - m_g)(z_i - m_g)' = sum_i z_i z_i' - sum_g s_g s_g' / n_g, with
    s_g the sum and n_g the number of the rows of group g: per group k + 1 numbers suffice.

    Parameters
    ----------
    total : Moments
        The sum of z z' over all rows, in units of 2^-40.
    keys : numpy.ndarray, shape (G,)
        One number for each group that has rows, ascending.
    counts : numpy.ndarray of int64, shape (G,)
    sums : numpy.ndarray of int64, shape (G, k)
        In units of 2^-20, exact for up to 2^42 rows a group.
    """

    total: Moments
    keys: np.ndarray
    counts: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(cls, rows: Rows, coordinates: Coordinates) -> "GroupedMoments":
        """Summarise rows with keys in these coordinates."""
        assert rows.keys is not None, "the request reads keys"
        blocks, columns = [*coordinates.blocks(rows)], rows.numbers.shape[1] + 1
        present, group, counts = np.unique(rows.keys, return_inverse=True, return_counts=True)
        sums = CodeSums(len(present), columns)
        sums.add(group, np.hstack([np.empty((columns, 0)), *(block.columns for block in blocks)]).T)
        return cls(Moments.summed(blocks, columns), present, counts, sums.total())

    def __add__(self, other: "GroupedMoments") -> "GroupedMoments":
        keys = np.union1d(self.keys, other.keys)
        counts = np.zeros(len(keys), np.int64)
        sums = np.zeros((len(keys), self.sums.shape[1]), np.int64)
        for part in (self, other):
            places = np.searchsorted(keys, part.keys)
            counts[places] += part.counts
            sums[places] += part.sums
        return GroupedMoments(self.total + other.total, keys, counts, sums)

    @property
    def degrees(self) -> int:
        """Return the number of rows less that of groups."""
        return int(self.counts.sum()) - len(self.counts)

    def within(self) -> np.ndarray:
        """Return W (k, k) as Python integers, in units of 2^-40.

        Each group's s s' / n is rounded down to a whole number, entry by entry. So W is at least
        the exact one, and where two tables differ in one group alone, the difference of their W
        is off by less than one unit an entry.
        """
        columns = self.sums.shape[1]
        W = self.total.cross.copy()
        for j in range(columns):
            for l in range(j, columns):
                W[j, l] = W[l, j] = W[j, l] - self._between(j, l)
        return W

    def _between(self, j: int, l: int) -> int:
        """Add up floor(s_j s_l / n) over groups, exactly.

        With s = q n + r, 0 <= r < n, it is q_j s_l + r_j q_l + floor(r_j r_l / n). For n < 2^22
        and |q| <= 2^20 the three are below 2^62, 2^42 and 2^22.
        """
        large = self.counts >= _ROWS_IN_INT64
        n, a, b = (values[~large] for values in (self.counts, self.sums[:, j], self.sums[:, l]))
        (q, r), (other_q, other_r) = np.divmod(a, n), np.divmod(b, n)
        small = q * b + r * other_q + r * other_r // n
        n, a, b = (
            values[large].tolist() for values in (self.counts, self.sums[:, j], self.sums[:, l])
        )
        return _total(small) + sum(x * y // m for m, x, y in zip(n, a, b, strict=True))


def _total(values: np.ndarray) -> int:
    """Add up int64 numbers as a Python integer, in two halves that cannot overflow."""
    high, low = values >> _LOW_BITS, values & ((1 << _LOW_BITS) - 1)
    return (int(high.sum()) << _LOW_BITS) + int(low.sum())
