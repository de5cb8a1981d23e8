"""Evidence from cross-products: least squares without noise, and what noise adds."""

import numpy as np
import pytest

from dpstats.evidence import SumsEvidence
from dpstats.inference import Estimate
from dpstats.numerics.ridge import lowered_eigenvalues, ridge

RNG = np.random.default_rng(1)
X = np.column_stack([np.ones(50), RNG.uniform(-1, 1, (50, 2))])
Y = X @ [0.2, 0.5, -0.3] + 0.1 * RNG.normal(size=50)
CONSTANT = np.array([1.0, 0.0, 0.0])


def known(noise=1e-9, **more) -> SumsEvidence:
    """Exact sums of 50 rows, said to have noise; hardly any by default."""
    errors = Y - X @ np.linalg.lstsq(X, Y, rcond=None)[0]
    return SumsEvidence(
        gram=X.T @ X, cross=X.T @ Y, square=Y @ Y, scales=[noise] * 3, transform=np.eye(3),
        shift=np.zeros(3), y_scale=1.0, **{"rows": 50.0, "energy": errors @ errors, **more},
    )  # fmt: skip


def test_without_noise_the_covariance_is_that_of_least_squares():
    energy = known().energy
    expected = energy / 47 * np.linalg.inv(X.T @ X)
    np.testing.assert_allclose(known().covariance(0), expected, rtol=1e-6)


def test_squared_scores_make_it_hc1():
    errors = Y - X @ np.linalg.lstsq(X, Y, rcond=None)[0]
    scores = X * errors[:, None]
    bread, meat = np.linalg.inv(X.T @ X), scores.T @ scores
    robust = known().with_squares(meat / 4.0, np.array(2.0), np.array(0.0))
    assert robust.squares_cut == 4.0 and robust.squares_kept is None
    np.testing.assert_allclose(robust.covariance(0), 50 / 47 * bread @ meat @ bread, rtol=1e-6)


def test_noise_on_the_sums_widens_it_as_derived():
    """Cov(E b) = s^2 (|b|^2 I + b b' - diag(b^2)) for a symmetric E, and s^2 I for w."""
    noise, energy = 0.5, known().energy
    values, vectors = lowered_eigenvalues(X.T @ X, noise)
    bread = (vectors / values) @ vectors.T
    b = bread @ (X.T @ Y)
    added = noise**2 * ((1 + b @ b) * np.eye(3) + np.outer(b, b) - np.diag(b**2))
    expected = bread @ (energy / 47 * X.T @ X + added) @ bread
    np.testing.assert_allclose(known(noise).covariance(0), expected, rtol=1e-9)


def test_figures_are_those_of_least_squares():
    figures = known(1e-9).goodness(3, CONSTANT, Estimate())
    ssr, tss = known().energy, ((Y - Y.mean()) ** 2).sum()
    assert figures.rows.value == pytest.approx(50) and figures.reason == ""
    assert figures.rsquared.value == pytest.approx(1 - ssr / tss)
    assert figures.scale.value == pytest.approx(ssr / 47)


def test_weighted_rows_tell_no_residual_variance():
    weighted = known(1e-9, weighted_rows=60.0, weighted_rows_error=2.0)
    figures = weighted.goodness(3, CONSTANT, Estimate())
    assert figures.rows == Estimate(60.0, 2.0) and np.isnan(figures.scale.value)
    assert "weighted rows" in figures.scale_reason and not figures.reason
    assert np.isfinite(figures.rsquared.value)
    assert weighted.goodness(3, CONSTANT, Estimate(50.0, 0.0)).rows == Estimate(50.0, 0.0)


def test_replicates_scatter_around_the_fit():
    sums = known(0.01).sums()
    np.testing.assert_allclose(sums.theta, np.linalg.lstsq(X, Y, rcond=None)[0], rtol=1e-6)
    fits = sums.replicates(sums.theta, 4000, sampling=True)
    expected = known(0.01).covariance(0)
    np.testing.assert_allclose(np.cov(fits.T), expected, atol=0.1 * np.diag(expected).max())


def test_replicates_have_a_ridge_where_the_method_may_need_one():
    """It is the one that the noise calls for."""
    plain, ridged = known(3.0).sums(), known(3.0, ridge=0.0).sums()
    found = [np.linalg.solve(X.T @ X + k * np.eye(3), X.T @ Y) for k in (0.0, ridge(X.T @ X, 3.0))]
    np.testing.assert_allclose(plain.theta, found[0], rtol=1e-6)
    np.testing.assert_allclose(ridged.theta, found[1], rtol=1e-6)
    assert np.linalg.norm(found[1]) < np.linalg.norm(found[0])
