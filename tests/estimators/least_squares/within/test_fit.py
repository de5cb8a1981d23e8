"""Coefficients and covariances from released within-group sums. All seeds are fixed."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.least_squares.dense import NoisySums
from dpstats.estimators.least_squares.dense.unidentified import SHRUNKEN
from dpstats.estimators.least_squares.within.fit import PENALTIES, fit_within
from tests.checks.replay import problem_of

GRAM, THETA, DEGREES = np.array([[900.0, 200.0], [200.0, 500.0]]), np.array([0.3, -0.1]), 4000.0
# Columns range over [-1, 3] and the response over [0, 8]: half a range is one scaled unit.
PROBLEM = problem_of(d=2, x=(-1, 3), y=(0, 8), intercept=None, neighbors="add_remove")


def released(gram=GRAM, scale=1.0, errors=0.05**2 * DEGREES):
    """Sums of deviations whose exact coefficients are THETA, as if released with this noise."""
    cross = gram @ THETA
    noise = (scale,) * 3
    return NoisySums(gram, cross, float(THETA @ cross + errors), noise, noise, DEGREES - 1, 1.0)


@pytest.mark.parametrize("method", PENALTIES)
def test_coefficients_solve_the_equations_in_units_of_the_data(method):
    found = fit_within(released(), PROBLEM, PENALTIES[method])
    np.testing.assert_allclose(found.params, THETA * 4 / 2, rtol=1e-9)
    assert "bse" not in found.reasons and found.evidence.rows == DEGREES - 1
    # the sum of squares is raised by one standard deviation of its noise, here about 1
    assert found.evidence.sigma2 / 4**2 == pytest.approx(0.05**2, rel=0.15)


def test_the_covariance_is_that_of_sampling_and_of_noise():
    """Over 20,000 draws of the noise at this gram; a standard deviation is off by 2% at most."""
    rng, scale, draws = np.random.default_rng(1), 3.0, 20_000
    E = np.triu(rng.normal(0, scale, (draws, 2, 2)))
    gram = GRAM + E + np.triu(E, 1).transpose(0, 2, 1)
    scores = rng.multivariate_normal(np.zeros(2), 0.05**2 * GRAM, draws)
    cross = GRAM @ THETA + scores + rng.normal(0, scale, (draws, 2))
    seen = np.linalg.solve(gram, cross[..., None])[..., 0] * 2
    found = fit_within(released(scale=scale), PROBLEM, PENALTIES["ssp"])
    assert found.cov is not None
    np.testing.assert_allclose(np.sqrt(np.diag(found.cov)), seen.std(axis=0), rtol=0.05)


def test_noise_that_hides_a_direction_leaves_no_interval():
    hidden = released(np.diag([900.0, 0.5]))
    for penalty in PENALTIES.values():
        found = fit_within(hidden, PROBLEM, penalty)
        assert found.status == "not_identified" and found.cov is None
        assert found.reasons["bse"] == SHRUNKEN and found.companion is None
        assert 0 < found.params[0] and abs(found.params[1]) < abs(2 * THETA[1])
    estimated = fit_within(released(), replace(PROBLEM, estimated=True), PENALTIES["ssp"])
    assert "clip an unknown part" in estimated.reasons["bse"]


def test_where_a_ridge_is_needed_intervals_are_those_of_least_squares():
    some = released(np.diag([900.0, 4.5]))
    ridge, plain = (fit_within(some, PROBLEM, penalty) for penalty in PENALTIES.values())
    assert ridge.evidence.ridge > 0 and ridge.companion is not None
    assert (ridge.companion.cov == plain.cov).all() and ridge.cov is None
    assert (ridge.companion.params == plain.params).all() and (ridge.params != plain.params).any()
    clipped = fit_within(some, replace(PROBLEM, estimated=True), PENALTIES["adassp"])
    assert clipped.companion is None and "clip an unknown part" in clipped.reasons["bse"]
