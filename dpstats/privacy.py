"""Neighbours, costs, recorded events and their composition.

Two tables are *neighbours* when they differ in one person's row:

- ``"add_remove"``: one row more or less, so the number of rows n is private;
- ``"replace_one"``: one row exchanged for another, so n is public.

A release is (epsilon, delta)-differentially private when, for all neighbours and
every set of outputs, the probability changes by at most a factor e^epsilon, up to
delta (Dwork et al. 2006).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from numbers import Real

from dpstats.errors import ArgumentError, BudgetError

ADD_REMOVE = "add_remove"
REPLACE_ONE = "replace_one"
RELATIONS = (ADD_REMOVE, REPLACE_ONE)
DEFAULT_DELTA = 1e-6
# Below this no table on earth has enough rows, and noise scales leave the range of doubles.
LEAST_EPSILON, LARGEST_EPSILON = 1e-9, 1e9
# Sums of shares such as 1/3 + 1/3 + 1/3 may exceed the whole by rounding alone.
_ROUNDING = 1 + 1e-12


@dataclass(frozen=True)
class PureDP:
    """A cost of epsilon under pure differential privacy; costs add up."""

    epsilon: float

    @property
    def loss_range(self) -> float:
        """How long the interval may be that holds all privacy losses: see GDP's.

        The loss log P(o) / P'(o) of a pair of neighbours has values of either sign, so in
        an interval of length epsilon it is at most epsilon in magnitude.
        """
        return self.epsilon

    def part(self, share: float) -> "PureDP":
        """The given share of this cost."""
        return PureDP(self.epsilon * share)

    def after(self, share: float) -> "PureDP":
        """What is left when draws that need no delta have taken the given share."""
        return self.part(1 - share)

    def covers(self, costs: Sequence["PureDP | GDP"]) -> bool:
        """Whether the costs together stay within this one."""
        if not all(isinstance(cost, PureDP) for cost in costs):
            return False
        return math.fsum(cost.epsilon for cost in costs) <= self.epsilon * _ROUNDING

    def share(self, cost: "PureDP | GDP") -> float:
        """The share of this cost that another one takes, in [0, 1]."""
        return cost.epsilon / self.epsilon

    def guarantee(self, delta: float) -> tuple[float, float]:
        """(epsilon, delta) of this cost."""
        return self.epsilon, 0.0


@dataclass(frozen=True)
class GDP:
    """A cost of mu under Gaussian differential privacy; squares add up.

    A mechanism is mu-GDP when telling two neighbours apart is at least as hard as
    telling N(0, 1) from N(mu, 1) (Dong, Roth and Su 2022, Definition 2.3 and
    Corollary 3.3). Noise of standard deviation (L2 sensitivity) / mu achieves it.
    """

    mu: float

    @classmethod
    def of(cls, epsilon: float, delta: float) -> "GDP":
        """The largest mu that is (epsilon, delta)-DP."""
        from scipy.optimize import brentq  # imported where used: it is slow to import

        def excess(log_mu):
            return math.log(gdp_delta(math.exp(log_mu), epsilon)) - math.log(delta)

        high = math.log(math.sqrt(2 * epsilon) + 10)
        low = high
        while gdp_delta(math.exp(low), epsilon) > delta:
            low -= 1.0
        # The relative margin exceeds the error of gdp_delta and of the root.
        return cls(math.exp(brentq(excess, low, high, xtol=1e-12)) * (1 - 1e-8))

    @property
    def loss_range(self) -> float:
        """The largest r for which every mechanism of range r is mu-GDP.

        A mechanism has range r when, for each pair of neighbours, log P(o) / P'(o) lies in
        an interval of length r over all outputs o (Durfee and Rogers 2019). Its ROC curve
        then has slopes between e^(t - r) and e^t for some t, so it lies below two lines
        through (0, 0) and (1, 1) that meet at a point (q, p) with logit p = logit q + r.
        The ROC of mu-GDP is concave with the same ends, so it covers those lines as soon as
        probit p <= probit q + mu. Now h(l) = probit(logistic(l)) is odd, and concave for
        l >= 0, as the logistic distribution has heavier tails than the normal one (van
        Zwet 1964), so h(l + r) - h(l) is largest at l = -r / 2:
        mu = 2 probit(logistic(r / 2)), that is r = 2 logit(Phi(mu / 2)). It is tight:
        randomised response with losses +-r / 2 reaches it. What is mu-GDP can be made of the
        two normal variables by post-processing (Blackwell's theorem; Dong et al. 2022,
        Theorem 2.10), so it is (mu^2 / 2)-zCDP as well.
        """
        from scipy.special import erf, log_ndtr, ndtr

        if self.mu > 1:
            return 2 * float(log_ndtr(self.mu / 2) - log_ndtr(-self.mu / 2))
        return 2 * math.log1p(erf(self.mu / math.sqrt(8)) / ndtr(-self.mu / 2))

    def part(self, share: float) -> "GDP":
        """The given share of this cost, counted in mu squared."""
        return GDP(self.mu * math.sqrt(share))

    def after(self, share: float) -> "GDP":
        """What is left when draws that need no delta have taken the given share."""
        return self.part(1 - share)

    def covers(self, costs: Sequence["PureDP | GDP"]) -> bool:
        """Whether the costs together stay within this one."""
        if not all(isinstance(cost, GDP) for cost in costs):
            return False
        return math.fsum(cost.mu**2 for cost in costs) <= self.mu**2 * _ROUNDING

    def share(self, cost: "PureDP | GDP") -> float:
        """The share of this cost, in mu squared, that another one takes, in [0, 1]."""
        return (cost.mu / self.mu) ** 2

    def guarantee(self, delta: float) -> tuple[float, float]:
        """(epsilon, delta) of this cost at the given delta."""
        return gdp_epsilon(self.mu, delta), delta


@dataclass(frozen=True)
class ApproxDP:
    """A cost of (epsilon, delta); both add up."""

    epsilon: float
    delta: float

    @property
    def loss_range(self) -> float:
        """As without delta."""
        return self.epsilon

    def part(self, share: float) -> "ApproxDP":
        """The given share of this cost."""
        return ApproxDP(self.epsilon * share, self.delta * share)

    def after(self, share: float) -> "ApproxDP":
        """What is left when draws that need no delta have taken the given share: all of delta."""
        return ApproxDP(self.epsilon * (1 - share), self.delta)

    def covers(self, costs: Sequence["Cost"]) -> bool:
        """Whether the costs together stay within this one."""
        if not all(isinstance(cost, (PureDP, ApproxDP)) for cost in costs):
            return False
        epsilon, delta = _added(costs)
        return epsilon <= self.epsilon * _ROUNDING and delta <= self.delta * _ROUNDING

    def share(self, cost: "Cost") -> float:
        """The share of epsilon that another cost takes, in [0, 1]."""
        return cost.epsilon / self.epsilon

    def guarantee(self, delta: float) -> tuple[float, float]:
        """(epsilon, delta) of this cost."""
        return self.epsilon, self.delta


Cost = PureDP | GDP | ApproxDP


def _added(costs: Sequence[PureDP | ApproxDP]) -> tuple[float, float]:
    """Basic composition: the sums of the epsilons and of the deltas."""
    deltas = (cost.delta for cost in costs if isinstance(cost, ApproxDP))
    return math.fsum(cost.epsilon for cost in costs), math.fsum(deltas)


def gdp_delta(mu: float, epsilon: float) -> float:
    """delta(epsilon) of mu-GDP (Dong, Roth and Su 2022, Corollary 2.13).

    >>> round(gdp_delta(1.0, 1.0), 6)
    0.126937
    """
    from scipy.special import log_ndtr, ndtr

    near = ndtr(mu / 2 - epsilon / mu)
    far = math.exp(min(epsilon + log_ndtr(-mu / 2 - epsilon / mu), 0.0))
    return max(float(near - far), 5e-324)


def gdp_epsilon(mu: float, delta: float) -> float:
    """epsilon(delta) of mu-GDP: the inverse of :func:`gdp_delta` in epsilon."""
    if gdp_delta(mu, 0.0) <= delta:
        return 0.0
    high = 1.0
    while gdp_delta(mu, high) > delta:
        high *= 2
    from scipy.optimize import brentq

    return float(brentq(lambda epsilon: gdp_delta(mu, epsilon) - delta, 0.0, high, rtol=1e-12))


def validate_guarantee(epsilon, delta) -> tuple[float, float]:
    """Return epsilon and delta as floats, or raise ArgumentError."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real):
        raise ArgumentError(f"expected epsilon to be a number > 0, got {epsilon!r}")
    if not 0 < epsilon < math.inf:
        raise ArgumentError(f"expected a finite epsilon > 0, got {epsilon}")
    if not LEAST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise ArgumentError(
            f"expected {LEAST_EPSILON:g} <= epsilon <= {LARGEST_EPSILON:g}, got {epsilon}"
        )
    if isinstance(delta, bool) or not isinstance(delta, Real) or not 0 <= delta < 0.5:
        raise ArgumentError(f"expected delta in [0, 0.5), got {delta!r}")
    return float(epsilon), float(delta)


