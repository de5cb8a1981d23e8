"""The covariance of scores: no negative variance under any noise, and draws that have it."""

import numpy as np
import pytest

from dpstats.estimators.least_squares.factors.sampling import NoisyScores, Sampling
from dpstats.estimators.least_squares.factors.system import BlockSystem

LEVELS, REST = 5, 3


def eliminated(seed=1):
    """A system of 5 codes and 3 coordinates, of 4,000 rows."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, LEVELS, 4000)
    z = generator.uniform(-1, 1, (4000, REST)) + codes[:, None] / 10
    v = z.sum(axis=1) / 8 + generator.normal(0, 0.1, 4000)
    by_code = np.eye(LEVELS)[codes]
    system = BlockSystem(
        by_code.sum(axis=0), by_code.T @ z, by_code.T @ v, z.T @ z, z.T @ v, 1.0, 1.0
    )
    return system.eliminated(), by_code, z


def squared(by_code, z, errors, dense, deviation=0.0, seed=2):
    """Sums of s s' over rows, with noise."""
    generator = np.random.default_rng(seed)
    s = np.hstack([by_code, z]) * errors[:, None]
    noise = np.triu(generator.normal(0, deviation, (LEVELS + REST,) * 2))
    products = s.T @ s + noise + np.triu(noise, 1).T
    codes = products[:LEVELS, :LEVELS]
    own = codes if dense else np.diag(codes).copy()
    kept = float((errors**2).sum())
    parts = own, products[:LEVELS, LEVELS:], products[LEVELS:, LEVELS:]
    return NoisyScores(*parts, deviation, kept)


def whole(sampling):
    """The covariance of all scores."""
    own = np.diag(sampling.own) if sampling.own.ndim == 1 else sampling.own
    return np.block([[own, sampling.both], [sampling.both.T, sampling.rest]])


@pytest.mark.parametrize("dense", [False, True])
def test_without_noise_it_is_the_sum_of_squared_scores(dense):
    left, by_code, z = eliminated()
    errors = np.random.default_rng(3).normal(0, 0.1 + z[:, 0] ** 2)
    energy = float((errors**2).sum())
    found = Sampling.of_scores(left, squared(by_code, z, errors, dense), energy, 4000, 8)
    r = z - by_code @ left.levels.means
    s = np.hstack([by_code, r]) * errors[:, None]
    wanted = s.T @ s * 4000 / 3992
    np.testing.assert_allclose(whole(found), wanted, rtol=1e-6, atol=1e-6 * wanted.max())


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("deviation", [1.0, 100.0, 1e6])
def test_no_combination_has_a_negative_variance(dense, deviation):
    """And it is no smaller in any direction than half of what the noise hides."""
    left, by_code, z = eliminated()
    errors = np.random.default_rng(3).normal(0, 0.1, 4000)
    for seed in range(20):
        scores = squared(by_code, z, errors, dense, deviation, seed)
        found = Sampling.of_scores(left, scores, float((errors**2).sum()), 4000, 8)
        matrix = whole(found)
        assert np.linalg.eigvalsh(matrix)[0] > -1e-9 * np.abs(matrix).max()
        assert np.diag(matrix).min() >= deviation / 2


@pytest.mark.parametrize("dense", [False, True])
def test_scores_from_normal_numbers_have_the_covariance(dense):
    """From the unit vectors, so exactly."""
    left, by_code, z = eliminated()
    errors = np.random.default_rng(3).normal(0, 0.1 + z[:, 0] ** 2)
    scores = squared(by_code, z, errors, dense, 5.0)
    found = Sampling.of_scores(left, scores, float((errors**2).sum()), 4000, 8)
    unit = np.eye(LEVELS + REST)
    drawn = np.array([np.concatenate(found.scores(e[:LEVELS], e[LEVELS:])) for e in unit])
    np.testing.assert_allclose(drawn.T @ drawn, whole(found), rtol=1e-6, atol=1e-9)


def test_with_one_variance_it_is_that_of_least_squares():
    left, by_code, z = eliminated()
    found = Sampling.of_one_variance(left, 0.25)
    np.testing.assert_allclose(found.own, 0.25 * by_code.sum(axis=0))
    np.testing.assert_allclose(found.rest, 0.25 * left.schur, rtol=1e-9)
    assert not found.both.any()
