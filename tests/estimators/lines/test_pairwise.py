"""Pairs of rows: all of them or k matchings, counted against a list; nothing here is random."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpstats.estimators.lines import pairwise as pairs_module
from dpstats.estimators.lines.pairwise import all_pairs_imbalance, pairs_imbalance
from tests.checks.pairwise import (
    ONE,
    brute_imbalance,
    check_imbalance,
    check_matchings,
    matchings,
    sign,
)

coarse = st.integers(0, 4).map(lambda i: i * ONE // 4)


fine = st.integers(0, ONE)


near = st.integers(ONE // 2 - 3, ONE // 2 + 3)


places = coarse | fine | near


x_news = st.sampled_from([0, ONE // 4, ONE // 2, ONE, -ONE, 2 * ONE]) | fine


def arrays(rows):
    return np.array([a for a, _ in rows], np.int64), np.array([b for _, b in rows], np.int64)


@settings(max_examples=250, deadline=None)
@given(st.lists(st.tuples(places, places), max_size=8), x_news)
@example([(0, 0), (ONE, ONE)], ONE // 2)
@example([(ONE // 2, 0), (ONE // 2, ONE), (0, 5), (ONE, 7)], ONE // 2)
@example([(3, 1), (3, 1), (3, 2)], 3)
def test_all_pairs_are_counted_exactly_for_predictions_within_a_range_of_the_data(rows, x_new):
    x, y = arrays(rows)
    pairs = list(combinations(range(len(x)), 2))
    check_imbalance(all_pairs_imbalance(x, y, x_new), x, y, x_new, pairs)


@settings(max_examples=250, deadline=None)
@given(st.lists(st.tuples(places, places), max_size=8), st.integers(-(1 << 50), 1 << 50))
@example([((1 << 23) - 1, 0), (1 << 23, 0)], 1 << 50)
def test_all_pairs_never_increase_with_the_point_wherever_the_prediction(rows, x_new):
    """The sampler supposes it; far from the data a pair may count as a tie, nothing worse.

    A call refuses points beyond 2^25 here; from 2^52 on rows next to each other have one quotient.
    """
    x, y = arrays(rows)
    imbalance = all_pairs_imbalance(x, y, x_new)
    _, lines = brute_imbalance(x, y, x_new, combinations(range(len(x)), 2))
    points = {-3 * ONE, 0, 4 * ONE}
    for z in lines:
        if -3 * ONE <= z <= 4 * ONE:
            points |= set(range(int(z) - 3, int(z) + 4))
    heights = [imbalance(r) for r in sorted(points)]
    assert heights == sorted(heights, reverse=True)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(places, places), min_size=1, max_size=8),
    st.tuples(places, places),
    x_news | st.integers(-(1 << 60), 1 << 60),
    st.integers(-ONE, 2 * ONE),
)
def test_one_row_moves_the_count_of_all_pairs_by_at_most_two_a_pair(rows, new, x_new, r):
    one = all_pairs_imbalance(*arrays(rows), x_new)(r)
    other = all_pairs_imbalance(*arrays([new, *rows[1:]]), x_new)(r)
    assert abs(one - other) <= 2 * (len(rows) - 1)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(places, places), min_size=2, max_size=8),
    st.sampled_from([0, ONE // 4, ONE // 2, ONE, 3 * ONE // 4]),
    st.integers(0, 2**32),
    st.integers(-ONE, 2 * ONE),
)
def test_pairs_of_matchings_are_counted_one_by_one(rows, x_new, seed, r):
    """Up to rounding of each pair's own prediction: within 2^-20 of a grid step of it."""
    x, y = arrays(rows)
    k = seed % (len(x) - 1) + 1
    pairs = matchings(len(x), k, seed)
    fast = pairs_imbalance(x, y, x_new, pairs)
    _, lines = brute_imbalance(x, y, x_new, pairs.tolist())
    near = Fraction(1, 1 << 20)
    if all(abs(z - r) > near * max(1, abs(z)) or z == r == int(z) for z in lines):
        assert fast(r) == sum(sign(z - r) for z in lines)
    points = sorted({r, *(int(z) + i for z in lines for i in (-1, 0, 1))})
    heights = [fast(point) for point in points]
    assert heights == sorted(heights, reverse=True)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 10, 11, 50, 51])
def test_matchings_touch_every_row_at_most_once_each(n):
    for k in sorted({1, 2, 3, n // 2, n - 2, n - 1} & set(range(1, n))):
        check_matchings(n, k)


class OneRound:
    """A source of matchings that gives a chosen one."""

    def __init__(self, chosen):
        self.chosen = chosen

    def sample(self, population, size):
        self.population = population
        return [self.chosen]


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 10, 11, 50, 51])
def test_all_rounds_together_are_all_pairs_once(n):
    rounds = n if n % 2 else n - 1
    found = []
    for chosen in range(rounds):
        source = OneRound(chosen)
        found += [tuple(sorted(pair)) for pair in pairs_module.pairs_of(n, 1, source).tolist()]
        assert source.population == rounds
    assert len(found) == len(set(found)) and set(found) == set(combinations(range(n), 2))


@pytest.mark.parametrize("n", [4, 5, 9, 12])
def test_all_pairs_count_what_all_matchings_count_together(n):
    generator = np.random.default_rng(n)
    x = generator.integers(0, 5, n) * (ONE // 4)
    y = generator.integers(0, 5, n) * (ONE // 4)
    every = matchings(n, n - 1)
    for x_new in (ONE // 4, 3 * ONE // 4):
        together = pairs_imbalance(x, y, x_new, every)
        at_once = all_pairs_imbalance(x, y, x_new)
        points = [*range(-ONE, 2 * ONE, ONE // 7), *range(0, ONE + 1, ONE // 4)]
        assert [together(r) for r in points] == [at_once(r) for r in points]


def test_matchings_do_not_depend_on_anything_but_the_source():
    assert np.array_equal(matchings(20, 3, seed=4), matchings(20, 3, seed=4))
    assert not np.array_equal(matchings(20, 3, seed=4), matchings(20, 3, seed=5))
