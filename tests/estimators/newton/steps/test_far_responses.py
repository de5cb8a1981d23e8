"""Responses of mostly one value, such as rare outcomes, of which few decide."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.estimators.contract import Extremes
from dpstats.estimators.newton.row_sums.sums import SCORE_EDGES
from dpstats.estimators.newton.steps.far_responses import with_far_responses
from dpstats.estimators.newton.steps.score_tails import score_tail

ROWS, DIRECTIONS = 10_000.0, 3.0
# One in fifty is 1: about the mean of .02 in units of the deviation of .14.
RARE = replace(
    Extremes.unknown(0), y_points=np.array([-1.0, 49.0]) / 7, y_weights=np.array([0.98, 0.02])
)


def short_tail():
    """A tail in which noise hides the ones: nothing is seen beyond 4."""
    counts = np.zeros(len(SCORE_EDGES) + 1)
    counts[:5] = ROWS / 5
    return score_tail(counts, 30.0, 1.0, 0.4, 60.0)


def test_ones_of_a_rare_outcome_are_in_the_tail():
    """Their number beyond a size is that of simulated responses times normal columns."""
    rng = np.random.default_rng(1)
    tail = with_far_responses(short_tail(), RARE, ROWS, DIRECTIONS)
    lengths = np.linalg.norm(rng.normal(size=(100_000, 3)), axis=1) / np.sqrt(3)
    for size in (4.0, 6.0, 9.0):
        expected = 0.02 * ROWS * np.mean(7 * lengths > size)
        assert tail.beyond(size) == pytest.approx(expected, rel=0.3, abs=15)
        assert short_tail().beyond(size) < 0.6 * tail.beyond(size)


def test_rows_that_are_seen_stay():
    counts = np.zeros(len(SCORE_EDGES) + 1)
    counts[:5], counts[13] = ROWS / 5, 900.0
    seen = score_tail(counts, 30.0, 1.0, 0.4, 60.0)
    tail = with_far_responses(seen, RARE, ROWS, DIRECTIONS)
    assert (tail.counts >= seen.counts).all()
    assert tail.beyond(8) == pytest.approx(seen.beyond(8), rel=0.3)


@pytest.mark.parametrize("extremes", [
    replace(RARE, y_weights=np.array([0.7, 0.3])),
    replace(RARE, y_unseen=True),
])  # fmt: skip
def test_other_responses_change_nothing(extremes):
    tail = short_tail()
    assert with_far_responses(tail, extremes, ROWS, DIRECTIONS) is tail


@pytest.mark.parametrize("seed", [2, 4])
def test_slopes_of_a_rare_outcome_are_held(seed):
    """One in a hundred of 20,000 rows; without their part in the tail 15 of 20 are held.

    Seeds are fixed; of right intervals fewer than 17 would be held in 3 of 1,000 such tests.
    """
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=20_000), (rng.random(20_000) < 0.3) * 1.0
    y = (rng.random(20_000) < np.minimum(0.01 * np.exp(0.6 * x - 0.18), 1)) * 1.0
    table = pd.DataFrame({"x": x, "z": z, "y": y})
    slope, held = smf.ols("y ~ x + z", table).fit().params["x"], 0
    for fit_seed in range(20):
        with dp.testing.insecure_seed(fit_seed):
            fit = dp.dp_ols("y ~ x + z", table, epsilon=1, bounds={"y": (0, 1)})
        low, high = fit.conf_int().loc["x"]
        held += low <= slope <= high
    assert held >= 17
