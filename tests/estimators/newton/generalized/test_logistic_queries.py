"""Releases of sums of a logistic regression: units and noise."""

import math

import numpy as np
import pytest

from dpstats.estimators.contract import InMemory
from dpstats.estimators.newton.generalized.logistic_queries import (
    _LONGEST_SLOPES,
    LogisticQueries,
    mean_response,
)
from dpstats.estimators.newton.generalized.logistic_sums import (
    MOST_BEND,
    MOST_ENTROPY,
    MOST_SLOPE,
    LogisticRows,
    entropies,
)
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE
from dpstats.testing import insecure_seed
from tests.checks.noisy_logit import logit_case, rows
from tests.checks.noisy_newton import coded

X, Y = rows(np.random.default_rng(3), 3000)
ETA, LIMIT = np.array([0.2, -0.1, 0.3, 0.0, 0.1, 0.2]), 2.5


def made(neighbors: str, mu: float) -> LogisticQueries:
    """The releases over 3,000 rows."""
    problem = logit_case(neighbors).problem
    basis = IndicatorBasis.of(problem)
    map_ = np.random.default_rng(4).normal(size=(basis.size, 6))
    total = InMemory(coded(X, Y)).sum
    return LogisticQueries(basis, total, problem, Noise(GDP(mu)), map_, LIMIT, 0.1)


@pytest.mark.parametrize("neighbors, times", [(ADD_REMOVE, 1.0), (REPLACE_ONE, 2.0)])
def test_noise_is_as_the_limit_and_the_relation_ask_for(neighbors, times):
    with insecure_seed(1):
        asked = made(neighbors, 2.0)
        _, scores = asked.scores(ETA, GDP(0.5))
        _, hessian = asked.hessian(ETA, 1.0, GDP(0.5))
        _, whole = asked.hessian(ETA, 1e9, GDP(0.5))
        _, slopes, (_, entropy) = asked.slopes(ETA, GDP(0.5))
        _, products = asked.score_products(ETA, GDP(0.5))
    root = math.sqrt(times)
    assert scores == pytest.approx(times * LIMIT / 0.5, rel=1e-3)
    assert hessian == pytest.approx(root / 0.5 / math.sqrt(2), rel=2e-3)
    assert whole == pytest.approx(hessian * MOST_SLOPE * LIMIT**2, rel=1e-6)
    assert products == pytest.approx(hessian * LIMIT**2, rel=1e-6)
    long = math.sqrt(6) if times == 2 else 1.5197
    assert entropy == pytest.approx(long * math.log(2) / 0.5, rel=1e-3)
    assert slopes[:2] == pytest.approx(
        [long * MOST_SLOPE / 0.5, long * MOST_BEND * LIMIT / 0.5], rel=1e-3
    )


def test_without_noise_they_are_the_sums():
    with insecure_seed(1):
        asked = made(ADD_REMOVE, 1e9)
        found, _ = asked.scores(ETA, GDP(1e8))
        slopes, _, (entropy, _) = asked.slopes(ETA, GDP(1e8))
        mean, error = mean_response(asked, 3000, GDP(1e8))
    at = LogisticRows(asked.basis, asked.map, LIMIT, 0.1, ETA)
    exact = at.scores(coded(X, Y)).astype(float) * LIMIT / 2**20
    assert found == pytest.approx(exact, abs=1e-4)
    first = float(at.slopes(coded(X, Y))[0]) * MOST_SLOPE / 2**20
    assert slopes[0] == pytest.approx(first, rel=1e-6)
    last = float(at.slopes(coded(X, Y))[-1]) * MOST_ENTROPY / 2**20
    assert entropy == pytest.approx(last, rel=1e-6) and len(slopes) == 1 + len(ETA)
    assert mean == pytest.approx(Y.mean(), abs=1e-6) and error < 1e-6


def test_no_probability_has_longer_slopes_and_entropy_than_stated():
    """On a fine grid, of a row as long as the limit; the bound on entropies is not attained."""
    mu = np.linspace(0, 1, 200_001)
    slope = mu * (1 - mu)
    parts = slope / MOST_SLOPE, slope * (1 - 2 * mu) / MOST_BEND, entropies(mu) / MOST_ENTROPY
    assert (parts[2] <= 2 * np.sqrt(slope) + 1e-12).all()
    longest = sum(part**2 for part in parts).max()
    assert 0.9 * _LONGEST_SLOPES < longest <= _LONGEST_SLOPES
