"""Rows ordered by group."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines.group_sort import by_group


@settings(deadline=None)
@given(st.lists(st.integers(-1, 5), max_size=40))
def test_rows_are_ordered_by_group_and_keep_their_order(codes):
    order, edges = by_group(np.array(codes, np.int64), 6)
    for g in range(6):
        own = order[edges[g] : edges[g + 1]].tolist()
        assert own == [i for i, code in enumerate(codes) if code == g]
    assert edges[-1] == sum(code >= 0 for code in codes)
