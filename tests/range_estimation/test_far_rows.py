"""Rows far from the others are seen in noisy histograms, and noise is not taken for them."""

import numpy as np
import pytest

from dpstats.privacy import GDP, Event, PureDP
from dpstats.range_estimation.far_rows import far_rows, rare
from dpstats.range_estimation.histogram import Histogram

NOISE = 20.0
GAUSSIAN = Event("histogram", "gaussian", 1.0, NOISE, GDP(1 / NOISE))
LAPLACE = Event("histogram", "laplace", 1.0, NOISE / 2**0.5, PureDP(2**0.5 / NOISE))


def seen_in(counts: np.ndarray, first: int, last: int, clear, event: Event = GAUSSIAN):
    """Return the rows that a histogram of these counts shows outside some bins."""
    return far_rows(Histogram(np.arange(len(counts) + 1.0), counts, event), first, last, clear)


def noisy(seed: int, bins: int = 80, **rows: int) -> np.ndarray:
    """Return counts of a heap in bin 40, with ``rows`` as b60=90, under noise."""
    counts = np.random.default_rng(seed).normal(0, NOISE, bins)
    counts[40] += 5000
    for place, number in rows.items():
        counts[int(place[1:])] += number
    return counts


def test_noise_is_rarely_taken_for_rows():
    """In 300 draws at 3 deviations; a share of groups above .06 would be noticed."""
    found = [seen_in(noisy(seed), 40, 40, 3.0).any() for seed in range(300)]
    assert np.mean(found) < 0.25
    surer = [seen_in(noisy(seed), 40, 40, 4.5).any() for seed in range(300)]
    assert np.mean(surer) < 0.02


def test_rows_in_one_bin_are_seen_where_they_are():
    seen = seen_in(noisy(1, b60=120), 40, 40, 4.0)
    assert np.flatnonzero(seen).tolist() == [60]
    assert seen[60] == pytest.approx(120, abs=3 * NOISE)


def test_rows_that_no_bin_shows_are_seen_in_their_sum():
    spread = {f"b{place}": 45 for place in range(50, 66)}
    found = [seen_in(noisy(seed, **spread), 40, 40, 4.0).sum() for seed in range(20)]
    assert np.median(found) > 0.5 * 16 * 45


def test_within_the_range_and_on_the_other_side_there_are_none():
    seen = seen_in(noisy(2, b10=200), 40, 40, 4.0)
    assert seen[40] == 0 and seen[41:].sum() == 0 and seen[:20].sum() > 0


def test_bins_may_ask_for_more_evidence_each():
    counts, clear = noisy(3, b60=120), np.full(80, 4.0)
    clear[60] = 50.0
    assert seen_in(counts, 40, 40, clear)[60] == 0


def test_no_bins_beyond_a_range_are_no_rows():
    assert seen_in(np.array([5.0, 9.0]), 0, 1, 3.0).tolist() == [0, 0]


def test_noise_with_long_tails_is_as_rarely_taken_for_rows():
    """In 300 draws at 4.5 deviations; with the normal law's threshold it would be in a fifth."""
    generator = np.random.default_rng(4)
    draws = generator.laplace(0, NOISE / 2**0.5, (300, 400))
    normal = [seen_in(counts, 40, 40, 4.5).any() for counts in draws]
    found = [seen_in(counts, 40, 40, 4.5, LAPLACE).any() for counts in draws]
    assert np.mean(normal) > 0.1 and np.mean(found) < 0.01


@pytest.mark.parametrize("terms", [1, 3, 20])
def test_rare_sums_are_as_rare_as_that(terms):
    """Of a million sums at 2 deviations, where a normal one is larger with chance .023."""
    draws = np.random.default_rng(5).laplace(0, 0.5**0.5, (1_000_000, terms)).sum(axis=1)
    assert np.mean(draws > rare(2.0, terms)) < 0.023
