"""Costs and their composition, against integrals, exact sums and dp_accounting.

Nothing here draws noise; the reference values have a relative error below 10^-9.
"""

import math
from fractions import Fraction
from itertools import product

import dp_accounting
import numpy as np
import pytest
from dp_accounting import pld
from hypothesis import given
from hypothesis import strategies as st

from dpstats.errors import ArgumentError
from dpstats.privacy import (
    GDP,
    REPLACE_ONE,
    ApproxDP,
    Budget,
    Event,
    PrivacyReport,
    PureDP,
    gdp_delta,
    gdp_epsilon,
    validate_guarantee,
)
from tests.checks.composed import exact_delta, reference_delta

EPSILONS = (0.01, 0.1, 1.0, 10.0, 100.0)
DELTAS = (1e-9, 1e-6, 1e-3)
GRID = list(product(EPSILONS, DELTAS))


@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 4.0, 15.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 1.0, 10.0, 100.0])
def test_gdp_delta_agrees_with_the_integral(mu, epsilon):
    expected = reference_delta(mu, epsilon)
    if expected > 1e-290:
        assert gdp_delta(mu, epsilon) == pytest.approx(expected, rel=1e-8)
    else:
        assert gdp_delta(mu, epsilon) < 1e-280


def test_the_integral_itself_gives_published_values():
    """delta(0) = 2 Phi(mu / 2) - 1 and the value at mu = epsilon = 1 in closed form."""
    assert reference_delta(2.0, 0.0) == pytest.approx(math.erf(1 / math.sqrt(2)), rel=1e-12)
    phi = math.erfc(0.5 / math.sqrt(2)) / 2, math.erfc(1.5 / math.sqrt(2)) / 2
    assert reference_delta(1.0, 1.0) == pytest.approx(phi[0] - math.e * phi[1], rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_gdp_of_never_exceeds_its_guarantee_and_wastes_none(epsilon, delta):
    mu = GDP.of(epsilon, delta).mu
    assert reference_delta(mu, epsilon) <= delta
    assert reference_delta(mu, epsilon * (1 - 1e-6)) >= delta
    assert gdp_epsilon(mu, delta) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-9, 1e-6), (1e-6, 1e-12), (1e-6, 1e-3)])
def test_gdp_of_holds_for_epsilons_far_below_delta_too(epsilon, delta):
    mu = GDP.of(epsilon, delta).mu
    assert reference_delta(mu, epsilon) <= delta * (1 + 1e-7)


@pytest.mark.parametrize("delta", [1e-300, 1e-100, 1e-30, 1e-15, 1e-11, 1e-6, 1e-3, 0.49])
@pytest.mark.parametrize("epsilon", [1e-9, 3e-9, 1e-8, 1e-7, 1e-5, 1e-3, 1.0, 1e3, 1e9])
def test_costs_of_tiny_and_huge_guarantees_are_exact(epsilon, delta):
    """The two terms of delta(epsilon) agree in up to 300 digits."""
    mu = GDP.of(epsilon, delta).mu
    assert 0.98 * delta < exact_delta(mu, epsilon) <= delta
    stated = gdp_epsilon(mu, delta)
    assert stated == 0 or exact_delta(mu, stated) == pytest.approx(delta, rel=2e-7)


@pytest.mark.parametrize("delta", [5e-324, 1e-320, 9.99e-301])
def test_a_delta_whose_parts_have_few_digits_is_refused(delta):
    """At 5e-324 and epsilon 1 delta was exceeded 8 million times, or a third of it was 0."""
    with pytest.raises(ArgumentError, match="expected delta > 0 in .1e-300, 0.5., got"):
        validate_guarantee(1.0, delta)


def test_what_no_table_can_tell_has_a_delta_of_zero():
    assert 0 < gdp_delta(1e-300, 1e9) < 1e-300 and 0 < gdp_delta(1e-5, 1.0) < 1e-300


@pytest.mark.parametrize(("epsilon", "delta"), [(e, d) for e, d in GRID if e < 10])
def test_gdp_of_agrees_with_the_accountant(epsilon, delta):
    mu = GDP.of(epsilon, delta).mu
    accountant = pld.PLDAccountant().compose(dp_accounting.GaussianDpEvent(1 / mu))
    assert accountant.get_epsilon(delta) == pytest.approx(epsilon, rel=1e-6)


def test_gdp_of_agrees_with_the_accountant_at_large_epsilons():
    for epsilon in (10.0, 100.0):
        accountant = pld.PLDAccountant(value_discretization_interval=epsilon / 1e4)
        accountant.compose(dp_accounting.GaussianDpEvent(1 / GDP.of(epsilon, 1e-6).mu))
        assert accountant.get_epsilon(1e-6) == pytest.approx(epsilon, rel=1e-4)


@given(st.floats(0.01, 20), st.floats(0.01, 20), st.floats(1e-9, 0.1))
def test_gdp_epsilon_inverts_delta_and_grows_with_mu(mu, more, delta):
    epsilon = gdp_epsilon(mu, delta)
    assert gdp_epsilon(mu + more, delta) >= epsilon
    if epsilon > 0:
        assert gdp_delta(mu, epsilon) == pytest.approx(delta, rel=1e-6)


