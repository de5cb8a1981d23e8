"""Distributions of differences, read off noisy histograms."""

import numpy as np
import pytest

from dpstats.estimators.newton.differences import Sizes, read_sizes, reference_of
from dpstats.privacy import GDP, Event
from dpstats.range_estimation import Histogram

EDGES = np.append(0.0, 2.0 ** (np.arange(-80, 103) / 2))


def histogram(values, noise, seed=0) -> Histogram:
    """A noisy histogram of the sizes of these."""
    counts = np.histogram(np.abs(values), EDGES)[0]
    noisy = counts + np.random.default_rng(seed).normal(0, noise, len(counts))
    return Histogram(EDGES, noisy, Event("", "gaussian", 1.0, noise, GDP(1.0)), 1e-5)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_scale_is_about_the_root_mean_square_whatever_the_unit(unit):
    """Fixed seeds; the bins are half an octave wide."""
    values = np.random.default_rng(1).normal(size=20_000) * unit
    for seed in range(20):
        sizes = read_sizes(histogram(values, 30.0, seed))
        assert not sizes.rough and 0.9 * unit < sizes.scale < 1.15 * unit
        assert sizes.farthest < 6 and 2 < sizes.kurtosis < 4.5


def test_rows_far_out_are_seen_and_make_a_tail_likely():
    values = np.append(np.random.default_rng(1).normal(size=20_000), np.full(400, 500.0))
    sizes = read_sizes(histogram(values, 30.0))
    assert sizes.farthest * sizes.scale > 300
    assert reference_of([], sizes, None, 0.4).extremes.heavy == 1


def test_noise_alone_gives_a_rough_scale_near_one():
    """Where no bin stands out sizes near 1 are likelier; 50 fixed seeds."""
    scales = [read_sizes(histogram(np.zeros(0), 30.0, seed)) for seed in range(50)]
    assert all(sizes.rough for sizes in scales)
    assert np.median(np.abs(np.log([sizes.scale for sizes in scales]))) < 10


def test_zeros_alone_have_the_scale_one():
    sizes = read_sizes(histogram(np.zeros(20_000), 30.0))
    assert sizes.unseen and sizes.scale == 1 and np.isfinite(sizes.kurtosis)


def test_indicators_have_a_scale_of_their_own():
    y = Sizes(np.array([1.0, 2.0]), np.array([0.5, 0.5]), 0.01)
    reference = reference_of([None, y], y, 4.0, 0.6)
    assert np.diag(reference.root).tolist() == pytest.approx([0.6, 2.5**0.5])
    assert reference.extremes.y_most == pytest.approx(4 / 2.5**0.5)
    assert reference.y_center == 0 and reference.center.tolist() == [0, 0]