@dataclass(frozen=True)
class Event:
    """One draw of noise: what was released, how sensitive it is, how much noise it got.

    ``sensitivity`` and ``scale`` are in the units of the released quantity after
    scaling to the unit box; ``scale`` is the Laplace scale, the Gaussian standard
    deviation, or (a choice by scores) 2 sensitivity / epsilon, where under GDP epsilon is
    the cost's ``loss_range``. For Student-t noise on a smooth sensitivity, which is
    private, they are the largest there can be. A sample from a posterior exp(-F / scale)
    states how far one row moves F: its largest residual, or the range of its loss; a
    perturbed minimiser the norm of its gradient.
    """

    step: str
    mechanism: str
    sensitivity: float
    scale: float
    cost: Cost

    @property
    def deviation(self) -> float:
        """Standard deviation of Gaussian or Laplace noise."""
        return self.scale * (math.sqrt(2) if self.mechanism == "laplace" else 1.0)


@dataclass(frozen=True)
class PrivacyReport:
    """What a release guarantees, what each step spent and what is assumed.

    ``epsilon`` and ``delta`` are the guarantee of the whole release under
    ``neighbors``; ``events`` are the recorded draws; ``private`` is False when the
    noise came from a seeded generator, in which case nothing is guaranteed.
    """

    neighbors: str
    epsilon: float
    delta: float
    limit: Cost
    events: tuple[Event, ...]
    assumptions: tuple[str, ...]
    private: bool = True

    @property
    def spent(self) -> tuple[float, float]:
        """(epsilon, delta) composed from the recorded events.

        Less than the guarantee when a released failure ended the fit early.
        """
        costs = [event.cost for event in self.events]
        if not isinstance(self.limit, GDP):
            return _added(costs)
        mu = math.sqrt(math.fsum(cost.mu**2 for cost in costs))
        return (gdp_epsilon(mu, self.delta), self.delta) if mu else (0.0, 0.0)

    def shares(self) -> list[tuple[Event, float]]:
        """Each event with the share of the budget it took."""
        return [(event, self.limit.share(event.cost)) for event in self.events]


