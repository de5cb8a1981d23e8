"""Budgets: the rule of composition, and one process's threads, forks and copies.

No noise is drawn. References are exact sums and integrals (tests/checks/composed.py) and the
privacy-loss distributions of dp_accounting, which are right to 1e-4 in each cost's loss.
"""

import copy
import math
import pickle
import subprocess
import sys
import threading
from contextlib import nullcontext
from dataclasses import dataclass
from functools import reduce

import dp_accounting
import numpy as np
import pytest
from dp_accounting import pld
from dp_accounting.pld import common, privacy_loss_distribution
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit, ndtr, ndtri

import dpstats as dp
from dpstats.errors import ArgumentError, BudgetError
from dpstats.privacy import (
    ADD_REMOVE,
    GDP,
    REPLACE_ONE,
    ApproxDP,
    Budget,
    Call,
    Composition,
    PureDP,
    Total,
    gdp_delta,
    gdp_epsilon,
)
from tests.checks.composed import composed_delta, composed_epsilon


def reserve(budget, cost, neighbors=REPLACE_ONE, delta=0.0):
    """Charge a cost with the epsilon it has at the given delta."""
    epsilon, delta = cost.guarantee(delta)
    return budget.reserve(epsilon, delta, cost, neighbors)


def call(cost, delta=0.0):
    return Call(*cost.guarantee(delta), cost)


def trade_off(epsilon, a):
    """The trade-off function of epsilon-DP (Dong, Roth and Su 2022, equation 4)."""
    return np.maximum(0, np.maximum(1 - math.exp(epsilon) * a, math.exp(-epsilon) * (1 - a)))


@pytest.mark.parametrize("epsilon", [1e-3, 0.01, 0.5, 0.999, 1.0, 3.0, 8.0, 25.0])
def test_pure_dp_is_gdp_by_its_trade_off_function_and_no_better(epsilon):
    """G_mu lies below the trade-off function of epsilon-DP and touches it at the corner."""
    mu = PureDP(epsilon).mu
    a = np.concatenate([np.linspace(1e-9, 1 - 1e-9, 9999), np.logspace(-14, -1, 999)])
    assert (ndtr(-ndtri(a) - mu) <= trade_off(epsilon, a) * (1 + 1e-9) + 1e-15).all()
    corner = expit(-epsilon)
    assert ndtr(-ndtri(corner) - mu) == pytest.approx(corner, rel=1e-9)
    assert ndtr(-ndtri(corner) - mu * (1 - 1e-4)) > corner * (1 + 1e-8)
    assert GDP(mu).loss_range == pytest.approx(2 * epsilon, rel=1e-6)


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
def test_randomised_responses_are_no_worse_than_their_mu(delta):
    for epsilon, count in ((0.05, 40), (0.3, 12), (2.0, 5)):
        exact = composed_epsilon([PureDP(epsilon)] * count, delta)
        assert exact <= gdp_epsilon(PureDP(epsilon).mu * math.sqrt(count), delta)


def test_ten_tenths_fit_into_one_and_nothing_more():
    budget = Budget(1.0)
    for _ in range(10):
        reserve(budget, PureDP(0.1))
    with pytest.raises(BudgetError):
        reserve(budget, PureDP(1e-9))
    assert budget.spent == (1.0, 0.0) and len(budget.calls) == 10
    assert budget.remaining == (0.0, 0.0) and {*map(type, budget.remaining)} == {float}


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_refused_call_costs_nothing(delta):
    budget = Budget(1.0, delta)
    reserve(budget, PureDP(0.6))
    before = budget.spent, budget.remaining, budget.calls, budget.neighbors
    with pytest.raises(BudgetError, match=r"epsilon=0\.7 does not fit.*epsilon=0\.6.* is spent"):
        reserve(budget, PureDP(0.7))
    with pytest.raises(BudgetError, match="'add_remove' needs a budget of its own"):
        reserve(budget, PureDP(0.1), ADD_REMOVE)
    assert (budget.spent, budget.remaining, budget.calls, budget.neighbors) == before
    reserve(budget, PureDP(0.4))


def test_a_refused_first_call_fixes_no_relation_and_sets_nothing_aside():
    budget = Budget(1.0, 1e-6)
    with pytest.raises(BudgetError):
        reserve(budget, ApproxDP(2.0, 1e-6), ADD_REMOVE)
    reserve(budget, GDP.of(1.0, 1e-6), REPLACE_ONE, 1e-6)


