"""Count pairs of rows by brute force, and check matchings."""

from fractions import Fraction

import numpy as np

from dpstats.estimators.lines import pairwise as pairs_module
from dpstats.estimators.lines import theil_sen
from dpstats.noise import Noise
from dpstats.privacy import PureDP
from dpstats.testing import insecure_seed

ONE = theil_sen.ONE


def brute_imbalance(x, y, x_new, pairs):
    """#above - #below of the lines through the pairs, in exact arithmetic."""
    lines = []
    for j, l in pairs:
        if x[j] != x[l]:
            slope = Fraction(int(y[l]) - int(y[j]), int(x[l]) - int(x[j]))
            lines.append(int(y[j]) + slope * (x_new - int(x[j])))
    return lambda r: sum(sign(z - r) for z in lines), lines


def check_imbalance(fast, x, y, x_new, pairs):
    """Equal at every jump, beside it, and far away."""
    brute, lines = brute_imbalance(x, y, x_new, pairs)
    points = {-ONE, 0, ONE, 2 * ONE}
    for z in lines:
        if -3 * ONE <= z <= 4 * ONE:
            points |= {int(z) - 1, int(z), int(z) + 1}
    for r in points:
        assert fast(r) == brute(r), (x, y, x_new, r)


def matchings(n, k, seed=1):
    """k matchings of n rows, or all pairs for k = n - 1, as (N, 2) row pairs."""
    with insecure_seed(seed):
        return pairs_module.pairs_of(n, k, Noise(PureDP(1.0)))


def check_matchings(n, k):
    """No pair twice, no row with itself, each row in at most k pairs; k full matchings."""
    pairs = [tuple(sorted(pair)) for pair in matchings(n, k).tolist()]
    degrees = np.bincount(np.ravel(pairs).astype(int), minlength=n)
    expected = n * (n - 1) // 2 if k == n - 1 else k * (n // 2)
    assert len(set(pairs)) == len(pairs) == expected, "a pair is missing or counted twice"
    assert all(0 <= j < l < n for j, l in pairs), "a pair of no two rows"
    assert degrees.max() <= k, "a row is in more pairs than matchings"
    if n % 2 == 0:
        assert set(degrees) == {k}


def sign(number):
    return (number > 0) - (number < 0)
