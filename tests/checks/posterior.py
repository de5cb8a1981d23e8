"""Check samples of a posterior: their mean and their covariance."""

import numpy as np
from scipy.stats import kstest

from dpstats.noise import Noise, Objective
from dpstats.noise.posterior import sample_normal
from dpstats.privacy import GDP
from dpstats.testing import insecure_seed

GAMMA = 0.7


def cross_products(rows=20, columns=3, seed=0):
    """Whole rows and their cross-products, in units of 2^-8."""
    whole = np.random.default_rng(seed).integers(-9, 10, (rows, columns + 1)).astype(object)
    return whole.T @ whole, 2.0**-8


def check_samples():
    """2,000 draws, whitened, are standard normal."""
    cross, unit = cross_products()
    objective = Objective.least_squares(cross, unit, 0.25)
    hessian = np.array(objective.hessian.tolist(), dtype=float)
    mean = np.array(objective.minimiser().tolist(), dtype=float).ravel()
    draws = []
    with insecure_seed(6):
        below = Noise(GDP(1.0))._source.randbelow
        draws = np.array([sample_normal(objective, GAMMA, below) for _ in range(2000)])
    whitened = (draws - mean) @ np.linalg.cholesky(GAMMA * hessian)
    assert kstest(whitened.ravel(), "norm").pvalue > 1e-3
    np.testing.assert_allclose(np.cov(whitened.T), np.eye(3), atol=0.15)
    assert np.array_equal(draws * 2.0**40, np.rint(draws * 2.0**40))
