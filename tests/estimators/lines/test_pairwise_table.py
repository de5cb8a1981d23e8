"""Predictions of pairs, group by group: exact halves, and the counts of the other paths."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.estimators.lines.pairwise import all_pairs_imbalance, pairs_imbalance
from dpstats.estimators.lines.pairwise_table import all_pairs, given_pairs
from dpstats.noise import exponential_compiled

ONE = 1 << 24


rows = st.lists(st.tuples(*[st.sampled_from([0, 1, 3, ONE // 3, ONE - 1, ONE])] * 2), max_size=8)


@settings(max_examples=200, deadline=None)
@given(rows, st.sampled_from([-ONE, 0, 1, ONE // 3, ONE, 2 * ONE]), st.integers(-ONE, 2 * ONE))
def test_predictions_by_pairs_are_exact(points, x_new, r):
    x, y = np.array(points, dtype=float).reshape(-1, 2).T
    doubled, ends = all_pairs(x, y, np.array([0, len(points)]), float(x_new))
    signs = []
    for j in range(len(points)):
        for l in range(j + 1, len(points)):
            if points[j][0] != points[l][0]:
                slope = Fraction(points[l][1] - points[j][1], points[l][0] - points[j][0])
                z = points[j][1] + slope * (x_new - points[j][0])
                signs.append((z > r) - (z < r))
    assert ends.tolist() == [0, len(signs)]
    assert exponential_compiled.imbalance(doubled, r, 0) == sum(signs)
    assert np.sign(doubled.astype(int) - 2 * r).tolist() == signs
    pairs = np.column_stack(np.triu_indices(len(points), 1))
    given_, _ = given_pairs(x, y, pairs, np.array([0, len(pairs)]), float(x_new))
    assert np.array_equal(given_, doubled)
    by_rows = x.astype(np.int64), y.astype(np.int64), x_new
    assert pairs_imbalance(*by_rows, pairs)(r) == sum(signs)
    if len(points):
        assert all_pairs_imbalance(*by_rows)(r) == sum(signs)
