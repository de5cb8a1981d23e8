"""A budget for several calls, and how their costs compose."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

from dpstats.errors import BudgetError
from dpstats.privacy.costs import GDP, ROUNDING, Cost, gdp_epsilon, validate_guarantee


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
        if total_epsilon > self.epsilon * ROUNDING or total_delta > self.delta * ROUNDING:
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
        totals = [added] if added[1] <= self.delta * ROUNDING else []
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
