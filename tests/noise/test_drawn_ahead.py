"""Noise drawn ahead: each number once, of the right scale, and nothing ahead for one request."""

import itertools
import sys
from contextlib import suppress

import numpy as np
import pytest

from dpstats.noise import Noise, Query, drawn_ahead
from dpstats.noise.drawn_ahead import DrawnAhead
from dpstats.noise.random_sources import SOURCE, SystemSource
from dpstats.privacy import GDP, PureDP
from dpstats.testing import insecure_seed
from tests.checks.drawn_ahead import Counting, check_handed_out_once
from tests.checks.interrupts import Interrupting

pytestmark = pytest.mark.system_noise


@pytest.fixture
def numbered(monkeypatch):
    """A source that counts up, and what it was asked for."""
    counting = Counting()
    monkeypatch.setattr(SystemSource, "draw", counting.draw)
    return counting.asked


def test_each_number_is_handed_out_once():
    check_handed_out_once()


def test_what_is_asked_for_once_is_drawn_once(numbered):
    source = DrawnAhead()
    for scale in range(1, 30):
        assert len(source.draw("gaussian", float(scale), 5)) == 5
    assert [size for _, _, size in numbered] == [5] * 29


def test_sizes_may_differ_and_be_nothing(numbered):
    source = DrawnAhead()
    sizes = [3, 0, 7, 1, 40, 2, 0, 5]
    drawn = [source.draw("gaussian", 1.0, size) for size in sizes]
    assert [len(own) for own in drawn] == sizes
    assert len({number for own in drawn for number in own}) == sum(sizes)
    assert numbered


def test_spherical_noise_has_a_scale_of_its_own_each_time(numbered):
    source = DrawnAhead()
    for _ in range(5):
        source.draw("spherical", 1.0, 6)
    assert numbered == [("spherical", 1.0, 6)] * 5


def test_noise_of_a_release_has_its_deviation():
    """The share of 6,000 draws within a deviation; false alarms at 5 sigma, 6e-7 a run."""
    for cost, within in ((GDP(0.5), 0.6827), (PureDP(0.5), 1 - np.exp(-1))):
        with drawn_ahead():
            noise = [Noise(cost) for _ in range(2000)]
            drawn = [one.add(Query("q", [0, 0, 0], 1.0, 1.0), cost).values for one in noise]
        share = (np.abs(np.concatenate(drawn)) < 2.0).mean()
        assert abs(share - within) < 5 * np.sqrt(within * (1 - within) / 6000)


def test_it_ends_with_the_context_and_leaves_seeds_alone():
    before = SOURCE.get()
    with drawn_ahead():
        assert isinstance(SOURCE.get(), DrawnAhead) and SOURCE.get().private
    assert SOURCE.get() is before
    with insecure_seed(1):
        seeded = SOURCE.get()
        with drawn_ahead():
            assert SOURCE.get() is seeded


@pytest.mark.parametrize("other", [drawn_ahead, lambda: insecure_seed(1)])
def test_an_interrupt_as_it_begins_leaves_the_source(other):
    """What stayed behind had noise drawn ahead for others, or that of a seed."""
    before = SOURCE.get()
    for n in itertools.count(1):
        with suppress(KeyboardInterrupt), Interrupting(n):
            with other():
                sys.settrace(None)
                break
        assert SOURCE.get() is before, f"line {n}"
    assert n > 3
