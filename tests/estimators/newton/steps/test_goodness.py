"""The explained and the residual mean square give R-squared, and their noise its error."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.contract import Extremes
from dpstats.estimators.newton.steps.bias import Bias
from dpstats.estimators.newton.steps.goodness import (
    Explained,
    Squares,
    goodness,
    goodness_left,
)

NOTHING = np.zeros((2, 2))
UNCUT = Bias.none(2)


def test_what_the_constant_explains_is_the_mean():
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    A = np.linalg.qr(np.column_stack([np.ones(200), x]))[0] * math.sqrt(200)
    eta = np.array([0.5, -0.3])
    constant = np.linalg.lstsq(A, np.ones(200), rcond=None)[0]
    explained = Explained.of(eta, np.zeros(2), np.ones(2), constant, NOTHING, 200, UNCUT)
    assert explained.value == pytest.approx(np.var(A @ eta))
    assert explained.deviation == 0
    total = Explained.of(eta, np.zeros(2), np.ones(2), None, NOTHING, 200, UNCUT)
    assert total.value == pytest.approx(np.mean((A @ eta) ** 2))


def test_the_noise_in_a_position_is_taken_out_of_its_square():
    """Over 4,000 draws the mean is right to five of its standard deviations, and the scatter."""
    rng, eta, variance = np.random.default_rng(2), np.array([0.4, 0.2]), np.array([0.02, 0.01])
    draws = [
        Explained.of(eta + rng.normal(size=2) * np.sqrt(variance), variance, np.ones(2), None,
                     NOTHING, 1000, UNCUT)
        for _ in range(4000)
    ]  # fmt: skip
    values = np.array([(draw.value, draw.deviation) for draw in draws])
    assert values[:, 0].mean() == pytest.approx(0.2, abs=5 * values[:, 0].std() / 4000**0.5)
    assert values[:, 1].mean() == pytest.approx(values[:, 0].std(), rel=0.1)


def test_what_is_cut_off_scores_moves_what_is_explained():
    """By twice the position times the bias along it, and by none across it."""
    eta, ones = np.array([0.6, 0.0]), np.ones(2)

    def deviation(along, constant=None):
        bias = replace(UNCUT, along=np.array(along))
        return Explained.of(eta, np.zeros(2), ones, constant, NOTHING, 200, bias).deviation

    assert deviation([0.1, 0.0]) == pytest.approx(2 * 0.6 * 0.1)
    assert deviation([0.0, 0.1]) == 0
    assert deviation([0.1, 0.0], constant=np.array([1.0, 0.0])) == 0  # the mean is not explained


def test_what_lies_far_out_in_a_column_may_be_missing():
    """Of a column whose tail goes on, where it explains something, the less the later it is cut."""
    distances = np.vstack([np.zeros_like(Extremes.SHARES), Extremes.SHARES**-0.3])
    extremes, known = replace(Extremes.unknown(2), distances=distances), Explained(0.5, 0.01)
    light, none = (known.with_far(np.array(sizes), extremes, 3.0) for sizes in ((0.5, 0), (0, 0)))
    assert light == none == known
    near, far = (known.with_far(np.array([0, 0.4]), extremes, reach) for reach in (6.0, 20.0))
    assert near.value == far.value == 0.5 and near.deviation > 3 * far.deviation > 0.03
    whole = known.with_far(np.array([0, 9.0]), extremes, 6.0)  # no more than all is explained
    assert whole.deviation == pytest.approx(near.deviation * 0.5 / 0.4, rel=0.01)


def test_a_tail_that_noise_hides_adds_to_what_a_column_explains():
    """The larger of that and of what X'X loses counts; of a tail of which nothing is known, all."""
    known, sizes = Explained(0.5, 0.01), np.array([0.1, 0.1])
    unseen = Extremes.unknown(2)
    double, twice, unknown = (
        known.with_far(sizes, replace(unseen, far_squares=np.array(squares)), 6.0).deviation
        for squares in ([1.0, 2.0], [2.0, 2.0], [1.0, math.inf])
    )
    assert double == pytest.approx(math.hypot(0.01, 0.8 * 0.1))
    assert twice == pytest.approx(math.hypot(0.01, 0.8 * 0.1, 0.8 * 0.1)) and unknown == math.inf
    never = replace(unseen, far_squares=np.full(2, math.inf))
    assert Explained(0.0, 0.01).with_far(0 * sizes, never, 6.0).deviation == math.inf


def test_what_is_left_of_the_response_is_off_by_what_is_explained_of_it():
    """R-squared is e / T, off by de / T, as what is left moves against e, and by e dT."""
    figures = goodness_left(Explained(0.6, 0.05), 0.1, 3.0, 1000, 5)
    assert figures["fit_rsquared"] == pytest.approx(0.6)
    assert figures["fit_rsquared_error"] == pytest.approx(math.hypot(0.05, 0.06))
    assert figures["fit_scale"] == pytest.approx(0.4 * 9 * 1000 / 995)
    assert figures["fit_scale_error"] == pytest.approx(math.hypot(0.05, 0.1) * 9 * 1000 / 995)
    assert goodness_left(Explained(1.2, 0.05), 0.1, 3.0, 1000, 5) == {}
    assert goodness_left(Explained(0.6, 0.3), 0.1, 3.0, 1000, 5) == {}


def test_figures_are_in_units_of_the_response():
    figures = goodness(Explained(0.6, 0.01), Squares(0.4, 0.01, 0.0), 3.0, 1000, 5)
    assert figures["fit_rsquared"] == pytest.approx(0.6)
    assert figures["fit_scale"] == pytest.approx(0.4 * 9 * 1000 / 995)
    assert 0.006 < figures["fit_rsquared_error"] < 0.02
    assert figures["fit_scale_error"] > 9 * 0.01


def test_two_estimates_that_disagree_are_an_error():
    near = goodness(Explained(0.6, 0.0), Squares(0.4, 0.0, 0.0), 1.0, 10**6, 5)
    far = goodness(Explained(0.6, 0.0), Squares(0.6, 0.0, 0.0), 1.0, 10**6, 5)
    assert far["fit_rsquared_error"] > 0.05 > 10 * near["fit_rsquared_error"]


@pytest.mark.parametrize("squares", [Squares(), Squares(0.0, 0.1, 0.0), Squares(0.4, 9.0, 0.0)])
def test_what_says_nothing_is_left_out(squares):
    assert goodness(Explained(0.3, 0.1), squares, 1.0, 1000, 5) == {}
