"""Directions in which X'X is about the number of rows, with known rows and nearly no noise."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import truncnorm

from dpstats.estimators.newton.steps.whitening import (
    Whitening,
    _shares,
    leverages,
    refined_whitening,
    rough_whitening,
)
from dpstats.privacy import GDP
from dpstats.testing import insecure_seed
from tests.checks.newton_queries import BASIS, X, Y, queries
from tests.checks.noisy_newton import coded

MADE = Whitening(BASIS.span, np.ones(6), np.zeros(6), np.full(6, 1e4), np.zeros((6, 6)))


def whitened(whitening: Whitening) -> np.ndarray:
    """The rows in those directions, (p, n)."""
    p = whitening.map.shape[1]
    blocks = queries(1.0).at(whitening.map, np.zeros(p)).blocks(coded(X, Y))
    return np.hstack([block[0] for block in blocks])


def test_rows_are_whitened_first_roughly_and_then_nearly_exactly():
    with insecure_seed(1):
        made = queries(1e4)
        first, pays = rough_whitening(made, GDP(1e3), len(X))
        tail, noise = leverages(made, first, GDP(1e3), 0.0, 1e3)
        second = refined_whitening(made, first, tail, GDP(1e3), len(X))
    assert pays and noise < 0.01 and first.dimension == pytest.approx(6, rel=0.01)
    gram = whitened(first) @ whitened(first).T / len(X)
    values = np.linalg.eigvalsh(gram)
    assert 0.3 < values.min() and values.max() < 4
    gram = whitened(second) @ whitened(second).T / len(X)
    np.testing.assert_allclose(gram, np.eye(6), atol=0.02)
    assert second.lost.rows < 1 and second.lost.leverage < 0.01
    assert second.reach > 1.5 * first.reach > 2  # where rows are scaled down


def test_noise_raises_eigenvalues_and_says_so():
    with insecure_seed(2):
        noisy, pays = rough_whitening(queries(0.002), GDP(0.002), len(X))
    assert not pays and noisy.dimension < 4 and np.median(noisy.unsure) > 0.5
    assert np.linalg.eigvalsh(whitened(noisy) @ whitened(noisy).T / len(X)).max() < 1.5


def test_a_direction_in_noise_has_a_share_of_what_it_is_taken_for():
    """A cut normal has its quantiles; far above the noise it is what was released, nearly."""
    means, noise = np.array([1.0, 0.5, -2.0]), np.array([1e-3, 0.5, 0.5])
    shares = _shares(means, noise)
    cut = truncnorm(-means / noise, np.inf, means, noise)
    chances = 1 - (np.arange(9) + 0.5) / 9
    np.testing.assert_allclose(shares, cut.ppf(chances[:, None]).T, rtol=1e-6)
    assert shares[2].max() < 0.4 and abs(shares[0] - 1).max() < 2e-3
    assert np.isfinite(_shares(np.array([-1e9, 1.0]), np.zeros(2))).all()


def test_histograms_have_all_rows():
    with insecure_seed(3):
        tail, _ = leverages(queries(1e4), MADE, GDP(1e3), 0.0, 1e3)
    squares = (whitened(MADE) ** 2).sum(axis=0) / MADE.dimension
    assert tail.rows == pytest.approx(len(X), rel=0.01)
    assert tail.beyond(2.0) == pytest.approx((squares > 2).sum(), rel=0.1)


def test_a_divided_map_has_a_smaller_gram_and_error_and_says_that_it_is_unsure():
    generator = np.random.default_rng(2)
    rows, off = generator.normal(size=(50, len(BASIS.span))), generator.normal(size=(6, 6))
    # the noise E in X'X moves a step by E eta, and E is whitened as X'X is
    made = replace(MADE, errors=off**2)
    divided, eta = made.divided(4.0), generator.normal(size=6)
    gram, smaller = ((rows @ w.map).T @ (rows @ w.map) for w in (made, divided))
    np.testing.assert_allclose(smaller, gram / 4)
    np.testing.assert_allclose(divided.errors @ eta**2, (off / 4) ** 2 @ eta**2)
    assert (divided.unsure == 0.75).all() and made.divided(1.0).map.tolist() == made.map.tolist()
