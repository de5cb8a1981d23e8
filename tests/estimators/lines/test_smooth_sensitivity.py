"""Smooth sensitivity of the median, and Student-t noise on a grid."""

import itertools
import math

import numpy as np
import pytest

from dpstats.estimators.lines.smooth_sensitivity import Listed, smooth_bound
from dpstats.noise import Noise, SmoothQuery
from dpstats.noise.exact_samplers import sample_student
from dpstats.privacy import PureDP
from dpstats.testing import insecure_seed


def median(z):
    return z[(len(z) - 1) // 2]


def by_definition(z, changes, top, t):
    """max over l of e^(-l t) times the widest window of the l-th level, without shortcuts."""
    N, m = len(z), (len(z) + 1) // 2

    def at(i):
        return 0 if i < 1 else top if i > N else z[i - 1]

    best = max(1.0, at(m + changes) - at(m), at(m) - at(m - changes))
    for level in range(1, 2 * N + 2):
        L = changes * (level + 1)
        widest = max(at(m + s) - at(m + s - L) for s in range(L + 1))
        best = max(best, widest * math.exp(-level * t))
    return best


@pytest.mark.parametrize("changes", [1, 2, 3])
def test_bound_equals_its_definition(changes):
    rng = np.random.default_rng(2)
    for _ in range(300):
        z = np.sort(rng.integers(0, 101, size=rng.integers(1, 25)).astype(np.int32))
        t = rng.choice([0.01, 0.1, 0.5, 2.0])
        assert smooth_bound(Listed(z, 100), changes, t) == pytest.approx(
            by_definition(z.tolist(), changes, 100, t), rel=1e-12
        )


@pytest.mark.parametrize(("size", "changes", "top"), [(3, 1, 4), (4, 1, 3), (5, 2, 2)])
def test_bound_is_smooth_on_every_pair_of_lists(size, changes, top):
    t = 0.3
    lists = list(itertools.combinations_with_replacement(range(top + 1), size))
    bound = {z: smooth_bound(Listed(np.array(z, np.int32), top), changes, t) for z in lists}
    tightest = [0.0, 0.0]
    for z in lists:
        for kept in itertools.combinations(z, size - changes):
            for new in itertools.combinations_with_replacement(range(top + 1), changes):
                other = tuple(sorted(kept + new))
                moved = abs(median(z) - median(other)) / bound[z]
                grown = (math.log(bound[other]) - math.log(bound[z])) / t
                assert moved <= 1 and grown <= 1 + 1e-12
                tightest = [max(tightest[0], moved), max(tightest[1], grown)]
    assert tightest == pytest.approx([1, 1])


def law(center, scale, size):
    """Exact probabilities of the rounded and clamped Student-t draw."""
    q = (np.arange(size - 1) + 0.5 - center) / scale
    below = 0.5 + (q / (1 + q * q) + np.arctan(q)) / math.pi
    return np.diff(np.r_[0.0, below, 1.0])


def test_draws_follow_student_t():
    with insecure_seed(5):
        randbelow = Noise(PureDP(1))._source.randbelow
        draws = np.clip([sample_student(7, 3.3, randbelow) for _ in range(20_000)], 0, 20)
    counts = np.bincount(draws, minlength=21)
    expected = 20_000 * law(7, 3.3, 21)
    chi2 = np.sum((counts - expected) ** 2 / expected)
    assert chi2 < 60  # 20 degrees of freedom: exceeded with probability 1e-6


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_neighbouring_laws_differ_by_at_most_epsilon(epsilon):
    """At the extremes of what a t-smooth bound allows, on the whole grid."""
    size, seen = 4001, []

    def scale_of(bound):
        return max(4 * bound / epsilon, 1.0)

    for bound in (1.0, 7.0, 150.0):
        for growth in (-1, 0, 1):
            other = max(bound * math.exp(growth * epsilon / 6), 1.0)
            shift = int(min(bound, other))
            a, b = (law(2000, scale_of(bound), size), law(2000 + shift, scale_of(other), size))
            usable = (a > 1e-11) & (b > 1e-11)
            seen.append(np.max(np.abs(np.log(a[usable] / b[usable]))))
    assert max(seen) <= epsilon * (1 + 1e-6)
    assert max(seen) > 0.5 * epsilon


def test_scale_is_calibrated_to_the_bound_and_the_event_is_public():
    asked, far = [], []

    def bound(t):
        asked.append(t)
        return 500.0

    query = SmoothQuery("step", 10**6, 2 * 10**6 + 1, bound, unit=0.5)
    with insecure_seed(1):
        for _ in range(20_000):
            noise = Noise(PureDP(2.0))
            far.append(abs(noise.smooth(query, PureDP(2.0)) - 10**6))
    assert asked[0] == pytest.approx(2 / 6)
    # E|q| = 2 / pi; the standard deviation of |q| is below 1
    assert np.mean(far) == pytest.approx(1000 * 2 / math.pi, rel=5 / math.sqrt(20_000) * 1.6)
    event = noise.events[0]
    assert (event.sensitivity, event.scale) == (10**6, pytest.approx(4e6 / 2 / math.sqrt(3)))
    assert event.cost == PureDP(2.0)


def test_every_index_is_possible_and_tiny_budgets_are_uniform():
    query = SmoothQuery("step", 0, 4, lambda t: 3.0)
    with insecure_seed(1):
        draws = [Noise(PureDP(1)).smooth(query, PureDP(1e-12)) for _ in range(2000)]
    assert np.bincount(draws, minlength=4) == pytest.approx([500] * 4, abs=110)
