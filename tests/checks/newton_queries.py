"""Make releases over rows with two factors and two numbers, for steps of Newton's method."""

import numpy as np

from dpstats.estimators.contract import InMemory
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.steps.queries import Queries
from dpstats.estimators.newton.steps.squared_loss import SquaredLoss
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP, Cost
from tests.checks.noisy_newton import coded, factor_case, rows

PROBLEM = factor_case(ADD_REMOVE).problem
BASIS = IndicatorBasis.of(PROBLEM)
X, Y = rows(np.random.default_rng(7), 4000)


def queries(mu: float, cost: Cost | None = None) -> Queries:
    """The releases over 4,000 rows with two factors and two numbers."""
    return Queries(BASIS, InMemory(coded(X, Y)).sum, PROBLEM, Noise(cost or GDP(mu)), SquaredLoss())
