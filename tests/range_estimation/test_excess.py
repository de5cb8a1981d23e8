"""What lies beyond a limit, from noisy histograms of distributions that are known."""

import numpy as np
import pytest
from scipy import stats

from dpstats.privacy import GDP, Event
from dpstats.range_estimation import Histogram, Tail
from dpstats.range_estimation.bins import Overflowing, counts
from dpstats.range_estimation.excess import tails

ROWS, DEVIATION = 50_000, 20.0


def both(values, low, high, sd, limit=(-np.inf, np.inf)) -> tuple[Tail, Tail]:
    """Tails of values from a histogram with 64 equal bins from low to high."""
    bins = Overflowing(low, high)
    (held,) = counts({"x": bins}, {"x": values})
    noisy = held + DEVIATION * np.random.default_rng(3).normal(size=len(held))
    event = Event("range of x", "gaussian", 1.0, DEVIATION, GDP(1 / DEVIATION))
    return tails(Histogram(bins.edges, noisy, event), low, high, sd, limit)


@pytest.mark.parametrize("power", [1, 2])
def test_normal_tails_are_found(power):
    values = np.random.default_rng(1).normal(size=ROWS)
    low, high = both(values, -3.0, 3.0, 1.0)
    ends = np.array([1.5, 2.0])
    wanted = [np.mean(np.maximum(values - end, 0) ** power) for end in ends]
    for tail, sign in ((high, 1), (low, -1)):
        mean, variance = tail.excess(ends - sign * tail.start, power)
        assert np.all(np.abs(mean - wanted) < 4 * np.sqrt(variance) + 0.15 * np.array(wanted))


def test_no_rows_are_seen_below_zero():
    values = np.random.default_rng(1).exponential(size=ROWS)
    values[: ROWS // 2] = 0.0
    low, high = both(values, -1.0, 4.0, 1.0)
    assert high.is_seen and not low.is_seen
    assert low.excess(np.array([0.0]), 1)[0][0] == 0


def test_tails_of_whole_numbers_in_narrow_bins_are_not_told_too_well():
    """Negative binomial counts in bins of 1/8: most bins are empty, and one has all of a number.

    Of 40 tables whose noise of 18 hides each number from 8 on, 0.95 should be held; 34 or more are
    in 99.9% of seeds.
    """
    rng, held = np.random.default_rng(4), 0
    bins = Overflowing(0.0, 8.0)
    event = Event("range of x", "gaussian", 1.0, 18.0, GDP(1 / 18))
    for _ in range(40):
        values = rng.negative_binomial(0.5, 0.2, 3000).astype(float)
        (exact,) = counts({"x": bins}, {"x": values})
        noisy = exact + 18 * rng.normal(size=len(exact))
        tail = tails(Histogram(bins.edges, noisy, event), 0.0, 8.0, 3.2, (-np.inf, np.inf))[1]
        mean, variance = tail.excess(np.array([8.0 - tail.start]), 1)
        error = np.sqrt(2 * variance + mean**2)
        held += abs(mean - np.maximum(values - 8, 0).mean())[0] <= 1.96 * error[0]
    assert held >= 34


@pytest.mark.parametrize("power", [1, 2, 3, 4])
def test_a_declared_bound_ends_a_tail(power):
    """A half-normal density cut at 1.5: its excess over 1 against numerical integration."""
    chance = np.ones(1)
    tail = Tail(0.0, chance, 0 * chance, np.array([np.sqrt(2.0)]), np.full(1, 2.0), chance, 1.5)
    tail_free = Tail(0.0, chance, 0 * chance, np.array([np.sqrt(2.0)]), np.full(1, 2.0), chance,
                     np.inf)  # fmt: skip
    d = np.abs(stats.norm.ppf((np.arange(200_000) + 0.5) / 200_000))
    for found, values in ((tail, np.minimum(d, 1.5)), (tail_free, d)):
        wanted = np.mean(np.maximum(values - 1, 0) ** power)
        assert found.excess(np.array([1.0]), power)[0][0] == pytest.approx(wanted, rel=1e-3)


def test_a_tail_is_of_the_rows_that_have_not_the_most_common_value():
    """Of a lognormal behind 85% zeros: its start is beyond the median of what is not zero."""
    rng = np.random.default_rng(2)
    values = np.where(rng.random(ROWS) < 0.85, 0.0, rng.lognormal(7, 1, ROWS))
    tail = both(values, 0.0, 4000.0, 900.0)[1]
    assert tail.start > 1100
    mean, variance = tail.excess(np.array([6000.0 - tail.start]), 1)
    wanted = np.mean(np.maximum(values - 6000, 0))
    assert abs(mean[0] - wanted) < 2 * np.sqrt(2 * variance[0] + mean[0] ** 2)
