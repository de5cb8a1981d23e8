"""The smooth sensitivity of a median (Nissim et al. 2007; Alabi et al. 2022, Lemma 7)."""

import math

import numpy as np


def smooth_bound(z: np.ndarray, changes: int, top: int, t: float) -> float:
    r"""A t-smooth upper bound on how far one row moves the median entry of z.

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
    - U_l is nondecreasing in l and equals ``top`` once L > N, so later l do not matter.
    - The constant 1, one grid step, keeps S in a range doubles resolve.

    The formula is the paper's; its proof reads the second step off a figure (with "an
    additional l points" where k are meant) and is silent on odd N.

    Parameters
    ----------
    z : numpy.ndarray of int, shape (N,)
        Ascending, in 0..top; N >= 1 and public.
    changes : int
        Entries that one row can change.
    top : int
        Largest value an entry can take, >= 1.
    t : float
        Smoothness, > 0.

    Notes
    -----
    Levels are searched by branch and bound: strictly between a and b no level exceeds
    e^{-(a + 1) t} U_b.
    """
    spread = _spreads(z, changes, top)
    last = max(-(-(len(z) + 1) // changes) - 1, 1)
    best = max(1.0, spread(0), top * math.exp(-last * t))
    between = [(0, last, top)]
    while between:
        a, b, most = between.pop()
        if b - a < 2 or most * math.exp(-(a + 1) * t) <= best:
            continue
        middle = (a + b) // 2
        here = spread(middle)
        best = max(best, here * math.exp(-middle * t))
        between += [(middle, b, most), (a, middle, here)]
    return best


def _spreads(z: np.ndarray, changes: int, top: int):
    """U_l as a function of l, for the levels :func:`smooth_bound` asks for."""
    margin = len(z) + changes
    beyond = np.full(margin, top, dtype=z.dtype)
    padded = np.concatenate([np.zeros_like(beyond), z, beyond])
    median = margin + (len(z) - 1) // 2

    def spread(level: int) -> int:
        length = changes * (level + 1)
        upper = padded[median : median + length + 1]
        lower = padded[median - length : median + 1]
        if level == 0:
            return int(max(upper[-1] - lower[-1], upper[0] - lower[0]))
        return int(np.max(upper - lower))

    return spread
