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
from scipy.integrate import quad
from scipy.optimize import brentq

from dpstats.errors import ArgumentError, BudgetError
from dpstats.privacy import (
    ADD_REMOVE,
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
from dpstats.privacy.budget import _pld_epsilon

EPSILONS = (0.01, 0.1, 1.0, 10.0, 100.0)
DELTAS = (1e-9, 1e-6, 1e-3)
GRID = list(product(EPSILONS, DELTAS))


def reference_delta(mu, epsilon):
    """delta(epsilon) of mu-GDP as an integral of positive terms, so that nothing cancels.

    The integral is that of phi(x - mu) (1 - e^(epsilon - loss(x))) over the x whose loss
    mu x - mu^2 / 2 exceeds epsilon; with x = x0 + t the loss exceeds epsilon by mu t.
    """
    if epsilon < 0:
        return -math.expm1(epsilon) + math.exp(epsilon) * reference_delta(mu, -epsilon)
    gap = epsilon / mu - mu / 2
    peak = max(-gap, 0.0)

    def density(t):
        return math.exp(-((gap + t) ** 2) / 2) * -math.expm1(-mu * t)

    pieces = [0.0, peak, peak + 3, peak + 12]
    total = sum(
        quad(density, a, b, epsabs=0, epsrel=1e-12, limit=200)[0]
        for a, b in zip(pieces, pieces[1:], strict=False)
        if b > a
    )
    return total / math.sqrt(2 * math.pi)


def composed_delta(costs, epsilon):
    """delta(epsilon) of randomised responses and one Gaussian mechanism together, exactly.

    An epsilon-DP mechanism is at most randomised response: its loss is +epsilon with
    probability e^epsilon / (1 + e^epsilon), else -epsilon; Gaussian mechanisms add up to
    one. Summing over the responses leaves the Gaussian at the epsilon that remains.
    """
    losses = {0.0: 1.0}
    for cost in costs:
        if isinstance(cost, PureDP):
            losses = _respond(losses, cost.epsilon)
    mu = math.sqrt(sum(cost.mu**2 for cost in costs if isinstance(cost, GDP)))
    if mu:
        return sum(p * reference_delta(mu, epsilon - loss) for loss, p in losses.items())
    return sum(p * -math.expm1(epsilon - loss) for loss, p in losses.items() if loss > epsilon)


def _respond(losses, epsilon):
    true = 1 / (1 + math.exp(-epsilon))
    added = {}
    for loss, p in losses.items():
        for sign, share in ((1, true), (-1, 1 - true)):
            key = round(loss + sign * epsilon, 9)
            added[key] = added.get(key, 0.0) + p * share
    return added


def composed_epsilon(costs, delta):
    """The least epsilon of the composition at this delta."""
    high = sum(gdp_epsilon(c.mu, delta) if isinstance(c, GDP) else c.epsilon for c in costs) * 2
    return brentq(lambda e: composed_delta(costs, e) - delta, 0.0, high + 1)


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


def reserve(budget, cost, neighbors=REPLACE_ONE, delta=0.0):
    """Charge a cost with the epsilon it has at the given delta."""
    epsilon, delta = cost.guarantee(delta)
    budget.reserve(epsilon, delta, cost, neighbors)


def test_ten_tenths_fit_into_one_and_nothing_more():
    budget = Budget(1.0)
    for _ in range(10):
        reserve(budget, PureDP(0.1))
    with pytest.raises(BudgetError):
        reserve(budget, PureDP(1e-9))
    assert budget.spent == (1.0, 0.0) and len(budget.calls) == 10


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_refused_call_costs_nothing(delta):
    budget = Budget(1.0, delta)
    reserve(budget, PureDP(0.6))
    before = budget.spent, list(budget.calls), budget.neighbors
    with pytest.raises(BudgetError, match=r"epsilon=0\.7 does not fit.*epsilon=0\.6.* is spent"):
        reserve(budget, PureDP(0.7))
    with pytest.raises(BudgetError, match="'add_remove' needs a budget of its own"):
        reserve(budget, PureDP(0.1), ADD_REMOVE)
    assert (budget.spent, budget.calls, budget.neighbors) == before
    reserve(budget, PureDP(0.4))


def test_a_refused_first_call_fixes_no_relation():
    budget = Budget(1.0)
    with pytest.raises(BudgetError):
        reserve(budget, PureDP(2.0), ADD_REMOVE)
    reserve(budget, PureDP(1.0), REPLACE_ONE)


def test_a_delta_needs_a_budget_with_one():
    for budget in (Budget(5.0), Budget(5.0, 1e-9)):
        with pytest.raises(BudgetError):
            reserve(budget, GDP.of(1.0, 1e-6), delta=1e-6)


@pytest.mark.parametrize("count", [2, 10, 100])
def test_gaussian_calls_add_up_in_mu_squared(count):
    whole = GDP.of(2.0, 1e-6)
    budget = Budget(2.0, 1e-6)
    part = whole.part(1 / count)
    for _ in range(count):
        reserve(budget, part, delta=1e-6)
    expected = dp_accounting.GaussianDpEvent(1 / whole.mu)
    accountant = pld.PLDAccountant().compose(expected)
    assert budget.spent[0] == pytest.approx(accountant.get_epsilon(1e-6), rel=1e-6)
    assert budget.spent[0] == pytest.approx(gdp_epsilon(whole.mu, 1e-6), rel=1e-9)
    with pytest.raises(BudgetError):
        reserve(budget, part, delta=1e-6)


MIXTURES = {
    "one pure": [PureDP(1.0)],
    "two pure": [PureDP(1.0), PureDP(1.0)],
    "five large pure": [PureDP(4.0)] * 5,
    "forty small pure": [PureDP(0.1)] * 40,
    "pure and gaussian": [PureDP(1.0), GDP(0.5)],
    "small pure and large gaussian": [PureDP(0.05), GDP(1.5)],
    "large pure and small gaussian": [PureDP(3.0), GDP(0.1)],
    "three and two": [PureDP(0.5), GDP(0.3), PureDP(0.2), GDP(0.4), PureDP(0.3)],
}


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("name", MIXTURES)
def test_mixed_costs_compose_to_no_less_than_they_are(name, delta):
    """The exact loss distribution of the mixture bounds the accountant from below."""
    costs = MIXTURES[name]
    found = _pld_epsilon(costs, delta)
    alone = [cost.guarantee(delta)[0] for cost in costs]
    assert composed_delta(costs, found + 1e-4) <= delta
    # Losses are rounded up to multiples of 1e-4, once a cost.
    assert found <= composed_epsilon(costs, delta) + 1e-3 + 1e-4 * len(costs)
    assert max(alone) * 0.99 <= found <= sum(alone) * (1 + 1e-3)


@pytest.mark.parametrize("cost", [PureDP(0.7), PureDP(3.0), GDP(0.4)], ids=str)
def test_ten_calls_of_one_kind_cost_ten(cost):
    """A version of dp_accounting ignores how often an event is repeated; we list events."""
    ten, one = _pld_epsilon([cost] * 10, 1e-6), _pld_epsilon([cost], 1e-6)
    assert ten == pytest.approx(composed_epsilon([cost] * 10, 1e-6), rel=1e-3)
    assert ten > 2 * one


EVENTS = {
    "gaussian": dp_accounting.GaussianDpEvent(3.0),
    "laplace": dp_accounting.LaplaceDpEvent(2.0),
    "randomised response": dp_accounting.RandomizedResponseDpEvent(0.5, 2),
}


@pytest.mark.parametrize("way", ["self-composed", "counted"])
@pytest.mark.parametrize("name", EVENTS)
def test_the_accountant_counts_ten_events_as_ten(name, way):
    event = EVENTS[name]
    relation = dp_accounting.NeighboringRelation.REPLACE_SPECIAL
    listed, repeated = pld.PLDAccountant(relation), pld.PLDAccountant(relation)
    for _ in range(10):
        listed.compose(event)
    if way == "counted":
        repeated.compose(event, 10)
    else:
        repeated.compose(dp_accounting.SelfComposedDpEvent(event, 10))
    if name == "randomised response" and repeated.get_epsilon(1e-6) < listed.get_epsilon(1e-6) / 2:
        pytest.xfail("dp_accounting 0.6 counts repeated randomised responses once")
    assert repeated.get_epsilon(1e-6) == pytest.approx(listed.get_epsilon(1e-6), rel=1e-6)


def test_two_pure_calls_do_not_fit_where_only_one_does():
    """At delta = 10^-6, two calls at epsilon = 1 cost 2 up to one part in a million."""
    budget = Budget(1.9, 1e-6)
    reserve(budget, PureDP(1.0))
    with pytest.raises(BudgetError):
        reserve(budget, PureDP(1.0))
    assert budget.spent == (1.0, 0.0)


def test_a_pure_and_a_gaussian_call_share_a_budget():
    costs = [PureDP(1.0), GDP.of(1.0, 5e-7)]
    exact = composed_epsilon(costs, 1e-6)
    assert exact < 2.0
    for size, fits in ((exact * 1.01, True), (exact * 0.99, False)):
        budget = Budget(size, 1e-6)
        reserve(budget, costs[0])
        if fits:
            reserve(budget, costs[1], delta=5e-7)
            assert exact * 0.999 <= budget.spent[0] <= size
            continue
        with pytest.raises(BudgetError):
            reserve(budget, costs[1], delta=5e-7)


def test_deltas_of_approximate_calls_are_set_aside():
    budget = Budget(10.0, 1e-6)
    for _ in range(2):
        reserve(budget, ApproxDP(1.0, 4e-7))
    assert budget.spent == (2.0, pytest.approx(8e-7))
    with pytest.raises(BudgetError):
        reserve(budget, ApproxDP(1.0, 4e-7))
    mixed = [ApproxDP(1.0, 4e-7), GDP(0.5)]
    found = _pld_epsilon(mixed, 1e-6)
    exact = composed_epsilon([PureDP(1.0), GDP(0.5)], 6e-7)
    assert exact * (1 - 1e-4) <= found <= exact * (1 + 1e-3)
    assert _pld_epsilon([ApproxDP(1.0, 1e-6)], 1.1e-6) == pytest.approx(1.0, abs=1e-3)
    assert _pld_epsilon([ApproxDP(1.0, 1e-6)] * 2, 1.1e-6) == math.inf


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
