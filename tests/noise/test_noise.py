"""The noise that is really drawn, and what is recorded about it.

Tests marked "fresh" draw from the operating system. Their false-alarm rates: the mean
absolute value of 10^5 draws has a relative standard deviation of 0.32% (Laplace) and
0.24% (Gaussian), so a deviation of 2% has a probability below 10^-9; chi-square tests
fail at p < 10^-6; two equal draws have a probability below 10^-9. Everything else is
exact or seeded.
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dpstats.errors import BudgetError
from dpstats.noise import Noise, Query, RankQuery, ScoreQuery, noise_grid
from dpstats.noise import noise as noise_module
from dpstats.noise.random_sources import _measurement
from dpstats.privacy import GDP, PureDP
from tests.checks.fresh_noise import (
    ALPHA,
    COSTS,
    DRAWS,
    check_coarse_grid,
    check_drawn,
    check_fresh,
    query_of,
)
from tests.checks.replay import Recorder, check_scales, run

pytestmark = pytest.mark.system_noise

# In units of 2^-40: on the fine grid, at its end, 20 bits and 103 bits up the coarse one.
SCALES = (1e-3, 1.0, 1e6, 3.0 * 2.0**62)


@pytest.mark.parametrize("cost", COSTS, ids=("laplace", "gaussian"))
@pytest.mark.parametrize("scale", SCALES)
def test_fresh_noise_has_the_recorded_scale_and_shape(scale, cost):
    check_fresh(scale, cost)


@pytest.mark.parametrize("cost", COSTS, ids=("laplace", "gaussian"))
def test_fresh_noise_differs_from_call_to_call(cost):
    query = query_of(1.0, cost, [0, 0])
    first, second = (Noise(cost).add(query, cost).values for _ in range(2))
    assert len({*first, *second}) == 4


class Probe:
    """A source that draws the same number always and keeps what it was asked for."""

    private = True

    def __init__(self, value=0):
        self.value, self.asked = value, []

    def draw(self, name, scale, size):
        self.asked.append((name, scale, size))
        return [self.value] * size


def on_grid(query, cost):
    """Name and scale of the draw, in grid units, and how many query units a grid unit is."""
    noise = Noise(cost)
    noise._source = probe = Probe(1)
    zero = Query(query.step, [0] * len(query.values), query.l1, query.l2, query.unit)
    grid_unit = noise.add(zero, cost).values[0] / query.unit
    ((name, scale, size),) = probe.asked
    assert size == len(query.values)
    return name, scale, grid_unit


@pytest.mark.parametrize("cost", COSTS, ids=("laplace", "gaussian"))
@pytest.mark.parametrize("bits", [0, 30, 41, 60, 62, 80, 200])
@pytest.mark.parametrize("size", [1, 6])
def test_opendp_derives_the_cost_we_record(cost, bits, size):
    """OpenDP's own map, from the whole sensitivity on the grid to epsilon or to mu^2 / 2."""
    whole = (1 << bits) + 1
    query = Query("step", [0] * size, l1=whole, l2=whole)
    name, scale, grid_unit = on_grid(query, cost)
    moved = whole / grid_unit
    if grid_unit > 1:
        moved += size if name == "laplace" else math.sqrt(size)
    assert 2.0**40 <= scale <= 2.0**41 * (1 + 1e-6)
    if name == "laplace":
        mapped, recorded = _measurement(name, scale).map(math.floor(moved)), cost.epsilon
    else:
        mapped, recorded = _measurement(name, scale).map(moved), cost.mu**2 / 2
    assert recorded * (1 - 1e-6) <= mapped <= recorded


def test_rounding_to_the_noise_grid_is_in_the_sensitivity(monkeypatch):
    monkeypatch.setattr(noise_grid, "_SCALE_BITS", 3)
    check_coarse_grid()