@dataclass
class Budget:
    """A privacy budget shared by several calls.

    Each call reserves its cost before it reads any data; a call that does not fit
    raises :class:`~dpstats.errors.BudgetError` and costs nothing. Costs compose by
    adding epsilons and deltas, by adding squared mu's when every call is Gaussian, or
    (when those do not fit) by the privacy-loss distributions of ``dp_accounting``.
    The last is proven for costs that do not depend on the results of earlier calls.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee all calls together must meet; epsilon > 0, 0 <= delta < 0.5.

    Examples
    --------
    >>> import dpstats as dp
    >>> df = dp.simulate.line(500, seed=1)
    >>> budget = dp.Budget(epsilon=2)
    >>> fit = dict(method="noisy_stats", bounds={"x": (0, 1), "y": (0, 1)}, budget=budget)
    >>> first = dp.dp_ols("y ~ x", df, epsilon=1.5, **fit)
    >>> budget.spent
    (1.5, 0.0)
    >>> dp.dp_ols("y ~ x", df, epsilon=1, **fit)
    Traceback (most recent call last):
    dpstats.errors.BudgetError: epsilon=1 does not fit: the budget is epsilon=2, delta=0 ...
    """

    epsilon: float
    delta: float = 0.0
    neighbors: str | None = field(default=None, init=False)
    calls: list[tuple[float, float, Cost]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self):
        self.epsilon, self.delta = validate_guarantee(self.epsilon, self.delta)

    @property
    def spent(self) -> tuple[float, float]:
        """(epsilon, delta) of all calls so far."""
        return self._total(self.calls)

    def reserve(self, epsilon: float, delta: float, cost: Cost, neighbors: str) -> None:
        """Charge one call, or raise BudgetError and leave the budget as it was."""
        if self.neighbors not in (None, neighbors):
            raise BudgetError(
                f"this budget already holds releases under neighbors={self.neighbors!r}; "
                f"a release under {neighbors!r} needs a budget of its own"
            )
        calls = [*self.calls, (epsilon, delta, cost)]
        total_epsilon, total_delta = self._total(calls)
        if total_epsilon > self.epsilon * _ROUNDING or total_delta > self.delta * _ROUNDING:
            spent_epsilon, spent_delta = self.spent
            raise BudgetError(
                f"epsilon={epsilon:g} does not fit: the budget is epsilon={self.epsilon:g}, "
                f"delta={self.delta:g} and epsilon={spent_epsilon:g}, delta={spent_delta:g} "
                "is spent; ask for less"
            )
        self.calls, self.neighbors = calls, neighbors

    def _total(self, calls) -> tuple[float, float]:
        """The least (epsilon, delta) known for these calls at this budget's delta."""
        added = math.fsum(e for e, _, _ in calls), math.fsum(d for _, d, _ in calls)
        if len(calls) < 2 or self.delta == 0:
            return added
        costs = [cost for _, _, cost in calls]
        totals = [added] if added[1] <= self.delta * _ROUNDING else []
        if all(isinstance(cost, GDP) for cost in costs):
            mu = math.sqrt(math.fsum(cost.mu**2 for cost in costs))
            totals.append((gdp_epsilon(mu, self.delta), self.delta))
        if not totals or min(totals)[0] > self.epsilon:
            totals.append((_pld_epsilon(costs, self.delta), self.delta))
        return min(totals)


