"""Spans of noisy histograms: rows spread too thinly for a bin of their own, and noise alone."""

import numpy as np
import pytest

from dpstats.privacy import GDP, Event
from dpstats.range_estimation.bins import Dyadic, Overflowing
from dpstats.range_estimation.histogram import Histogram

SEEDS = range(300)


def spans(values, bins, deviation) -> np.ndarray:
    """Return the ends of the spans of the values under the noise of each seed, (seeds, 2)."""
    exact = np.bincount(bins.index(np.asarray(values, float)), minlength=len(bins.edges) - 1)
    event = Event("a histogram", "gaussian", 1.0, deviation, GDP(0.1))
    found = []
    for seed in SEEDS:
        noise = np.random.default_rng(seed).normal(0, deviation, len(exact))
        found.append(Histogram(bins.edges, exact + noise, event).around(0))
    return np.array(found)


def left_out(values, ends) -> np.ndarray:
    """Return the part of the values outside each span."""
    return np.mean((values < ends[:, :1]) | (values > ends[:, 1:]), axis=1)


@pytest.mark.parametrize("mean", [0.0, 1.0, 3.0])
def test_noise_adds_no_magnitude_to_rows_that_are_spread_thinly(mean):
    # where the mean is 1, a fifth of the rows is below bins that stand out of the noise
    values = np.random.default_rng(5).normal(mean, 1, 2000)
    ends = spans(values, Dyadic(), 28.0)
    assert np.abs(ends).max() <= 4 * np.abs(values).max()


@pytest.mark.parametrize(("far", "is_far"), [(8, False), (11, True)])
def test_a_magnitude_is_not_read_off_sums_that_noise_makes_in_a_thousandth_of_columns(far, is_far):
    # so many of 100 empty bins have 4 deviations of noise each: 3.2 or 4.4 deviations in the sum
    bins = Dyadic()
    values = np.random.default_rng(8).normal(0, 1, 20000)
    counts = np.bincount(bins.index(values), minlength=len(bins.edges) - 1).astype(float)
    counts[-far:] += 4 * 34.0
    event = Event("a histogram", "gaussian", 1.0, 34.0, GDP(0.1))
    low, high = Histogram(bins.edges, counts, event, false_bin=1e-5).around(0)
    assert (max(-low, high) > 8) == is_far


def test_few_rows_are_left_out_and_the_side_without_any_is():
    values = np.random.default_rng(6).lognormal(0, 3, 2000)
    ends = spans(values, Dyadic(), 4.0)
    assert np.quantile(left_out(values, ends), 0.9) <= 0.08
    assert np.mean(ends[:, 0] >= 0) >= 0.9


def test_bins_of_one_width_extend_toward_the_rows():
    values = np.r_[np.full(1500, 0.5), np.random.default_rng(7).uniform(0.6, 1.0, 500)]
    ends = spans(values, Overflowing(0.0, 1.0), 3.0)
    assert np.quantile(left_out(values, ends), 0.9) <= 0.08
    assert np.mean(ends[:, 0] >= 0.4) >= 0.9