def test_a_delta_needs_a_budget_with_one():
    for budget in (Budget(5.0, 0.0), Budget(1.0, 1e-9)):
        with pytest.raises(BudgetError):
            reserve(budget, GDP.of(1.0, 1e-6), delta=1e-6)


def test_a_refusal_for_want_of_delta_says_how_much_it_takes():
    for delta, epsilon in ((0.0, 0.1), (1e-6, 0.1)):
        budget = Budget(5.0, delta, "sum")
        for _ in range(bool(delta)):
            reserve(budget, GDP.of(epsilon, 1e-6), delta=1e-6)
        needed = f"{delta + 1e-6:g}"
        with pytest.raises(BudgetError, match=rf"add up to {needed}: make it with delta={needed}"):
            reserve(budget, GDP.of(epsilon, 1e-6), delta=1e-6)
    with pytest.raises(BudgetError, match=r"epsilon at delta=0\.001 takes more .* leave delta out"):
        Budget(3.0).reserve(2.0, 1e-3, GDP.of(2.0, 1e-3), ADD_REMOVE)


def test_a_refusal_says_at_which_delta_what_remains_fits():
    budget = Budget(1.0, 1e-6, "gdp", 5e-7)
    reserve(budget, GDP.of(0.5, 1e-6), delta=1e-6)
    epsilon, delta = budget.remaining
    for more, advice in ((0.0, "give delta=5e-07, at which it fits, or ask"), (0.1, "spent; ask")):
        with pytest.raises(BudgetError, match=f"{advice} for less$"):
            budget.reserve(epsilon + more, 1e-6, GDP.of(epsilon + more, 1e-6), REPLACE_ONE)
    budget.reserve(epsilon, delta, GDP.of(epsilon, delta), REPLACE_ONE)
    assert budget.remaining[0] < 1e-3


@pytest.mark.parametrize("composition", [None, "gdp", "sum"])
def test_a_budget_of_epsilon_alone_has_the_delta_of_calls(line, composition):
    """The default method fits; what needs no delta spends none of it."""
    budget = Budget(2.0, composition=composition)
    assert (budget.epsilon, budget.delta) == (2.0, 1e-6) and "delta=1e-06" in repr(budget)
    reserve(budget, PureDP(0.5), ADD_REMOVE)
    assert budget.spent == (0.5, 0.0)
    other = Budget(2.0, composition=composition)
    result = dp.dp_ols("y ~ x", line, epsilon=1, budget=other)
    assert result.method == "noisy_newton" and other.calls[0].delta == 1e-6
    assert other.spent == (pytest.approx(1.0), 1e-6) and other.delta == 1e-6


COUNTED = [(PureDP(0.3), 0.0), (GDP.of(0.3, 1e-6), 1e-6), (GDP.of(0.3, 1e-9), 1e-9),
           (ApproxDP(0.3, 1e-7), 1e-7), (PureDP(2.0), 0.0), (PureDP(1e-6), 0.0)]  # fmt: skip


@pytest.mark.parametrize(("cost", "delta"), COUNTED)
@pytest.mark.parametrize("composition", ["gdp", "sum"])
def test_as_many_calls_are_left_as_are_then_admitted(cost, delta, composition):
    budget = Budget(2.0, 1e-6, composition)
    assert budget.calls_left is None and "another" not in repr(budget)
    reserve(budget, cost, delta=delta)
    left = budget.calls_left
    assert f"another call like the last: {left:,} more" in repr(budget)
    assert f"{left:,} more" in budget._repr_html_()
    for _ in range(min(left, 50)):
        reserve(budget, cost, delta=delta)
        left -= 1
        assert budget.calls_left == left
    if not left:
        with pytest.raises(BudgetError):
            reserve(budget, cost, delta=delta)


def test_another_kind_of_call_is_counted_anew():
    budget = Budget(2.0, 1e-6)
    reserve(budget, PureDP(1.0))
    assert budget.calls_left == 1
    reserve(budget, PureDP(0.25))
    assert budget.calls_left == 3


@pytest.mark.parametrize("count", [2, 10, 100])
def test_gaussian_calls_add_up_in_mu_squared(count):
    whole = GDP.of(2.0, 1e-6)
    budget = Budget(2.0, 1e-6)
    part = whole.part(1 / count)
    for _ in range(count):
        reserve(budget, part, delta=1e-6)
    accountant = pld.PLDAccountant().compose(dp_accounting.GaussianDpEvent(1 / whole.mu))
    assert budget.spent[0] == pytest.approx(accountant.get_epsilon(1e-6), rel=1e-6)
    assert budget.spent[0] == pytest.approx(gdp_epsilon(whole.mu, 1e-6), rel=1e-9)
    with pytest.raises(BudgetError):
        reserve(budget, part, delta=1e-6)


