"""Perturbed minimisers over a ball: their delta, their conditions and their deviation."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpstats.noise import Noise, Objective
from dpstats.noise.multiprecision import MP
from dpstats.noise.objective_perturbation import deviation, perturbed_minimiser
from dpstats.privacy import PureDP
from dpstats.testing import insecure_seed

pytestmark = pytest.mark.system_noise

RADIUS = 1.0


def objective(hessian, linear) -> Objective:
    return Objective(MP.matrix(np.atleast_2d(hessian).tolist()), MP.matrix(list(linear)))


def seeded(seed):
    with insecure_seed(seed):
        return Noise(PureDP(1.0))._source.randbelow


def hockey_stick(one, other, epsilon):
    """Largest excess of two normal laws (mean, deviation) that are clipped to [-1, 1]."""
    points, step = np.linspace(-RADIUS, RADIUS, 100_001, retstep=True)
    laws = [norm(*law) for law in (one, other)]
    parts = [(law.pdf(points) * step, law.cdf(-RADIUS), law.sf(RADIUS)) for law in laws]
    masses = [np.r_[inside, low, high] for inside, low, high in parts]
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in (masses, masses[::-1]))


@pytest.mark.parametrize("epsilon, delta", [(0.5, 1e-3), (1.0, 1e-6), (4.0, 1e-5)])
def test_perturbed_minimisers_of_one_coefficient_keep_delta(epsilon, delta):
    """There they are (w - b) / H clipped to the ball; half the noise would not do."""
    ridge = 1 / math.expm1(epsilon / 5)
    sigma = deviation(2.0, 1.0, ridge, epsilon, delta)
    worst = {1.0: 0.0, 0.5: 0.0}
    for n, level in [(0, 0.0), (1, 1.0), (5, -1.0), (5, 0.3), (400, -0.9), (400, 1.0)]:
        for u, v in [(1.0, 1.0), (1.0, -1.0), (0.6, 1.0)]:
            pair = (n + ridge, n * level), (n + u * u + ridge, n * level + u * v)
            for factor in worst:
                laws = [(product / square, factor * sigma / square) for square, product in pair]
                worst[factor] = max(worst[factor], hockey_stick(*laws, epsilon))
    assert worst[1.0] <= delta < worst[0.5]


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e9])
def test_the_minimiser_over_the_ball_satisfies_its_conditions_to_a_hundred_digits(scale):
    rng = np.random.default_rng(2)
    roots = rng.normal(size=(4, 4))
    problem = objective(roots @ roots.T * scale + 0.1 * np.eye(4), scale * rng.normal(size=4))
    for radius in (1e-3, 0.1, 100.0):
        theta, multiplier = problem.minimiser_in_ball(radius)
        rest = problem.hessian * theta + multiplier * theta - problem.linear
        assert MP.norm(rest) <= MP.mpf(10) ** -100 * MP.norm(problem.linear)
        gap = radius - MP.norm(theta)
        assert multiplier >= 0
        assert abs(gap) < MP.mpf(10) ** -100 if multiplier else gap >= 0


def test_the_noise_of_a_perturbed_minimiser_has_the_stated_deviation():
    problem, below = objective(2.0 * np.eye(2), [0.0, 0.0]), seeded(4)
    draws = np.array([perturbed_minimiser(problem, 0.1, 100.0, below) for _ in range(1500)])
    assert np.mean(np.abs(draws)) == pytest.approx(0.05 * math.sqrt(2 / math.pi), rel=0.07)
