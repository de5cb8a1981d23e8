"""Tell from how unequal groups are how long the sum of scores of the largest may be."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.newton.row_sums import PairRows
from dpstats.estimators.newton.within.pair_queries import PairQueries
from dpstats.noise import Query
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.privacy import Cost

_BITS = ENTRY_BITS // 2
# The largest group may have so many times the scores of a group as large whose errors are shared
# as those of others are. With 3 intervals held by up to 0.05 less than those without privacy.
_TIMES = 4.0
# It is taken to be as large as it is released to be, less so many deviations of the noise.
_SURE = 2.0
# Groups are of one size where the largest is less than so many times that of a row's group.
_EVEN = 2.0


@dataclass(frozen=True)
class Freedoms:
    """Hold the largest f of a group, and the sum of the roots of f over groups, which combine.

    f = W - sum w^2 / W is twice the weight of a group's pairs, n - 1 of n rows without weights, or
    the sum of that over the parts that it is divided into. The largest is in units of 2^-10, and
    the sum, which counts for half of its noise, in units of 2^-9.
    """

    largest: int
    roots: int

    @classmethod
    def of(cls, rows: PairRows) -> "Freedoms":
        """Read them off rows of whole groups."""
        own = whole_groups(_of_parts(rows), rows)
        roots = np.sqrt(own / 4).astype(np.int64)
        return cls(int(own.max(initial=0)) >> _BITS, int(roots.sum()))

    def __add__(self, other: "Freedoms") -> "Freedoms":
        return Freedoms(max(self.largest, other.largest), self.roots + other.roots)


@dataclass(frozen=True)
class Unequal:
    """Hold what the largest f of a group is at least, and the sum of the roots, as released."""

    largest: float
    roots: float

    @classmethod
    def released(cls, queries: PairQueries, cost: Cost) -> "Unequal":
        """Release both.

        Guarantee. The cost. By the proof of
        :class:`~dpstats.estimators.newton.within.pair_queries.PairQueries` a row that joins a part
        of a group raises f of this part by at most 1, and none falls. So the largest f rises by at
        most 1, and so does the sum of roots, as sqrt(f + 1) <= sqrt f + 1. Of two tables that
        differ in a row that is replaced each number is at least that of the rows in common, m, and
        at most m + 1. So under both relations either moves by at most 1: the largest and half the
        sum by sqrt(5/4) together, and by 3/2 in L1. Of f, rounded down to whole 2^-20 by part, the
        same is so; the largest is rounded down to whole 2^-10, and so is half of each root, so they
        move by at most 2^10 + 1 and 2^9 + 1 of these.
        """
        held = queries.total(Freedoms.of)
        far, half = (1 << _BITS) + 1, (1 << _BITS - 1) + 1
        query = Query(
            "largest group", [held.largest, held.roots], l1=far + half, l2=math.hypot(far, half),
            unit=2.0**-_BITS,
        )  # fmt: skip
        noisy = queries.noise.add(query, cost)
        largest, roots = (float(value) for value in noisy.values)
        return cls(max(largest - _SURE * noisy.deviation, 0.0), 2 * max(roots, 0.0))

    def limit(self, total: float, p: int, square: float, freedom: float, number: float) -> float:
        """Return how long the largest group's sum of scores (p,) may be, where errors are shared.

        ``total`` is the sum of the lengths of such sums, ``square`` the mean square of residuals of
        pairs and ``freedom`` the sum of f, over groups as good as ``number`` of one size. Where
        they are about that it is 0. Independent errors make sums of a mean length b sqrt f, as each
        of their p entries has the variance f / 4 times ``square``; errors that are shared by a
        group make sums that grow with f. With both, lengths l of a group add up as legs of right
        triangles do: (sum l)^2 >= (b sum sqrt f)^2 + (sum c)^2, c those of what is shared. So
        sum c / sum f is known, at which the largest group's would be its f times as long.
        """
        if self.largest < _EVEN * freedom / number:
            return 0.0
        log = math.lgamma((p + 1) / 2) - math.lgamma(p / 2)
        alone = math.sqrt(2) * math.exp(log) * math.sqrt(square) / 2 * self.roots
        shared = math.sqrt(max(total**2 - alone**2, 0.0))
        return _TIMES * shared * min(self.largest / freedom, 1.0)


def whole_groups(sums: np.ndarray, rows: PairRows) -> np.ndarray:
    """Add up over the parts of each group what is summed (m, ...) by part."""
    assert rows.units is not None and rows.keys is not None, "rows have the number of their group"
    of_parts = rows.units[np.flatnonzero(np.diff(rows.keys, prepend=-1))]
    starts = np.flatnonzero(np.diff(of_parts, prepend=-1))
    return np.add.reduceat(sums, starts) if len(starts) else sums


def _of_parts(rows: PairRows) -> np.ndarray:
    """Return f of each part, int64 (m,), in units of 2^-20, rounded down."""
    starts, totals, parts, unit = rows.groups
    if not len(rows):
        return np.zeros(0, np.int64)
    squares = np.add.reduceat((parts * unit).astype(np.int64) ** 2, starts[:-1])
    # a part of rows that count for nothing has no total
    return (squares > 0) * (totals + -squares // totals) * ((1 << ENTRY_BITS) // unit)
