"""Releases of sums of a Poisson regression: units and noise."""

import math

import numpy as np
import pytest

from dpstats.estimators.contract import InMemory
from dpstats.estimators.newton.generalized.poisson_loss import score_sums
from dpstats.estimators.newton.generalized.poisson_queries import PoissonQueries, mean_count
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE
from dpstats.testing import insecure_seed
from tests.checks.noisy_newton import coded
from tests.checks.noisy_poisson import poisson_case, rows

X, Y = rows(np.random.default_rng(3), 3000)
ETA, LIMIT = np.array([0.1, -0.1, 0.1, 0.0, 0.1, 0.1]), 2.5


def made(neighbors: str, mu: float) -> PoissonQueries:
    """The releases over 3,000 rows."""
    problem = poisson_case(neighbors).problem
    basis = IndicatorBasis.of(problem)
    map_ = np.random.default_rng(4).normal(size=(basis.size, 6))
    return PoissonQueries(basis, InMemory(coded(X, Y)).sum, problem, Noise(GDP(mu)), map_, 0, 2.0)


@pytest.mark.parametrize("neighbors, times", [(ADD_REMOVE, 1.0), (REPLACE_ONE, 2.0)])
def test_noise_is_as_the_limit_and_the_relation_ask_for(neighbors, times):
    with insecure_seed(1):
        asked = made(neighbors, 2.0)
        _, scores = asked.scores(ETA, LIMIT, GDP(0.5))
        _, hessian = asked.hessian(ETA, LIMIT, 3.0, GDP(0.5))
        _, products = asked.score_products(ETA, LIMIT, GDP(0.5))
    root = math.sqrt(times)
    assert scores == pytest.approx(times * LIMIT / 0.5, rel=1e-3)
    assert hessian == pytest.approx(3.0 * root / 0.5 / math.sqrt(2), rel=2e-3)
    assert products == pytest.approx(hessian * LIMIT**2 / 3.0, rel=1e-6)


def test_without_noise_they_are_the_sums():
    with insecure_seed(1):
        asked = made(ADD_REMOVE, 1e9)
        found, _ = asked.scores(ETA, LIMIT, GDP(1e8))
        mean, error = mean_count(asked, 3000, GDP(1e3))
    exact = score_sums(asked.at(ETA), LIMIT, coded(X, Y)).astype(float) * LIMIT / 2**20
    assert found == pytest.approx(exact, abs=1e-4)
    assert mean == pytest.approx(Y.mean(), abs=1e-2) and error < 1e-2
