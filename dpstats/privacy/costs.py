"""Define the costs of releases, how they add up, and the guarantee that a cost gives."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpstats.option_checks import number, positive

DEFAULT_DELTA = 1e-6
# Below this no table on earth has enough rows, and noise scales leave the range of doubles.
LEAST_EPSILON, LARGEST_EPSILON = 1e-9, 1e9
# A smaller delta that is not 0 has parts with few digits, or none.
LEAST_DELTA = 1e-300
# Below this mu the two terms of delta(epsilon) cancel too many digits to be subtracted.
_SMALL_MU = 1e-4
# Sums of shares such as 1/3 + 1/3 + 1/3 may exceed the whole by rounding alone.
ROUNDING = 1 + 1e-12


@dataclass(frozen=True)
class PureDP:
    """Represent a cost of epsilon under pure differential privacy; costs add up."""

    epsilon: float

    @property
    def loss_range(self) -> float:
        """Return the allowed length of the interval that holds all privacy losses; see GDP's.

        The loss log P(o) / P'(o) of a pair of neighbours has values of either sign, so in
        an interval of length epsilon it is at most epsilon in magnitude.
        """
        return self.epsilon

    @property
    def mu(self) -> float:
        """Return the least mu such that epsilon-DP implies mu-GDP: 2 probit(logistic(epsilon)).

        All that is known of an epsilon-DP mechanism is that its losses lie in
        [-epsilon, epsilon], an interval of length 2 epsilon, so :attr:`GDP.loss_range` applies
        with r = 2 epsilon. In other words, the trade-off function of epsilon-DP,
        f(a) = max(0, 1 - e^epsilon a, e^-epsilon (1 - a)) (Wasserman and Zhou 2010), has its
        corner at a = f(a) = 1 / (1 + e^epsilon), where that of mu-GDP,
        Phi(Phi^-1(1 - a) - mu), takes the same value; the latter is convex with the same
        ends, so it lies below the two lines. It is tight: randomised response, which tells the
        truth with probability logistic(epsilon), has the trade-off function f.

        >>> round(PureDP(1.0).mu, 6)
        1.232035
        """
        from scipy.special import erfinv, log_expit, ndtri_exp

        if self.epsilon < 1:  # 2 logistic(epsilon) - 1 = tanh(epsilon / 2), without cancellation
            return math.sqrt(8) * float(erfinv(math.tanh(self.epsilon / 2)))
        return -2 * float(ndtri_exp(log_expit(-self.epsilon)))

    def part(self, share: float) -> "PureDP":
        """Return the given share of this cost."""
        return PureDP(self.epsilon * share)

    def after(self, share: float) -> "PureDP":
        """Return the cost left when draws that need no delta have taken the given share."""
        return self.part(1 - share)

    def covers(self, costs: Sequence["Cost"]) -> bool:
        """Tell whether the costs together stay within this one."""
        pure = [cost for cost in costs if isinstance(cost, PureDP)]
        total = math.fsum(cost.epsilon for cost in pure)
        return len(pure) == len(costs) and total <= self.epsilon * ROUNDING

    def share(self, cost: "Cost") -> float:
        """Return the share of this cost that another one takes, in [0, 1]."""
        assert isinstance(cost, PureDP), "covers() has refused others"
        return cost.epsilon / self.epsilon

    def guarantee(self, delta: float) -> tuple[float, float]:
        """Return (epsilon, delta) of this cost."""
        return self.epsilon, 0.0


@dataclass(frozen=True)
class GDP:
    """Represent a cost of mu under Gaussian differential privacy; squares add up.

    A mechanism is mu-GDP when telling two neighbours apart is at least as hard as
    telling N(0, 1) from N(mu, 1) (Dong, Roth and Su 2022, Definition 2.3 and
    Corollary 3.3). Noise of standard deviation (L2 sensitivity) / mu achieves it.
    """

    mu: float

    @classmethod
    @lru_cache(maxsize=1024)  # many calls have one guarantee, and each halves fifty times
    def of(cls, epsilon: float, delta: float) -> "GDP":
        """Return the largest mu that is (epsilon, delta)-DP."""
        high = low = math.sqrt(2 * epsilon) + 10
        while gdp_delta(low, epsilon) > delta:
            high, low = low, low / math.e
        mu, _ = _ends(lambda mu: gdp_delta(mu, epsilon) <= delta, low, high)
        # The relative margin exceeds the error of gdp_delta.
        return cls(mu * (1 - 1e-8))

    @property
    def loss_range(self) -> float:
        """Return the largest r for which every mechanism of range r is mu-GDP.

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
        """Return the given share of this cost, counted in mu squared."""
        return GDP(self.mu * math.sqrt(share))

    def after(self, share: float) -> "GDP":
        """Return the cost left when draws that need no delta have taken the given share."""
        return self.part(1 - share)

    def covers(self, costs: Sequence["Cost"]) -> bool:
        """Tell whether the costs together stay within this one."""
        gaussian = [cost for cost in costs if isinstance(cost, GDP)]
        total = math.fsum(cost.mu**2 for cost in gaussian)
        return len(gaussian) == len(costs) and total <= self.mu**2 * ROUNDING

    def share(self, cost: "Cost") -> float:
        """Return the share of this cost, in mu squared, that another one takes, in [0, 1]."""
        assert isinstance(cost, GDP), "covers() has refused others"
        return (cost.mu / self.mu) ** 2

    def guarantee(self, delta: float) -> tuple[float, float]:
        """Return (epsilon, delta) of this cost at the given delta."""
        return gdp_epsilon(self.mu, delta), delta


