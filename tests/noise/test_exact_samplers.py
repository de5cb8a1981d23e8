"""The exponential mechanism over a grid: its exact output distribution.

The distribution is read off the code itself: a scripted source tells which draws lead to
which point and which are rejected. Only the two tests marked "fresh" draw from the
operating system, with chi-square tests that fail at p < 10^-6; the rest is exact.
"""

import itertools
import math
from collections import Counter
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from dpstats.estimators import METHODS
from dpstats.estimators.lines import theil_sen, theil_sen_rows
from dpstats.noise import Noise, RankQuery, exact_samplers
from dpstats.noise.random_sources import SystemSource
from dpstats.privacy import REPLACE_ONE, PureDP
from tests.checks.exact_samplers import (
    ENDS,
    LINE,
    NARROW,
    ONE_BELOW,
    Chooser,
    _neighbours,
    check_blocks,
    check_exact,
    check_ratio,
    check_rounds,
    check_theil_sen,
    check_theil_sen_of_one_more,
    largest_ratio,
    one_round,
    steps,
    theil_sen_masses,
)
from tests.checks.replay import Case, problem_of, run

pytestmark = pytest.mark.system_noise

ALPHA = 1e-6


@pytest.mark.parametrize("best", [20, 0, -20, 40, -40, -100])
@pytest.mark.parametrize("place", [1, 12_345_678, 1 << 24, (1 << 25) - 3])
def test_one_good_point_among_millions_is_found_in_a_few_rounds(best, place):
    """Otherwise a release never ends for some data, and its duration tells which."""

    def f(index):
        return best if index == place else 650 * (-1 if index > place else 1)

    check_rounds(f, 1 << 25, 1.0)


@pytest.mark.parametrize("place", [15_630_366, 4_712_060, 12_345_678, 7_866_352])
@pytest.mark.parametrize("exponent", [0, 25, 40, 300])
def test_fine_steps_on_both_sides_of_a_large_one_need_few_counts(place, exponent):
    """Weights of e^-exponent and less, beside which the first upper weights are huge."""
    rate = 1.126463738123248e-06
    above, below = round(exponent / rate), round(0.907 * exponent / rate)

    def f(index):
        return 4 * (place - index) + (above if index < place else -below)

    check_rounds(f, (1 << 25) + 1, rate)


@pytest.mark.parametrize("outliers", [0.0, 1.0])
def test_ties_in_real_rows_are_sampled_in_a_few_rounds(outliers):
    """3,000 rows at three values of x; 95% of y are the middle of the range."""
    n = 3000
    X, y = np.column_stack([np.ones(n), np.arange(n) % 3 / 2]), np.full(n, 0.5)
    y[: n // 20 : 3] = outliers
    problem = problem_of(1, (0.0, 1.0), (0.0, 1.0), REPLACE_ONE)
    case = Case(METHODS["exp_theil_sen"], problem, {}, PureDP(16.0))
    predictions = run(case.fit(X, y), case.limit, answers=[0, 0]).asked
    assert len(predictions) == 2
    for asked in predictions:
        check_rounds(asked.imbalance, asked.size, asked.spread)


KNOWN = {
    "one point": [5],
    "one point at zero": [0],
    "two points": [3, -2],
    "all equal": [4] * 7,
    "all zero": [0] * 7,
    "tie about zero": [2, 2, 0, 0, 0, -2],
    "no zero": [7, 3, 1, -1, -1, -6],
    "all above": [9, 8, 8, 5],
    "all below": [-1, -1, -5, -50],
    "huge jumps": [10**12, 10**12, 3, -(10**13)],
    "one jump": [500] * 500 + [-500] * 500,
    "a thousand steps": list(range(300, -700, -1)),
}
RATES = (0.0, 1e-9, 0.01, 0.3, 5.0, 1e4)


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("rate", RATES)
def test_known_step_functions_are_sampled_exactly(name, rate):
    f, size = steps(KNOWN[name]), len(KNOWN[name])
    points = None if size < 20 else sorted({0, 1, 298, 299, 300, 301, 499, 500, 501, size - 1})
    check_blocks(f, size, rate)
    check_exact(f, size, rate, points)


heights = st.lists(st.integers(-9, 9) | st.integers(-(10**6), 10**6), min_size=1, max_size=12)


@settings(max_examples=150, deadline=None)
@given(heights.map(lambda h: sorted(h, reverse=True)), st.sampled_from(RATES) | st.floats(0, 20))
@example([1, 1, 0, -1], 0.5)
def test_any_step_function_is_sampled_exactly(heights, rate):
    check_blocks(steps(heights), len(heights), rate)
    check_exact(steps(heights), len(heights), rate)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 1 << 25), st.lists(st.integers(0, 1 << 25), max_size=30), st.floats(0, 3))
