"""Where a fit with offsets starts, from their released distribution."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from dpstats.call.arguments import make_request
from dpstats.estimators import GENERALIZED
from dpstats.estimators.contract import Offsets
from dpstats.estimators.newton.generalized.offsets import log_mean, log_odds, mean_square
from tests.checks.persons import fit
from tests.checks.replay import check_neighbours

POINTS, WEIGHTS = np.array([-2.0, 0.5, 3.0]), np.array([0.2, 0.5, 0.3])
SOME = Offsets(POINTS, WEIGHTS)
ENDS = Offsets(np.array([-(2.0**20), 2.0**20]), np.array([0.5, 0.5]))


@pytest.mark.parametrize("share", [0.001, 0.3, 0.999])
def test_the_mean_probability_at_the_start_is_the_share(share):
    assert expit(log_odds(share, SOME) + POINTS) @ WEIGHTS == pytest.approx(share, rel=1e-9)
    assert expit(log_odds(share, None)) == pytest.approx(share, rel=1e-12)
    assert abs(log_odds(share, ENDS)) < 2.0**20 + 10


def test_means_of_exposures():
    exposures = np.exp(POINTS)
    mean = exposures @ WEIGHTS
    assert log_mean(SOME) == pytest.approx(np.log(mean))
    assert mean_square(SOME) == pytest.approx(exposures**2 @ WEIGHTS / mean**2)
    assert (log_mean(None), mean_square(None)) == (0, 1)
    assert log_mean(ENDS) == pytest.approx(2.0**20 - np.log(2))
    assert mean_square(ENDS) == pytest.approx(2)


FAR = {
    "noisy_logit": ("b ~ 0 + x", (9e5, 1e6)),
    "noisy_poisson": ("c ~ 0 + x", (-1e6, -9e5)),
}


@pytest.mark.parametrize("method", FAR)
def test_offsets_that_leave_no_slope_move_no_query_further_than_stated(method):
    """A guessed Hessian is zero there, and a position must stay a number all the same."""
    formula, ends = FAR[method]
    rows = pd.DataFrame({"x": [0.3], "b": [True], "c": [1.0], "o": [0.0]})
    one, other = (
        make_request(
            formula, rows[:n], method=method, methods=GENERALIZED, epsilon=1.0, delta=None,
            missing="drop", neighbors="add_remove", bounds={"o": ends}, levels=None, x_new=None,
            row_norm=None, options={}, offset="o",
        )
        for n in (0, 1)
    )  # fmt: skip
    check_neighbours(partial(fit, one), partial(fit, other), one.cost)
