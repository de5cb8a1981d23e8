"""Rows that count for a part of one: exact sums, sensitivities by replay, and mutants.

All data and all answers come from fixed seeds.
"""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.mechanisms import METHODS
from dpstats.mechanisms.shared import noisy_sums, robust_covariance
from dpstats.mechanisms.shared.gram import box_of, split_weights
from dpstats.numerics import Moments, cross_products
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.replay import (
    Case,
    Violation,
    cases_of,
    check_reached,
    line_rows,
    problem_of,
    row,
    strange_row,
    table,
)
from tests.suites.test_replay import WORST

WEIGHTED = [name for name, method in METHODS.items() if method.takes_weights]
HC1 = {"cov_type": "HC1"}
STRANGE = [0.0, 1.0, 0.5, 1e-9, 0.3, 1 - 2.0**-53, 7.0, 1e300, -1.0, np.nan, np.inf, -np.inf]


def weighted(case):
    """The case with weights; every row then has one more column."""
    return replace(case, problem=replace(case.problem, weighted=True))


CASES = [
    weighted(case)
    for name in WEIGHTED
    for case in cases_of(METHODS[name])
    if case.problem.y_high == 10.0
]
SQUARES = [
    weighted(Case(METHODS["adassp"], problem_of(d, (-3.0, 1.0), (2.0, 10.0), relation), HC1, limit))
    for d in (1, 3)
    for relation in (ADD_REMOVE, REPLACE_ONE)
    for limit in [METHODS["adassp"].cost(1e4, 1e-6)]
]


def with_weights(X, y, weights):
    """The rows with a last column of weights."""
    return np.column_stack([X, np.broadcast_to(weights, len(y))]), y


def neighbour(generator, problem, X, y):
    """The table with one strange row of a strange weight more, less or in place of another."""
    new, response = strange_row(generator, problem)
    at = int(generator.integers(max(len(y), 1)))
    if len(y) and (problem.neighbors == REPLACE_ONE or generator.integers(2)):
        X, y = np.delete(X, at, axis=0), np.delete(y, at)
        if problem.neighbors == ADD_REMOVE:
            return X, y
    elif problem.neighbors == REPLACE_ONE:
        return X, y
    new = np.append(new, generator.choice(STRANGE))
    return np.insert(X, at, new, axis=0), np.insert(y, at, response)


def check_random(case, pairs=12):
    """Random strange tables of strange weights, and neighbours."""
    generator = np.random.default_rng(1)
    for seed in range(pairs):
        n = int(generator.choice([0, 1, 2, 5, 20]))
        X, y = table([strange_row(generator, case.problem) for _ in range(n)], case.problem)
        one = with_weights(X, y, generator.choice(STRANGE, n))
        case.check(one, neighbour(generator, case.problem, *one), seed)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_row_of_any_weight_moves_a_query_further_than_stated(case):
    check_random(case)


def check_worst(case, weight=1.0):
    """The worst rows of unweighted sums; each moves the number of rows by one too."""
    counted = 0.0
    for step, one, two, share in WORST[case.method.name](case):
        ratios = case.check(with_weights(*one, weight), with_weights(*two, weight))
        check_reached(step, ratios[step], share)
        counted = max(counted, ratios.get("number of rows", 0.0))
    assert counted == pytest.approx(1.0 if case.problem.neighbors == ADD_REMOVE else 0.0)


def check_heavy(case):
    """Rows of a weight beyond the largest count as rows of the largest one."""
    check_worst(case, 7.0)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_worst_rows_of_the_largest_weight_reach_the_stated_sensitivity(case):
    check_worst(case)
    check_heavy(case)


def check_squares(case):
    """Strange neighbours of rows around a line, at a budget with a second release."""
    generator, p = np.random.default_rng(2), case.problem
    X, y = table(line_rows(generator, p, 200)[0], p)
    y = y + 0.15 * (p.y_high - p.y_low) * generator.uniform(-1, 1, 200)
    one = with_weights(X, y, generator.choice([0.1, 0.5, 1.0], 200))
    for seed in range(8):
        asked = case.check(one, neighbour(generator, p, *one), seed)
        assert "sum of e^2 x x'" in asked