def test_blocks_of_a_large_grid_cover_it_without_gaps(size, places, rate):
    places = np.sort(places)

    def f(index):
        return len(places) // 2 - int(np.searchsorted(places, index, "right"))

    blocks = sorted(
        exact_samplers._blocks(f, size, rate, exact_samplers.best(f, size, rate)),
        key=lambda block: block.start,
    )
    edges = [blocks[0].start, *(block.stop for block in blocks)]
    assert edges[0] == 0 and edges[-1] == size
    assert all(block.start == edge for block, edge in zip(blocks, edges, strict=False))
    for block in blocks:
        ends = [f(block.start), f(block.stop - 1)]
        least = 0 if ends[0] >= 0 >= ends[1] else min(map(abs, ends))
        assert block.least <= least and max(map(abs, ends)) <= block.largest


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=7).map(lambda h: sorted(h, reverse=True)))
def test_every_draw_of_a_small_source_enumerated(heights):
    """Weights 8, 4, 2, 1 in place of exponentials: all pairs of draws can be listed."""

    def coarse(score, rate):
        return max(1, 8 >> score)

    f, size, kept, rounds = steps(heights), len(heights), Counter(), Fraction(0)
    with (
        mock.patch.object(exact_samplers, "integer_weight", coarse),
        mock.patch.object(exact_samplers, "weight", lambda score, rate: coarse(score, rate) / 8),
    ):
        _, (total, _) = one_round(f, size, 1.0, 0, 0)
        for draw in range(total):
            _, (_, upper) = one_round(f, size, 1.0, draw, 0)
            for second in range(upper):
                point = one_round(f, size, 1.0, draw, second)[0]
                if point is not None:
                    kept[point] += Fraction(1, total * upper)
        rounds = sum(kept.values())
    assert rounds >= Fraction(1, 2)
    masses = [coarse(abs(height), 1.0) for height in heights]
    assert [kept[i] / rounds for i in range(size)] == [Fraction(m, sum(masses)) for m in masses]


@given(st.integers(0, 10**14), st.floats(0, 1e6))
def test_integer_weights_are_the_weights_to_the_last_bit(score, rate):
    weight = exact_samplers.integer_weight(score, rate)
    assert Fraction(weight, 1 << 1074) == Fraction(exact_samplers.weight(score, rate))
    assert weight > 0


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.floats(1e-9, 10))
def test_weights_fall_with_the_score_and_no_faster_than_stated(low, more, rate):
    heavy, light = (Fraction(exact_samplers.weight(score, rate)) for score in (low, low + more))
    exponent = rate * more
    assert light <= heavy
    if exponent < 700:
        assert heavy / light <= Fraction(math.exp(exponent)) * (1 + Fraction(1, 2**40))


@pytest.mark.parametrize(
    ("heights", "rate"), [([3, 2, 2, 0, -1, -4], 0.4), ([60] * 50 + [-60] * 50, 0.001)]
)
def test_fresh_draws_have_the_exact_distribution(heights, rate):
    masses = np.array([math.exp(-rate * abs(height)) for height in heights])
    draws = 100 * len(heights) if len(heights) > 10 else 3000
    below = SystemSource.randbelow
    found = [
        exact_samplers.sample_index(steps(heights), len(heights), rate, below) for _ in range(draws)
    ]
    counts = np.bincount(found, minlength=len(heights))
    assert stats.chisquare(counts, draws * masses / masses.sum()).pvalue > ALPHA


def test_fresh_choices_of_the_noise_have_the_exact_distribution():
    heights, epsilon = [4, 1, 0, -2], 3.0
    query = RankQuery("median", steps(heights), 4, 2)
    counts = np.zeros(4)
    for _ in range(3000):
        counts[Noise(PureDP(epsilon)).choose(query, PureDP(epsilon))] += 1
    masses = np.exp(-epsilon / 4 * np.abs(heights))
    assert stats.chisquare(counts, 3000 * masses / masses.sum()).pvalue > ALPHA


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("sensitivity", [1, 2])
def test_choices_among_all_tiny_step_functions_are_private(epsilon, sensitivity):
    """All pairs of nonincreasing functions on four points that differ by the sensitivity."""
    functions = [h for h in itertools.product(range(3, -4, -1), repeat=4) if list(h) == _down(h)]
    masses = {}
    for function in functions:
        chooser = Chooser(PureDP(epsilon))
        chooser.choose(RankQuery("m", steps(function), 4, sensitivity), PureDP(epsilon))
        masses[function] = chooser.masses[0]
    largest = 0.0
    for one, other in itertools.permutations(functions, 2):
        if max(abs(a - b) for a, b in zip(one, other, strict=True)) <= sensitivity:
            ratio = largest_ratio(masses[one], masses[other])
            largest = max(largest, check_ratio(ratio, epsilon))
    assert largest >= 0.5 * epsilon


