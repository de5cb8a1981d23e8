"""Rows that count for a part of one: exact sums, sensitivities by replay, and mutants.

All data and all answers come from fixed seeds.
"""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators import METHODS
from dpstats.estimators.least_squares.dense import noisy_sums, robust_covariance
from dpstats.estimators.least_squares.dense.gram import box_of
from dpstats.numerics import Moments, Rows, cross_products
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.noisy_sums import (
    check_heavy,
    check_random,
    check_squares,
    check_worst,
    with_weights,
)
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

WEIGHTED = [name for name, method in METHODS.items() if "weights" in method.takes]
HC1 = {"cov_type": "HC1"}


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


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_row_of_any_weight_moves_a_query_further_than_stated(case):
    check_random(case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_worst_rows_of_the_largest_weight_reach_the_stated_sensitivity(case):
    check_worst(case)
    check_heavy(case)


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


def test_a_row_that_is_replaced_moves_the_sum_of_weights_by_one_at_most():
    """From nearly no weight to the largest one; the number of rows is released beside the sum."""
    case = next(c for c in CASES if str(c).startswith("noisy_newton-replace_one-x-3:1-S4"))
    one = table(line_rows(np.random.default_rng(1), case.problem, 50)[0], case.problem)
    light = np.where(np.arange(50) == 7, 1e-9, 1.0)
    ratios = case.check(with_weights(*one, light), with_weights(*one, 1.0))
    assert ratios["number of rows"] == pytest.approx(1.0)


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


def test_sums_without_weights_are_those_of_whole_rows():
    p = problem_of(2, (-3.0, 1.0), (2.0, 10.0), ADD_REMOVE)
    X, y = table([strange_row(np.random.default_rng(s), p) for s in range(300)], p)
    parts = [None, np.ones(300)]
    plain, whole = (Moments.of(Rows(X, y, parts=each), box_of(p)) for each in parts)
    assert (whole.cross == plain.cross * 2**20).all() and whole.extra == 300
    assert whole.unit * 2**20 == plain.unit and plain.extra is None


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
    sums = [c for c in cases if c.method.name == "adassp" and c.problem.neighbors == ADD_REMOVE]
    case = next(c for c in sums if len(c.problem.low) == 2)
    with pytest.raises(Violation):
        check(case)


def test_energy_is_the_residual_sum_of_squares_and_a_deviation_of_its_noise():
    """By simulation of the noise for the latter, 20,000 draws of a seed."""
    rng = np.random.default_rng(6)
    u, theta = rng.uniform(-1, 1, (50, 2)), np.array([0.4, -0.2])
    v = u @ theta + rng.normal(0, 0.1, 50)
    exact = (u.T @ u, u.T @ v, float(v @ v))
    rss = float(np.sum((v - u @ theta) ** 2))
    assert noisy_sums.NoisySums(*exact, (0.0,) * 3, (0.0,) * 3).energy(theta) == pytest.approx(rss)
    scales = (0.003, 0.002, 0.001)
    E, e, s = (scale * rng.normal(size=(20_000, 3)) for scale in scales)
    moved = s[:, 0] - 2 * e[:, :2] @ theta
    moved += E[:, 0] * theta[0] ** 2 + 2 * E[:, 1] * theta[0] * theta[1] + E[:, 2] * theta[1] ** 2
    more = noisy_sums.NoisySums(*exact, scales, scales).energy(theta) - rss
    assert more == pytest.approx(moved.std(), rel=0.02)
