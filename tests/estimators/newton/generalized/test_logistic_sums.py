"""Sums of scores, curvatures and slopes of a logistic regression, against numpy."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpstats.estimators.newton.generalized.logistic_sums import (
    MOST_BEND,
    MOST_SLOPE,
    LogisticRows,
    ones,
)
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.privacy import ADD_REMOVE
from tests.checks.noisy_logit import logit_case, rows
from tests.checks.noisy_newton import check_pass, coded, phi

BASIS = IndicatorBasis.of(logit_case(ADD_REMOVE).problem)
LIMIT, CENTER = 3.0, -0.4
ETA = np.array([0.3, -0.8, 0.5, 0.1, 0.2, -0.1])
MAP = np.random.default_rng(1).normal(size=(BASIS.size, len(ETA)))
AT = LogisticRows(BASIS, MAP, LIMIT, CENTER, ETA)
X, Y = rows(np.random.default_rng(2), 500)
A = phi(BASIS, X) @ MAP
MU = 1 / (1 + np.exp(-CENTER - A @ ETA))
W = np.minimum(1, LIMIT**2 / (A**2).sum(axis=1))


def test_scores_and_their_products_are_those_of_the_definition():
    s = A * (W * (Y - MU))[:, None]
    found = (AT.scores(coded(X, Y)) * LIMIT / 2**20).astype(float)
    assert found == pytest.approx(s.sum(axis=0), abs=1e-3)
    found = (AT.products(coded(X, Y)) * LIMIT**2 / 2**40).astype(float)
    assert found == pytest.approx(s.T @ s, abs=1e-2)
    assert np.linalg.norm(s, axis=1).max() <= LIMIT


def test_the_hessian_is_the_derivative_of_the_scores():
    bound = LIMIT**2 * MOST_SLOPE
    found = (AT.hessian(bound, coded(X, Y)) * bound / 2**40).astype(float)
    assert found == pytest.approx((A * (W * MU * (1 - MU))[:, None]).T @ A, abs=1e-2)
    moved = replace(AT, eta=ETA + 1e-3 * np.eye(len(ETA))[0]).scores(coded(X, Y))
    change = ((AT.scores(coded(X, Y)) - moved) * LIMIT / 2**20).astype(float)
    assert change * 1e3 == pytest.approx(found[0], rel=0.02, abs=0.5)


def test_under_a_smaller_bound_long_rows_are_scaled_down_to_it():
    bound = 0.1
    size = W * MU * (1 - MU) * (A**2).sum(axis=1)
    held = W * MU * (1 - MU) * np.minimum(1, bound / size)
    found = (AT.hessian(bound, coded(X, Y)) * bound / 2**40).astype(float)
    assert found == pytest.approx((A * held[:, None]).T @ A, abs=1e-3)
    assert (size > bound).mean() > 0.3


def test_slopes_are_the_first_and_second_derivatives_of_probabilities():
    first, rest = MU * (1 - MU), (MU * (1 - MU) * (1 - 2 * MU) * W)[:, None] * A
    found = AT.slopes(coded(X, Y)).astype(float) / 2**20
    assert found[0] * MOST_SLOPE == pytest.approx(first.sum(), rel=1e-4)
    assert found[1:-1] * MOST_BEND * LIMIT == pytest.approx(rest.sum(axis=0), abs=1e-2)
    entropy = -MU * np.log(MU) - (1 - MU) * np.log(1 - MU)
    assert found[-1] * np.log(2) == pytest.approx(entropy.sum(), rel=1e-4)


def test_a_unit_adds_what_its_rows_do_times_their_parts():
    parts, units = np.tile([0.25, 0.75], 250), np.repeat(np.arange(250), 2)
    given = replace(coded(X, Y), parts=parts, units=units)
    s = A * (W * parts * (Y - MU))[:, None]
    u = s[::2] + s[1::2]
    assert (AT.scores(given) * LIMIT / 2**20).astype(float) == pytest.approx(s.sum(0), abs=1e-3)
    found = (AT.products(given) * LIMIT**2 / 2**40).astype(float)
    assert found == pytest.approx(u.T @ u, abs=1e-2)
    assert AT.products(given[:0]).tolist() == np.zeros((6, 6)).tolist()


def test_responses_are_cut_to_the_unit_interval():
    y = np.array([-3.0, 0.0, 0.5, 1.0, 7.0, np.nan, np.inf])
    assert ones(coded(X[:7], y))[0] / 2**20 == 3.5
    within = np.array([0, 0, 0.5, 1, 1, 0, 1])
    assert AT.scores(coded(X[:7], y)).tolist() == AT.scores(coded(X[:7], within)).tolist()


@pytest.mark.parametrize(
    "work",
    [AT.scores, AT.products, AT.slopes, partial(AT.hessian, 1.5), ones],
    ids=["scores", "products", "slopes", "hessian", "ones"],
)
def test_a_pass_is_the_exact_sum_of_its_rows(work):
    check_pass(work)
