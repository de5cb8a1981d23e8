"""Posterior samples: what tells two of them apart, precise arithmetic, and the law of the draws."""

import math

import numpy as np
import pytest
from mpmath import MPContext
from scipy.stats import kstest, norm

from dpstats.noise import Noise, Objective, PosteriorQuery
from dpstats.noise.multiprecision import MP, normals, on_grid
from dpstats.noise.posterior import excess, largest_shift
from dpstats.noise.random_sources import SystemSource
from dpstats.privacy import GDP, ApproxDP, gdp_delta
from dpstats.testing import insecure_seed
from tests.checks.posterior import check_samples, cross_products

pytestmark = pytest.mark.system_noise


def by_quadrature(shift, share, epsilon):
    points, step = np.linspace(-30, 30, 600_001, retstep=True)
    p, q = norm.pdf(points), norm.pdf(points, shift, math.sqrt(1 - share))
    parts = (np.maximum(a - math.exp(epsilon) * b, 0).sum() * step for a, b in ((p, q), (q, p)))
    return max(parts)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("shift, share", [(0, 0.3), (1e-3, 0.4), (0.2, 1e-3), (1, 0.1), (3, 0.7)])
def test_the_excess_is_the_hockey_stick_divergence(shift, share, epsilon):
    assert excess(shift, share, epsilon) == pytest.approx(
        by_quadrature(shift, share, epsilon), rel=1e-5, abs=1e-12
    )


@pytest.mark.parametrize("shift", [0.1, 1.0, 5.0])
def test_without_a_change_of_variance_it_is_that_of_gaussian_noise(shift):
    assert excess(shift, 1e-14, 0.5) == pytest.approx(gdp_delta(shift, 0.5), rel=1e-6)


@pytest.mark.parametrize("epsilon, delta", [(0.1, 1e-6), (1.0, 1e-6), (8.0, 1e-3), (1.0, 1e-12)])
def test_every_row_within_the_bounds_is_covered(epsilon, delta):
    """Leverages up to h and residuals up to r, against the worst pair the proof names."""
    rng = np.random.default_rng(1)
    for leverage in epsilon / np.array([1e4, 300.0, 80.0]):
        worst = leverage / (1 + leverage)
        gamma = (largest_shift(worst, epsilon, delta) / 2.5) ** 2 / worst
        assert gamma > 0
        for _ in range(60):
            h, r = leverage * rng.uniform() ** 0.3, 2.5 * rng.uniform() ** 0.3
            share = h / (1 + h)
            shift = r * math.sqrt(gamma * share * (1 - share))
            assert excess(shift, share, epsilon) <= delta * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1.0, 30.0, 1e9])
def test_the_largest_shift_just_stays_within_delta(epsilon):
    share = 1 / (1 + 60 / epsilon)
    shift = largest_shift(share, epsilon, 1e-6)
    assert 0 < shift < GDP.of(epsilon, 1e-6).mu
    assert excess(shift, share, epsilon) <= 1e-6 < excess(1.001 * shift, share, epsilon)


def exact_excess(shift, share, epsilon):
    """The hockey-stick divergence of two normal laws, in 3000 bits."""
    mp = MPContext()
    mp.prec = 3000
    shift, share, epsilon = map(mp.mpf, (shift, share, epsilon))
    deviation = mp.sqrt(1 - share)
    found = []
    for bound, sign in ((epsilon, 1), (-epsilon, -1)):
        offset = 2 * bound - mp.log1p(-share)
        if shift**2 + share * offset <= 0:  # no ratio of densities is that small
            continue
        root = deviation * mp.sqrt(shift**2 + share * offset)
        ends = (shift**2 - (1 - share) * offset) / (shift + root), (shift + root) / share
        laws = [[at, (at - shift) / deviation] for at in ends]
        if sign > 0:
            p, q = (mp.ncdf(low) + mp.ncdf(-high) for low, high in zip(*laws, strict=True))
        else:
            q, p = (mp.ncdf(-low) - mp.ncdf(-high) for low, high in zip(*laws, strict=True))
        found.append(p - mp.exp(epsilon) * q)
    return max(found)


