"""Rows far from the others are seen in noisy histograms, and noise is not taken for them."""

import numpy as np
import pytest

from dpstats.range_estimation.far_rows import far_rows

NOISE = 20.0


def noisy(seed: int, bins: int = 80, **rows: int) -> np.ndarray:
    """Return counts of a heap in bin 40, with ``rows`` as b60=90, under noise."""
    counts = np.random.default_rng(seed).normal(0, NOISE, bins)
    counts[40] += 5000
    for place, number in rows.items():
        counts[int(place[1:])] += number
    return counts


def test_noise_is_rarely_taken_for_rows():
    """In 300 draws at 3 deviations; a share of groups above .06 would be noticed."""
    found = [far_rows(noisy(seed), 40, 40, NOISE, 3.0).any() for seed in range(300)]
    assert np.mean(found) < 0.25
    surer = [far_rows(noisy(seed), 40, 40, NOISE, 4.5).any() for seed in range(300)]
    assert np.mean(surer) < 0.02


def test_rows_in_one_bin_are_seen_where_they_are():
    seen = far_rows(noisy(1, b60=120), 40, 40, NOISE, 4.0)
    assert np.flatnonzero(seen).tolist() == [60]
    assert seen[60] == pytest.approx(120, abs=3 * NOISE)


def test_rows_that_no_bin_shows_are_seen_in_their_sum():
    spread = {f"b{place}": 45 for place in range(50, 66)}
    found = [far_rows(noisy(seed, **spread), 40, 40, NOISE, 4.0).sum() for seed in range(20)]
    assert np.median(found) > 0.5 * 16 * 45


def test_within_the_range_and_on_the_other_side_there_are_none():
    seen = far_rows(noisy(2, b10=200), 40, 40, NOISE, 4.0)
    assert seen[40] == 0 and seen[41:].sum() == 0 and seen[:20].sum() > 0


def test_bins_may_ask_for_more_evidence_each():
    counts, clear = noisy(3, b60=120), np.full(80, 4.0)
    clear[60] = 50.0
    assert far_rows(counts, 40, 40, NOISE, clear)[60] == 0


def test_no_bins_beyond_a_range_are_no_rows():
    assert far_rows(np.array([5.0, 9.0]), 0, 1, 1.0, 3.0).tolist() == [0, 0]
