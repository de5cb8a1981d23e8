"""Spherical noise: its radius, its directions, and what it guarantees."""

import math
import secrets

import numpy as np
import pytest
from scipy import stats

from dpstats.noise import Noise, Query
from dpstats.noise import spherical as module
from dpstats.noise.spherical import standard_deviation
from dpstats.privacy import PureDP

EPSILON, L2 = 0.5, 3.0


def drawn(size: int, times: int) -> np.ndarray:
    """Draw noise (times, size) for sums that move by 3 in the L2 norm, at epsilon .5."""
    noise = Noise(PureDP(EPSILON * times))
    query = Query("sums", [1 << 40] * size, None, L2 * 2.0**40, 2.0**-40, any_noise=True)
    return np.array([noise.add(query, PureDP(EPSILON)).values for _ in range(times)]) - 1


@pytest.mark.parametrize("size", [3, 4, 11])
def test_lengths_have_the_density_that_the_guarantee_needs(size):
    """|x| has density r^(m - 1) e^(-epsilon r / l2): Gamma(m). False alarm 1e-6 each."""
    lengths = np.linalg.norm(drawn(size, 4000), axis=1)
    law = stats.gamma(size, scale=L2 / EPSILON)
    assert stats.kstest(lengths, law.cdf).pvalue > 1e-6
    wrong = stats.gamma(size + 1, scale=L2 / EPSILON)  # as uniform points in a ball would have
    assert stats.kstest(lengths, wrong.cdf).pvalue < 1e-6
    less = stats.gamma(size, scale=0.9 * L2 / EPSILON)  # a tenth too little noise
    assert stats.kstest(lengths, less.cdf).pvalue < 1e-6


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