@pytest.mark.parametrize("delta", [1e-6, 1e-12, 1e-25, 1e-100, 1e-300])
@pytest.mark.parametrize("epsilon", [7e-10, 1e-8, 1e-7, 1e-3, 1.0])
@pytest.mark.parametrize("times", [1, 10, 1000])
def test_the_shift_stays_within_delta_where_doubles_do_not_tell(epsilon, delta, times):
    """At epsilon 1e-9 the difference of two doubles was off by up to 8%, to either side."""
    share = 1 / (1 - times * math.log(delta) / epsilon)
    shift = largest_shift(share, epsilon, delta)
    assert shift > 0 and exact_excess(shift, share, epsilon) <= delta


def test_where_the_variance_alone_tells_too_much_there_is_no_shift():
    assert largest_shift(0.5, 0.1, 1e-6) == 0


def test_the_minimiser_is_the_ridge_regression():
    cross, unit = cross_products()
    found = Objective.least_squares(cross, unit, 0.25).minimiser()
    gram, right = cross[:-1, :-1].astype(float), cross[:-1, -1].astype(float)
    wanted = np.linalg.solve(gram * unit + 0.25 * np.eye(3), right * unit)
    np.testing.assert_allclose(np.array(found.tolist(), dtype=float).ravel(), wanted, rtol=1e-12)


def test_a_badly_conditioned_minimiser_has_a_hundred_right_digits():
    """Exact for two proportional columns: u = (1, 2), n rows, ridge r."""
    n, ridge = 2**60, 2.0**-20
    cross = np.array([[n, 2 * n, n], [2 * n, 4 * n, 2 * n], [n, 2 * n, n]], dtype=object)
    found = Objective.least_squares(cross, 1.0, ridge).minimiser()
    wanted = MP.mpf(n) / (5 * n + MP.mpf(ridge))
    assert abs(found[0] / wanted - 1) < MP.mpf(10) ** -100
    assert abs(found[1] / (2 * wanted) - 1) < MP.mpf(10) ** -100


def test_results_are_multiples_of_the_grid():
    found = on_grid(MP.matrix([MP.mpf(1) / 3, MP.mpf(-7) + MP.mpf(2) ** -50, MP.mpf(2) ** -40]))
    assert found.tolist() == [round(2**40 / 3) / 2**40, -7.0, 2.0**-40]


@pytest.mark.parametrize("seed", [None, 5])
def test_normal_draws_are_standard_and_independent(seed):
    """4,000 draws; a false alarm has probability 1e-6."""
    with insecure_seed(5):
        seeded = Noise(GDP(1.0))._source
    source = SystemSource if seed is None else seeded
    draws = np.array([float(z) for z in normals(4001, source.randbelow)])[:4000]
    assert kstest(draws, "norm").pvalue > 1e-6
    assert np.mean(np.abs(draws)) == pytest.approx(math.sqrt(2 / math.pi), abs=0.05)
    assert abs(np.mean(draws[::2] * draws[1::2])) < 5 / math.sqrt(2000)


def test_samples_have_the_mean_and_the_covariance_of_the_posterior():
    check_samples()


def test_gamma_is_the_largest_that_keeps_the_promise():
    cross, unit = cross_products()
    noise = Noise(ApproxDP(1.0, 1e-6))
    query = PosteriorQuery("sample", cross, unit, 5.0, 0.02, 3.0, 4e-7)
    assert noise.posterior(query, ApproxDP(1.0, 1e-6)).shape == (3,)
    gamma, share = 1 / noise.events[0].scale, 0.02 / 1.02
    assert excess(3.0 * math.sqrt(gamma * share), share, 1.0) == pytest.approx(6e-7, rel=1e-5)
