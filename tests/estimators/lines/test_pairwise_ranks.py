"""Order statistics of all pairs' predictions, to the last rank."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from dpstats.estimators.lines import smooth_theil_sen
from dpstats.estimators.lines.pairwise_ranks import PairRanks
from dpstats.estimators.lines.pairwise_table import all_pairs, entries
from dpstats.estimators.lines.smooth_sensitivity import Listed, smooth_bound


def listed(x, y, x_new, first, top):
    """Two entries for every pair of rows, in exact arithmetic."""
    found = []
    for j, l in combinations(range(len(x)), 2):
        if x[j] == x[l]:
            found += [0, top]
            continue
        slope = Fraction(int(y[l] - y[j]), int(x[l] - x[j]))
        z = int(y[j]) + slope * int(x_new - x[j])
        found += [min(max(e - first, 0), top) for e in (math.ceil(z), math.floor(z) + 1)]
    return Listed(np.array(sorted(found), np.int32), top)


def tables():
    """Rows with and without ties, at the ends of the range, and on the vertical through x_new."""
    rng = np.random.default_rng(6)
    for _ in range(400):
        n, width, height = rng.integers(2, 14), *rng.choice([1, 2, 5, 17, 2**24], 2)
        x, y = rng.integers(0, width + 1, n), rng.integers(0, height + 1, n)
        x_new = int(rng.choice([0, width // 2, width, -width, x[0]]))
        yield x, y, x_new, int(rng.integers(-height, height)), int(rng.integers(1, 2 * height + 1))


def test_ranks_are_those_of_the_list_to_the_last_one():
    for table in tables():
        whole, ranks = listed(*table), PairRanks(*table)
        n, size = len(table[0]), whole.size
        assert ranks.size == size
        assert [ranks.entry(i) for i in range(1, size + 1)] == whole.z.tolist()
        for reach in (0, 1, n, size, 2 * size + 3):
            assert np.array_equal(ranks.around(reach), whole.around(reach))
        for t in (0.01, 0.3, 2.0):
            assert smooth_bound(ranks, 2 * n, t) == smooth_bound(whole, 2 * n, t)


@pytest.mark.parametrize("flat", [False, True])
def test_ranks_near_the_median_of_many_rows(flat):
    """Of 2,000 rows, with a million pairs through one point and without."""
    rng = np.random.default_rng(1)
    x = rng.choice(2**24, 2000, replace=False)
    y = np.full(2000, 2**23) if flat else (x // 2 + rng.integers(0, 2**22, 2000))
    doubled, _ = all_pairs(x.astype(float), y.astype(float), np.array([0, 2000]), 2.0**22)
    assert len(doubled) == 1000 * 1999
    whole = Listed(np.sort(np.clip(entries(doubled), 0, 2**24)), 2**24)
    ranks = PairRanks(x, y, 2**22, 0, 2**24)
    for reach in (0, 10_000, 300_000):
        assert np.array_equal(ranks.around(reach), whole.around(reach))


def test_how_many_rows_are_taken_in_all_pairs_is_as_documented():
    top, affordable = 2 << 24, smooth_theil_sen._affordable
    assert affordable(5792, top, 1e-6) and not affordable(5793, top, 1e-6)
    assert affordable(155_000, top, 1.0) and not affordable(170_000, top, 1.0)
    assert affordable(10**6, top, 8.0) and not affordable(10**7, top, 8.0)
