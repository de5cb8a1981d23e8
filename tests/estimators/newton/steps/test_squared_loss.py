"""The response's released mean and deviation as center and unit."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.contract import Extremes, InMemory
from dpstats.estimators.newton.steps.squared_loss import SquaredLoss
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, GDP, RELATIONS
from dpstats.testing import insecure_seed
from tests.checks.noisy_newton import factor_case


def rescaled(y, mu=1.0, has_constant=True, neighbors=ADD_REMOVE, seen=None, **reference):
    """The reference of a problem after the release, with noise that repeats.

    Responses are seen within four units of the center, or as the changes to the extremes say.
    """
    problem = factor_case(neighbors).problem
    extremes = replace(Extremes.unknown(2), **({"y_reach": 4.0} | (seen or {})))
    problem = replace(problem, reference=replace(problem.reference, extremes=extremes, **reference))
    with insecure_seed(3):
        noise = Noise(GDP(mu))
        total = InMemory(Rows(np.zeros((len(y), 1)), y)).sum
        after = SquaredLoss().measured(problem, has_constant, total, len(y), GDP(mu), noise)
    return after.reference, noise.events


Y = np.random.default_rng(1).normal(7, 2, 20_000)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_center_and_unit_become_mean_and_deviation(neighbors):
    reference, events = rescaled(Y, neighbors=neighbors, y_center=8.5, y_scale=1.6)
    assert reference.y_center == pytest.approx(Y.mean(), abs=0.02)
    assert reference.y_scale == pytest.approx(Y.std(), rel=0.02)
    assert [event.step for event in events] == ["mean and mean square of y"]


def test_ends_of_the_response_keep_their_place():
    """In units of the response they are where they were, whatever becomes center and unit."""
    seen = {"y_ends": np.array([-2.0, 5.0]), "y_reach": 5.0}
    for has_constant in (True, False):
        after, _ = rescaled(Y, has_constant=has_constant, seen=seen, y_center=8.5, y_scale=1.6)
        ends = after.y_center + after.extremes.y_ends * after.y_scale
        np.testing.assert_allclose(ends, 8.5 + np.array([-2.0, 5.0]) * 1.6)


def test_under_much_noise_the_unit_stays_and_the_center_hardly_moves():
    reference, _ = rescaled(Y[:50], mu=0.02, y_center=8.0, y_scale=1.5)
    assert reference.y_scale == 1.5 and abs(reference.y_center - 8) < 0.2


def test_without_a_constant_the_response_is_measured_from_zero():
    reference, _ = rescaled(Y, has_constant=False, y_center=8.0, y_scale=1.5)
    assert reference.y_center == 0
    assert reference.y_scale == pytest.approx(np.sqrt(np.mean(Y**2)), rel=0.02)


def test_responses_far_out_count_as_four_units():
    far = np.r_[Y, np.full(200, 1e300), -np.inf]
    reference, _ = rescaled(far, y_center=7.0, y_scale=2.0)
    assert reference.y_center == pytest.approx(7, abs=0.15) and reference.y_scale < 2.3


def test_rows_that_are_seen_far_out_count_in_full():
    """1% of the rows at 20 deviations, which a limit of four units would take for 4% of that."""
    far = np.r_[Y, np.full(200, 7 + 20 * 2.0)]
    reference, _ = rescaled(far, seen={"y_reach": 20.0}, y_center=7.0, y_scale=2.0)
    assert reference.y_scale == pytest.approx(far.std(), rel=0.05)
    assert reference.extremes.y_reach * reference.y_scale == pytest.approx(40, rel=0.05)


def test_what_the_distribution_shows_beyond_the_limit_is_added():
    """Where noise forbids a farther limit: a thousandth of the rows at 1,000 units."""
    points, weights = np.array([0.0, 1000.0]), np.array([0.999, 0.001])
    seen = {"y_reach": 1000.0, "y_points": points, "y_weights": weights}
    reference, _ = rescaled(Y[:2000], mu=0.3, seen=seen, y_center=7.0, y_scale=2.0)
    assert reference.y_scale == pytest.approx(2 * np.sqrt(1000), rel=0.1)


def test_no_pair_of_rows_is_farther_apart_than_the_sensitivity_under_replace_one():
    v = np.linspace(-1, 1, 401)
    apart = np.hypot(np.subtract.outer(v, v), np.subtract.outer(v**2, v**2))
    assert apart.max() == pytest.approx(2)


def test_the_farthest_residual_is_the_farthest_response():
    extremes = replace(Extremes.unknown(2), y_most=7.0)
    reference = replace(factor_case(ADD_REMOVE).problem.reference, extremes=extremes)
    assert SquaredLoss().farthest(reference) == 7.0


def test_rows_beyond_the_limit_make_the_unit_as_unsure_as_their_number():
    """A bin of 2% of the rows 7 units away, of which noise may be a quarter."""
    seen = {"y_points": np.array([0.0, 7.0]), "y_weights": np.array([0.98, 0.02]), "y_error": 0.25}
    found, known = (
        rescaled(Y, seen={**seen, "y_error": error}, y_center=7.0, y_scale=2.0)[0].extremes.y_error
        for error in (0.25, 0.0)
    )
    far = 0.25 * (49 - 16) / 49 / (1 + 0.02 * (49 - 16))
    assert found == pytest.approx(np.hypot(far, known), rel=0.02) and known < 0.01
