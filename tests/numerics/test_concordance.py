"""Pairs counted in O(n log n) against pairs counted one by one; nothing here is random."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpstats.numerics.concordance import concordance
from tests.checks.pairwise import sign


def brute_concordance(keys, values):
    """Concordant minus discordant pairs; ties in either count zero."""
    pairs = combinations(zip(keys, values, strict=True), 2)
    return sum(sign(a - c) * sign(b - d) for (a, b), (c, d) in pairs)


def fast_concordance(keys, values):
    """The same through the merge sort, which wants rows ordered by key, then value."""
    keys, values = np.array(keys, dtype=float), np.array(values, dtype=float)
    order = np.lexsort((values, keys))
    keys, values = keys[order], values[order]
    starts = np.flatnonzero(np.diff(keys, prepend=np.nan)).astype(np.int64)
    lengths = np.diff(starts, append=len(keys))
    return concordance(values, starts, int((lengths * (lengths - 1) // 2).sum()))


few = st.integers(-3, 3)
many = st.integers(-(10**9), 10**9)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(few, few), max_size=25) | st.lists(st.tuples(many, many), max_size=25))
@example([])
@example([(1, 1)])
@example([(1, 1), (1, 1)])
@example([(0, 1), (1, 0)])
@example([(0, 0), (0, 1), (0, 2)])
def test_concordance_counts_every_pair(rows):
    keys, values = [a for a, _ in rows], [b for _, b in rows]
    assert fast_concordance(keys, values) == brute_concordance(keys, values)


@pytest.mark.parametrize("spread", [2, 30, 10**6])
def test_concordance_of_a_thousand_rows(spread):
    generator = np.random.default_rng(1)
    keys, values = generator.integers(0, spread, (2, 1000))
    expected = np.sign(keys[:, None] - keys) * np.sign(values[:, None] - values)
    assert fast_concordance(keys, values) == expected.sum() // 2


@pytest.mark.parametrize("values", [[0.0, -0.0, 0.0], [1.5, 1.5, 1.5]])
def test_signed_zeros_are_ties(values):
    assert fast_concordance([1, 2, 3], values) == 0


def test_orders_and_their_reverse_are_the_extremes():
    n = 1000
    pairs = n * (n - 1) // 2
    assert fast_concordance(range(n), range(n)) == pairs
    assert fast_concordance(range(n), range(n, 0, -1)) == -pairs