@pytest.mark.parametrize("shift", [-6, -1, 0, 1, 6])
def test_values_reach_the_grid_unchanged_or_rounded_down(shift):
    scale = 1.5 * 2.0 ** (40 - shift)
    values = [-129, -1, 0, 1, 127, 1 << 90]
    query = Query("step", values, l1=1.0, unit=0.25)
    found, _, unit = noise_module.on_noise_grid(query, scale, 1.0, False)
    assert unit == 0.25 / 2.0**shift
    assert found.tolist() == [
        math.floor(v * 2**shift) if shift >= 0 else v // 2**-shift for v in values
    ]


def test_noise_is_added_to_the_values_in_their_units():
    noise = Noise(PureDP(1.0))
    noise._source = Probe(0)
    values = [-3, 0, 5, 1 << 60]
    released = noise.add(Query("step", values, l1=2.0, unit=0.5), PureDP(1.0)).values
    assert released.tolist() == [v * 0.5 for v in values]


def test_events_say_what_was_drawn():
    noise = Noise(PureDP(1.0))
    noise.add(Query("sum", [1, 2], l1=3.0, unit=0.5), PureDP(0.25))
    noise.choose(RankQuery("median", lambda i: 2 - i, 5, 4), PureDP(0.75))
    added, chosen = noise.events
    assert (added.step, added.mechanism, added.sensitivity) == ("sum", "laplace", 1.5)
    assert added.scale == pytest.approx(1.5 / 0.25) and added.cost == PureDP(0.25)
    assert (chosen.step, chosen.mechanism, chosen.sensitivity) == ("median", "exponential", 4)
    assert chosen.scale == pytest.approx(2 * 4 / 0.75) and chosen.cost == PureDP(0.75)
    gaussian = Noise(GDP(2.0))
    gaussian.add(Query("sum", [1], l2=3.0, unit=0.5), GDP(2.0))
    (event,) = gaussian.events
    assert (event.mechanism, event.sensitivity) == ("gaussian", 1.5)
    assert event.scale == pytest.approx(0.75)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 50.0, 1e4])
@pytest.mark.parametrize("sensitivity", [1, 2, 1998])
def test_a_choice_falls_off_at_epsilon_over_twice_the_sensitivity(epsilon, sensitivity):
    query = RankQuery("median", lambda i: -i, 9, sensitivity)
    transcript = run(lambda noise: noise.choose(query, PureDP(epsilon)), PureDP(epsilon))
    assert transcript.asked[0].spread <= epsilon / (2 * sensitivity)
    if epsilon > 1e-4:
        check_scales(transcript)


def test_an_epsilon_below_the_error_of_the_weights_chooses_uniformly():
    query = RankQuery("median", lambda i: -i, 9, 1)
    transcript = run(lambda noise: noise.choose(query, PureDP(2.0**-37)), PureDP(1.0))
    assert transcript.asked[0].spread == 0.0


RANK = RankQuery("median", lambda i: -i, 3, 1)
SUM = Query("sum", [0], l1=1.0, l2=1.0)


@pytest.mark.parametrize(
    ("limit", "costs"),
    [
        (PureDP(1.0), [PureDP(1.1)]),
        (PureDP(1.0), [PureDP(0.5), PureDP(0.5), PureDP(1e-9)]),
        (PureDP(1.0), [GDP(0.001)]),
        (GDP(1.0), [GDP(1.1)]),
        (GDP(1.0), [GDP(0.8), GDP(0.7)]),
        (GDP(1.0), [PureDP(0.001)]),
        (PureDP(1.0), [PureDP(math.nan)]),
    ],
)
def test_what_exceeds_the_limit_is_refused_before_it_is_drawn(limit, costs):
    noise = Noise(limit)
    noise._source = probe = Probe(0)
    for cost in costs[:-1]:
        noise.add(SUM, cost)
    with pytest.raises(BudgetError, match="would exceed the limit"):
        noise.add(SUM, costs[-1])
    assert len(noise.events) == len(probe.asked) == len(costs) - 1