def _pld_epsilon(costs: Sequence[Cost], delta: float) -> float:
    """epsilon at delta of the composed costs, by privacy-loss distributions.

    A mu-GDP mechanism is dominated by the Gaussian mechanism, an (epsilon, delta)-DP one
    by the pair that attains both (Kairouz, Oh and Viswanath 2015). The loss
    distributions are built here rather than by dp_accounting's events: its accountant
    charges randomised response less than its epsilon under the only relation that also
    takes Gaussian events as already divided by their sensitivity.
    """
    if max((cost.epsilon for cost in costs if not isinstance(cost, GDP)), default=0) > 100:
        return math.inf  # beyond what the distributions resolve; adding up serves there
    losses = [_loss(cost) for cost in costs]
    return float(reduce(lambda a, b: a.compose(b), losses).get_epsilon_for_delta(delta))


def _loss(cost: Cost):
    """The privacy-loss distribution of one cost, discretised pessimistically."""
    from dp_accounting.pld import common, privacy_loss_distribution

    if isinstance(cost, GDP):
        return privacy_loss_distribution.from_gaussian_mechanism(1 / cost.mu)
    epsilon, delta = cost.guarantee(0.0)
    parameters = common.DifferentialPrivacyParameters(epsilon, delta)
    return privacy_loss_distribution.from_privacy_parameters(parameters)