def test_by_the_sum_gaussian_calls_add_their_epsilons_and_deltas():
    budget = Budget(2.0, 1e-6, composition="sum")
    for _ in range(2):
        reserve(budget, GDP.of(0.8, 4e-7), delta=4e-7)
    assert budget.spent == pytest.approx((1.6, 8e-7), rel=1e-6)
    assert budget.remaining == pytest.approx((0.4, 2e-7), rel=1e-5)
    for cost, delta in ((GDP.of(0.4, 3e-7), 3e-7), (PureDP(0.41), 0.0)):
        with pytest.raises(BudgetError):
            reserve(budget, cost, delta=delta)


def test_two_pure_calls_do_not_fit_where_only_one_does():
    """At delta = 10^-6, two calls at epsilon = 1 cost 2 up to one part in a million."""
    budget = Budget(1.9, 1e-6)
    reserve(budget, PureDP(1.0))
    with pytest.raises(BudgetError):
        reserve(budget, PureDP(1.0))
    assert budget.spent == (1.0, 0.0)


def test_pure_calls_add_their_epsilons_until_a_gaussian_one_joins():
    budget = Budget(3.0, 1e-6)
    for _ in range(3):
        reserve(budget, PureDP(1.0))
    assert budget.spent == (3.0, 0.0)
    with pytest.raises(BudgetError, match=r"epsilon=0\.001 does not fit"):
        reserve(budget, GDP.of(1e-3, 1e-9), delta=1e-9)
    mixed = Budget(3.0, 1e-6)
    reserve(mixed, GDP.of(0.1, 1e-6), delta=1e-6)
    with pytest.raises(BudgetError, match=r'counts as mu=1\.23 of 0\.6.*composition="sum"'):
        reserve(mixed, PureDP(1.0))


def test_a_pure_and_a_gaussian_call_share_a_budget():
    costs = [PureDP(0.2), GDP.of(1.0, 1e-6)]
    mu = math.hypot(PureDP(0.2).mu, costs[1].mu)
    size = gdp_epsilon(mu, 1e-6)
    assert composed_epsilon(costs, 1e-6) < size
    for factor, fits in ((1.001, True), (0.999, False)):
        budget = Budget(size * factor, 1e-6)
        reserve(budget, costs[0])
        if fits:
            reserve(budget, costs[1], delta=1e-6)
            assert budget.spent == (pytest.approx(size, rel=1e-6), 1e-6)
            continue
        with pytest.raises(BudgetError):
            reserve(budget, costs[1], delta=1e-6)


def test_the_first_call_decides_what_is_set_aside():
    approximate = Budget(10.0, 1e-6)
    for _ in range(2):
        reserve(approximate, ApproxDP(1.0, 4e-7))
    assert approximate.spent == (2.0, pytest.approx(8e-7))
    for cost, delta in ((ApproxDP(1.0, 4e-7), 0.0), (GDP.of(0.1, 1e-9), 1e-9)):
        with pytest.raises(BudgetError):
            reserve(approximate, cost, delta=delta)
    gaussian = Budget(10.0, 1e-6)
    reserve(gaussian, GDP.of(1.0, 1e-6), delta=1e-6)
    with pytest.raises(BudgetError, match="set_aside=0 of its delta is for methods"):
        reserve(gaussian, ApproxDP(1.0, 1e-9))


def test_what_is_set_aside_is_for_approximate_calls_and_the_rest_for_gaussian_ones():
    budget = Budget(3.0, 1e-6, set_aside=4e-7)
    reserve(budget, ApproxDP(0.1, 4e-7))
    with pytest.raises(BudgetError, match="set_aside=4e-07"):
        reserve(budget, ApproxDP(0.1, 1e-12))
    rest = math.sqrt(GDP.of(3.0, 6e-7).mu ** 2 - PureDP(0.1).mu ** 2)
    with pytest.raises(BudgetError):
        reserve(budget, GDP(rest * (1 + 1e-9)), delta=6e-7)
    assert budget.remaining == (pytest.approx(gdp_epsilon(rest, 6e-7)), pytest.approx(6e-7))
    reserve(budget, GDP(rest * (1 - 1e-9)), delta=6e-7)
    assert budget.spent == (pytest.approx(3.0, rel=1e-6), pytest.approx(1e-6))


