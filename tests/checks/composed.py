"""What compositions cost exactly, by sums and integrals, as references for tests."""

import math

import mpmath
from scipy.integrate import quad
from scipy.optimize import brentq

from dpstats.privacy import (
    GDP,
    PureDP,
    gdp_epsilon,
)


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


def exact_delta(mu, epsilon):
    """delta(epsilon) of mu-GDP, in 60 digits."""
    with mpmath.workdps(60):
        half, gap = mpmath.mpf(mu) / 2, mpmath.mpf(epsilon) / mpmath.mpf(mu)
        return mpmath.ncdf(half - gap) - mpmath.exp(epsilon) * mpmath.ncdf(-half - gap)