def _down(heights):
    return sorted(heights, reverse=True)


@pytest.fixture
def coarse_grid(monkeypatch):
    """x, y and predictions on multiples of 1/8."""
    for module in (theil_sen, theil_sen_rows):
        monkeypatch.setattr(module, "BITS", 3)
        monkeypatch.setattr(module, "ONE", 8)


CORNERS = tuple(itertools.product((0.0, 0.25, 1.0), (0.0, 1.0)))
TINY = {
    "all pairs of 3": (CORNERS, 3, {}, ()),
    "all pairs of 4": (LINE + ENDS, 4, {}, ()),
    "all pairs of 5": (CORNERS[1:4], 5, {}, ()),
    "first of 3 matchings of 3": (CORNERS, 3, {"k": 1}, (0,)),
    "last of 3 matchings of 3": (CORNERS, 3, {"k": 1}, (2,)),
    "one of 3 matchings of 4": (LINE + ENDS, 4, {"k": 1}, (1,)),
    "two of 3 matchings of 4": (LINE + ENDS, 4, {"k": 2}, (0, 2)),
    "one of 5 matchings of 5": (CORNERS[1:4], 5, {"k": 1}, (3,)),
}


@pytest.mark.parametrize("name", TINY)
def test_theil_sen_is_private_on_every_tiny_table(coarse_grid, name):
    points, n, options, rounds = TINY[name]
    tables = list(itertools.product(points, repeat=n))
    assert check_theil_sen(tables, 2.0, options, rounds) > 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("options", [{}, {"k": 1}, {"k": 2}], ids=str)
@pytest.mark.parametrize("x_new", [(0.25,), (0.25, 0.25), (0.25, 0.25, 0.25)], ids=len)
def test_theil_sen_uses_most_of_its_epsilon_somewhere(coarse_grid, epsilon, options, x_new):
    tables = [(*LINE, end) for end in ENDS]
    spent = check_theil_sen(tables, epsilon, {**options, **NARROW}, (), x_new)
    assert spent >= 0.75 * epsilon


@pytest.mark.parametrize("points", [CORNERS, LINE + ENDS], ids=len)
@pytest.mark.parametrize("options", [{}, NARROW], ids=str)
def test_theil_sen_is_private_when_a_row_is_added_to_any_tiny_table(coarse_grid, points, options):
    assert check_theil_sen_of_one_more(points, range(4), 2.0, options) > 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_theil_sen_uses_most_of_its_epsilon_where_a_row_is_added(coarse_grid, epsilon):
    """Rows whose lines all pass above, and one whose lines pass below: ranks move by 3/2.

    The weights of few grid points do, and so the normalising constant hardly moves.
    """
    spent = check_theil_sen_of_one_more(ONE_BELOW, [3], epsilon, NARROW, (0.25, 0.25))
    assert spent >= 0.45 * epsilon


@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_theil_sen_is_private_when_its_matching_is_drawn_too(coarse_grid, epsilon):
    """The mixture over all three matchings of four rows, both predictions together."""
    tables = list(itertools.product((*LINE[1:], *ENDS), repeat=4))[::3]
    tables += [(*LINE, end) for end in ENDS]
    joint = {rows: _mixture(rows, epsilon) for rows in tables}
    ratios = [largest_ratio(joint[a], joint[b]) for a, b in _neighbours(tables)]
    assert max(check_ratio(ratio, epsilon) for ratio in ratios) >= 0.5 * epsilon


def _mixture(rows, epsilon):
    given = [
        theil_sen_masses(rows, epsilon, {"k": 1, **NARROW}, (m,), (0.25, 0.25)) for m in range(3)
    ]
    size = range(len(given[0][0]))
    return [sum(p[i] * q[j] for p, q in given) / 3 for i in size for j in size]


def test_every_prediction_is_possible_whatever_the_data(coarse_grid):
    for rows in itertools.product(CORNERS, repeat=3):
        for masses in theil_sen_masses(rows, 1.0, {}):
            assert len(masses) == 17 and min(masses) > 0