@pytest.mark.parametrize("cost", [GDP(4.0), GDP.of(2.0, 1e-6), ApproxDP(1.0, 1e-6), PureDP(9.0)])
@pytest.mark.parametrize("aside", [None, 0.0, 5e-7])
def test_a_single_call_may_have_the_whole_and_then_nothing_is_left(cost, aside):
    budget = Budget(*(cost.guarantee(1e-6)[0], 1e-6), set_aside=aside)
    reserve(budget, cost, delta=1e-6)
    assert budget.spent == cost.guarantee(1e-6)
    for other, delta in ((GDP(1e-2), 1e-9), (PureDP(1e-2), 0.0), (ApproxDP(1e-9, 6e-7), 0.0)):
        with pytest.raises(BudgetError):
            reserve(budget, other, delta=delta)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"composition": "pld"}, "expected composition to be one of"),
        ({"delta": 0, "composition": "gdp"}, "needs delta > 0"),
        ({"set_aside": 2e-6}, r"set_aside in \[0, delta=1e-06\]"),
        ({"set_aside": -1e-9}, r"expected set_aside in \[0, delta=1e-06\], got -1e-09"),
        ({"composition": "sum", "set_aside": 1e-9}, 'is for composition="gdp"'),
    ],
)
def test_rules_that_do_not_exist_are_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        Budget(**({"epsilon": 1.0, "delta": 1e-6} | arguments))


def loss(cost):
    """The privacy-loss distribution of a cost, with losses rounded up to multiples of 1e-4."""
    if isinstance(cost, GDP):
        return privacy_loss_distribution.from_gaussian_mechanism(1 / cost.mu)
    parameters = common.DifferentialPrivacyParameters(*cost.guarantee(0.0))
    return privacy_loss_distribution.from_privacy_parameters(parameters)


COSTS = st.one_of(
    st.floats(0.01, 2).map(PureDP),
    st.floats(0.01, 1).map(GDP),
    st.builds(ApproxDP, st.floats(0.01, 1), st.floats(1e-9, 4e-7)),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    costs=st.lists(COSTS, min_size=1, max_size=12),
    limit=st.floats(0.2, 6),
    rule=st.sampled_from(["gdp", "sum"]),
    aside=st.sampled_from([None, 0.0, 3e-7, 1e-6]),
)
def test_what_the_filter_admits_keeps_the_guarantee(costs, limit, rule, aside):
    """Feed calls one by one; those that fit together meet (limit, 1e-6) by dp_accounting."""
    budget = Budget(limit, 1e-6, rule, aside if rule == "gdp" else None)
    for cost in costs:
        try:
            reserve(budget, cost, delta=1e-7)
        except BudgetError:
            continue
    admitted = [cost for _, _, cost in budget.calls]
    assume(admitted)
    composed = reduce(lambda a, b: a.compose(b), map(loss, admitted))
    slack = 2e-4 * len(admitted)
    assert composed.get_delta_for_epsilon(limit + slack) <= 1e-6 * (1 + 1e-6)
    assert composed.get_epsilon_for_delta(budget.spent[1] + 1e-18) <= budget.spent[0] + slack


@dataclass(frozen=True)
class Joint(Composition):
    """A wrong rule: mu and the deltas of (epsilon, delta) calls may trade off as one goes."""

    def admits(self, total):
        failing = float(total.failing)
        mu = math.sqrt(total.mu_squared)
        return (gdp_delta(mu, self.epsilon) if mu else 0.0) + failing <= self.delta


