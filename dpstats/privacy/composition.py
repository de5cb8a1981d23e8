"""Compose the costs of several calls by one rule, proven for adaptively chosen costs."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import NamedTuple

from dpstats.errors import ArgumentError, BudgetError, shown
from dpstats.privacy.costs import (
    GDP,
    ROUNDING,
    ApproxDP,
    Cost,
    gdp_epsilon,
    validate_guarantee,
)

RULES = ("gdp", "sum")
_SMALLEST = 1074  # each float is a whole number of 2^-1074


class Call(NamedTuple):
    """Hold one charged call: its own (epsilon, delta) and its cost."""

    epsilon: float
    delta: float
    cost: Cost


@dataclass(frozen=True)
class Total:
    """Hold exact sums over calls.

    ``epsilon`` and ``delta`` are of the calls' own guarantees, ``mu_squared`` of all calls as
    Gaussian ones, ``failing`` of the deltas of (epsilon, delta) calls, which no mu covers.
    """

    calls: int = 0
    gaussian: int = 0
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    mu_squared: Fraction = Fraction(0)
    failing: Fraction = Fraction(0)

    def __add__(self, other: "Total") -> "Total":
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Total(*(ours + theirs for ours, theirs in pairs))

    def plus(self, call: Call) -> "Total":
        """Add one call to these sums."""
        return self + Total.of([call])

    def times(self, count: int) -> "Total":
        """Multiply these sums."""
        return Total(*(count * part for part in astuple(self)))

    @classmethod
    def of(cls, calls: Sequence[Call]) -> "Total":
        """Add up these calls."""
        failing = [call.cost.delta for call in calls if isinstance(call.cost, ApproxDP)]
        return cls(
            len(calls),
            sum(isinstance(call.cost, GDP) for call in calls),
            _exact_sum(call.epsilon for call in calls),
            _exact_sum(call.delta for call in calls),
            _exact_sum((call.cost.mu for call in calls), 2),
            _exact_sum(failing),
        )


@dataclass(frozen=True)
class Composition:
    """Enforce a limit (epsilon, delta) on all calls together by a composition rule.

    Guarantee. However the costs are chosen, each of them after the earlier releases have been
    seen, all releases together are (epsilon, delta)-DP as long as :meth:`admits` holds of
    their total. Fix two neighbours, P and Q the distributions of all releases under them.

    ``"sum"``: the epsilons add up to at most epsilon and the deltas to at most delta (Rogers,
    Roth, Ullman and Vadhan 2016, Theorem 3.6).

    ``"gdp"``: let a = ``set_aside`` and M the largest mu that is (epsilon, delta - a)-DP
    (:meth:`GDP.of`). The deltas of (epsilon, delta) calls add up to at most a, and either
    (i) the squared mu's add up to at most M^2, where an epsilon-DP call counts with
    :attr:`PureDP.mu` and an (epsilon, delta) call with the mu of its epsilon; or
    (ii) no call is Gaussian and the epsilons add up to at most epsilon. A single call may also
    have the whole (epsilon, delta); its cost depends on no release, and unless (i) or (ii) holds
    too, no other is admitted after it.

    1. Squared mu's (Smith and Thakurta 2022). What is mu-GDP is made by post-processing of one
    draw from N(mu h, 1), with h = 0 under Q and h = 1 under P (Blackwell; Dong, Roth and Su
    2022, Theorem 2.10). Let W(t) be a Brownian motion with drift h, and let the k-th call
    use (W(t + m) - W(t)) / sqrt(m) for its draw, where m = mu_k^2 and t is the sum of the
    squared mu's before it. The increment is independent of the past and N(m h, m), and m depends
    on earlier releases only, so the releases are a function of W on [0, M^2] and of
    independent coins. The likelihood ratio of that path is exp(W(M^2) - M^2 / 2): all
    releases together are M-GDP.
    2. Histories that end under (ii) and not under (i) have P <= e^epsilon Q, since there the
    ratio is a product of factors of at most e^epsilon_k. For any event S, split by the rule
    that holds at its end, P(S) <= e^epsilon Q(S) + (delta - a) + 0: two rules that are
    alternatives cost the sum of their deltas, and that of (ii) is 0.
    3. Deltas. An (epsilon_k, delta_k) call is made by post-processing of a mechanism that
    tells P from Q outright with probability delta_k and is epsilon_k-DP otherwise (Kairouz, Oh
    and Viswanath 2015, Theorem 3.4). The former happens with probability at most the largest
    sum of the deltas along any history, a. Given the releases it has not happened with equal
    probability w under P and Q, and steps 1 and 2 hold for weights w in [0, 1] as for events.
    Together P(S) <= e^epsilon Q(S) + (delta - a) + a.

    ``set_aside`` must not depend on a release. A limit on both that lets calls choose between
    mu and delta as they go would prove less: after a small loss the adversary would take
    the deltas, after a large one the mu's.

    Parameters
    ----------
    epsilon, delta : float
        epsilon > 0, 0 <= delta < 0.5.
    rule : str
        ``"gdp"`` (needs delta > 0) or ``"sum"``.
    set_aside : float
        Part of delta for calls that are (epsilon, delta)-DP and not Gaussian; only with "gdp".

    Examples
    --------
    >>> rule = Composition(2.0, 1e-6, "gdp")
    >>> part = GDP.of(2.0, 1e-6).part(0.25)
    >>> calls = [Call(*part.guarantee(1e-6), part)] * 4
    >>> rule.admits(Total.of(calls)), rule.admits(Total.of([*calls, calls[0]]))
    (True, False)
    """

    epsilon: float
    delta: float = 0.0
    rule: str = "sum"
    set_aside: float = 0.0

    def admits(self, total: Total) -> bool:
        """Tell whether calls with these sums stay within the limit."""
        added = total.epsilon <= Fraction(self.epsilon * ROUNDING)
        added_delta = total.delta <= Fraction(self.delta * ROUNDING)
        if self.rule == "sum" or (total.calls == 1 and added and added_delta):
            return added and added_delta
        if total.failing > Fraction(self.set_aside * ROUNDING):
            return False
        within = total.mu_squared <= Fraction(self.mu**2 * ROUNDING)
        return within or (added and not total.gaussian)

    @cached_property
    def mu(self) -> float:
        """Return the mu that all calls together may have; 0 where there is none."""
        delta = self.delta - self.set_aside
        return GDP.of(self.epsilon, delta).mu if self.rule == "gdp" and delta > 0 else 0.0

    def spent(self, total: Total) -> tuple[float, float]:
        """Return the least (epsilon, delta) that the rule's parts prove for calls with these sums.

        epsilon is stated at the deltas that the calls themselves have where they add up, else
        at the limit's delta.
        """
        shown = []
        if self.rule == "sum" or not total.gaussian or total.calls == 1:
            shown.append((float(total.epsilon), float(total.delta)))
        if self.mu and total.calls > 1:
            delta = self.delta - self.set_aside
            shown.append(
                (gdp_epsilon(math.sqrt(total.mu_squared), delta), delta + float(total.failing))
            )
        return min(shown)

    def remaining(self, total: Total) -> tuple[float, float]:
        """Return (epsilon, delta) of the largest single call that still fits."""
        left = [(0.0, 0.0)]
        if self.rule == "sum" or not total.gaussian:
            whole, used = (
                (self.delta, total.delta) if self.rule == "sum" else (self.set_aside, total.failing)
            )
            left.append((_difference(self.epsilon, total.epsilon), _difference(whole, used)))
        if self.mu:
            delta = self.delta - self.set_aside
            mu = math.sqrt(_difference(Fraction(self.mu) ** 2, total.mu_squared))
            left.append((gdp_epsilon(mu, delta) if mu else 0.0, delta))
        epsilon, delta = max(left)
        return epsilon, delta if epsilon else 0.0

    def calls_left(self, total: Total, call: Call) -> int:
        """Return how many more calls equal to this one fit after one or more with these sums.

        >>> half = Call(0.5, 1e-6, ApproxDP(0.5, 1e-6))
        >>> Composition(2.0, 1e-5).calls_left(Total.of([half]), half)
        3
        """
        one, low, high = Total.of([call]), 0, 1
        while self.admits(total + one.times(high)):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            fits = self.admits(total + one.times(middle))
            low, high = (middle, high) if fits else (low, middle)
        return low


def _exact_sum(numbers: Iterable[float], power: int = 1) -> Fraction:
    """Add up powers of floats exactly, over the denominator that all floats divide.

    >>> _exact_sum([0.1] * 3) == 3 * Fraction(0.1), _exact_sum([0.1, 1.5], 2).denominator == 2**110
    (True, True)
    """
    total = 0
    for number in numbers:
        above, below = float(number).as_integer_ratio()
        total += above**power << power * (_SMALLEST - below.bit_length() + 1)
    return Fraction(total, 1 << power * _SMALLEST)


def make_composition(epsilon, delta, rule, set_aside, first: Call | None = None) -> Composition:
    """Check the arguments of a budget, or raise ArgumentError.

    ``set_aside=None`` is decided by the first call, which no release has influenced: all of
    delta if it is an (epsilon, delta) call, else nothing.
    """
    epsilon, delta = validate_guarantee(epsilon, delta)
    rule = ("gdp" if delta else "sum") if rule is None else rule
    if rule not in RULES:
        raise ArgumentError(f"expected composition to be one of {RULES}, got {shown(rule)}")
    if rule == "gdp" and delta == 0:
        raise ArgumentError('composition="gdp" needs delta > 0; give a delta, or write "sum"')
    if set_aside is None:
        failing = first is not None and isinstance(first.cost, ApproxDP)
        return Composition(epsilon, delta, rule, delta if failing and rule == "gdp" else 0.0)
    if rule == "sum":
        raise ArgumentError('set_aside is for composition="gdp"; leave it out')
    aside = float(set_aside) if isinstance(set_aside, Real) else math.nan
    if not 0 <= aside <= delta:
        raise ArgumentError(f"expected set_aside in [0, delta={delta:g}], got {shown(set_aside)}")
    return Composition(epsilon, delta, rule, aside)


def check_fits(rule: Composition, total: Total, call: Call, owner: str = "the budget") -> Total:
    """Add one call to the sums, or raise BudgetError where the rule does not admit them."""
    after = total.plus(call)
    if not rule.admits(after):
        epsilon, delta = rule.spent(total)
        raise BudgetError(
            f"epsilon={call.epsilon:g} does not fit: {owner} is epsilon={rule.epsilon:g}, "
            f"delta={rule.delta:g} and epsilon={epsilon:g}, delta={delta:g} is spent; "
            + _advice(rule, total, after, call)
        )
    return after


def _advice(rule: Composition, total: Total, after: Total, call: Call) -> str:
    """Say what a caller whose call does not fit may do."""
    if rule.rule == "sum" and after.delta > Fraction(rule.delta * ROUNDING):
        needed = f"{float(after.delta):g}"
        return (
            f"the deltas of its calls would add up to {needed}: make it with delta={needed} or "
            "more, or take a method that needs none"
        )
    if rule.rule == "gdp" and after.failing > rule.set_aside:
        return (
            f"set_aside={rule.set_aside:g} of its delta is for methods that are not Gaussian; ask "
            "for less, or make the budget with another set_aside="
        )
    if rule.rule == "gdp" and after.gaussian and not isinstance(call.cost, GDP):
        return (
            f"ask for less: beside Gaussian calls this one counts as mu={call.cost.mu:.3g} of "
            f'{rule.mu:.3g}, while a budget with composition="sum" adds epsilons'
        )
    if rule.rule == "gdp" and call.delta > rule.delta:
        return (
            f"an epsilon at delta={call.delta:g} takes more than one at the budget's delta; leave "
            "delta out, or ask for less"
        )
    left, delta = rule.remaining(total)
    if total.gaussian and isinstance(call.cost, GDP) and call.epsilon <= left:
        return f"give delta={delta:g}, at which it fits, or ask for less"
    return "ask for less"


def _difference(whole, used: Fraction) -> float:
    """Subtract what is used from the whole, 0 where more is used."""
    return max(float(Fraction(whole) - used), 0.0)
