"""Rows ordered by group."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.numerics.group_sort import arranged, by_group, positions


@settings(deadline=None)
@given(st.lists(st.integers(-1, 5), max_size=40))
def test_rows_are_ordered_by_group_and_keep_their_order(codes):
    order, edges = by_group(np.array(codes, np.int64), 6)
    for g in range(6):
        own = order[edges[g] : edges[g + 1]].tolist()
        assert own == [i for i, code in enumerate(codes) if code == g]
    assert edges[-1] == sum(code >= 0 for code in codes)


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), max_size=40), st.randoms(use_true_random=False))
def test_values_are_arranged_by_group_and_within_in_the_order_asked_for(groups, random):
    groups = np.array(groups, np.int64)
    places = np.empty(len(groups), np.uint8)
    edges = positions(groups, 6, places)
    order = [random.sample(range(size), size) for size in np.diff(edges).tolist()]
    flat = np.array([place for own in order for place in own], np.uint8)
    found = arranged(np.arange(len(groups), dtype=np.uint64), places, edges, flat)
    rows = [np.flatnonzero(groups == g) for g in range(6)]
    assert found.tolist() == [rows[g][place] for g in range(6) for place in order[g]]
