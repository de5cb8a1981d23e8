"""Residuals, scores and Hessians of a Poisson regression, against numpy."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpstats.estimators.newton.generalized.poisson_loss import (
    PoissonLoss,
    hessian,
    responses,
    score_sums,
)
from dpstats.estimators.newton.row_sums.indicator_basis import FAR, IndicatorBasis
from dpstats.estimators.newton.row_sums.scores import Scores
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE
from tests.checks.noisy_newton import check_pass, coded, phi
from tests.checks.noisy_poisson import poisson_case, rows

PROBLEM = poisson_case(ADD_REMOVE).problem
BASIS, REFERENCE = IndicatorBasis.of(PROBLEM), PROBLEM.reference
CENTER, UNIT, LIMIT = -0.2, 2.5, 4.0
ETA = np.array([0.1, -0.2, 0.1, 0.1, 0.1, -0.1])
MAP = np.random.default_rng(1).normal(size=(BASIS.size, len(ETA)))
LOSS = PoissonLoss(CENTER, UNIT)
AT = Scores(LOSS, BASIS, MAP, REFERENCE, ETA)
X, Y = rows(np.random.default_rng(2), 500)
A = phi(BASIS, X) @ MAP
MU = np.exp(CENTER + A @ ETA)
S = A * (Y / UNIT - MU)[:, None]
LENGTHS = np.linalg.norm(S, axis=1)
CLIPPED = S * np.minimum(1, LIMIT / LENGTHS)[:, None]


def in_numbers(work, unit):
    """A sum over the rows, in its unit."""
    return (work(coded(X, Y)) * unit).astype(float)


def test_scores_are_clipped_to_their_limit():
    found = in_numbers(partial(score_sums, AT, LIMIT), LIMIT / 2**20)
    assert found == pytest.approx(CLIPPED.sum(axis=0), abs=1e-2)
    assert 0.1 < (LENGTHS > LIMIT).mean() < 0.9


def test_the_hessian_is_the_derivative_of_clipped_scores():
    found = in_numbers(partial(hessian, AT, LIMIT, 1e4), 1e4 / 2**40)
    within = MU * (LENGTHS <= LIMIT)
    assert found == pytest.approx((A * within[:, None]).T @ A, abs=0.5)
    step = 1e-4
    moved = replace(AT, eta=ETA + step * np.eye(len(ETA))[0])
    change = in_numbers(partial(score_sums, AT, LIMIT), LIMIT / 2**20)
    change -= in_numbers(partial(score_sums, moved, LIMIT), LIMIT / 2**20)
    assert change / step == pytest.approx(found[0], rel=0.02, abs=8)


def test_under_a_smaller_bound_long_rows_are_scaled_down_to_it():
    bound = 2.0
    size = MU * (A**2).sum(axis=1)
    held = MU * np.minimum(1, bound / size) * (LENGTHS <= LIMIT)
    found = in_numbers(partial(hessian, AT, LIMIT, bound), bound / 2**40)
    assert found == pytest.approx((A * held[:, None]).T @ A, abs=1e-2)
    assert (size > bound).mean() > 0.3


def test_a_part_of_a_row_has_that_part_of_its_hessian_and_is_clipped_as_such():
    given = replace(coded(X, Y), parts=np.full(len(Y), 0.5))
    found = (hessian(AT, LIMIT, 1e4, given) * 1e4 / 2**40).astype(float)
    within = 0.5 * MU * (0.5 * LENGTHS <= LIMIT)
    assert found == pytest.approx((A * within[:, None]).T @ A, abs=0.5)


def test_residuals_are_finite_and_negative_responses_count_as_zero():
    y = np.array([-3.0, 0.0, np.nan, 2.5, np.inf, 1e300])
    given = Rows(np.zeros((6, 0)), y)
    found = LOSS.residuals(given, REFERENCE, np.zeros((6, 6)), ETA) + np.exp(CENTER)
    assert found == pytest.approx([0, 0, 0, 1, FAR, FAR])
    far = LOSS.curvatures(given[:2], np.array([[1e6, -1e6]]), np.ones(1))
    assert far == pytest.approx([np.exp(20.0), 0.0])


def test_responses_are_cut_to_their_limit():
    y = np.array([-3.0, 0.0, 1.0, 4.0, 7.0, np.nan, np.inf])
    assert responses(4.0, coded(X[:7], y))[0] / 2**20 == 0.25 + 3
    half = replace(coded(X[:7], y), parts=np.full(7, 0.5))
    assert responses(4.0, half)[0] / 2**20 == (0.25 + 3) / 2


@pytest.mark.parametrize(
    "work",
    [partial(score_sums, AT, LIMIT), partial(hessian, AT, LIMIT, 1.5), partial(responses, 3.0)],
    ids=["scores", "hessian", "responses"],
)
def test_a_pass_is_the_exact_sum_of_its_rows(work):
    check_pass(work)
