"""Tails read off noisy histograms, and the limits that are chosen from them."""

import numpy as np
import pytest

from dpstats.mechanisms.shared.score_tails import (
    LEVERAGE_EDGES,
    SCORE_EDGES,
    is_wild,
    leverage_limit,
    leverage_tail,
    mean_leverage,
    score_limit,
    score_tail,
)


def histogram(sizes, edges):
    return np.bincount(np.searchsorted(edges, sizes), minlength=len(edges) + 1).astype(float)


def normal_scores(n):
    return histogram(np.abs(np.random.default_rng(1).normal(size=n)), SCORE_EDGES)


def test_a_tail_without_noise_has_the_moments_of_the_sizes():
    sizes = np.abs(np.random.default_rng(2).standard_t(4, 50_000))
    tail = score_tail(histogram(sizes, SCORE_EDGES), 1e-9, 50_000, 1.0)
    assert tail.rows == pytest.approx(50_000, rel=1e-3)
    assert tail.mean_square() == pytest.approx(np.mean(sizes**2), rel=0.1)
    for limit in (1.0, 2.0, 4.0):
        assert tail.mean_square(limit) == pytest.approx(
            np.mean(np.minimum(sizes, limit) ** 2), rel=0.1
        )
        assert tail.excess(limit) == pytest.approx(np.maximum(sizes - limit, 0).sum(), rel=0.25)
        assert tail.whole(limit) == pytest.approx(np.mean(sizes < limit), abs=0.05)


def test_noise_far_out_is_not_taken_for_rows():
    """A far bin counts only where all tail sums before it are seen; what may hide is added."""
    counts = normal_scores(5000)
    deviation = 40.0
    noisy = counts + np.random.default_rng(3).normal(0, deviation, len(counts))
    noisy[-1] += 3 * deviation
    noisy[9:-1] -= deviation
    tail = score_tail(noisy.copy(), deviation, 5000, 1.0)
    assert tail.counts[-1] == 0
    assert tail.rows >= np.maximum(noisy[:7], 0).sum() + deviation


def test_hidden_rows_are_part_of_the_excess():
    counts = normal_scores(5000)
    sure, unsure = (score_tail(counts.copy(), d, 5000, 1.0) for d in (1e-9, 50.0))
    assert unsure.excess(2.0) > 2 * sure.excess(2.0)


def test_a_limit_grows_as_noise_falls_and_is_at_least_the_root_mean_square():
    sizes = np.abs(np.random.default_rng(4).standard_t(3, 20_000))
    tail = score_tail(histogram(sizes, SCORE_EDGES), 5.0, 20_000, 1.0)
    limits = [score_limit(tail, 1.0, 5, noise) for noise in (1e4, 100.0, 10.0, 1.0)]
    chosen = [limit for limit, _ in limits]
    assert chosen == sorted(chosen) and chosen[0] < chosen[-1]
    assert min(chosen) >= 1.2 * np.sqrt(tail.mean_square()) * (1 - 1e-9)
    assert all(0.6 <= whole <= 1 for _, whole in limits)


def test_there_is_a_limit_even_where_nothing_is_seen():
    empty = score_tail(np.zeros(len(SCORE_EDGES) + 1), 100.0, 10.0, 0.5)
    limit, whole = score_limit(empty, 0.5, 3, 10.0)
    assert limit > 0 and 0 < whole <= 1


def test_a_leverage_limit_weighs_noise_against_lost_rows():
    heavy = np.random.default_rng(5).pareto(2, 20_000)
    tail = leverage_tail(histogram(heavy, LEVERAGE_EDGES), 5.0)
    limits = [leverage_limit(tail, 20_000, 4.0, noise) for noise in (1e5, 3000.0, 300.0, 1.0)]
    assert limits == sorted(limits) and limits[0] == 2.0 and limits[-1] > 8


def test_a_mean_leverage_is_that_of_the_rows_less_its_noise_and_at_least_one():
    sizes = np.random.default_rng(6).exponential(3.0, 20_000)
    counts = histogram(sizes, LEVERAGE_EDGES)
    found = [mean_leverage(leverage_tail(counts, noise), noise) for noise in (1.0, 100.0, 3000.0)]
    assert found[0] == pytest.approx(3.0, rel=0.05)
    assert found == sorted(found, reverse=True) and found[-1] == 1.0
    ones = leverage_tail(histogram(sizes / 3, LEVERAGE_EDGES), 100.0)
    assert mean_leverage(ones, 100.0) == pytest.approx(1.0, abs=0.05)


def test_many_rows_of_huge_leverage_are_wild():
    few, many = (np.r_[np.ones(10_000), np.full(k, 50.0)] for k in (5, 2000))
    for sizes, expected in ((few, False), (many, True)):
        tail = leverage_tail(histogram(sizes, LEVERAGE_EDGES), 5.0)
        assert is_wild(tail, 5.0, 10_000) == expected
