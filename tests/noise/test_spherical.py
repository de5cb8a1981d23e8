"""Spherical noise: its radius, its directions, and what it guarantees."""

import math
import secrets

import numpy as np
import pytest
from scipy import stats

from dpstats.noise import spherical as module
from dpstats.noise.spherical import standard_deviation
from tests.checks.spherical import check_lengths, drawn

pytestmark = pytest.mark.system_noise


@pytest.mark.parametrize("size", [3, 4, 11])
def test_lengths_have_the_density_that_the_guarantee_needs(size):
    check_lengths(size)


def test_directions_are_uniform():
    """The share of a squared length along a direction is Beta((1, m - 1) / 2); 1e-6."""
    draws = drawn(5, 4000)
    along = (draws @ np.array([3.0, 0, 4.0, 0, 0]) / 5) ** 2 / (draws**2).sum(axis=1)
    assert stats.kstest(along, stats.beta(0.5, 2.0).cdf).pvalue > 1e-6


@pytest.mark.parametrize("size", [3, 8])
def test_variances_are_gamma(size):
    """Of shape (m + 1) / 2 and mean 1, each drawn anew; 1e-6."""
    squares = [standard_deviation(size, secrets.randbelow) ** 2 for _ in range(20_000)]
    shape = (size + 1) / 2
    assert stats.kstest(squares, stats.gamma(shape, scale=1 / shape).cdf).pvalue > 1e-6


_HALF = 2**255


@pytest.mark.parametrize(
    "position", [0, 1, 2**200, _HALF - 1, _HALF, 2 * _HALF - 2**200, 2 * _HALF - 2]
)
def test_exponentials_are_accurate_near_zero_and_far_out(position):
    from mpmath import log, mp, mpf

    mp.prec = 600
    exact = -log(mpf(position + 1) / mpf(2**256))
    found = module._exponential(lambda bound: position)
    assert abs(mpf(found) / exact - 1) < mpf(2) ** -50


def test_a_uniform_number_of_zero_bits_is_not_lost():
    assert module._exponential(lambda bound: 2**256 - 1) == 0
    assert module._uniform(lambda bound: 0) == 2.0**-256
    assert math.isfinite(module._exponential(lambda bound: 0))
