"""Every query of every method, asked of neighbouring tables (see replay.py).

All data come from fixed seeds and all answers too, so nothing here can fail by chance.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.estimators import METHODS
from dpstats.estimators.least_squares.dense.gram import box_of
from dpstats.estimators.lines import noisy_stats
from dpstats.numerics import Box, Moments, Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.privacy import ADD_REMOVE, GDP, RELATIONS, REPLACE_ONE, PureDP
from tests.checks.replay import (
    BOUNDS,
    Case,
    cases_of,
    check_neighbours,
    line_rows,
    neighbour,
    problem_of,
    row,
    run,
    serves,
    table,
    with_row,
)
from tests.checks.replayed import (
    _ranges,
    check_line,
    check_middles,
    check_random,
    check_ranges,
    check_ties,
    check_worst,
)


def has_plain_box(case):
    """Whether no row within the bounds is shortened and the line may have an intercept."""
    p = case.problem
    return p.intercept is not None and p.row_norm is None and not p.estimated


def is_exact(case):
    """Whether the method gives back a line that all rows lie on, at a huge budget.

    Two clipped rounds do not get there, and ranges of 2^61 leave an intercept few digits;
    wide_theil_sen takes every output within theta for the median, gradient descent stops
    after some steps and noisy_intercept has no slope, on purpose.
    """
    apart = ("wide_theil_sen", "noisy_intercept", "gd_pure", "gd_approx", "gd_zcdp", "noisy_sgd")
    if case.problem.y_high > 2.0**50 or case.options == {"rounds": 2, "tau": 0.2}:
        return False
    return has_plain_box(case) and case.method.name not in apart


CASES = [case for method in METHODS.values() for case in cases_of(method)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_row_moves_a_query_further_than_stated(case):
    check_random(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_row_out_of_range_among_ties_moves_no_query_further_than_stated(case):
    check_ties(case)


@pytest.mark.parametrize("case", [c for c in CASES if is_exact(c)], ids=str)
def test_a_huge_budget_recovers_a_line(case):
    check_line(case)


def predicting_at(case, share):
    """The case, whose first prediction lies at this share of the range of x."""
    p = case.problem
    where = np.arange(len(p.low)) != p.intercept
    x_new = p.x_new.copy()
    x_new[0, where] = p.low[where] + share * (p.high - p.low)[where]
    return replace(case, problem=replace(p, x_new=x_new))


FAR = [
    pytest.param(far, id=f"{share}-{case}")
    for share in (-1.0, 2.0, 1e6)
    for case in CASES
    if case.method.single_regressor
    and serves(case.method, (far := predicting_at(case, share)).problem)
]


@pytest.mark.parametrize("far", FAR)
def test_predictions_outside_the_range_are_as_private(far):
    check_random(far, 4)


SUMS = [c for c in CASES if c.method.name in ("adassp", "ssp") and has_plain_box(c)]


@pytest.mark.parametrize("case", SUMS, ids=str)
def test_standard_errors_come_from_releases_alone(case):
    """With many rows no ridge is needed and the covariance is released too."""
    rich = replace(case, limit=case.method.cost(50.0, 1e-6))
    generator = np.random.default_rng(7)
    one = table(line_rows(generator, case.problem, 400)[0], case.problem)
    two = neighbour(generator, case.problem, *one)
    assert run(rich.fit(*one), rich.limit).released.cov is not None
    rich.check(one, two)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_worst_rows_reach_the_stated_sensitivity(case):
    check_worst(case)


LIMITS = (PureDP(8.0), GDP.of(8.0, 1e-6))


@pytest.mark.parametrize("careful", (False, True))
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("limit", LIMITS, ids=("pure", "gdp"))
def test_ranges_move_as_stated_and_reach_it(neighbors, limit, careful):
    check_ranges(neighbors, limit, careful)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("limit", [limit.part(1 / 4) for limit in LIMITS], ids=("pure", "gdp"))
def test_middles_and_spreads_move_as_stated_and_reach_it(neighbors, limit):
    check_middles(neighbors, limit)


@pytest.mark.parametrize("limit", LIMITS, ids=("pure", "gdp"))
def test_ranges_of_too_few_rows_end_in_a_released_failure(limit):
    columns = {"a": np.array([1.0]), "b": np.array([2.0])}
    other = {"a": np.array([1.0, 1e9]), "b": np.array([2.0, -1e9])}
    fits = [_ranges(data, limit, ADD_REMOVE) for data in (columns, other)]
    assert run(fits[0], limit).released.found == {}
    check_neighbours(*fits, limit)


entries = st.floats(-4.0, 12.0) | st.sampled_from([-3.0, 1.0, 2.0, 10.0, 1e9, np.inf, -np.inf])


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(BOUNDS),
    st.sampled_from([{}, {"intercept": None}, {"estimated": True}, {"row_norm": 2.5}]),
    st.lists(st.tuples(st.lists(entries, min_size=3, max_size=3), entries), max_size=6),
)
def test_whole_rows_never_exceed_the_box(ends, kind, rows):
    problem = problem_of(3, *ends, ADD_REMOVE, **kind)
    box = box_of(problem)
    X, y = table([row(problem, x, y) for x, y in rows], problem)
    found = box.integers(X, y)
    assert np.array_equal(found, np.trunc(found))
    for whole in found.astype(int).tolist():
        assert max(map(abs, whole)) <= 1 << ENTRY_BITS
        square = Fraction(box.norm) ** 2 * 4**ENTRY_BITS
        # Fraction(sqrt(3.0)) may lie below the root by a rounding, as in the stated bound.
        assert sum(u * u for u in whole[:-1]) <= square * (1 + Fraction(1, 2**50))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(entries, entries, entries), min_size=1, max_size=6))
def test_each_whole_row_depends_on_its_own_row_alone(rows):
    box = Box.ball(2, 2.5, -3.0, 1.0)
    X, y = np.array([r[:2] for r in rows]), np.array([r[2] for r in rows])
    alone = [box.integers(X[i : i + 1], y[i : i + 1])[0] for i in range(len(rows))]
    assert np.array_equal(box.integers(X, y), alone)


def test_cutting_entries_makes_no_row_longer():
    box = Box.symmetric(np.full(3, -3.0), np.full(3, 1.0), 2.0, 10.0, None)
    generator = np.random.default_rng(6)
    X, y = generator.uniform(-3, 1, (5000, 3)), generator.uniform(2, 10, 5000)
    cut = box.integers(X, y) / 2.0**ENTRY_BITS
    assert np.all(np.abs(cut) <= np.abs(np.column_stack([X / 3.0, y / 10.0])))


@pytest.mark.parametrize("n", [8191, 8192, 8193])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_row_at_the_end_of_a_block_moves_sums_exactly(n, neighbors):
    """All products are as large as they get; sums agree with Python integers."""
    problem = problem_of(1, (-3.0, 1.0), (2.0, 10.0), neighbors)
    corner, new = row(problem, 1.0, 10.0), row(problem, -3.0, 2.0)
    X, y = table([corner] * n, problem)
    other = with_row(X, y, new, n)
    if neighbors == REPLACE_ONE:
        other = other[0][1:], other[1][1:]
    method = METHODS["adassp"]
    case = Case(method, problem, {}, method.cost(1.0, 1e-6))
    case.check((X, y), other)
    one = 1 << 2 * ENTRY_BITS
    assert Moments.of(Rows(X, y), box_of(problem)).cross.tolist() == [[n * one] * 3] * 3


def test_noisy_stats_adds_up_exactly_whatever_the_number_of_rows():
    """A group may hold more rows than 63 bits can add up: 2^23 rows at the corner do."""
    problem = problem_of(1, (0.0, 1.0), (0.0, 1.0), REPLACE_ONE)
    n = 1 << 23
    X, y = np.broadcast_to([1.0, 1.0], (n, 2)), np.broadcast_to(1.0, n)
    sums = noisy_stats.summarise(Rows(X, y), problem)
    assert (sums.xx, sums.xy) == (n << 40, n << 40)
