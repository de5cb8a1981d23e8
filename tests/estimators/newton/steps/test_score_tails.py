"""Tails read off noisy histograms, and the limits that are chosen from them."""

import math

import numpy as np
import pytest

from dpstats.estimators.newton.row_sums.sums import LEVERAGE_EDGES, SCORE_EDGES
from dpstats.estimators.newton.steps.score_tails import (
    Tail,
    is_wild,
    leverage_limit,
    leverage_tail,
    mean_leverage,
    score_limit,
    score_tail,
)

FAR = 4096.0


def histogram(sizes, edges):
    return np.bincount(np.searchsorted(edges, sizes), minlength=len(edges) + 1).astype(float)


def normal_scores(n, seed=1):
    return histogram(np.abs(np.random.default_rng(seed).normal(size=n)), SCORE_EDGES)


def noisy_tail(sizes, deviation, heavy, seed, most=60.0):
    counts = histogram(sizes, SCORE_EDGES)
    noise = np.random.default_rng(seed).normal(0, deviation, len(counts))
    return score_tail(counts + noise, deviation, 1.0, heavy, most)


def below(tail, limit):
    return float(tail.mean_counts[tail.sizes < limit].sum()) / tail.rows


def test_a_tail_without_noise_has_the_moments_of_the_sizes():
    sizes = np.abs(np.random.default_rng(2).standard_t(4, 50_000))
    tail = score_tail(histogram(sizes, SCORE_EDGES), 1e-6, 1.0, 0.4, FAR)
    assert tail.rows == pytest.approx(50_000, rel=1e-3)
    assert tail.mean_square() == pytest.approx(np.mean(sizes**2), rel=0.1)
    for limit in (1.0, 2.0, 4.0):
        assert tail.mean_square(limit) == pytest.approx(
            np.mean(np.minimum(sizes, limit) ** 2), rel=0.1
        )
        assert tail.excess(limit) == pytest.approx(np.maximum(sizes - limit, 0).sum(), rel=0.25)
        assert below(tail, limit) == pytest.approx(np.mean(sizes < limit), abs=0.05)


def test_sizes_are_in_units_of_sigma():
    one, two = (score_tail(normal_scores(5000), 20.0, sigma, 0.1, 30.0) for sigma in (1.0, 2.0))
    assert two.mean_square(4.0) == pytest.approx(4 * one.mean_square(2.0), rel=0.1)


@pytest.mark.parametrize("size", [12.0, 40.0, 3000.0])
def test_rows_that_stand_out_are_seen_wherever_they_are(size):
    """Bins before them are empty; the last bin is one of them."""
    sizes = np.r_[np.abs(np.random.default_rng(3).normal(size=4800)), np.full(200, size)]
    for seed in range(10):
        tail = noisy_tail(sizes, 25.0, 0.1, seed, FAR)
        assert tail.excess(5.0) > 0.5 * 200 * (0.6 * size - 5)


def test_rows_spread_over_bins_that_noise_hides_are_part_of_a_heavy_tail():
    """Their excess is expected, its square root within 3 times of it, in 15 of 20 draws."""
    generator = np.random.default_rng(4)
    sizes = np.r_[np.abs(generator.normal(size=4850)), np.exp(generator.uniform(1.7, 3.4, 150))]
    true = np.maximum(sizes - 5, 0).sum()
    found = [noisy_tail(sizes, 25.0, 1.0, seed) for seed in range(20)]
    assert sum(2 * math.sqrt(tail.square_excess(5.0)) > true for tail in found) >= 15
    light = [noisy_tail(normal_scores_of(5000), 25.0, 0.0, seed).excess(3.0) for seed in range(20)]
    assert np.median(light) < 0.25 * true


def normal_scores_of(n):
    return np.abs(np.random.default_rng(5).normal(size=n))


def test_the_less_is_known_of_a_tail_the_longer_it_is_taken_to_be():
    counts = normal_scores(5000)
    sure, unsure = (score_tail(counts.copy(), d, 1.0, 0.4, 60.0) for d in (1.0, 50.0))
    assert unsure.excess(4.0) > 3 * sure.excess(4.0)
    light, heavy = (score_tail(counts.copy(), 25.0, 1.0, h, 60.0) for h in (0.0, 1.0))
    assert heavy.lost(3.0) > 3 * light.lost(3.0)
    near, far = (score_tail(counts.copy(), 25.0, 1.0, 1.0, most) for most in (8.0, 500.0))
    assert far.excess(3.0) > near.excess(3.0) and near.sizes[near.mean_counts > 0].max() <= 8


