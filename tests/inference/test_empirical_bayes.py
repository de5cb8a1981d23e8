"""Many normal means: known special cases, and simulations of error and coverage."""

import numpy as np
import pytest

from dpstats.inference.empirical_bayes import normal_posterior


def draws(groups, spread, unequal, repetitions, seed):
    """True means, standard errors and estimates of the model, (repetitions, groups) each."""
    rng = np.random.default_rng(seed)
    errors = np.exp(unequal * 0.7 * rng.normal(size=(repetitions, groups)))
    truth = 3 + spread * rng.normal(size=errors.shape)
    return truth, errors, truth + errors * rng.normal(size=errors.shape)


def test_equal_errors_give_james_and_steins_estimator_toward_the_mean():
    rng = np.random.default_rng(1)
    y, s = rng.normal(2, 3, 12), np.full(12, 1.5)
    posterior = normal_posterior(y, s)
    factor = (12 - 3) * 1.5**2 / ((y - y.mean()) ** 2).sum()
    assert 0 < factor < 9 / 11, "not the truncated case"
    np.testing.assert_allclose(posterior.mean, y - factor * (y - y.mean()), rtol=1e-8)
    assert posterior.spread**2 == pytest.approx(np.var(y, ddof=1) - 1.5**2)
    assert posterior.center == pytest.approx(y.mean())


def test_the_moment_equation_holds_for_unequal_errors():
    truth, s, y = (part[0] for part in draws(40, 2.0, 1, 1, 2))
    posterior = normal_posterior(y, s)
    weights = 1 / (s**2 + posterior.spread**2)
    assert posterior.center == pytest.approx(weights @ y / weights.sum())
    assert weights @ (y - posterior.center) ** 2 == pytest.approx(39)
    ratio = s**2 * weights
    np.testing.assert_allclose(posterior.shrinkage, ratio * 37 / 39)


def test_units_do_not_matter():
    truth, s, y = (part[0] for part in draws(20, 1.0, 1, 1, 3))
    here, there = normal_posterior(y, s), normal_posterior(5 + 1e-6 * y, 1e-6 * s)
    np.testing.assert_allclose(there.mean, 5 + 1e-6 * here.mean, rtol=1e-9)
    np.testing.assert_allclose(there.deviation, 1e-6 * here.deviation, rtol=1e-6)


def test_estimates_no_farther_apart_than_noise_go_to_their_mean():
    posterior = normal_posterior(np.array([1.0, 1.1, 0.9, 1.0, 1.0]), np.ones(5))
    assert posterior.spread == 0 and np.allclose(posterior.shrinkage, 2 / 4)
    same = normal_posterior(np.full(6, 2.0), np.ones(6))
    assert np.allclose(same.mean, 2) and same.spread == 0


@pytest.mark.parametrize("groups, repetitions", [(4, 8000), (10, 4000), (100, 400)])
@pytest.mark.parametrize("unequal", [0, 1])
@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0, 3.0])
def test_the_mean_squared_error_is_lower(spread, unequal, groups, repetitions):
    """The seed is fixed; the gain is more than three of its standard errors above zero."""
    truth, s, y = draws(groups, spread, unequal, repetitions, 4)
    shrunken = np.array([normal_posterior(*pair).mean for pair in zip(y, s, strict=True)])
    gain = ((y - truth) ** 2 - (shrunken - truth) ** 2).mean(axis=1)
    assert gain.mean() > 3 * gain.std() / np.sqrt(repetitions) > 0
    if spread == 0 and groups == 100:
        assert ((shrunken - truth) ** 2).mean() < 0.1 * ((y - truth) ** 2).mean()


@pytest.mark.parametrize("unequal", [0, 1])
@pytest.mark.parametrize("groups, spread", [(10, 0.5), (10, 3.0), (100, 1.0), (100, 3.0)])
def test_intervals_cover_on_average(groups, spread, unequal):
    """95% intervals cover 94% to 99% over 40,000 means, whose share has a deviation of 0.15%."""
    truth, s, y = draws(groups, spread, unequal, 40_000 // groups, 5)
    covered = [
        np.abs(posterior.mean - theta) <= 1.96 * posterior.deviation
        for theta, posterior in zip(truth, map(normal_posterior, y, s), strict=True)
    ]
    assert 0.935 < np.mean(covered) < 0.99