def test_an_overspending_choice_is_refused():
    noise = Noise(PureDP(1.0))
    noise.choose(RANK, PureDP(1.0))
    with pytest.raises(BudgetError):
        noise.choose(RANK, PureDP(1e-6))


def test_a_query_without_the_bound_for_its_noise_is_not_released():
    with pytest.raises(TypeError):
        Noise(PureDP(1.0)).add(Query("sum", [0], l2=1.0), PureDP(1.0))
    with pytest.raises(TypeError):
        Noise(GDP(1.0)).add(Query("sum", [0], l1=1.0), GDP(1.0))


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("field", ["l1", "l2", "unit"])
def test_a_sensitivity_that_is_not_positive_and_finite_is_refused_before_it_is_drawn(field, bad):
    noise = Noise(PureDP(1.0) if field == "l1" else GDP(1.0))
    noise._source = probe = Probe(0)
    with pytest.raises(TypeError, match="positive and finite"):
        noise.add(replace(SUM, **{field: bad}), noise.limit)
    assert not noise.events and not probe.asked


@pytest.mark.parametrize("bad", [-1.0, math.inf, math.nan])
def test_choices_and_costs_without_a_scale_are_refused(bad):
    noise = Noise(GDP(1.0))
    with pytest.raises(TypeError, match="positive and finite"):
        noise.best(ScoreQuery("term", [0, 1], spread=bad), GDP(1.0))
    with pytest.raises(TypeError, match="positive and finite"):
        noise.add(SUM, GDP(-1.0))
    with pytest.raises(TypeError, match="positive and finite"):
        Noise(PureDP(1.0)).choose(replace(RANK, sensitivity=bad), PureDP(1.0))


class Script:
    """A source of given integers, and the bounds they were asked below."""

    private = True

    def __init__(self, integers):
        self.integers, self.bounds = list(integers), []

    def randbelow(self, bound):
        self.bounds.append(bound)
        return self.integers.pop(0)


@pytest.mark.parametrize(("population", "size"), [(1, 1), (5, 1), (5, 3), (4, 4), (6, 2)])
def test_samples_are_uniform_without_replacement(population, size):
    """Every sequence of integers the source can give, so the distribution is exact."""
    tops = [range(population - size + i + 1) for i in range(size)]
    counts = dict.fromkeys(itertools.combinations(range(population), size), 0)
    for integers in itertools.product(*tops):
        noise = Noise(PureDP(1.0))
        noise._source = script = Script(integers)
        counts[tuple(sorted(noise.sample(population, size)))] += 1
        assert script.bounds == [len(top) for top in tops]
    assert len(set(counts.values())) == 1 and not noise.events


def test_fresh_samples_are_uniform():
    noise = Noise(PureDP(1.0))
    counts = np.zeros(40)
    for _ in range(2000):
        counts[noise.sample(40, 8)] += 1
    expected = 2000 * 8 / 40
    # Draws without replacement vary less than independent ones by the factor 32 / 39.
    statistic = ((counts - expected) ** 2 / expected).sum() / (32 / 39)
    assert stats.chi2(39).sf(statistic) > ALPHA


def test_keys_have_64_bits():
    """Of 200 keys none is drawn twice, and each bit is set in some and not in others."""
    keys = [Noise(GDP(1.0)).key() for _ in range(200)]
    assert len(set(keys)) == 200 and max(keys) < 2**64
    assert all({key >> bit & 1 for key in keys} == {0, 1} for bit in range(64))


def test_a_recorder_answers_with_the_noise_it_measures():
    """The harness itself: answers of the replay check are distributed as stated."""
    query = query_of(2.0, PureDP(0.5), [0] * DRAWS)
    draws = Recorder(PureDP(0.5)).add(query, PureDP(0.5)).values
    check_drawn(draws, 2.0, stats.laplace())
