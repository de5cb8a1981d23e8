"""Bound the smooth sensitivity of a median (Nissim et al. 2007; Alabi et al. 2022, Lemma 7)."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Ranked(Protocol):
    """Give access by rank to a list of N >= 1 numbers in 0..top; N and top are public.

    Ranks go from 1 to N; further down every entry is 0, further up ``top``.
    """

    @property
    def size(self) -> int: ...

    @property
    def top(self) -> int: ...

    def entry(self, rank: int) -> int:
        """Return the entry of a rank."""
        ...

    def around(self, reach: int) -> np.ndarray:
        """List the entries of ranks m - reach to m + reach, m being the :func:`median_rank`."""
        ...


def median_rank(size: int) -> int:
    """Return the rank of the median of a list."""
    return (size + 1) // 2


@dataclass(frozen=True)
class Listed:
    """Hold a list in memory: ``z`` is ascending, in 0..top."""

    z: np.ndarray
    top: int

    @property
    def size(self) -> int:
        """Return the number of entries."""
        return len(self.z)

    def entry(self, rank: int) -> int:
        """Return the entry of a rank in 1..N."""
        return int(self.z[rank - 1])

    def around(self, reach: int) -> np.ndarray:
        """List the entries of ranks m - reach to m + reach."""
        start, stop = median_rank(self.size) - 1 - reach, median_rank(self.size) + reach
        below = np.zeros(max(-start, 0), self.z.dtype)
        above = np.full(max(stop - self.size, 0), self.top, self.z.dtype)
        return np.concatenate([below, self.z[max(start, 0) : stop], above])


def reach(size: int, changes: int, top: int, t: float) -> int:
    """Return how many ranks from the median :func:`smooth_bound` may need entries; public."""
    return changes * (_last_level(size, changes, top, t) + 1)


def _last_level(size: int, changes: int, top: int, t: float) -> int:
    """Return the level from which on U_l is ``top`` or e^{-l t} U_l is below 1."""
    whole = -(-(size + 1) // changes) - 1
    return max(min(whole, math.ceil(math.log(top) / t) + 1), 1)


def smooth_bound(ranked: Ranked, changes: int, t: float) -> float:
    r"""Bound smoothly, at rate t, how far one row moves the median entry of z.

    The median is the entry of rank m = floor((N + 1) / 2). With k = ``changes`` entries a
    row, and z_i = 0 for i < 1 and ``top`` for i > N,

        S = max(1, max_{l >= 0} e^{-l t} U_l),  U_0 = max(z_{m+k} - z_m, z_m - z_{m-k}),
        U_l = max_{0 <= s <= L} (z_{m+s} - z_{m+s-L})  with L = k (l + 1), for l >= 1.

    Proof, for any z and z* that differ in at most k entries.
    - The median moves by at most U_0 <= S: the entry of rank m among z* lies between
      those of ranks m - k and m + k among z.
    - U_l(z) <= U_{l+1}(z*), hence S(z) <= e^t S(z*). Take the window (z_{p-L}, z_p) that
      attains U_l(z), m <= p <= m + L (so for l = 0 too). At most L - 1 entries of z are
      strictly inside it, at most p - 1 below its upper end and at least p - L not above
      its lower end. Of z* let j be below the upper end and i not above the lower end:
      i >= p - L - k >= m - (L + k), j <= p - 1 + k and j - i <= L + k - 1. Then
      q = max(j + 1, m) satisfies m <= q <= m + L + k and q - (L + k) <= i, so the
      window of z* from rank q - (L + k) to rank q covers the one of z.
    - U_l is nondecreasing in l and equals ``top`` once L > N, so later l do not matter; nor
      do those with e^{-l t} top <= 1. Both are public, and so is how many entries are read.
    - The constant 1, one grid step, keeps S in a range doubles resolve.

    The formula is the paper's; its proof reads the second step off a figure (with "an
    additional l points" where k are meant) and is silent on odd N.

    Parameters
    ----------
    ranked : Ranked
        z, with ``top`` >= 1.
    changes : int
        Entries that one row can change.
    t : float
        Smoothness, > 0.

    Notes
    -----
    Levels are searched by branch and bound: strictly between a and b no level exceeds
    e^{-(a + 1) t} U_b.
    """
    last = _last_level(ranked.size, changes, ranked.top, t)
    spread = _spreads(ranked.around(changes * (last + 1)), changes)
    best = max(1.0, spread(0), ranked.top * math.exp(-last * t))
    between = [(0, last, ranked.top)]
    while between:
        a, b, most = between.pop()
        if b - a < 2 or most * math.exp(-(a + 1) * t) <= best:
            continue
        halfway = (a + b) // 2
        here = spread(halfway)
        best = max(best, here * math.exp(-halfway * t))
        between += [(halfway, b, most), (a, halfway, here)]
    return best


def _spreads(z: np.ndarray, changes: int):
    """Return U_l as a function of l, for the levels :func:`smooth_bound` uses; z[median] is z_m."""
    median = len(z) // 2

    def spread(level: int) -> int:
        length = changes * (level + 1)
        upper = z[median : median + length + 1]
        lower = z[median - length : median + 1]
        if level == 0:
            return int(max(upper[-1] - lower[-1], upper[0] - lower[0]))
        return int(np.max(upper - lower))

    return spread
