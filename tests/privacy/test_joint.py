"""The joint guarantee of several calls, checked against budgets and by hand."""

import math

import pytest

from dpstats.privacy import GDP, ApproxDP, Call, PureDP, gdp_epsilon
from dpstats.privacy.composition import Composition, Total
from dpstats.privacy.joint import joint_guarantee


def pure(epsilon):
    return Call(epsilon, 0.0, PureDP(epsilon))


def gaussian(mu, delta=1e-6):
    return Call(gdp_epsilon(mu, delta), delta, GDP(mu))


def approximate(epsilon, delta):
    return Call(epsilon, delta, ApproxDP(epsilon, delta))


def test_one_call_keeps_its_guarantee():
    for call in (pure(0.5), gaussian(0.3), approximate(1.0, 1e-5)):
        assert joint_guarantee([call]) == pytest.approx((call.epsilon, call.delta), rel=1e-9)


def test_epsilons_and_deltas_add_up_without_gaussian_calls():
    calls = [pure(0.5), approximate(1.0, 1e-5), approximate(0.25, 1e-6)]
    assert joint_guarantee(calls) == pytest.approx((1.75, 1.1e-5))


def test_squared_mus_add_up():
    epsilon, delta = joint_guarantee([gaussian(0.3), gaussian(0.4, 1e-7)])
    assert (epsilon, delta) == pytest.approx((gdp_epsilon(0.5, 1e-6), 1e-6), rel=1e-9)


def test_a_pure_call_beside_gaussian_ones_counts_by_its_mu():
    mu = math.hypot(0.3, PureDP(0.5).mu)
    epsilon, delta = joint_guarantee([gaussian(0.3), pure(0.5)])
    assert (epsilon, delta) == pytest.approx((gdp_epsilon(mu, 1e-6), 1e-6), rel=1e-9)


def test_deltas_of_other_calls_are_added_to_that_of_gaussian_ones():
    epsilon, delta = joint_guarantee([gaussian(0.3), approximate(0.5, 1e-5)])
    mu = math.hypot(0.3, PureDP(0.5).mu)
    assert (epsilon, delta) == pytest.approx((gdp_epsilon(mu, 1e-6), 1.1e-5), rel=1e-6)


def test_a_budget_of_the_joint_guarantee_admits_the_calls_and_none_that_is_smaller():
    calls = [gaussian(0.3), gaussian(0.4), approximate(0.5, 1e-5), pure(0.1)]
    epsilon, delta = joint_guarantee(calls)
    assert Composition(epsilon * 1.00001, delta, "gdp", 1e-5).admits(Total.of(calls))
    assert not Composition(epsilon * 0.999, delta, "gdp", 1e-5).admits(Total.of(calls))
