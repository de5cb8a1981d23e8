"""Where a fit with offsets starts, from their released distribution."""

import numpy as np
import pytest
from scipy.special import expit

from dpstats.estimators.contract import Offsets
from dpstats.estimators.newton.generalized.offsets import log_mean, log_odds, mean_square

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
