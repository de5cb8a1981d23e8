"""The square root of prefix sums: what it adds up to, how long it is and what noise it leaves."""

import math

import numpy as np
import pytest

from dpstats.describe import cumulative

LENGTH = cumulative.whole_length(0.38)


@pytest.mark.parametrize("size", [2, 3, 64, 1024])
def test_prefix_sums_come_back(size):
    counts = np.random.default_rng(size).integers(0, 1000, (3, size))
    noisy = cumulative.transformed(counts, LENGTH)
    found = cumulative.prefix_sums(noisy.astype(float), LENGTH)
    np.testing.assert_allclose(found, np.cumsum(counts, axis=1), rtol=1e-9)


@pytest.mark.parametrize("size", [2, 64, 1024])
def test_no_column_is_longer_than_the_first(size):
    lengths = [
        math.sqrt(sum(v**2 for v in cumulative.transformed(row, LENGTH).tolist()))
        for row in np.eye(size, dtype=np.int64)[:: max(size // 8, 1)]
    ]
    first = math.sqrt(cumulative.squared_length(size, LENGTH))
    assert lengths[0] == first and max(lengths) == first
    assert 0.999 * LENGTH < first <= LENGTH


def test_noise_on_prefix_sums_grows_with_the_logarithm():
    """256 bins: below 2.84 times that on one count, where sums of noisy counts have 16 times."""
    size = 256
    longest = math.sqrt(cumulative.squared_length(size, LENGTH))
    deviation = cumulative.deviations(size, LENGTH) * longest
    assert deviation.max() < 1.07 + math.log(size) / math.pi
    assert deviation.max() > 2.2  # no better one is known


def test_covariances_are_those_of_simulated_noise():
    """4,000 draws: a covariance is off by 6 of its standard errors about once in 10^8 runs."""
    size, draws = 32, 4000
    noise = np.random.default_rng(1).normal(size=(draws, size))
    sums = cumulative.prefix_sums(noise, LENGTH)
    found = (sums * sums[:, -1:]).mean(axis=0)
    wanted = cumulative.covariances_with_last(size, LENGTH)
    scale = cumulative.deviations(size, LENGTH) * cumulative.deviations(size, LENGTH)[-1]
    assert np.abs(found - wanted).max() < 6 * math.sqrt(2 / draws) * scale.max()
    np.testing.assert_allclose(wanted[-1], cumulative.deviations(size, LENGTH)[-1] ** 2)
