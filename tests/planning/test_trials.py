"""Medians over repeated trials, failures included."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import binom

import dpstats as dp
from dpstats.planning.trials import Trials, median_ranks
from tests.checks.plans import UNIT, cells


def test_a_failed_fit_is_infinitely_wrong():
    few = dp.plan("y ~ x", n=10, bounds=UNIT, methods=["noisy_stats"], epsilon=0.01, repetitions=40)
    row = cells(few).loc[("noisy_stats", 0.01)]
    assert row["failed"] > 0.1 and np.isinf(row["error_90"])
    assert any("variance of x was not positive" in text for text in few.remarks["noisy_stats"])


def test_a_reason_with_other_numbers_is_said_once():
    made = dp.plan("y ~ x", n=50, bounds=UNIT, methods=["tukey"], epsilon=[0.1, 0.5],
                   repetitions=20)  # fmt: skip
    (reason,) = made.remarks["tukey"]
    assert "are too few" in reason and cells(made).loc["tukey", "failed"].eq(1).all()
    labels = [text.get_text() for text in made.plot().get_legend().get_texts()]
    assert labels == ["tukey (mostly fails)", "ols (not private)"]
    plt.close("all")


def test_bought_intervals_without_ends_are_said():
    options = {"bought": {"method": "exp_theil_sen", "ci": True}}
    made = dp.plan("y ~ x", n=400, bounds=UNIT, methods=options, epsilon=0.1, repetitions=20)
    assert np.isinf(cells(made).loc[("bought", 0.1), "width"])
    assert any("intervals are unbounded" in text for text in made.remarks["bought"])


@pytest.mark.parametrize("trials", [20, 21, 200, 999])
def test_the_median_lies_between_its_ranks(trials):
    low, high = (round(q * trials / 100) for q in median_ranks(trials))
    inside = binom.cdf(high - 1, trials, 0.5) - binom.cdf(low - 1, trials, 0.5)
    assert 0.95 <= inside < 0.985


def test_widths_count_missing_intervals_as_infinite():
    ends = np.array([[[0, 1.0]], [[np.nan, np.nan]], [[-np.inf, np.inf]], [[0, 3.0]]])
    trials = Trials(np.array([[0.5], [np.nan], [0.5], [9.0]]), ends, np.array([2.0]))
    assert (trials.width(50), trials.width(75)) == (3, np.inf)
    assert trials.coverage() == pytest.approx(2 / 3)
    assert (trials.unbounded(), trials.failed()) == (0.5, 0.25)
    assert (trials.error(50), trials.error(75), trials.error(90)) == (1.5, 7, np.inf)
    none = Trials(trials.estimates, np.full((4, 1, 2), np.nan), trials.truth)
    assert np.isnan([none.width(), none.coverage(), none.unbounded()]).all()