@pytest.mark.parametrize("case", SQUARES, ids=str)
def test_no_row_of_any_weight_moves_the_squares_further_than_stated(case):
    check_squares(case)


@pytest.mark.parametrize("case", SQUARES[::2], ids=str)
def test_the_worst_row_of_the_largest_weight_moves_the_squares_as_far_as_stated(case):
    """A corner of the box, on the far side of the line."""
    p = case.problem
    one = with_weights(*table(line_rows(np.random.default_rng(1), p, 200)[0], p), 1.0)
    corner = row(p, p.high[1:], p.y_low)
    two = np.insert(one[0], 0, np.append(corner[0], 1.0), axis=0), np.insert(one[1], 0, corner[1])
    best = max(case.check(one, two, seed)["sum of e^2 x x'"] for seed in range(4))
    check_reached("sum of e^2 x x'", best)


def test_half_a_row_moves_the_sums_by_half():
    """The distance is the weight times that of a whole row: no weight hides in the noise."""
    case = next(c for c in CASES if str(c).startswith("adassp-add_remove-x-3:1-S2"))
    p = case.problem
    one = with_weights(*table(line_rows(np.random.default_rng(1), p, 50)[0], p), 1.0)
    for weight in (0.25, 0.5, 1.0):
        new = np.append(row(p, p.high[1:], p.y_high)[0], weight)
        two = np.insert(one[0], 0, new, axis=0), np.insert(one[1], 0, p.y_high)
        ratios = case.check(one, two)
        assert [ratios["y'y"], ratios["number of rows"]] == pytest.approx([weight, 1])


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE_ONE])
def test_methods_see_design_rows_and_weights_apart(relation):
    problem = problem_of(1, (0, 1), (0, 1), relation)
    X = np.array([[1.0, 0.5, 0.25]])
    rows, weights = split_weights(X, replace(problem, weighted=True))
    assert rows.tolist() == [[1.0, 0.5]] and weights.tolist() == [0.25]
    assert split_weights(X, problem)[1] is None


def test_sums_without_weights_are_those_of_whole_rows():
    p = problem_of(2, (-3.0, 1.0), (2.0, 10.0), ADD_REMOVE)
    X, y = table([strange_row(np.random.default_rng(s), p) for s in range(300)], p)
    plain, whole = Moments.of(X, y, box_of(p)), Moments.weighted(X, y, np.ones(300), box_of(p))
    assert (whole.cross == plain.cross * 2**20).all() and whole.rows == 300
    assert whole.unit * 2**20 == plain.unit and plain.rows is None


def unlimited_weights(monkeypatch):
    """Weights above one enter the sums, which are calibrated to one row."""

    def doubled(weights):
        return np.trunc(np.clip(weights, 0, 2) * 2.0**20)

    monkeypatch.setattr(cross_products, "whole_weights", doubled)


def free_count(monkeypatch):
    """The number of rows is released without noise."""
    monkeypatch.setattr(
        noisy_sums, "release_number", lambda rows, neighbors, cost, *rest: (rows, 0, cost)
    )


def scores_without_weights(monkeypatch):
    """Weights above one enter the scores."""

    def doubled(weights):
        return np.full(len(weights), 2.0**21)

    monkeypatch.setattr(robust_covariance, "whole_weights", doubled)


MUTANTS = [
    (unlimited_weights, check_heavy, CASES),
    (free_count, check_squares, SQUARES),
    (scores_without_weights, check_squares, SQUARES),
]


@pytest.mark.parametrize("mutant, check, cases", MUTANTS, ids=lambda x: getattr(x, "__name__", ""))
def test_a_weight_outside_the_norm_is_noticed(mutant, check, cases, monkeypatch):
    mutant(monkeypatch)
    case = next(c for c in cases if c.problem.neighbors == ADD_REMOVE and len(c.problem.low) == 2)
    with pytest.raises(Violation):
        check(case)
