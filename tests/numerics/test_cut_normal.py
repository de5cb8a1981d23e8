"""The kurtosis of a normal distribution that is cut."""

import math

import pytest
from scipy.stats import truncnorm

from dpstats.numerics.cut_normal import kurtosis_within


@pytest.mark.parametrize("cut", [0.3, 1.0, 2.0, 3.0, 4.5])
def test_the_kurtosis_is_that_of_a_truncated_normal_distribution(cut):
    variance, excess = truncnorm(-cut, cut).stats("vk")
    assert kurtosis_within(cut / math.sqrt(variance)) == pytest.approx(3 + excess, abs=2e-4)


def test_nearer_than_any_cut_it_is_that_of_a_uniform_distribution():
    assert kurtosis_within(0.0) == pytest.approx(1.8, abs=1e-3)
