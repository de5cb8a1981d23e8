"""Replay of the within-group cross-products: no row moves them further than stated.

All data and answers come from fixed seeds, so nothing here can fail by chance.
"""

import numpy as np
import patsy
import pytest

from dpstats.estimators.least_squares.within import groups as within_groups
from dpstats.estimators.least_squares.within.groups import GroupDeviations
from dpstats.numerics import Sensitivity
from dpstats.privacy import ADD_REMOVE, RELATIONS, REPLACE_ONE
from tests.checks.replay import (
    check_reached,
    run,
    strange_table,
)
from tests.checks.within_groups import (
    CASES,
    GRAM,
    MANY,
    PLAIN,
    at,
    case_of,
    check_factor,
    check_random,
    check_shares,
    check_worst,
    check_worst_factor,
    stacked,
    with_factor,
)

CODINGS = ("C(h)", "C(h, Sum)", "C(h, Poly)", "C(h, Diff)", "C(h):x", "C(h)*I(x > -1)")
FACTORS = [with_factor(coding, relation) for coding in CODINGS for relation in RELATIONS]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_row_moves_a_query_further_than_stated(case):
    check_random(case)


@pytest.mark.parametrize("case", FACTORS, ids=[f"{c}-{r}" for c in CODINGS for r in RELATIONS])
def test_no_row_of_another_level_moves_a_query_further_than_stated(case):
    check_factor(case)


@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_the_worst_rows_reach_the_stated_sensitivity(case):
    check_worst(case)


def test_a_row_that_joins_n_others_moves_what_is_derived():
    check_shares()


def test_a_row_alone_in_its_group_moves_nothing_but_noise():
    case = case_of(neighbors=ADD_REMOVE)
    group = [at(case.problem, [-1], -1, 1)] * 3
    found = case.check(stacked(group), stacked([*group, at(case.problem, [1], 1, 2)]))
    assert set(found.values()) == {0.0}


def test_the_worst_level_reaches_the_stated_sensitivity():
    check_worst_factor(with_factor("C(h)", ADD_REMOVE))


def test_two_rows_without_a_common_entry_reach_the_bound_of_the_triangle():
    """Under replace-one, across groups: sqrt 2 times the bound of one row."""
    case = case_of(d=2, neighbors=REPLACE_ONE, row_norm=2.5)
    ends = np.eye(2)
    rows = [at(case.problem, -ends[0], 0, 1)] * MANY + [at(case.problem, -ends[1], 0, 2)] * MANY
    one = stacked([*rows, at(case.problem, ends[0], 0, 1)])
    two = stacked([*rows, at(case.problem, ends[1], 0, 2)])
    check_reached(GRAM, case.check(one, two)[GRAM])


@pytest.mark.parametrize("levels", [2, 3, 10, 60])
def test_a_factor_is_worth_two_columns_however_many_levels(levels):
    case = with_factor("C(h)", ADD_REMOVE, levels)
    expected = 1 + min(levels - 1, 2)
    assert GroupDeviations(case.problem).norm ** 2 == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("coding", ["Treatment", "Sum", "Poly", "Helmert", "Diff"])
def test_no_two_levels_are_farther_apart_than_the_bound(coding):
    """By exhaustive search, for patsy's codings at both scales of a column."""
    contrast = getattr(patsy, coding)().code_without_intercept(list(range(7))).matrix
    largest = max(np.linalg.norm(a - b) for a in contrast for b in contrast)
    slack = within_groups._diameter(contrast) - largest
    assert 0 < slack < 1e-4


def test_the_noise_does_not_depend_on_the_number_of_groups():
    case = case_of(neighbors=ADD_REMOVE)
    X, y = strange_table(np.random.default_rng(4), case.problem, 300)

    def events(groups):
        keys = np.arange(300) % groups
        return [a.event for a in run(case.fit(np.column_stack([X, keys]), y), case.limit).asked]

    assert events(1) == events(10) == events(300)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_sensitivity_has_room_for_the_rounding_of_each_group_that_changes(neighbors):
    """One unit of 2^-40 an entry, for one group or two: 6 entries of X'X, 3 of X'y, 1 of y'y."""
    coordinates = GroupDeviations(case_of(d=3, neighbors=neighbors).problem)
    of_rows = 4 * np.array(Sensitivity.of(coordinates.norm, 3, neighbors).l2)
    room = (np.array(coordinates.sensitivity(neighbors).l2) - of_rows) * 2.0**40
    groups = 2 if neighbors == REPLACE_ONE else 1
    np.testing.assert_allclose(room, groups * np.sqrt([6, 3, 1]), rtol=0.01)
