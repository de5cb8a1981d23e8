"""Limits, bounds and steps of a Poisson regression, read off released numbers."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.contract import InMemory
from dpstats.estimators.newton.generalized.logistic_position import Hessian
from dpstats.estimators.newton.generalized.poisson_queries import PoissonQueries
from dpstats.estimators.newton.generalized.poisson_steps import PoissonSteps
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.steps.queries import Counted
from dpstats.estimators.newton.steps.score_tails import Tail
from dpstats.estimators.newton.steps.whitening import Whitening
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP
from dpstats.testing import insecure_seed
from tests.checks.noisy_newton import coded
from tests.checks.noisy_poisson import poisson_case, rows

X, Y = rows(np.random.default_rng(1), 3000)


def steps(mu: float = 1e6) -> PoissonSteps:
    """Steps in directions in which X'X is the number of rows, exactly."""
    problem = poisson_case(ADD_REMOVE).problem
    extremes = replace(problem.reference.extremes, y_most=20.0, heavy=0.2, y_error=0.1)
    reference = replace(problem.reference, y_scale=float(Y.std()), extremes=extremes)
    problem, basis = replace(problem, reference=reference), IndicatorBasis.of(problem)
    columns = np.linalg.qr(basis.span)[0]
    made = PoissonQueries(
        basis, InMemory(coded(X, Y)).sum, problem, Noise(GDP(mu)), columns, 0.0, float(Y.mean())
    )
    entries = np.hstack([b[0] for b in made.at(np.zeros(6)).blocks(coded(X, Y))])
    values, vectors = np.linalg.eigh(entries @ entries.T / len(X))
    map_ = columns @ vectors / np.sqrt(values)
    whitening = Whitening(map_, np.ones(6), np.zeros(6), values, np.zeros((6, 6)))
    leverages = Tail(np.array([[2990.0, 10.0]]), np.array([1.0, 30.0]), np.ones(1), 0.4)
    return PoissonSteps(replace(made, map=map_), whitening, 3000.0, 1.0, leverages)


def test_steps_reach_where_scores_add_up_to_zero():
    with insecure_seed(1):
        made, cost = steps(), GDP(1e5)
        position = made.start(cost)
        for _ in range(4):
            hessian = made.hessian(position, 1e3, cost)
            position = made.step(position, hessian, 1e3, cost)
        sums, _ = made.queries.scores(position.eta, 1e4, cost)
    assert np.abs(sums / 3000).max() < 1e-2
    assert np.linalg.norm(position.eta) > 0.2


def test_a_tail_has_the_rows_at_their_lengths():
    with insecure_seed(1):
        made = steps()
        start = made.start(GDP(1e5))
        tail, far = made.tail(start, GDP(1e5))
    at = made.queries.at(start.eta)
    longest = np.concatenate([norms for _, _, norms in at.blocks(coded(X, Y))])
    assert far.total == pytest.approx((longest > 32 * made.sigma * made.size).sum(), abs=0.1)
    assert tail.rows == pytest.approx(3000, rel=1e-3)
    assert tail.mean_square() == pytest.approx(made.deviation**2, rel=0.5)


TAIL = Tail(np.array([[2000.0, 900.0, 100.0]]), np.array([0.3, 1.0, 5.0]), np.ones(1), 0.5)


def test_limits_are_farther_the_less_noise_there_is_and_hold_all_rows_in_the_end():
    made = steps()
    few, some, many, all_of_it = (made.limit(TAIL, mu) for mu in (0.02, 0.5, 20.0, 1e6))
    assert few <= some <= many <= all_of_it and few < all_of_it
    assert all_of_it >= 5.0


def test_bounds_of_hessians_grow_with_the_budget_and_cut_nothing_in_the_end():
    with insecure_seed(1):
        made = steps()
        start = made.start(GDP(1e5))
        exact = made.hessian(start, 1e3, GDP(1e5)).values.sum()
        found = made.hessian(start, 1e3, GDP(0.3))
    assert found.deviation > 0
    loss = made.queries.at(start.eta)
    rows = coded(X, Y)
    blocks = list(loss.blocks(rows))
    mu = [loss.loss.curvatures(rows, columns, start.eta) for columns, _, _ in blocks]
    trace = sum(
        float((curvature * (columns**2).sum(axis=0)).sum())
        for curvature, (columns, _, _) in zip(mu, blocks, strict=True)
    )
    assert exact == pytest.approx(trace, rel=1e-3)


def test_the_products_of_scores_tend_to_their_sum():
    with insecure_seed(1):
        made, cost = steps(), GDP(1e5)
        position = made.start(cost)
        tail, counted = made.tail(position, cost)[0], Counted(made.rows)
        found, clusters = made.products(position, tail, counted, cost)
    at = made.queries.at(position.eta)
    s = np.hstack([columns * left for columns, left, _ in at.blocks(coded(X, Y))])
    assert found == pytest.approx(3000 / 2994 * s @ s.T, rel=0.05, abs=30) and clusters is None


def test_the_bias_is_smaller_the_farther_scores_are_clipped():
    made, position = steps(), steps().start(GDP(1e5))
    hessian = Hessian.guessed(3000.0 * np.eye(6), 0.1, np.zeros((6, 6)))
    near, far, none = (made.bias(position, hessian, TAIL, limit) for limit in (1.0, 3.0, 6.0))
    assert near.variance.sum() > far.variance.sum() > none.variance.sum() == 0
    flat = Hessian.guessed(np.diag([300.0, *5 * [3000.0]]), 0.1, np.zeros((6, 6)))
    uneven = made.bias(position, flat, TAIL, 3.0).even
    assert uneven[0] > 20 * uneven[1]


def test_rows_of_weights_have_scores_of_smaller_units():
    made = steps()
    assert replace(made, part=0.25).sigma == made.deviation / 2
    assert made.sigma == made.deviation and made.size == pytest.approx(np.sqrt(6))
