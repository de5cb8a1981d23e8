"""Where groups begin, and what their rows count for."""

import numpy as np

from dpstats.numerics import PairGroups

STARTS = np.array([0, 2, 2, 5])


def test_without_weights_each_row_counts_for_one():
    groups = PairGroups.of(STARTS)
    assert groups.totals.tolist() == [2, 1, 3] and groups.unit == 1
    assert groups.parts.tolist() == [1.0] * 5


def test_totals_are_sums_of_whole_parts_and_at_least_one():
    parts = np.array([0.5, 1.0, 0.0, 0.25, 0.75])
    groups = PairGroups.of(STARTS, parts, 1 << 20)
    assert groups.totals.tolist() == [3 << 19, 1, 1 << 20]
    assert PairGroups.of(STARTS[:1]).totals.size == 0
