"""From a position in whitened directions to coefficients, intervals and a status."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.mechanisms.shared import IndicatorBasis, NewtonState, Whitening
from dpstats.mechanisms.shared.newton_release import release_of
from dpstats.privacy import ADD_REMOVE
from tests.mechanisms.test_noisy_newton import factor_case

PROBLEM = factor_case(ADD_REMOVE).problem
BASIS = IndicatorBasis.of(PROBLEM)
WHITENING = Whitening(
    BASIS.span, np.ones(6), np.zeros(6), np.full(6, 1e4), lambda squares: 0 * squares
)
BETA = np.array([0.3, 0.2, -0.1, 0.4, 0.05, -0.02])
ROWS = 1e4


def position(beta) -> np.ndarray:
    """Where steps stand whose coefficients are these, beside the constant of the response."""
    coordinates = BASIS.to_design @ beta
    coordinates[:3] -= PROBLEM.reference.y_center
    return BASIS.span.T @ coordinates / PROBLEM.reference.y_scale


def released(state=None, wild=False, problem=PROBLEM, **changes):
    sure = NewtonState(position(BETA + [3, 0, 0, 0, 0, 0]), np.full(6, 1e-12))
    state, counted = replace(state or sure, **changes), (ROWS + 7.0, 5.0)
    return release_of(state, BASIS, WHITENING, wild, problem, ROWS, counted)


def test_a_divided_map_has_a_smaller_gram_and_error_and_says_that_it_is_unsure():
    generator = np.random.default_rng(2)
    rows, off = generator.normal(size=(50, len(BASIS.span))), generator.normal(size=(6, 6))
    # the noise E in X'X moves a step by E eta, and E is whitened as X'X is
    made = replace(WHITENING, error=lambda squares: off**2 @ squares)
    divided, eta = made.divided(4.0), generator.normal(size=6)
    gram, smaller = ((rows @ w.map).T @ (rows @ w.map) for w in (made, divided))
    np.testing.assert_allclose(smaller, gram / 4)
    np.testing.assert_allclose(divided.error(eta**2), (off / 4) ** 2 @ eta**2)
    assert (divided.unsure == 0.75).all() and made.divided(1.0).map.tolist() == made.map.tolist()


def test_coefficients_are_read_back_in_the_units_of_the_columns():
    release = released()
    np.testing.assert_allclose(release.params, BETA + [3, 0, 0, 0, 0, 0], atol=1e-8)
    np.testing.assert_allclose(release.predictions, PROBLEM.x_new @ release.params)
    assert release.status == "ok" and not release.reasons


def test_the_covariance_adds_noise_and_sampling():
    """With no noise it is y_scale^2 times the inverse of the design's products over the rows."""
    release = released(square=0.5)
    back = PROBLEM.reference.y_scale * BASIS.from_span @ BASIS.span
    np.testing.assert_allclose(release.cov, back @ back.T * 0.5 / ROWS, rtol=1e-6, atol=1e-12)
    noisy = released(square=0.5, variance=np.full(6, 1e-3), bias=2e-3)
    # what the prior moves directions by counts too, and is small at such a variance
    np.testing.assert_allclose(noisy.cov - release.cov, back @ back.T * 3e-3, atol=3e-6)
    privacy = np.array(noisy.statistics["privacy_cov"])
    np.testing.assert_allclose(privacy, back @ back.T * 3e-3, atol=3e-6)


def test_what_a_step_left_over_shows_in_the_next_one():
    """A quarter of the last step's squared length is left, beside the noise of both."""
    state = NewtonState(np.zeros(2), np.ones(2), moved=4.0, moved_noise=0.1)
    assert state.left_over(np.array([1.0, 0.5]), 0.075) == pytest.approx(0.25)
    assert state.left_over(np.array([0.1, 0.1]), 0.075) == 0.0
    assert state.left_over(np.array([9.0, 9.0]), 0.075) == 1.0
    assert NewtonState(np.zeros(2), np.ones(2)).left_over(np.ones(2), 0.0) == 0.0


def test_weak_directions_hide_coefficients():
    release = released(variance=np.full(6, 0.3))
    np.testing.assert_allclose(
        np.array(release.statistics["hidden_cov"]), np.array(release.statistics["privacy_cov"]),
        rtol=0.01, atol=1e-3,
    )  # fmt: skip
    assert (
        release.status == "not_identified" and "noise could account" in release.reasons["conf_int"]
    )


@pytest.mark.parametrize("how", ["wild", "far"])
def test_a_failed_fit_releases_the_center_alone(how):
    release = released(wild=True) if how == "wild" else released(eta=np.full(6, 0.8))
    assert release.status == "constant" and "declare bounds=" in release.reasons["conf_int"]
    np.testing.assert_allclose(
        release.params, [PROBLEM.reference.y_center, *np.zeros(5)], atol=1e-9
    )


def test_noise_on_a_coefficient_is_told():
    release = released(variance=np.full(6, 0.05))
    assert release.status == "imprecise" and "standard deviations" in release.note


def test_points_without_a_value_have_a_reason():
    release = released(problem=replace(PROBLEM, x_new=np.full((1, 6), np.nan)))
    assert np.isnan(release.predictions).all() and "x_new" in release.reasons["predictions"]
