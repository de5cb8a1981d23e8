"""Least squares over a ball: the privacy of the exact laws, and the laws of what is drawn."""

import math

import numpy as np
import pytest
from scipy.stats import kstest, truncnorm

import dpstats as dp
from dpstats.estimators.risk.ops_objpert import loss_spread
from dpstats.noise import Noise, Objective
from dpstats.noise.multiprecision import MP
from dpstats.noise.posterior import sample_in_ball
from dpstats.privacy import PureDP
from dpstats.testing import insecure_seed
from tests.checks.recording import fit, line_data

RADIUS = 1.0


def objective(hessian, linear) -> Objective:
    return Objective(MP.matrix(np.atleast_2d(hessian).tolist()), MP.matrix(list(linear)))


def seeded(seed):
    with insecure_seed(seed):
        return Noise(PureDP(1.0))._source.randbelow


def disc(columns):
    """Points that fill the interval or the disc of radius one evenly, shape (k, S)."""
    axis = np.linspace(-1, 1, 2001 if columns == 1 else 201) * RADIUS
    points = np.stack(np.meshgrid(*[axis] * columns), axis=-1).reshape(-1, columns)
    return points[np.linalg.norm(points, axis=1) <= RADIUS]


def log_density(rows, ridge, gamma, points):
    """Of the posterior of rows (u, v), by summing over the points."""
    u, v = rows[:, :-1], rows[:, -1]
    loss = ((v[:, None] - u @ points.T) ** 2).sum(axis=0) / 2 + ridge * (points**2).sum(axis=1) / 2
    return -gamma * loss - np.logaddexp.reduce(-gamma * loss)


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_no_pair_of_tables_loses_more_than_epsilon(columns, neighbors):
    """The exact privacy loss on a grid, for random rows and rows at the corners."""
    rng, points, epsilon, most = np.random.default_rng(1), disc(columns), 2.0, 0.0
    gamma = epsilon / loss_spread(math.sqrt(columns), RADIUS, neighbors)
    for n in (0, 1, 3, 30):
        for _ in range(8):
            shared = rng.uniform(-1, 1, (n, columns + 1))
            old, new = rng.choice([-1.0, 1.0], (2, 1, columns + 1))
            tables = [shared, np.vstack([shared, new])]
            if neighbors == "replace_one":
                tables[0] = np.vstack([shared, old])
            logs = [log_density(table, 2.0, gamma, points) for table in tables]
            most = max(most, np.abs(logs[0] - logs[1]).max())
    assert most <= epsilon * (1 + 1e-3)
    assert most > (0.5 if columns == 1 and neighbors == "add_remove" else 0.3) * epsilon


@pytest.mark.parametrize("norm_", [0.5, 1.0, 2.0])
def test_the_spread_of_a_row_is_reached(norm_):
    s = np.linspace(-norm_ * RADIUS, norm_ * RADIUS, 10_001)
    assert np.ptp((1 - s) ** 2 / 2) == pytest.approx(loss_spread(norm_, RADIUS, "add_remove"))


def test_samples_of_one_coefficient_have_the_truncated_law():
    """With the centre within the ball, at its border and far out; a false alarm: 1e-6."""
    for seed, linear in enumerate((0.5, 3.0, 30.0)):
        below, gamma = seeded(seed), 4.0
        problem = objective([[3.0]], [linear])
        draws = [sample_in_ball(problem, gamma, RADIUS, below)[0] for _ in range(300)]
        mean, sd = linear / 3.0, 1 / math.sqrt(gamma * 3.0)
        ends = (-RADIUS - mean) / sd, (RADIUS - mean) / sd
        assert kstest(draws, truncnorm(*ends, mean, sd).cdf).pvalue > 1e-6


def test_samples_of_two_coefficients_have_the_mean_of_the_law():
    hessian, linear, gamma = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([4.0, -1.0]), 2.0
    points, below = disc(2), seeded(3)
    loss = np.einsum("ki,ij,kj->k", points, hessian, points) / 2 - points @ linear
    weights = np.exp(-gamma * loss)
    mean = weights @ points / weights.sum()
    draws = np.array(
        [sample_in_ball(objective(hessian, linear), gamma, RADIUS, below) for _ in range(800)]
    )
    assert np.linalg.norm(draws, axis=1).max() <= RADIUS + 1e-11
    spread = np.sqrt(weights @ (points - mean) ** 2 / weights.sum() / len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 5 * spread + 0.01)


@pytest.mark.parametrize("method", ["ops", "objpert"])
def test_they_come_near_least_squares_as_epsilon_grows(method):
    x, y = line_data(4000, seed=3)
    slope, intercept = np.polyfit(x, y, 1)
    gaps = []
    for epsilon in (0.3, 10, 1e6):
        releases = [fit(method, x, y, epsilon, seed=s)[0] for s in range(5)]
        gaps.append(np.median([np.abs(r.params - [intercept, slope]).max() for r in releases]))
    assert gaps[2] < 2e-3 and gaps[2] < gaps[1] < gaps[0]


@pytest.mark.parametrize("method", ["ops", "objpert"])
def test_coefficients_stay_within_the_ball(method):
    """Least squares has slope 1, and radius 0.3 allows 0.3 in scaled units."""
    x = np.linspace(0, 1, 300)
    release, _ = fit(method, x, x, 1000.0, radius=0.3)
    assert release.params[1] == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("method", ["ops", "objpert"])
@pytest.mark.parametrize("radius", [0, -1, "1", True, 1000])
def test_the_radius_is_checked(method, radius, fit_line):
    with pytest.raises(dp.ArgumentError, match="expected radius in"):
        fit_line(method, radius=radius)


@pytest.fixture
def fit_line(line):
    bounds = {"x": (0, 1), "y": (0, 1)}
    return lambda method, **more: dp.dp_ols(
        "y ~ x", line, method=method, epsilon=1, bounds=bounds, **more
    )
