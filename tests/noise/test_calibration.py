"""Which noise sums get, and how large it is."""

import math

import pytest

from dpstats.noise import Noise, Query, noise_deviation
from dpstats.noise.calibration import distribution
from dpstats.privacy import GDP, ApproxDP, PureDP


def test_a_gaussian_cost_has_gaussian_noise_and_needs_the_l2_norm():
    assert distribution(GDP(2.0), 5.0, 3.0, 100) == ("gaussian", 3.0, 1.5)
    assert distribution(GDP(2.0), 5.0, None) is None


@pytest.mark.parametrize("cost", [PureDP(0.5), ApproxDP(0.5, 1e-6)])
def test_an_epsilon_has_the_noise_that_is_less(cost):
    assert distribution(cost, 2.0, None) == ("laplace", 2.0, 4.0)
    for l1 in (1.0, 2.0, 4.0):
        name, sensitivity, scale = distribution(cost, l1, 1.0, 8)
        spherical = 3.0 < math.sqrt(2) * l1
        assert (name, sensitivity) == (("spherical", 1.0) if spherical else ("laplace", l1))
        assert scale == pytest.approx((3.0 if spherical else l1) / 0.5, rel=1e-8)
        assert noise_deviation(cost, l1, 1.0, 8) == pytest.approx(min(3, math.sqrt(2) * l1) / 0.5)


@pytest.mark.parametrize(("epsilon", "values"), [(1.0, 2), (1.0, 10_000), (1e-6, 10)])
def test_outside_what_is_proven_there_is_no_spherical_noise(epsilon, values):
    assert distribution(PureDP(epsilon), 1e9, 1.0, values).name == "laplace"
    assert distribution(PureDP(epsilon), None, 1.0, values) is None


def test_a_query_asks_for_it():
    for free, name in ((False, "laplace"), (True, "spherical")):
        noise = Noise(PureDP(1.0))
        noisy = noise.add(Query("sums", [0] * 8, 100.0, 1.0, any_noise=free), PureDP(1.0))
        assert noise.events[0].mechanism == name
        assert noisy.deviation == pytest.approx(3.0 if free else math.sqrt(2) * 100)
