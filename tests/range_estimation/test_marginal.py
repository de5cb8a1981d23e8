"""Distributions read off histograms: heaps, far groups, zeros."""

import numpy as np
import pytest

from dpstats.privacy import GDP, Event
from dpstats.range_estimation.bins import Dyadic, Overflowing
from dpstats.range_estimation.histogram import Histogram
from dpstats.range_estimation.marginal import (
    Marginal,
    from_histogram,
    from_quantiles,
    mostly_zero,
    rows_in,
)
from dpstats.schema import Numeric

DEVIATION = 10.0


def seen(bins, values, seed=1) -> Histogram:
    """Return the noisy histogram of values."""
    counts = np.bincount(bins.index(np.asarray(values, float)), minlength=len(bins.edges) - 1)
    noise = np.random.default_rng(seed).normal(0, DEVIATION, len(counts))
    event = Event("a histogram", "gaussian", 1.0, DEVIATION, GDP(0.1))
    return Histogram(bins.edges, counts + noise, event)


def within(values, low, high, least=-np.inf, most=np.inf) -> Marginal:
    histogram = seen(Overflowing(low, high, least, most), values)
    return from_histogram(histogram, low, high, np.isfinite(most))


def test_rows_far_beyond_the_range_are_part_of_the_deviation():
    values = np.r_[np.random.default_rng(2).normal(0, 1, 9900), np.full(100, 30.0)]
    found = within(values, -4.0, 4.0)
    assert found.sd == pytest.approx(values.std(), rel=0.15)
    assert found.high <= 4 and 0.005 < found.beyond < 0.04
    assert found.moment(4) > 30 and found.farthest > 5


def test_a_heap_within_declared_bounds_keeps_what_lies_apart_from_it():
    values = np.r_[np.zeros(4900), np.ones(100)]
    found = within(values, 0.0, 1e-4, 0.0, 1.0)
    assert found.sd == pytest.approx(values.std(), rel=0.4)
    assert found.points.max() <= 1 and found.moment(3) > 3


def test_bins_clear_of_the_noise_keep_their_rows_where_all_bins_together_have_fewer():
    """Noise below zero in empty bins leaves fewer rows than the largest bin has; 60 rows stay."""
    counts = np.r_[1440.0, np.full(18, -8.0), 60.0]
    event = Event("a histogram", "gaussian", 1.0, DEVIATION, GDP(0.1))
    histogram = Histogram(np.linspace(0.0, 1.0, 21), counts, event)
    np.testing.assert_array_equal(rows_in(histogram), np.maximum(counts, 0.0))
    found = from_histogram(histogram, 0.0, 1.0, True)
    assert found.weights[-1] == pytest.approx(0.04) and not found.is_unseen


def test_mostly_zero_columns_show_what_two_histograms_see_together():
    values = np.r_[np.zeros(9700), np.exp(np.random.default_rng(3).normal(6, 1, 300))]
    found = mostly_zero(seen(Dyadic(), values, 1), seen(Dyadic(), values, 2))
    assert not found.is_unseen and 20 < found.sd < 300
    nothing = mostly_zero(seen(Dyadic(), np.zeros(9700), 1), seen(Dyadic(), np.zeros(9700), 2))
    assert nothing.is_unseen


def test_far_rows_are_counted_from_the_median_whatever_they_do_to_the_deviation():
    """Of 9,900 normal rows 1.2% are far, and so is a group of 1%; noise of 10 a bin is known."""
    rng = np.random.default_rng(2)
    for group in (np.full(100, 30.0), np.full(100, 3e4)):
        share, noise = within(np.r_[rng.normal(0, 1, 9900), group], -4.0, 4.0).far_share
        assert noise < 0.01 and share == pytest.approx(0.0218, abs=3 * noise)
    skewed, noise = within(rng.exponential(1, 10_000), 0.0, 8.0).far_share
    assert skewed == pytest.approx(0.111, abs=3 * noise)


def test_rows_that_no_bin_shows_clear_of_the_noise_count_as_far_all_the_same():
    """Six hundred of 9,600 rows over forty bins, fifteen a bin, at noise of ten."""
    rng = np.random.default_rng(5)
    values = np.r_[rng.normal(0, 1, 9000), rng.uniform(4, 24, 600)]
    found = within(values, -8.0, 24.0, -8.0, 24.0)
    share, noise = found.far_share
    assert share == pytest.approx((np.abs(values) > 2.6).mean(), abs=3 * noise)
    assert share > 5 * noise


def test_a_column_of_mostly_one_value_has_no_deviation_to_tell_far_rows_by():
    values = np.r_[np.zeros(4900), np.ones(1100)]
    assert within(values, 0.0, 1.0, 0.0, 1.0).far_share is None
    even = Marginal(0.0, 1.0, 0.5, 0.5, np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    assert even.far_share == (0.0, 0.0)


def test_what_quantiles_say_is_widened_by_rows_seen_farther_out():
    values = np.r_[np.random.default_rng(4).normal(0, 1, 900), np.full(100, 50.0)]
    found = from_quantiles(0.0, 1.15, 6, seen(Dyadic(), values), None)
    assert found.is_rough and found.sd == pytest.approx(values.std(), rel=0.3)


def test_zeros_alone_within_declared_bounds_fill_them():
    found = from_quantiles(0.0, 0.0, 6, seen(Dyadic(), np.zeros(500)), Numeric(0.0, 20.0))
    assert found.is_unseen and (found.low, found.high) == (0.0, 20.0)


def test_points_are_moved_to_the_nearest_numbers_which_divide_their_weight():
    found = Marginal(0.0, 6.0, 3.0, 2.0, np.array([1.0, 3.0, 5.0]), np.array([0.5, 0.1, 0.4]))
    moved = found.with_points([2.0, 0.5, 4.9, 5.0, 9.0])
    assert moved.points.tolist() == [2.0, 3.0, 4.9, 5.0]
    assert moved.weights == pytest.approx([0.5, 0.1, 0.2, 0.2])
    assert found.with_points([]).points.tolist() == [1.0, 3.0, 5.0]
