"""Quantiles of ratios, the epsilon they need, and shares that make them even."""

import math

import numpy as np
import pytest

from dpstats.study.plans.quantiles import crossing, even_shares, quantile


def test_a_quantile_is_reached_by_its_fraction():
    values = [4, math.nan, 1, math.inf, 2]
    found = [quantile(values, fraction) for fraction in (0.1, 0.25, 0.26, 0.5, 0.75, 0.9)]
    assert found == [1, 1, 2, 2, 4, math.inf]
    assert math.isnan(quantile([math.nan]))


def test_the_crossing_is_exact_where_noise_follows_the_law():
    """The variance of the noise is in proportion to epsilon^-1.7."""
    epsilons = (0.5, 1.0, 2.0, 4.0, 8.0)
    ratios = {e: math.sqrt(1 + 3 * e**-1.7) for e in epsilons}
    for epsilon in (0.6, 1.0, 3.3):
        assert crossing(ratios, math.sqrt(1 + 3 * epsilon**-1.7)) == pytest.approx(epsilon)
    assert crossing(ratios, 100) == 0.5 and crossing(ratios, 1.001) == math.inf


def test_what_is_hidden_is_not_interpolated():
    assert crossing({1.0: math.inf, 2.0: 1.2}, 1.25) == 2
    assert crossing({1.0: 1.5, 2.0: 0.9}, 1.25) == 2
    rises = {1.0: 1.1, 2.0: 1.4, 4.0: 1.1}
    assert 2 < crossing(rises, 1.25) < 4


def test_even_shares_even_out_the_law():
    shares, noise = np.array([0.2, 0.6]), np.array([0.1, 3.0])
    even = even_shares(shares, np.sqrt(1 + noise / shares))
    assert even.sum() == pytest.approx(0.8) and np.ptp(noise / even) == pytest.approx(0, abs=1e-9)
    assert np.isnan(even_shares(shares, [1.2, math.inf])).all()