def test_variance_that_a_tail_lacks_makes_it_longer():
    tail = noisy_tail(normal_scores_of(5000), 25.0, 0.4, 6)
    assert tail.mean_square() < 1.6
    longer = tail.given_mean_square((4.0, 0.2), (100.0, 1.0))
    assert longer.mean_square() > 2 and longer.weights.sum() == pytest.approx(1)
    shorter = tail.given_mean_square((0.0, 1.0), (1.0, 0.05))
    assert shorter.excess(3.0) <= tail.excess(3.0)
    impossible = tail.given_mean_square((1e9, 1e-9), (1e-9, 1e-9))
    assert np.isfinite(impossible.weights).all()


def test_a_limit_grows_as_noise_falls_and_is_at_least_the_root_mean_square():
    sizes = np.abs(np.random.default_rng(4).standard_t(3, 20_000))
    tail = score_tail(histogram(sizes, SCORE_EDGES), 5.0, 1.0, 0.4, 60.0)
    limits = [score_limit(tail, 1.0, 5, noise) for noise in (1e4, 100.0, 10.0, 1.0)]
    chosen = [limit for limit, _ in limits]
    assert chosen == sorted(chosen) and chosen[0] < chosen[-1]
    assert min(chosen) >= 1.2 * np.sqrt(tail.mean_square(4.0)) * (1 - 1e-9)
    assert all(0.6 <= whole <= 1 for _, whole in limits)


def test_a_limit_that_costs_more_than_the_bias_is_worth_is_not_chosen():
    """Ten rows that may lie at 1,000: noise on a limit that leaves them whole swamps the rest."""
    counts = np.array([[5000.0, 10.0], [5000.0, 0.0]])
    tail = Tail(counts, np.array([1.0, 1000.0]), np.array([0.5, 0.5]), 0.4)
    far, _ = score_limit(tail, 1.0, 5, 1.0)
    near, whole = score_limit(tail, 1.0, 5, 1.0, most=1e4)
    assert far > 500 and near < 2 and whole > 0.99
    assert tail.lost(1.5, 1e4) == pytest.approx(0.5 * 1e4 + 0.5 * 0.0)
    assert tail.lost(1.5) > 1e6


@pytest.mark.parametrize("most", [0.0, 1.0, math.inf])
@pytest.mark.parametrize("count", [0.0, -500.0, 1e6])
def test_there_is_a_limit_whatever_is_seen(count, most):
    tail = score_tail(np.full(len(SCORE_EDGES) + 1, count), 100.0, 0.5, 0.4, most)
    limit, whole = score_limit(tail, 0.5, 3, 10.0)
    assert limit > 0 and 0 < whole <= 1 and np.isfinite(tail.lost(limit))


def test_a_leverage_limit_weighs_noise_against_lost_rows():
    heavy = np.random.default_rng(5).pareto(2, 20_000)
    tail = leverage_tail(histogram(heavy, LEVERAGE_EDGES), 5.0, 0.4, 500.0)
    limits = [leverage_limit(tail, 20_000, 4.0, noise) for noise in (1e5, 3000.0, 300.0, 1.0)]
    assert limits == sorted(limits) and limits[0] == 2.0 and limits[-1] >= 8


def test_a_mean_leverage_is_that_of_the_rows_less_its_error_and_at_least_one():
    sizes = np.random.default_rng(6).exponential(3.0, 20_000)
    counts = histogram(sizes, LEVERAGE_EDGES)
    found = mean_leverage(leverage_tail(counts, 1.0, 0.0, 60.0))
    assert found == pytest.approx(3.0, rel=0.1)
    ones = leverage_tail(histogram(sizes / 3, LEVERAGE_EDGES), 100.0, 0.0, 60.0)
    assert mean_leverage(ones) == pytest.approx(1.0, abs=0.1)


def test_many_rows_of_huge_leverage_are_wild():
    few, many = (np.r_[np.ones(10_000), np.full(k, 50.0)] for k in (5, 2000))
    for sizes, expected in ((few, False), (many, True)):
        tail = leverage_tail(histogram(sizes, LEVERAGE_EDGES), 5.0, 0.1, 100.0)
        assert is_wild(tail, 5.0, 10_000) == expected