MAKERS = [
    (PureDP, lambda cost: cost.epsilon),
    (GDP, lambda cost: cost.mu**2),
    (lambda x: ApproxDP(x, x / 1e7), lambda cost: cost.epsilon),
]


@pytest.mark.parametrize(("make", "amount"), MAKERS, ids=("pure", "gdp", "approx"))
@given(shares=st.lists(st.floats(0.01, 1), min_size=1, max_size=30), size=st.floats(0.01, 50))
def test_parts_of_a_cost_fit_into_it_and_more_does_not(make, amount, shares, size):
    whole, total = make(size), sum(shares)
    parts = [whole.part(share / total) for share in shares]
    assert sum(map(amount, parts)) == pytest.approx(amount(whole), rel=1e-9)
    assert whole.covers(parts)
    assert not whole.covers([*parts, whole.part(1e-6)])
    assert sum(whole.share(part) for part in parts) == pytest.approx(1.0)


def test_pure_and_gaussian_costs_do_not_cover_each_other():
    assert not PureDP(10.0).covers([GDP(0.001)]) and not GDP(10.0).covers([PureDP(0.001)])
    assert not PureDP(10.0).covers([ApproxDP(0.1, 1e-9)])
    assert not ApproxDP(10.0, 1e-6).covers([GDP(0.001)])
    assert ApproxDP(1.0, 1e-6).covers([PureDP(0.5), ApproxDP(0.5, 1e-6)])
    assert not ApproxDP(1.0, 1e-6).covers([ApproxDP(0.5, 1e-6), ApproxDP(0.5, 1e-12)])
    assert not PureDP(1.0).covers([PureDP(math.nan)]) and not GDP(1.0).covers([GDP(math.nan)])


def test_guarantees_of_costs():
    assert PureDP(2.0).guarantee(1e-6) == (2.0, 0.0)
    assert ApproxDP(2.0, 1e-7).guarantee(1e-6) == (2.0, 1e-7)
    assert GDP.of(2.0, 1e-6).guarantee(1e-6) == (pytest.approx(2.0, rel=1e-6), 1e-6)


def report(limit, costs, delta=0.0):
    """A report over events of these costs."""
    events = tuple(Event("step", "any", 1.0, 1.0, cost) for cost in costs)
    epsilon, delta = limit.guarantee(delta)
    return PrivacyReport(REPLACE_ONE, epsilon, delta, limit, events, ())


def test_reports_add_up_their_events():
    pure = report(PureDP(3.0), [PureDP(1.0)] * 3)
    assert pure.spent == (3.0, 0.0)
    assert [share for _, share in pure.shares()] == [pytest.approx(1 / 3)] * 3
    limit = GDP.of(2.0, 1e-6)
    gaussian = report(limit, [limit.part(0.5), limit.part(0.3), limit.part(0.2)], 1e-6)
    assert gaussian.spent == (pytest.approx(2.0, rel=1e-6), 1e-6)
    assert [share for _, share in gaussian.shares()] == pytest.approx([0.5, 0.3, 0.2])
    assert report(PureDP(3.0), []).spent == report(limit, [], 1e-6).spent == (0.0, 0.0)


def test_a_release_that_ended_early_spent_less():
    assert report(PureDP(3.0), [PureDP(1.0)] * 2).spent == (2.0, 0.0)
    limit = GDP.of(2.0, 1e-6)
    part = report(limit, [limit.part(0.5)], 1e-6)
    assert part.spent == (pytest.approx(gdp_epsilon(limit.mu * math.sqrt(0.5), 1e-6)), 1e-6)
    assert part.spent[0] < 2.0


BAD = [0, -1.0, math.nan, math.inf, -math.inf, True, "1", None, 1 + 0j]


@pytest.mark.parametrize("epsilon", BAD, ids=str)
def test_no_other_epsilon_is_accepted(epsilon):
    with pytest.raises(ArgumentError):
        validate_guarantee(epsilon, 0.0)
    with pytest.raises(ArgumentError):
        Budget(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 0.5, 1.0, math.nan, math.inf, False, "0", None], ids=str)
def test_no_other_delta_is_accepted(delta):
    with pytest.raises(ArgumentError):
        validate_guarantee(1.0, delta)


def test_numbers_of_any_kind_become_floats():
    found = validate_guarantee(np.float32(0.5), Fraction(1, 4))
    assert found == (0.5, 0.25) and all(type(number) is float for number in found)


@pytest.mark.parametrize(
    ("epsilon", "delta", "said"),
    [(16, 1e-3, 0), (16.01, 1e-3, 1), (1, 0.0011, 1), (50, 0.01, 2), (1, 0, 0)],
)
def test_a_large_epsilon_or_delta_is_said_in_words(epsilon, delta, said):
    report = PrivacyReport(REPLACE_ONE, epsilon, delta, PureDP(epsilon), (), ())
    assert len(report.cautions) == said
    assert all(text.startswith("caution: ") for text in report.cautions)
    assert any(f"epsilon = {epsilon:g} is large" in text for text in report.cautions) == (
        epsilon > 16
    )
    assert any(f"delta = {delta:g} is large" in text for text in report.cautions) == (delta > 1e-3)


def test_the_mu_of_a_guarantee_is_found_once():
    assert GDP.of(0.7, 1e-6) is GDP.of(0.7, 1e-6) != GDP.of(0.7, 2e-6)
