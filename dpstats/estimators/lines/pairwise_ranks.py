"""Select the entries near the median of all pairs' predictions without listing the pairs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np

from dpstats.estimators.lines.pairwise import all_pairs_imbalance
from dpstats.estimators.lines.pairwise_table import entries_between
from dpstats.estimators.lines.smooth_sensitivity import median_rank


@dataclass(frozen=True)
class PairRanks:
    """Select by rank among the entries of all pairs of rows, two per pair.

    Entries are steps from ``first``, clamped to 0..top; a pair of equal x has the two ends.

    An entry is found by bisection, with O(n log n) time for each count of the entries up to a
    point; what is between two entries is enumerated, in time in proportion to their number.

    Parameters
    ----------
    x, y : numpy.ndarray of int64, shape (n,)
        Rows in grid steps.
    x_new, first, top : int
    """

    x: np.ndarray
    y: np.ndarray
    x_new: int
    first: int
    top: int

    @property
    def size(self) -> int:
        """Return the number of entries, n (n - 1)."""
        return len(self.x) * (len(self.x) - 1)

    @cached_property
    def _tied(self) -> int:
        _, times = np.unique(self.x, return_counts=True)
        return int(np.sum(times * (times - 1) // 2))

    @cached_property
    def _imbalance(self) -> Callable[[int], int]:
        return all_pairs_imbalance(self.x, self.y, self.x_new)

    def up_to(self, point: int) -> int:
        """Count the entries that are at most ``point``.

        A pair with the prediction z has an entry up to r for z <= r and one more for z < r:
        two for a pair below r, none for one above, and one where z = r.
        """
        if not 0 <= point < self.top:
            return self.size if point >= self.top else 0
        untied = self.size // 2 - self._tied
        return self._tied + untied - self._imbalance(self.first + point)

    def entry(self, rank: int) -> int:
        """Return the entry of a rank, 0 and ``top`` beyond the list."""
        if not 1 <= rank <= self.size:
            return 0 if rank < 1 else self.top
        below, above = -1, self.top
        while above - below > 1:
            point = (below + above) // 2
            below, above = (below, point) if self.up_to(point) >= rank else (point, above)
        return above

    def around(self, reach: int) -> np.ndarray:
        """List the entries of ranks m - reach to m + reach, int32, 0 and ``top`` beyond the list.

        Those equal to the first or the last of them may be many and are counted; those in
        between are enumerated and sorted.
        """
        lowest = median_rank(self.size) - reach
        low, high = self.entry(lowest), self.entry(median_rank(self.size) + reach)
        z = np.full(2 * reach + 1, self.top, np.int32)

        def place(entries: int) -> int:
            """Return the index in z at which the entries after the first ``entries`` begin."""
            return min(max(entries + 1 - lowest, 0), len(z))

        start, stop = self.up_to(low), max(self.up_to(high - 1), self.up_to(low))
        z[: place(0)] = 0
        z[place(0) : place(start)] = low
        z[place(stop) : place(self.size)] = high
        self._write_between(low, high, z[place(start) : place(stop)])
        return z

    def _write_between(self, low: int, high: int, written: np.ndarray) -> None:
        """Write the entries strictly between two points, as many as there is place for, sorted."""
        if high - low < 2:
            return
        ends = self.first + low, self.first + high
        u = self.x - self.x_new
        through = self.y[u == 0]
        flat = np.concatenate([through, through + 1])
        flat = np.repeat(flat[(ends[0] < flat) & (flat < ends[1])], np.count_nonzero(u))
        written[: len(flat)] = flat
        rows = _orders(self.x, self.y, u, ends)
        _write_crossings(*rows, float(self.x_new), *ends, written[len(flat) :])
        written -= self.first
        written.sort()


def _orders(x: np.ndarray, y: np.ndarray, u: np.ndarray, ends: tuple[int, int]):
    """Order the rows with u != 0 by theta at both ends; return ranks and coordinates.

    With theta(r) = (y - r) / u two rows change their order at the r that is their prediction,
    and only there; rows of one u never do. The one order is just below low, the lowest
    prediction that has an entry between the ends, where rows that meet in it have not met, and
    the other just above the highest, high - 1. Double division keeps the order of different
    quotients, and equal rows stand in the order they came in both times.
    """
    away = np.flatnonzero(u)
    u, y = u[away], y[away]
    inverse = 1.0 / u
    before = np.lexsort((inverse, (y - ends[0]) / u))
    after = np.lexsort((-inverse, (y - (ends[1] - 1)) / u))
    ranks = np.empty(len(away), np.int64)
    ranks[after] = np.arange(len(away))
    return ranks[before], x[away[after]].astype(float), y[after].astype(float)


@numba.njit(cache=True, nogil=True)
def _write_crossings(ranks, x, y, x_new, low, high, written):
    """Write the entries between low and high of all pairs that change their order.

    ``ranks`` are the rows in one order by their place in the other one, in which x and y are.
    It is sorted by merging; each inversion is a pair, met once.
    """
    size, width, place = len(ranks), 1, 0
    source, target = ranks, np.empty_like(ranks)
    while width < size:
        for start in range(0, size, 2 * width):
            half, stop = min(start + width, size), min(start + 2 * width, size)
            i, j = start, half
            for out in range(start, stop):
                if i < half and (j >= stop or source[i] < source[j]):
                    target[out] = source[i]
                    i += 1
                    continue
                late = source[j]
                for other in source[i:half]:
                    place = entries_between(
                        x[late], y[late], x[other], y[other], x_new, low, high, written, place
                    )
                target[out] = late
                j += 1
        source, target = target, source
        width *= 2
