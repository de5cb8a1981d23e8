"""Sources of random integers: the floors of their words, uniform, without replacement, seeded."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpstats.noise import (
    Noise,
)
from dpstats.noise.exact_samplers import below_beginning_with
from dpstats.noise.random_sources import SeededSource, SystemSource
from dpstats.privacy import GDP, PureDP
from dpstats.testing import insecure_seed
from tests.checks.fresh_noise import ALPHA, COSTS, DRAWS, check_drawn, query_of

pytestmark = pytest.mark.system_noise


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 10**9), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=3))
def test_uniform_integers_are_the_floors_of_their_words(bound, words):
    below = below_beginning_with(iter(words), np.random.default_rng(0).bytes)
    for word in words:
        value = Fraction(word, 2**64) * bound
        assert math.floor(value) <= below(bound) <= math.floor(value + Fraction(bound, 2**64))


def test_uniform_integers_beyond_64_bits_are_uniform():
    """Mean and variance over 20,000 draws: |z| > 5 once in 10^6 times."""
    below = below_beginning_with(iter([]), np.random.default_rng(3).bytes)
    bound = 3**60
    draws = np.array([below(bound) / bound for _ in range(20_000)])
    assert abs(draws.mean() - 0.5) < 5 / math.sqrt(12 * 20_000)
    assert abs(draws.var() - 1 / 12) < 5 * math.sqrt(1 / 180 / 20_000)


def test_the_source_is_the_operating_system_unless_a_seed_is_asked_for():
    assert Noise(PureDP(1.0)).private
    assert type(Noise(PureDP(1.0))._source) is SystemSource
    with insecure_seed(1):
        assert not Noise(PureDP(1.0)).private
        with insecure_seed(2):
            assert not Noise(PureDP(1.0)).private
    with pytest.raises(ZeroDivisionError), insecure_seed(1):
        1 / 0  # noqa: B018
    assert Noise(PureDP(1.0)).private


def _seeded(seed, cost):
    with insecure_seed(seed):
        noise = Noise(cost)
    return noise.add(query_of(1.0, cost, [0] * 1000), cost).values, noise.sample(50, 5)


@pytest.mark.parametrize("cost", COSTS, ids=("laplace", "gaussian"))
def test_seeded_noise_repeats_and_has_the_stated_scale(cost):
    first, again, other = (_seeded(seed, cost) for seed in (7, 7, 8))
    assert np.array_equal(first[0], again[0]) and first[1] == again[1]
    assert not np.array_equal(first[0], other[0])
    with insecure_seed(3):
        noise = Noise(cost)
    draws = noise.add(query_of(4.0, cost, [0] * DRAWS), cost).values
    check_drawn(draws, 4.0, stats.norm() if isinstance(cost, GDP) else stats.laplace())


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 256, 257])
def test_seeded_integers_are_uniform(bound):
    source = SeededSource(5)
    counts = np.bincount([source.randbelow(bound) for _ in range(40 * bound)], minlength=bound)
    assert len(counts) == bound
    assert bound == 1 or stats.chisquare(counts).pvalue > ALPHA
