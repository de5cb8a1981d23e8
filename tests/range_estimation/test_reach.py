"""How far a column reaches, read off noisy counts of known laws."""

import numpy as np
import pytest

from dpstats.noise import Noise, Query
from dpstats.privacy import GDP
from dpstats.range_estimation.bins import Overflowing
from dpstats.range_estimation.histogram import Histogram
from dpstats.range_estimation.reach import LIGHT, Reach, reach
from dpstats.testing import insecure_seed

LAWS = {
    "normal": (lambda g, n: g.normal(size=n), (-4, 4)),
    "uniform": (lambda g, n: g.uniform(0, 10, n), (0, 16)),
    "exponential": (lambda g, n: g.exponential(size=n), (0, 8)),
    "mostly zero": (lambda g, n: np.where(g.random(n) < 0.8, 0, g.exponential(3, n)), (0, 16)),
    "two values": (lambda g, n: (g.random(n) < 0.3) * 1.0, (0, 2)),
    "lognormal": (lambda g, n: g.lognormal(size=n), (0, 16)),
    "Student": (lambda g, n: g.standard_t(2, n), (-8, 8)),
}


def found(values, ends, deviation=15.0, seed=1) -> Reach:
    """The reach of values whose counts have noise of this deviation."""
    bins = Overflowing(*map(float, ends))
    counts = np.bincount(bins.index(values), minlength=len(bins.edges) - 1)
    limit = GDP(1 / deviation)
    with insecure_seed(seed):
        noisy = Noise(limit).add(Query("counts", counts.tolist(), l1=1, l2=1), limit)
    return reach(Histogram(bins.edges, noisy.values, noisy.event), *map(float, ends))


def sample(law, n=20_000, seed=1):
    draw, ends = LAWS[law]
    return draw(np.random.default_rng(seed), n), ends


@pytest.mark.parametrize("law", [law for law in LAWS if law not in ("lognormal", "Student")])
def test_light_tails_are_within_the_ends_and_not_far_within(law):
    for seed in range(5):
        values, ends = sample(law, seed=seed)
        reached = found(values, ends, seed=seed)
        beyond = (values < reached.low) | (values > reached.high)
        assert reached.heavy <= LIGHT and beyond.sum() <= 15
        assert reached.high - reached.low < 1.8 * (values.max() - values.min())


@pytest.mark.parametrize(
    ("law", "n"), [("lognormal", 2000), ("lognormal", 20_000), ("Student", 20_000)]
)
def test_heavy_tails_are_not_taken_for_light(law, n):
    chances = [found(*sample(law, n, seed), seed=seed).heavy for seed in range(10)]
    assert sum(chance > LIGHT for chance in chances) >= (9 if n == 20_000 else 6)


def test_few_rows_leave_the_tail_open():
    """What is not known of a tail is not taken for light: the prior has heavy ones in a third."""
    chances = [found(*sample("normal", 400, seed), seed=seed).heavy for seed in range(10)]
    assert np.median(chances) > LIGHT


def test_rows_seen_far_from_the_others_are_within_the_ends():
    values, ends = sample("normal")
    reached = found(np.append(values, np.full(200, 99.0)), ends)
    assert reached.high >= 99 and reached.low > -8


def test_counts_of_one_value_have_no_tail():
    reached = found(np.full(5000, 3.0), (0, 16))
    assert (reached.low, reached.high) == (3.0, 3.25) and reached.heavy == 0


@pytest.mark.parametrize("counts", [np.zeros(102), np.full(102, -5.0), np.full(102, 1e6)])
def test_any_counts_have_finite_ends(counts):
    bins = Overflowing(0.0, 1.0)
    limit = GDP(1.0)
    event = Noise(limit).add(Query("counts", [0], l1=1, l2=1), limit).event
    reached = reach(Histogram(bins.edges, counts, event), 0.0, 1.0)
    assert np.isfinite([reached.low, reached.high, reached.heavy]).all()
    assert reached.low <= 0.5 <= reached.high or reached.low < reached.high
