"""Promises of every loss: finite residuals of each row by itself, and the units they are in."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.contract import Extremes, InMemory
from dpstats.estimators.newton.steps.squared_loss import SquaredLoss
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, GDP
from dpstats.testing import insecure_seed
from tests.checks.noisy_newton import factor_case

N, ETA = 40_000, np.array([0.4, -0.3])
COLUMNS = np.random.default_rng(1).normal(size=(2, N))
# for each loss, responses of rows whose predictor is that of ETA, in units of the reference
LOSSES = {SquaredLoss(): lambda rng, fit: 3 + 2 * (fit + rng.normal(0, np.sqrt(0.75), N))}
CASES = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


def measured(loss):
    """Responses, and the reference that the loss is measured by, nearly without noise."""
    problem = factor_case(ADD_REMOVE).problem
    extremes = replace(Extremes.unknown(2), y_reach=6.0, y_most=9.0)
    problem = replace(problem, reference=replace(problem.reference, extremes=extremes))
    y = LOSSES[loss](np.random.default_rng(2), ETA @ COLUMNS)
    with insecure_seed(3):
        total, noise = InMemory(Rows(np.zeros((N, 0)), y)).sum, Noise(GDP(100.0))
        return y, loss.measured(problem, True, total, N, GDP(100.0), noise).reference


def rows(y):
    return Rows(np.zeros((len(y), 0)), y)


@CASES
def test_at_the_start_residuals_are_of_mean_square_and_curvature_one(loss):
    y, reference = measured(loss)
    start = loss.residuals(rows(y), reference, COLUMNS, np.zeros(2))
    assert np.mean(start**2) == pytest.approx(1, rel=0.05)
    assert np.abs(start).max() <= loss.farthest(reference)
    near = loss.residuals(rows(y), reference, COLUMNS, 1e-4 * ETA)
    fallen = np.linalg.lstsq((1e-4 * ETA @ COLUMNS)[:, None], start - near, rcond=None)[0]
    assert fallen == pytest.approx(1, rel=0.05)


@CASES
def test_at_the_position_they_are_as_their_mean_square_and_curvature_say(loss):
    y, reference = measured(loss)
    explained = float(ETA @ ETA)
    left = loss.residuals(rows(y), reference, COLUMNS, ETA)
    assert np.mean(left**2) == pytest.approx(loss.mean_square(reference, explained), rel=0.05)
    near = loss.residuals(rows(y), reference, COLUMNS, (1 + 1e-4) * ETA)
    fallen = np.linalg.lstsq((1e-4 * ETA @ COLUMNS)[:, None], left - near, rcond=None)[0]
    assert fallen == pytest.approx(loss.curvature(reference, explained), rel=0.05)


@CASES
def test_each_row_has_a_finite_residual_of_its_own(loss):
    reference = measured(loss)[1]
    y = np.array([0.0, 1.0, -1e300, np.inf, -np.inf, np.nan, 5e-324, 7.0])
    columns = COLUMNS[:, : len(y)].copy()
    columns[:, 3:5] *= 2.0**20
    left = loss.residuals(rows(y), reference, columns, ETA)
    alone = [
        loss.residuals(rows(y[[i]]), reference, np.ascontiguousarray(columns[:, [i]]), ETA)[0]
        for i in range(len(y))
    ]
    assert np.isfinite(left).all() and left.tolist() == alone
