"""Distributions of differences, read off noisy histograms."""

import numpy as np
import pytest

from dpstats.estimators.newton.within.differences import Sizes, read_sizes, reference_of
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


def with_few_ones(pairs=20_000, ones=200):
    return np.append(np.zeros(pairs - ones), np.ones(ones))


def test_a_column_of_few_differences_has_a_unit_that_squares_are_not_cut_in():
    """A normal column keeps its root mean square; seeds are fixed."""
    for seed in range(10):
        few = read_sizes(histogram(with_few_ones(), 10.0, seed))
        assert few.scale < 0.15 and 0.4 < few.scale_within(5.0) < 0.6
        kept = few.shares @ np.minimum(few.points**2, 5.0 * few.scale_within(5.0) ** 2)
        assert kept >= 0.8 * few.scale**2
        usual = read_sizes(histogram(np.random.default_rng(seed).normal(size=20_000), 10.0, seed))
        assert usual.scale_within(5.0) == usual.scale
    zeros = read_sizes(histogram(np.zeros(20_000), 30.0))
    assert zeros.scale_within(5.0) == zeros.scale == 1


def test_differences_have_a_tail_where_they_are_of_more_than_two_values():
    """Ten fixed seeds of each kind."""
    draw, y = np.random.default_rng(1), Sizes(np.array([1.0, 2.0]), np.array([0.5, 0.5]), 0.01)
    normal, skewed = draw.normal(size=20_000), draw.lognormal(sigma=0.8, size=(2, 20_000))
    for seed in range(10):
        kinds = (normal, skewed[0] - skewed[1], with_few_ones())
        light, long, few = (read_sizes(histogram(kind, 10.0, seed)) for kind in kinds)
        assert light.tail < 1 and 3 < long.tail < 60 and few.tail == 0 and few.kurtosis > 50
    extremes = reference_of([None, long, few], y, None, 0.6).extremes
    assert extremes.tails.tolist() == [0, long.tail, 0]
    assert extremes.squared_gaps[:2].tolist() == [0, 0]
    assert 0.5 < extremes.squared_gaps[2] * few.scale**2 < 2  # they are 1 or 0, and bins wide


def test_a_tail_that_is_seen_goes_on_where_noise_hides_it():
    """About as far as differences of Student's t with three degrees of freedom lie, in the median.

    A normal column has next to none.
    """
    rng, ratios = np.random.default_rng(4), []
    for seed in range(9):
        values = rng.standard_t(3, (2, 20_000))
        long, excess = values[0] - values[1], []
        sizes = read_sizes(histogram(long, 15.0, seed))
        assert sizes.tail == sizes.far_tail >= sizes.kurtosis - 3
        assert np.sqrt((sizes.continued**2).mean()) == pytest.approx(1)
        farthest = np.abs(long).max() / long.std()
        ratios.append((sizes.continued[-1] / farthest, sizes.farthest / farthest))
        light = read_sizes(histogram(rng.normal(size=20_000), 15.0, seed))
        excess.append((light.tail, light.far_tail))
    found, seen = np.median(ratios, axis=0)
    assert 0.5 < found < 2 and seen < 0.5
    assert np.max(excess) < 0.5


def test_a_tail_is_seen_by_what_lies_nearer_than_noise_hides_it():
    """Of Student's t with three degrees of freedom, seen to 2.5 deviations; 20 fixed seeds.

    A normal column is taken for one with a tail in one of them, by a bin far out.
    """
    long = np.subtract(*np.random.default_rng(4).standard_t(3, (2, 12_000)))
    normal = np.random.default_rng(5).normal(size=12_000)
    near, seen, wrong = 0, 0, 0
    for seed in range(20):
        sizes = read_sizes(histogram(long, 50.0, seed))
        near += sizes.farthest < 2.7 and sizes.kurtosis < 3.5
        seen += sizes.farthest < 2.7 and sizes.tail > 2
        wrong += read_sizes(histogram(normal, 50.0, seed)).tail > 0
    assert seen == near >= 5 and wrong <= 1


def test_differences_lie_beyond_distances_in_the_shares_that_they_stand_for():
    """Of a normal column in units of its scale, to a bin or so; indicators have none."""
    values = np.random.default_rng(1).normal(size=20_000)
    sizes = read_sizes(histogram(values, 5.0, 1))
    half, far = sizes.beyond(np.array([0.5, 0.0455]))
    assert half == pytest.approx(0.67, rel=0.2) and far == pytest.approx(2, rel=0.2)
    assert 1 <= sizes.beyond(np.array([1e-9])) / sizes.farthest < 1.3
    y = Sizes(np.array([1.0, 2.0]), np.array([0.5, 0.5]), 0.01)
    distances = reference_of([None, sizes], y, None, 0.6).extremes.distances
    assert not distances[0].any() and (np.diff(distances[1]) >= 0).all()


def test_few_differences_are_seen_beside_zeros_from_some_deviations_on():
    """However many octaves above the first bin they are; 50 fixed seeds, 7 deviations of noise."""
    seen = [read_sizes(histogram(with_few_ones(), 200 / 7, seed)) for seed in range(50)]
    assert sum(not sizes.unseen for sizes in seen) >= 48
    nothing = [read_sizes(histogram(np.zeros(20_000), 200 / 7, seed)) for seed in range(50)]
    assert sum(not sizes.unseen for sizes in nothing) <= 1


def heavy_response(y, column, noise=3.0):
    sizes = [read_sizes(histogram(values, noise, seed)) for seed, values in enumerate((y, column))]
    return reference_of(sizes[1:], sizes[0], None, 0.4).extremes


def test_a_tail_is_as_heavy_as_the_response_shows_where_noise_hides_little():
    rng = np.random.default_rng(1)
    normal, peaked = rng.normal(size=20_000), rng.laplace(size=20_000)
    few = with_few_ones()
    shown = heavy_response(normal, few)
    assert shown.heavy == 1 and shown.y_heavy[1] < 0.2
    assert heavy_response(peaked, few).y_heavy[1] > 0.9
    # the share of far responses is hidden, or the pairs that have the large leverages are
    assert heavy_response(normal, normal, 200.0).y_heavy[1] > 0.9
    assert heavy_response(normal, with_few_ones(ones=30), 5.0).y_heavy[1] == 1
    assert heavy_response(normal, normal, 5.0).y_heavy[1] < 0.2
