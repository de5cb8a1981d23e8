"""Weighted fits estimate the population's line; rows scaled before they are clipped do not.

All seeds are fixed. A coverage is refused when its Clopper-Pearson interval of level 99.9% lies
below 95%, which a correct one does once in 2,000 choices of a seed.
"""

import numpy as np
import pytest
from scipy.stats import binomtest

from benchmarks import weights

# population()[1], from ten million rows: its standard error is 0.0001.
SLOPE = 0.3679


def test_a_weighted_fit_is_not_biased_where_rows_scaled_before_clipping_are():
    """At an epsilon whose noise is small beside the difference, 0.13."""
    ours, _ = weights.trials(weights.weighted, SLOPE, 5000, 40, epsilon=100.0)
    plain, _ = weights.trials(weights.unweighted, SLOPE, 5000, 40, epsilon=100.0)
    theirs, _ = weights.trials(weights.scaled_before_clipping, SLOPE, 5000, 40, epsilon=100.0)
    assert abs(ours.mean()) < 4 * ours.std() / np.sqrt(40) < 0.02
    assert theirs.mean() > 0.1 and plain.mean() < -0.05


@pytest.mark.parametrize("epsilon", [1.0, 16.0])
def test_robust_intervals_for_the_population_cover(epsilon):
    """Weights that say something of the slope, and errors of different variances."""
    fit = weights.FITS["weights, HC1"]
    _, covered = weights.trials(fit, SLOPE, 5000, 200, seed=5, epsilon=epsilon)
    shown = covered[~np.isnan(covered)]
    assert len(shown) > 150
    assert binomtest(int(shown.sum()), len(shown)).proportion_ci(0.999).high > 0.95


def test_trimming_trades_bias_for_noise():
    """At epsilon 1 the error of trimmed weights is far smaller than that of the others."""
    trimmed, _ = weights.trials(
        weights.FITS["weights, trimmed at 4, HC1"], SLOPE, 5000, 60, epsilon=1.0
    )
    whole, _ = weights.trials(weights.FITS["weights, HC1"], SLOPE, 5000, 60, epsilon=1.0)
    assert np.sqrt(np.mean(trimmed**2)) < 0.6 * np.sqrt(np.mean(whole**2))
