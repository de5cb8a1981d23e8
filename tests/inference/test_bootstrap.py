"""Bootstrap intervals: near the default where noise is small, and they cover."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from benchmarks import coverage
from tests.checks.pivot import close_line

UNIT = {"x": (0, 1), "y": (0, 1)}


@pytest.mark.parametrize("method", ["noisy_moments", "adassp"])
def test_the_bootstrap_agrees_with_the_default_where_noise_is_small(method):
    result, _ = close_line(epsilon=8, method=method)
    widths = [np.diff(ends, axis=1)[:, 0] for ends in (result.conf_int(), result.bootstrap())]
    np.testing.assert_allclose(*widths, rtol=0.12)
    pd.testing.assert_frame_equal(result.bootstrap(), result.bootstrap())


@pytest.mark.parametrize("method", ["noisy_moments", "adassp"])
def test_the_bootstrap_covers(method):
    cell = coverage.Cell(method, 1000, epsilons=(4.0,))
    rng, hits, trials = np.random.default_rng(3), 0, 80
    with dp.testing.insecure_seed(3):
        for _ in range(trials):
            X, y = coverage.draw(cell, rng, cell.n)
            data = {"x": X[:, 1], "y": y}
            fit = dp.dp_ols("y ~ x", data, method=method, epsilon=4, bounds=UNIT)
            low, high = fit.bootstrap(draws=400).loc["x"]
            hits += low <= coverage.LINE[1] <= high
    assert coverage.clopper_pearson(hits, trials)[1] >= 0.95
