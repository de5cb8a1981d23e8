"""Compare predictions by the lines through pairs of rows with grid points."""

from collections.abc import Callable

import numpy as np

from dpstats.noise import Noise


def all_pairs_imbalance(x: np.ndarray, y: np.ndarray, x_new: int) -> Callable[[int], int]:
    """Return #above - #below over all pairs as a function of r, in O(n log n) per call.

    With u = x - x_new and theta(r) = (y - r) / u, the line through j and l passes above
    r at x_new exactly when theta_j - theta_l and 1/u_j - 1/u_l have the same sign, below
    when they differ. So over rows with u != 0 the imbalance is the number of concordant
    minus discordant pairs of theta(r) and 1/u; a row with u = 0 passes through its own
    y with every row of another x. Rows tied in u form no pair.
    """
    from dpstats.numerics.concordance import concordance

    u = x - x_new
    at = y[u == 0]
    away = np.flatnonzero(u)
    inverse = 1.0 / u[away]
    order = away[np.lexsort((y[away] * np.sign(u[away]), inverse))]
    u, y = u[order].astype(float), y[order]
    starts = np.flatnonzero(np.diff(u, prepend=np.nan)).astype(np.int64)
    lengths = np.diff(starts, append=len(u))
    tied_pairs = int(np.sum(lengths * (lengths - 1) // 2))

    def imbalance(r: int) -> int:
        through = int(np.sum(np.sign(at - r))) * len(u)
        return through + int(concordance((y - r) / u, starts, tied_pairs))

    return imbalance


def pairs_imbalance(x, y, x_new: int, pairs: np.ndarray) -> Callable[[int], int]:
    """Return #above - #below over the given pairs, shape (N, 2), as a function of r."""
    from dpstats.estimators.lines.pairwise_table import given_pairs

    whole = np.array([0, len(pairs)])
    z = np.sort(given_pairs(x.astype(float), y.astype(float), pairs, whole, float(x_new))[0])

    def imbalance(r: int) -> int:
        below, not_above = (int(z.searchsorted(2 * r, side)) for side in ("left", "right"))
        return len(z) - not_above - below

    return imbalance


def pairs_of(n: int, k: int, noise: Noise) -> np.ndarray:
    """Draw public row pairs, shape (N, 2), with every row in at most k <= n - 1 of them.

    k different matchings of n rows, or all pairs for k = n - 1. Round h of the circle
    method pairs i and j with i + j = h (mod m), m odd; the row that would meet itself
    meets the last row when n is even and rests when n is odd.
    """
    if k == n - 1:
        return np.column_stack(np.triu_indices(n, 1))
    modulus = n - 1 if n % 2 == 0 else n
    rounds = np.array(noise.sample(modulus, k))
    i = np.arange(modulus)
    partner = (rounds[:, None] - i) % modulus
    alone = partner == i
    if n % 2 == 0:
        partner = np.where(alone, n - 1, partner)
    keep = i < partner
    return np.column_stack([np.broadcast_to(i, partner.shape)[keep], partner[keep]])
