"""From a position in whitened directions to coefficients, intervals and a status."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.steps.bias import Bias
from dpstats.estimators.newton.steps.goodness import Squares
from dpstats.estimators.newton.steps.queries import Counted
from dpstats.estimators.newton.steps.release import _ends, concentration, is_swamped, release_of
from dpstats.estimators.newton.steps.state import NewtonState, prior_variance
from dpstats.estimators.newton.steps.whitening import Whitening
from dpstats.privacy import ADD_REMOVE
from tests.checks.noisy_newton import factor_case

PROBLEM = factor_case(ADD_REMOVE).problem
BASIS = IndicatorBasis.of(PROBLEM)
WHITENING = Whitening(BASIS.span, np.ones(6), np.zeros(6), np.full(6, 1e4), np.zeros((6, 6)))
BETA = np.array([0.3, 0.2, -0.1, 0.4, 0.05, -0.02])
ROWS, NONE = 1e4, Bias.none(6)


def position(beta) -> np.ndarray:
    """Where steps stand whose coefficients are these, beside the constant of the response."""
    coordinates = BASIS.to_design @ beta
    coordinates[:3] -= PROBLEM.reference.y_center
    return BASIS.span.T @ coordinates / PROBLEM.reference.y_scale


def released(state=None, wild=False, problem=PROBLEM, **changes):
    sure = NewtonState(position(BETA + [3, 0, 0, 0, 0, 0]), np.full(6, 1e-12), NONE)
    state, counted = replace(state or sure, **changes), Counted(ROWS + 7.0, 5.0)
    return release_of(state, BASIS, WHITENING, wild, problem, ROWS, counted)


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
    even = Bias(np.full(6, 2e-3), np.zeros(6), np.zeros((1, 6)), shift=0.1)
    noisy = released(square=0.5, variance=np.full(6, 1e-3), bias=even)
    # what the prior moves directions by counts too, and is small at such a variance
    tilt = concentration(back / PROBLEM.reference.y_scale, PROBLEM)
    added = back @ back.T * (1e-3 + 2e-3 * np.outer(tilt, tilt))
    added[0, 0] += (0.1 * PROBLEM.reference.y_scale) ** 2
    np.testing.assert_allclose(noisy.cov - release.cov, added, atol=1e-5)
    np.testing.assert_allclose(noisy.evidence.privacy_cov, added, atol=1e-5)


def test_a_random_cut_is_longer_along_columns_of_which_few_rows_have_much():
    """Squares are 1.7 of an even share from a kurtosis of 6 on, which is not excluded here."""
    tilt = concentration(BASIS.from_span @ BASIS.span, PROBLEM)
    numeric = PROBLEM.layout.numeric
    np.testing.assert_allclose(tilt[numeric] ** 2, 1.7)
    extremes = replace(PROBLEM.reference.extremes, kurtosis=np.array([1.5, 3.0]))
    even = replace(PROBLEM, reference=replace(PROBLEM.reference, extremes=extremes))
    tilt = concentration(BASIS.from_span @ BASIS.span, even)
    np.testing.assert_allclose(tilt[numeric] ** 2, [0.3, 0.8])


def test_weak_directions_hide_coefficients():
    release = released(variance=np.full(6, 0.4))
    np.testing.assert_allclose(
        release.evidence.hidden_cov, release.evidence.privacy_cov,
        rtol=0.01, atol=1e-3,
    )  # fmt: skip
    assert (
        release.status == "not_identified" and "noise could account" in release.reasons["conf_int"]
    )


def test_errors_are_longer_where_residuals_are_larger_than_the_response():
    """Its released variance is too small then, and all that is known is in units of it."""
    variance = np.full(6, 1e-3)
    usual, far = (
        released(variance=variance, squares=Squares(clipped, 0.5, 0.0)).evidence.privacy_cov
        for clipped in (1.5, 50.5)
    )
    np.testing.assert_allclose(far, 24.75 * usual, rtol=1e-6)  # (50.5 - 2 * 0.5) / 2
    in_parts = released(
        variance=variance, squares=Squares(50.5, 0.5, 0.0), problem=replace(PROBLEM, weighted=True)
    )
    assert np.diag(in_parts.evidence.privacy_cov).max() < 2 * np.diag(usual).max()


def test_no_interval_is_shown_where_most_of_the_products_are_noise():
    swamped = replace(WHITENING, kept=np.full(6, 0.5))
    sure = NewtonState(position(BETA + [3, 0, 0, 0, 0, 0]), np.full(6, 1e-12), NONE)
    release = release_of(sure, BASIS, swamped, False, PROBLEM, ROWS, Counted(ROWS, 5.0))
    assert release.status == "not_identified"
    seen = replace(WHITENING, kept=np.full(6, 0.7))
    assert release_of(sure, BASIS, seen, False, PROBLEM, ROWS, Counted(ROWS, 5.0)).status == "ok"


@pytest.mark.parametrize(
    ("directions", "hidden", "swamped"),
    [
        (4, 1, False),
        (5, 2, False),
        (6, 3, True),
        (12, 3, False),
        (12, 4, True),
        (36, 9, False),
        (36, 10, True),
    ],
)
def test_many_directions_in_noise_leave_steps_halfway(directions, hidden, swamped):
    kept = np.append(np.ones(directions - hidden), np.zeros(hidden))
    assert is_swamped(replace(WHITENING, kept=kept)) == swamped


CENTER = [PROBLEM.reference.y_center, *np.zeros(5)]


@pytest.mark.parametrize("unsure", [0.2, 0.4])
def test_slopes_on_a_guessed_scale_are_hidden_unless_the_products_are_clear(unsure):
    """The first number shows one value alone; a direction is along one coefficient here."""
    assert PROBLEM.layout is not None and PROBLEM.reference is not None
    first = PROBLEM.layout.numeric[0]
    widths = np.array([np.inf, 0.0])
    extremes = replace(PROBLEM.reference.extremes, unseen_widths=widths)
    problem = replace(PROBLEM, reference=replace(PROBLEM.reference, extremes=extremes))
    along = np.argmax(np.abs((BASIS.from_span @ BASIS.span)[first]))
    unclear = np.zeros(6)
    unclear[along] = unsure
    whitening = replace(WHITENING, unsure=unclear)
    state = NewtonState(position(BETA + [3, 0, 0, 0, 0, 0]), np.full(6, 1e-2), NONE)
    counted = Counted(ROWS + 7.0, 5.0)
    guessed, seen = (
        release_of(state, BASIS, whitening, False, each, ROWS, counted).evidence.hidden_cov
        for each in (problem, PROBLEM)
    )
    assert not seen.any()
    assert (guessed[first, first] > 0) == (unsure > 0.3)


def test_a_coordinate_of_few_rows_has_an_interval_that_holds_or_none():
    """Without the rule 12 of 20 intervals were shown, and none held."""
    held = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        longitude = -63.845 + 0.002 * rng.normal(size=1500)
        crop = 170 - 1500 * (longitude + 63.845) + 9 * rng.normal(size=1500)
        fields = pd.DataFrame({"longitude": longitude, "crop": crop, "dose": rng.random(1500)})
        with dp.testing.insecure_seed(seed):
            low, high = (
                dp.dp_ols("crop ~ longitude + dose", fields, epsilon=1).conf_int().loc["longitude"]
            )
        if np.isfinite(high - low):
            held.append(low < -1500 < high)
    assert all(held), held


def test_a_failed_fit_releases_the_center_alone():
    release = released(eta=np.full(6, 0.8))
    assert release.status == "constant" and "own variance" in release.reasons["conf_int"]
    np.testing.assert_allclose(release.params, CENTER, atol=1e-9)


def test_coefficients_have_no_interval_where_ranges_miss_rows():
    squares = Squares(0.6, 0.01, 0.0)
    sound, release = released(squares=squares), released(wild=True, squares=squares)
    assert release.status == "not_identified" and "declare bounds=" in release.reasons["conf_int"]
    np.testing.assert_allclose(release.params, sound.params)
    assert release.evidence.fit_rsquared is None and sound.evidence.fit_rsquared is not None


def test_coefficients_of_which_the_prior_knows_more_are_not_released():
    swamped = {"variance": np.full(6, 1.1 * prior_variance(6)), "eta": np.full(6, 0.5)}
    np.testing.assert_allclose(released(**swamped).params, CENTER, atol=1e-9)
    sure = {"variance": np.full(6, 0.4 * prior_variance(6)), "eta": np.full(6, 0.5)}
    assert abs(released(**sure).params - CENTER).max() > 0.1


def test_predictions_stay_where_the_response_is_seen():
    """Between two and five standard deviations of its mean, and five through the origin."""
    reference = PROBLEM.reference

    def ends(low, high, has_constant=True):
        extremes = replace(reference.extremes, y_ends=np.array([low, high]))
        made = _ends(replace(reference, extremes=extremes), has_constant)
        return (np.array(made) - reference.y_center) / reference.y_scale

    np.testing.assert_allclose(ends(-3, 4), [-3, 4])
    np.testing.assert_allclose(ends(-0.1, 9), [-2, 5])
    np.testing.assert_allclose(ends(-0.1, 9, has_constant=False), [-5, 5])
    kept = released(eta=np.full(6, 0.5)).evidence.response_range
    np.testing.assert_allclose(kept, _ends(reference, True))


def test_noise_on_a_coefficient_is_told():
    release = released(variance=np.full(6, 0.05))
    assert release.status == "imprecise" and "standard deviations" in release.note


def test_points_without_a_value_have_a_reason():
    release = released(problem=replace(PROBLEM, x_new=np.full((1, 6), np.nan)))
    assert np.isnan(release.predictions).all() and "x_new" in release.reasons["predictions"]