@dataclass(frozen=True)
class ApproxDP:
    """Represent a cost of (epsilon, delta); both add up."""

    epsilon: float
    delta: float

    @property
    def loss_range(self) -> float:
        """Return the range of the privacy losses, which is the same as without delta."""
        return self.epsilon

    @property
    def mu(self) -> float:
        """Return the mu of epsilon alone, which holds but for the failures that delta bounds."""
        return PureDP(self.epsilon).mu

    def part(self, share: float) -> "ApproxDP":
        """Return the given share of this cost."""
        return ApproxDP(self.epsilon * share, self.delta * share)

    def after(self, share: float) -> "ApproxDP":
        """Return the cost left, with all of delta, when draws that need no delta took the share."""
        return ApproxDP(self.epsilon * (1 - share), self.delta)

    def covers(self, costs: Sequence["Cost"]) -> bool:
        """Tell whether the costs together stay within this one."""
        if any(isinstance(cost, GDP) for cost in costs):
            return False
        epsilon, delta = added(costs)
        return epsilon <= self.epsilon * ROUNDING and delta <= self.delta * ROUNDING

    def share(self, cost: "Cost") -> float:
        """Return the share of epsilon that another cost takes, in [0, 1]."""
        assert not isinstance(cost, GDP), "covers() has refused it"
        return cost.epsilon / self.epsilon

    def guarantee(self, delta: float) -> tuple[float, float]:
        """Return (epsilon, delta) of this cost."""
        return self.epsilon, self.delta


Cost = PureDP | GDP | ApproxDP


def added(costs: Sequence[Cost]) -> tuple[float, float]:
    """Add up epsilons and deltas by basic composition; none of the costs is Gaussian."""
    stated = [cost.guarantee(0.0) for cost in costs if not isinstance(cost, GDP)]
    assert len(stated) == len(costs), "a Gaussian cost has no epsilon of its own"
    return math.fsum(epsilon for epsilon, _ in stated), math.fsum(delta for _, delta in stated)


def gdp_delta(mu: float, epsilon: float) -> float:
    """Return delta(epsilon) of mu-GDP (Dong, Roth and Su 2022, Corollary 2.13).

    >>> round(gdp_delta(1.0, 1.0), 6)
    0.126937
    """
    from scipy.special import log_ndtr, ndtr

    if mu < _SMALL_MU and epsilon >= 0:
        return _small_gdp_delta(mu, epsilon)
    near = ndtr(mu / 2 - epsilon / mu)
    far = math.exp(min(epsilon + log_ndtr(-mu / 2 - epsilon / mu), 0.0))
    return max(float(near - far), 5e-324)


def _small_gdp_delta(mu: float, epsilon: float) -> float:
    """Return :func:`gdp_delta` of a small mu, whose two terms are equal to many digits.

    With a = mu / 2 - epsilon / mu and b = a - mu, phi(a) = e^epsilon phi(b), so that delta is
    phi(a) times the difference of Phi / phi at a and at b. That is the integral over [b, a] of its
    slope 1 + x Phi(x) / phi(x), which is positive and, over so short an interval, as good as
    quadratic: Simpson's rule leaves a relative error of the order of (mu x)^4.
    """
    from scipy.special import erfcx

    x = np.maximum(-epsilon / mu + mu / 2 * np.array([-1.0, 0.0, 1.0]), -1e3)  # phi(-1e3) is 0
    slope = 1 + math.sqrt(math.pi / 2) * x * erfcx(-x / math.sqrt(2))
    phi = math.exp(-(x[2] ** 2) / 2) / math.sqrt(2 * math.pi)
    return max(float(phi * mu * (slope @ [1, 4, 1]) / 6), 5e-324)


@lru_cache(maxsize=1024)
def gdp_epsilon(mu: float, delta: float) -> float:
    """Return epsilon(delta) of mu-GDP: the inverse of :func:`gdp_delta` in epsilon."""
    if gdp_delta(mu, 0.0) <= delta:
        return 0.0
    high = 1.0
    while gdp_delta(mu, high) > delta:
        high *= 2
    return _ends(lambda epsilon: gdp_delta(mu, epsilon) > delta, 0.0, high)[1]


def _ends(holds: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Halve [low, high], where a condition holds at the lower end, down to neighbouring doubles.

    It holds at the first of them and not at the second. scipy.optimize has faster ways, but takes a
    tenth of a first fit to load.
    """
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def _delta(value) -> float:
    """Return delta as a float, or raise ArgumentError."""
    delta = number("delta", 0, 0.5, "[)")(value)
    return delta if delta == 0 else number("delta > 0", LEAST_DELTA, 0.5, "[)")(delta)


def validate_guarantee(epsilon, delta) -> tuple[float, float]:
    """Return epsilon and delta as floats, or raise ArgumentError."""
    epsilon = number("epsilon", LEAST_EPSILON, LARGEST_EPSILON)(positive("epsilon")(epsilon))
    return epsilon, _delta(delta)


def checked_delta(delta) -> float | None:
    """Return delta as a float, None where it is left out, or raise ArgumentError."""
    return None if delta is None else _delta(delta)
