r"""Draw one sample from a posterior that is concentrated as far as privacy allows.

The posterior of a linear model with flat noise has the density proportional to
exp(-gamma F(theta)), F(theta) = sum (v - u'theta)^2 / 2 + ridge ||theta||^2 / 2: the normal
distribution N(H^-1 w, (gamma H)^-1). gamma decides how private it is (Wang 2018, Algorithm 1;
Wang 2017).

**Two neighbours.** Let a row (u, v) be added to a table with H, mean m and residual
r = v - u'm, and h = u'H^-1 u. The two densities have the ratio exp(-gamma (v - u'theta)^2 / 2),
up to a constant: a function of s = u'theta alone, so telling the samples apart is telling apart
the distributions of s. They are N(u'm, h / gamma) and
N(u'm + h r / (1 + h), h / (gamma (1 + h))). In units of the first, with k = h / (1 + h) and
a = |r| sqrt(gamma k (1 - k)), they are N(0, 1) and N(a, 1 - k).

**All neighbours.** Let h <= h_0 and |r| <= r_0 for every row that could be added, K = h_0 / (1 +
h_0) and A = r_0 sqrt(gamma K). Then the pair N(0, 1), N(A, 1 - K) is the easiest to tell apart:
- Multiplying by c = sqrt(k / K) <= 1 and adding N(0, 1 - c^2) makes of it the pair N(0, 1),
  N(c A, 1 - k), which is thus no easier; and c A = r_0 sqrt(gamma k) >= a.
- For a fixed k it gets easier as a >= 0 grows. The sets where the log ratio of the densities
  exceeds a bound are an interval or the outside of one, with its centre at a / k >= a, where
  that quadratic has its vertex. With q the density of N(a, 1 - k), the derivative in a of the
  probability of an interval (x, y) is q(x) - q(y), which is nonnegative when the interval's
  centre lies above a. So moving a raises Q(interval) and lowers Q(outside), and with the
  best set of each a the excess of either probability over e^epsilon times the other grows.

So gamma is the largest for which the excess of (A, K) is at most delta (:func:`largest_shift`).

**In a ball.** Let F - F' of two neighbours take values in an interval of length D over the ball.
The log ratio of the densities proportional to exp(-gamma F) and exp(-gamma F') is gamma (F' - F)
plus a constant, so it lies in an interval of length gamma D, and it takes values of either sign,
as both densities integrate to one. So the privacy loss is at most gamma D, whatever the ridge
(the exponential mechanism, McSherry and Talwar 2007).
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from dpstats.noise.multiprecision import MP, Numbers, Objective, forward, normals, on_grid, uniform


def excess(shift: float, share: float, epsilon: float) -> float:
    """Return the smallest delta with N(0, 1), N(shift, 1 - share) (epsilon, delta)-close.

    For shift >= 0 and 0 < share < 1. With x standing for a point, log p(x) - log q(x) is
    (share x^2 - 2 shift x + shift^2) / (2 (1 - share)) + log(1 - share) / 2.

    >>> round(excess(1.0, 1e-9, 1.0), 6)  # mu-GDP at mu = 1
    0.126937
    """
    from scipy.special import log_ndtr

    deviation, level = math.sqrt(1 - share), math.log1p(-share) / 2

    def ends(bound: float) -> tuple[float, float] | None:
        """Solve log p - log q = bound; None where it stays above."""
        offset = 2 * (bound - level)
        square = shift**2 + share * offset
        if square <= 0:
            return None
        upper = shift + deviation * math.sqrt(square)
        return (shift**2 - (1 - share) * offset) / upper, upper / share

    middle = ends(epsilon)
    assert middle is not None, "the bound exceeds the level, so the square is positive"
    low, high = middle
    first = np.logaddexp(log_ndtr(low), log_ndtr(-high))
    second = np.logaddexp(log_ndtr((low - shift) / deviation), log_ndtr((shift - high) / deviation))
    most = _difference(first, epsilon + second)
    if inside := ends(-epsilon):
        first = _log_interval(*((x - shift) / deviation for x in inside))
        most = max(most, _difference(first, epsilon + _log_interval(*inside)))
    return most


def _difference(one: float, other: float) -> float:
    """Return e^one - e^other, or 0 where that is negative."""
    return max(-math.exp(one) * math.expm1(min(other - one, 0.0)), 0.0)


def _log_interval(low: float, high: float) -> float:
    """Return the logarithm of the standard normal probability of (low, high)."""
    from scipy.special import log_ndtr

    if low > 0:
        low, high = -high, -low
    return log_ndtr(high) + math.log1p(-math.exp(min(log_ndtr(low) - log_ndtr(high), -1e-300)))


def about_largest_shift(share: float, epsilon: float, delta: float) -> float:
    """Return about the largest shift for which :func:`excess` is at most delta; 0 if none is."""
    from scipy.optimize import brentq

    def logarithm(log_shift: float) -> float:
        return math.log(max(excess(math.exp(log_shift), share, epsilon), 1e-320) / delta)

    high = math.log(math.sqrt(2 * epsilon) + 10)
    low = high - 60
    if logarithm(low) > 0:
        return 0.0
    return math.exp(brentq(logarithm, low, high, xtol=1e-12)) * (1 - 1e-8)


def largest_shift(share: float, epsilon: float, delta: float) -> float:
    """Return the largest shift for which the excess is at most delta; 0 where there is none.

    Doubles find it. Where epsilon is tiny they do not tell the two probabilities apart by enough
    digits, whose logarithms differ by less than their own rounding, so the shift is made smaller
    until :func:`_stays_within`, in whose arithmetic they do, confirms it.
    """
    shift, step = about_largest_shift(share, epsilon, delta), 2.0**-26
    while shift > 0 and not _stays_within(shift, share, epsilon, delta):
        shift *= max(1 - step, 0.0)
        step *= 2
    return shift


def _stays_within(shift: float, share: float, epsilon: float, delta: float) -> bool:
    """Tell whether :func:`excess` is at most delta, for a shift larger by 2^-40 of itself too.

    A probability, and e^epsilon times the one that is taken off it, are at most 1, and above
    2^-300 delta only for arguments x below 2^17 in size. Rounding these to k bits changes either
    by about x^2 2^-k, so the excess is right to 2^-200 delta. The margin is for what a caller
    rounds.
    """
    mp = _numbers(256 - math.frexp(delta)[1])
    shift, share, epsilon = mp.mpf(shift) * (1 + mp.ldexp(1, -40)), mp.mpf(share), mp.mpf(epsilon)
    deviation, level = mp.sqrt(1 - share), mp.log1p(-share) / 2

    def ends(bound):
        offset = 2 * (bound - level)
        upper = shift + deviation * mp.sqrt(max(shift**2 + share * offset, 0))
        return (shift**2 - (1 - share) * offset) / upper, upper / share

    def moved(x):
        return (x - shift) / deviation

    low, high = ends(epsilon)
    outside = mp.ncdf(low) + mp.ncdf(-high)
    moved_outside = mp.ncdf(moved(low)) + mp.ncdf(-moved(high))
    if outside - mp.exp(epsilon) * moved_outside > delta:
        return False
    if shift**2 - 2 * share * (epsilon + level) <= 0:
        return True
    low, high = ends(-epsilon)
    within = mp.ncdf(-low) - mp.ncdf(-high)
    moved_within = mp.ncdf(-moved(low)) - mp.ncdf(-moved(high))
    return moved_within - mp.exp(epsilon) * within <= delta


@lru_cache(maxsize=8)
def _numbers(bits: int) -> Any:
    return Numbers(bits)


def sample_normal(
    objective: Objective, gamma: float, randbelow: Callable[[int], int]
) -> np.ndarray:
    """Draw from the density proportional to exp(-gamma objective), on the public grid."""
    lower = objective.factor()
    draws = normals(len(objective.linear), randbelow) / MP.sqrt(gamma)
    return on_grid(MP.U_solve(lower.T, forward(lower, objective.linear) + draws))


def sample_in_ball(
    objective: Objective, gamma: float, radius: float, randbelow: Callable[[int], int]
) -> np.ndarray:
    """Draw from the density proportional to exp(-gamma objective) on ||theta|| <= radius.

    With c the minimiser over the ball and nu its multiplier, N(c, (gamma (H + nu I))^-1) has a
    density proportional to exp(-gamma (objective + nu ||theta||^2 / 2)). A draw of it within the
    ball is kept with probability exp(-gamma nu (radius^2 - ||theta||^2) / 2), at most one, which
    leaves exp(-gamma objective). How many draws it takes depends on the table, and the
    distribution of the one that is kept does not depend on how many.
    """
    center, multiplier = objective.minimiser_in_ball(radius)
    upper = objective.factor(multiplier).T
    while True:
        theta = center + MP.U_solve(upper, normals(len(center), randbelow)) / MP.sqrt(gamma)
        room = MP.mpf(radius) ** 2 - MP.norm(theta) ** 2
        if room >= 0 and uniform(randbelow) < MP.exp(-gamma * multiplier * room / 2):
            return on_grid(theta)