def largest(admitted, high):
    """The largest x in [0, high] that is admitted, by bisection."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if admitted(middle) else (low, middle)
    return low


def adversary(rule, first):
    """delta(epsilon) of an adversary with two calls, the second chosen by the first's loss.

    The first is Gaussian with mu = ``first``; the second is the largest Gaussian one that is
    admitted, or the largest that tells all with probability delta, whichever gains more. Each
    way is followed by as much of the other as is still admitted.
    """
    start = Total().plus(call(GDP(first), 1e-9))

    def tell(total):
        return largest(lambda d: rule.admits(total.plus(Call(0, d, ApproxDP(0, d)))), 1.0)

    def draw(total):
        return largest(lambda mu: rule.admits(total.plus(Call(0, 0, GDP(mu)))), 5.0)

    mu, delta = draw(start), tell(start)
    mus = [mu, draw(start.plus(Call(0, delta, ApproxDP(0, delta))))]
    deltas = [tell(start.plus(Call(0, 0, GDP(mu)))), delta]

    def gain(loss):
        now = max(0.0, -math.expm1(rule.epsilon - loss))
        return max(
            delta + (1 - delta) * (gdp_delta(mu, rule.epsilon - loss) if mu > 1e-9 else now)
            for mu, delta in zip(mus, deltas, strict=True)
        )

    def weighed(z):  # under P the loss is normal with mean first^2 / 2
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * gain(first**2 / 2 + first * z)

    return sum(quad(weighed, a, a + 1, epsabs=1e-12, limit=200)[0] for a in range(-9, 9))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_choosing_the_second_call_by_the_first_gains_nothing(share):
    """The rule holds for the adversary that breaks a limit on mu and delta together."""
    first = GDP.of(1.0, 0.01).mu * math.sqrt(share)
    for aside in (0.0, 0.003, 0.009):
        rule = Composition(1.0, 0.01, "gdp", aside)
        assert adversary(rule, rule.mu * math.sqrt(share)) <= 0.01 * (1 + 1e-6)
    assert adversary(Joint(1.0, 0.01, "gdp", 0.0), first) > 0.0105


def test_totals_are_exact():
    calls = [call(PureDP(0.1)), call(PureDP(1e-9)), call(PureDP(0.2))]
    total = Total.of(calls)
    assert total == Total.of(calls[::-1]) and total.epsilon > 0.3
    assert Composition(float(total.epsilon), 0.0).admits(total)


def test_a_budget_cannot_be_changed_from_outside():
    budget = Budget(1.0, 1e-6)
    for name in ("epsilon", "delta", "composition", "spent", "remaining", "calls", "neighbors"):
        with pytest.raises(AttributeError):
            setattr(budget, name, 100.0)
    with pytest.raises(AttributeError):
        budget.extra = 1
    assert isinstance(budget.calls, tuple) and repr(budget).startswith("Budget(epsilon=1, delta")


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_budget_cannot_be_copied(duplicate):
    with pytest.raises(BudgetError, match="cannot be copied or pickled"):
        duplicate(Budget(1.0))


@pytest.fixture
def busy():
    """Let threads take turns after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def race(budget, cost, count):
    """How many of ``count`` threads, which start at once, were granted the cost."""
    start, granted = threading.Barrier(count), []

    def work():
        start.wait()
        try:
            reserve(budget, cost)
            granted.append(1)
        except BudgetError:
            pass

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(granted)


def test_sixteen_threads_never_overspend(busy):
    for _ in range(200):
        budget = Budget(1.0)
        assert race(budget, PureDP(0.15), 16) == 6 == len(budget.calls)
        assert budget.spent == (pytest.approx(0.9), 0.0)


class Meeting(PureDP):
    """A cost that two threads look at together if nothing keeps them apart."""

    together = threading.Barrier(2)

    @property
    def mu(self):
        try:
            self.together.wait(0.5)
        except threading.BrokenBarrierError:
            pass
        return super().mu


@pytest.mark.parametrize("lock", [True, False])
def test_two_threads_that_meet_overspend_only_without_the_lock(lock):
    Meeting.together.reset()
    budget = Budget(1.0)
    if not lock:
        budget._lock = nullcontext()
    assert race(budget, Meeting(1.0), 2) == (1 if lock else 2)


FORK = """
import os
import dpstats as dp
from dpstats.privacy import PureDP

budget = dp.Budget(1.0)
budget.reserve(0.4, 0.0, PureDP(0.4), "add_remove")
child = os.fork()
if child:
    os.waitpid(child, 0)
try:
    budget.reserve(0.4, 0.0, PureDP(0.4), "add_remove")
    print("granted")
except dp.BudgetError as error:
    print(error)
print(*budget.spent)
"""


def test_a_forked_process_cannot_charge_the_budget():
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    refused, in_child, granted, in_parent = done.stdout.splitlines()
    assert "is a fork" in refused and in_child == "0.4 0.0"
    assert granted == "granted" and in_parent == "0.8 0.0"


def test_a_call_is_charged_once_and_shown_as_spent(line, fit):
    budget = dp.Budget(5.0, 1e-6)
    fit(line, "noisy_stats", epsilon=1.5, budget=budget)
    assert budget.spent == (1.5, 0.0) and budget.remaining == (3.5, 0.0)
    assert budget.neighbors == "replace_one" and budget.calls[0].cost == PureDP(1.5)


def test_the_exact_reference_agrees_with_the_accountant():
    costs = [PureDP(0.5), GDP(0.3), PureDP(0.2), GDP(0.4)]
    composed = reduce(lambda a, b: a.compose(b), map(loss, costs))
    for epsilon in (0.5, 1.0, 2.0):
        found = composed.get_delta_for_epsilon(epsilon)
        assert found == pytest.approx(composed_delta(costs, epsilon), rel=1e-2)
