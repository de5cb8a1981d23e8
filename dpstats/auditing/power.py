"""Work out what an audit with so many trials can show."""

import math
from bisect import bisect_left

from dpstats.auditing.events import lower_bound
from dpstats.privacy import GDP, gdp_epsilon


def largest_bound(trials: int, alpha: float, delta: float, gaussian: bool) -> float:
    """Return the largest epsilon that ``trials`` counted releases a side can show.

    It is that of an event in all releases from one input and in none from the other.

    >>> round(largest_bound(500, 1e-6, 0.0, False), 2)
    3.53
    """
    bound = max(float(lower_bound(trials, 0, trials, alpha, delta, gaussian)), 0.0)
    return gdp_epsilon(bound, delta) if gaussian and bound > 0 else bound


def trials_to_refute(epsilon: float, delta: float, alpha: float, gaussian: bool) -> float:
    """Return how many counted releases a side refute the claim of a mechanism that spends twice it.

    Counts are the expected ones, of the mechanism whose outputs tell the inputs apart as well as
    twice the claim allows: randomised response for epsilon (Kairouz, Oh and Viswanath 2015), and
    for a Gaussian claim a shift by 2 mu, with the threshold halfway. Found to 5%; infinite above
    2^62.

    >>> trials_to_refute(1.0, 0.0, 1e-6, False)
    189
    """
    from scipy.special import ndtr

    claim = GDP.of(epsilon, delta).mu if gaussian else epsilon
    p = float(ndtr(claim)) if gaussian else 1 / (1 + math.exp(-2 * epsilon))
    q = float(ndtr(-claim)) if gaussian else math.exp(-2 * epsilon) * p

    def refuted(power: float) -> bool:
        trials = round(2**power)
        return bool(lower_bound(trials * p, trials * q, trials, alpha, delta, gaussian) > claim)

    powers = [step / 16 for step in range(16 * 62 + 1)]
    place = bisect_left(powers, True, key=refuted)
    return round(2 ** powers[place]) if place < len(powers) else math.inf
