"""Tails of released distributions that go on where noise hides them."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.range_estimation import LongTails
from dpstats.range_estimation.long_tails import continued, continued_sizes
from dpstats.schema import Numeric
from tests.checks.released import released

N = 20_000


def kurtosis(values: np.ndarray) -> float:
    """That of a sample, less 3."""
    return float((((values - values.mean()) / values.std()) ** 4).mean()) - 3


LAWS = {
    "lognormal, .5": lambda rng: np.exp(0.5 * rng.normal(size=N)),
    "lognormal, .8": lambda rng: np.exp(0.8 * rng.normal(size=N)),
    "exponential": lambda rng: rng.exponential(size=N),
    "on both sides": lambda rng: rng.laplace(size=N),
    "below": lambda rng: -np.exp(0.8 * rng.normal(size=N)),
    "counts": lambda rng: rng.poisson(rng.gamma(0.8, 3, N)).astype(float),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("mu", [0.12, 0.5])
def test_the_kurtosis_of_long_tails_is_found_within_a_factor(name, mu):
    """Medians over seven tables of fixed seeds; what is seen alone is too small."""
    ratios, seen = [], []
    for seed in range(7):
        values = LAWS[name](np.random.default_rng(seed))
        marginal = released(values, mu, seed=seed)
        ratios.append((kurtosis(continued(marginal, N)) + 2) / (kurtosis(values) + 2))
        seen.append((marginal.moment(4) - 1) / (kurtosis(values) + 2))
    assert np.median(seen) < 0.95
    assert max(0.75, np.median(seen)) < np.median(ratios) < 2


@pytest.mark.parametrize("values", [
    np.random.default_rng(1).normal(size=N),
    np.random.default_rng(2).uniform(size=N),
    np.random.default_rng(3).integers(1, 8, size=N).astype(float),
    np.random.default_rng(4).binomial(8, 0.1, size=N).astype(float),
])  # fmt: skip
def test_columns_without_a_long_tail_get_none(values):
    assert kurtosis(continued(released(values, 0.3), N)) < kurtosis(values) + 0.7


def test_a_power_law_reaches_as_far_as_the_rows_of_one():
    """Student's t and Pareto: the farthest of 20,000 rows, in medians of seven tables.

    The lognormal through the middle of a Pareto column reaches that far too.
    """
    for draw in (lambda rng: rng.standard_t(3, N), lambda rng: rng.pareto(3, N)):
        far = {False: [], True: []}
        for seed in range(7):
            values = draw(np.random.default_rng(seed))
            marginal = released(values, 0.3, seed=seed)
            for power, ratios in far.items():
                ratios.append(LongTails.of(marginal).values(N, power).max() / values.max())
        assert 0.75 < np.median(far[True]) < 2 and np.median(far[False]) <= np.median(far[True])
    values = np.random.default_rng(0).standard_t(3, N)
    marginal = released(values, 0.3)
    assert LongTails.of(marginal).values(N, True).max() > 1.1 * continued(marginal, N).max()


def test_a_tail_goes_no_farther_than_declared_bounds():
    values = np.exp(np.random.default_rng(5).normal(size=N))
    near = continued(released(values, 0.3, Numeric(0.0, 20.0)), N)
    assert 0 <= near.min() and near.max() == 20.0
    assert continued(released(values, 0.3), N).max() > 25


def test_no_value_is_farther_in_than_what_is_seen():
    values = np.random.default_rng(6).standard_t(3, N)
    marginal = released(values, 0.3)
    found = continued(marginal, 5000)
    plain = marginal.quantiles((np.arange(5000) + 0.5) / 5000)
    center = np.median(plain)
    assert (np.diff(found) >= 0).all()
    assert (np.abs(found - center) >= np.abs(plain - center) - 1e-9).all()
    assert found.max() > plain.max() + 1


@pytest.mark.parametrize("unit", [1e-290, 1e290])
def test_units_change_nothing(unit):
    values = np.exp(np.random.default_rng(7).normal(size=N))
    found = continued(released(values, 0.3), 1000)
    in_units = released(values, 0.3)
    seen = replace(in_units.seen, edges=in_units.seen.edges * unit)
    ends = tuple(end * unit for end in in_units.clipping)
    scaled = replace(in_units, points=in_units.points * unit, seen=seen, clipping=ends)
    assert continued(scaled, 1000) / unit == pytest.approx(found, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("unit", [1e-290, 1.0, 1e290])
def test_sizes_go_on_as_values_on_one_side_of_zero(unit):
    """As far as those of a table of Student's t, in the median of seven; fixed seeds."""
    edges, ratios = np.append(0.0, 2.0 ** (np.arange(-80, 20) / 2)), []
    for seed in range(7):
        sizes = np.sort(np.abs(np.random.default_rng(seed).standard_t(3, N)))
        counts = np.histogram(sizes, edges)[0] + np.random.default_rng(seed).normal(0, 15, 100)
        noisy = replace(released(sizes, 0.3).seen, edges=edges * unit, counts=counts)
        near = np.minimum(sizes, 6.0) * unit
        found, normal = (continued_sizes(noisy, near, power) / unit for power in (True, False))
        assert (np.diff(found) >= 0).all() and (found >= near / unit * (1 - 1e-9)).all()
        assert (found >= normal * (1 - 1e-9)).all()
        ratios.append(found.max() / sizes.max())
    assert 0.5 < np.median(ratios) < 2


def test_sizes_go_no_farther_than_declared_bounds():
    sizes = np.sort(np.abs(np.random.default_rng(5).standard_t(2, N)))
    edges = np.append(0.0, 20 * 2.0 ** (np.arange(-20, 1) / 2))
    counts = np.histogram(sizes, edges)[0] + np.random.default_rng(5).normal(0, 15, 21)
    noisy = replace(released(sizes, 0.3).seen, edges=edges, counts=counts)
    assert continued_sizes(noisy, np.minimum(sizes, 8.0), True).max() == pytest.approx(20)


def test_a_distribution_from_quantiles_is_as_it_is():
    marginal = released(np.random.default_rng(8).lognormal(size=300), 0.1)
    assert marginal.seen is None
    assert set(continued(marginal, 100)) <= set(marginal.points)
