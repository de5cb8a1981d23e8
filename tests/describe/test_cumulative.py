"""The square root of prefix sums: what it adds up to, how long it is and what noise it leaves."""

import math

import numpy as np
import pytest

from dpstats.describe import cumulative


def weighing(size) -> np.ndarray:
    """Whole weights, larger in the middle."""
    return np.round(500 + 1000 * np.sin(np.linspace(0, math.pi, size)))


@pytest.mark.parametrize("size", [2, 3, 64, 1024])
def test_prefix_sums_come_back(size):
    counts, weights = np.random.default_rng(size).integers(0, 1000, (3, size)), weighing(size)
    noisy = cumulative.transformed(counts * weights.astype(np.int64))
    found = cumulative.prefix_sums(noisy.astype(float), weights)
    np.testing.assert_allclose(found, np.cumsum(counts, axis=1), rtol=1e-9)


@pytest.mark.parametrize("size", [2, 64, 1024])
def test_lengths_are_those_of_the_columns_of_which_the_first_is_longest(size):
    chosen = np.arange(size)[:: max(size // 8, 1)]
    columns = cumulative.transformed(np.eye(size, dtype=np.int64)[chosen])
    lengths = (columns**2).sum(axis=1)
    np.testing.assert_array_equal(lengths, cumulative.squared_lengths(size)[chosen])
    assert lengths.max() == lengths[0]
    assert 0.99 * 2**cumulative.ROOT_BITS < math.sqrt(lengths[0]) <= 2**cumulative.ROOT_BITS


def test_noise_on_prefix_sums_grows_with_the_logarithm():
    """256 bins: below 2.84 times that on one count, where sums of noisy counts have 16 times."""
    size = 256
    longest = math.sqrt(cumulative.squared_lengths(size)[0])
    deviation = cumulative.spread(np.ones(size))[0] * longest
    assert deviation.max() < 1.07 + math.log(size) / math.pi
    assert deviation.max() > 2.2  # no better one is known


def test_deviations_and_covariances_are_those_of_simulated_noise():
    """4,000 draws: a covariance is off by 6 of its standard errors about once in 10^8 runs."""
    size, draws = 32, 4000
    weights = weighing(size)
    noise = np.random.default_rng(1).normal(size=(draws, size))
    sums = cumulative.prefix_sums(noise, weights)
    found = (sums * sums[:, -1:]).mean(axis=0)
    deviations, wanted = cumulative.spread(weights)
    error = 6 * math.sqrt(2 / draws)
    assert (np.abs(found - wanted) < error * deviations * deviations[-1]).all()
    np.testing.assert_allclose(wanted[-1], deviations[-1] ** 2)
    np.testing.assert_allclose(sums.std(axis=0), deviations, rtol=error)
    for last in (1, 7, size):
        assert cumulative.deviation(weights, 0, last) == pytest.approx(deviations[last - 1])
