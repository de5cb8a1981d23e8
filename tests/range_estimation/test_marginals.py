"""Distributions of columns: each query moves as stated, the cost is split, shapes are right."""

import numpy as np
import pytest

from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE
from dpstats.schema import Numeric
from dpstats.testing import insecure_seed
from tests.checks.marginals import DECLARED, LIMIT, check_marginals, columns, marginals
from tests.checks.replay import run


def test_no_row_moves_a_query_further_than_stated():
    check_marginals()


@pytest.mark.parametrize("n", [0, 40, 4000])
def test_a_column_spends_its_part_at_most_and_the_response_twice_as_much(n):
    events = run(marginals(columns(n), LIMIT, REPLACE_ONE), LIMIT).asked
    spent = {name: 0.0 for name in DECLARED}
    for asked in events:
        spent[asked.step.split(" of ")[-1]] += asked.event.cost.mu**2 / LIMIT.mu**2
    assert spent["y"] == pytest.approx(2 / 6)
    for name in set(DECLARED) - {"y"}:
        assert spent[name] == pytest.approx(1 / 6)


def estimated(data, limits=DECLARED, seed=1, epsilon=8.0):
    limit = GDP.of(epsilon, 1e-6)
    with insecure_seed(seed):
        return marginals(data, limit, REPLACE_ONE, limits)(Noise(limit))


def test_mean_deviation_and_range_are_near_those_of_the_columns():
    data = columns(20_000)
    found = estimated(data)
    for name in ("a", "b", "year", "within"):
        values, marginal = data[name], found[name]
        assert abs(marginal.mean - values.mean()) < 0.2 * values.std(), name
        assert marginal.sd == pytest.approx(values.std(), rel=0.2), name
        outside = (values < marginal.low) | (values > marginal.high)
        assert outside.mean() < 0.05 and not marginal.is_rough, name
        assert marginal.weights.sum() == pytest.approx(1)
        assert marginal.weights @ marginal.points == pytest.approx(marginal.mean, abs=values.std())


def test_a_range_stays_within_declared_bounds_whatever_their_width():
    for bounds in ((19, 21), (-5, 50), (-1e6, 1e6), (100, 200), (20, np.nextafter(20, 21))):
        limits = DECLARED | {"within": Numeric(*map(float, bounds))}
        for n in (0, 40, 4000):
            found = estimated(columns(n), limits)["within"]
            assert bounds[0] <= found.low < found.high <= bounds[1]
            assert 0 < found.sd <= bounds[1] - bounds[0]


@pytest.mark.parametrize("n", [0, 1, 40, 4000])
@pytest.mark.parametrize("value", [0.0, 1e300, -np.inf, 7.0, 5e-324])
def test_every_column_has_a_distribution(n, value):
    data = dict.fromkeys(DECLARED, np.full(n, value))
    for seed in range(4):
        for name, found in estimated(data, seed=seed, epsilon=1.0).items():
            numbers = [found.low, found.high, found.mean, found.sd, *found.points, *found.weights]
            assert np.isfinite(numbers).all(), name
            assert found.low < found.high and found.sd > 0


def test_a_column_between_minus_one_and_one_is_no_column_of_zeros():
    """The range that columns of zeros are given is that of these by chance."""
    data = {"x": np.random.default_rng(1).uniform(-1, 1, 20_000), "y": np.zeros(20_000)}
    found = estimated(data, dict.fromkeys(data))["x"]
    assert np.histogram(found.points, np.linspace(-1, 1, 11), weights=found.weights)[0] == (
        pytest.approx(np.full(10, 0.1), abs=0.02)
    )


def test_few_rows_are_described_by_two_quantiles():
    found = estimated(columns(40), epsilon=1.0)
    assert all(marginal.is_rough or marginal.is_unseen for marginal in found.values())
    assert sum(marginal.is_rough for marginal in found.values()) >= 3


@pytest.mark.parametrize(("n", "least", "most"), [(100, 0.6, 1.0), (1500, 0.0, 0.1)])
def test_two_quantiles_of_few_rows_are_clipped_closer(n, least, most):
    """At 6 deviations where a fit shows no interval, else at 1,024; their number is noisy."""
    cost, generator = GDP.of(0.5, 1e-6), np.random.default_rng(9)
    names = [*(f"x{j}" for j in range(6)), "y"]
    data, close = {name: generator.normal(size=n) for name in names}, 0
    for seed in range(40):
        with insecure_seed(seed):
            found = marginals(data, cost, ADD_REMOVE, dict.fromkeys(names))(Noise(cost))["x0"]
        deviations = (found.clipping[1] - found.mean) / found.sd
        assert (found.is_rough or found.is_unseen) and round(deviations, 6) in (6, 1024)
        close += deviations < 10
    assert least <= close / 40 <= most


@pytest.mark.parametrize("unit", [1.0, 2.0**-20, 2.0**20])
def test_where_rows_say_nothing_a_bounded_column_fills_part_of_its_bounds(unit):
    """Over 60 draws of noise alone, in whatever unit it is measured."""
    limits = {"x": Numeric(-unit, unit), "y": None}
    cost, nothing = GDP.of(0.1, 1e-6), {"x": np.zeros(0), "y": np.zeros(0)}
    found = []
    for seed in range(60):
        with insecure_seed(seed):
            found.append(marginals(nothing, cost, ADD_REMOVE, limits)(Noise(cost))["x"])
    assert sum(abs(marginal.mean) == unit for marginal in found) <= 6
    assert 0.01 < np.median([marginal.sd for marginal in found]) / unit < 0.8


def test_a_column_spread_thinly_over_declared_bounds_is_not_clipped():
    """A histogram that is barely read shows one or two of its bins, which 3 seeds zoomed in on."""
    generator, cost = np.random.default_rng(8), GDP.of(0.45, 1e-6)
    data = {"x": generator.integers(8, 21, 1500).astype(float), "y": generator.normal(size=1500)}
    limits = {"x": Numeric(8.0, 20.0), "y": None}
    estimate = marginals(data, cost, ADD_REMOVE, limits)
    for seed in range(400):
        with insecure_seed(seed):
            low, high = estimate(Noise(cost))["x"].clipping
        assert low <= 8 and high >= 20, f"seed {seed}: {low:.3g} to {high:.3g}"


@pytest.mark.parametrize("n", [2000, 400_000])
def test_values_are_clipped_far_beyond_all_that_is_seen(n):
    """A closer limit would make another regression of it, which intervals are not about."""
    generator, cost = np.random.default_rng(8), GDP(0.2)
    data = {"x": generator.normal(size=n), "y": generator.normal(size=n)}
    with insecure_seed(1):
        found = marginals(data, cost, ADD_REMOVE, {"x": None, "y": None})(Noise(cost))["x"]
    assert not found.is_rough
    assert found.clipping[1] - found.mean == pytest.approx(1024 * found.sd)


@pytest.mark.parametrize("epsilon", [0.3, 0.5, 1.0])
def test_where_one_value_hides_the_others_there_is_no_small_scale(epsilon):
    """2% of ones within bounds, and 5% of values far from zero without; 60 seeds each.

    Zooming in on the zeros gave scales of 1e-10, and intervals as short.
    """
    generator, cost = np.random.default_rng(8), GDP.of(0.4 * epsilon, 1e-6)
    ones = (generator.random(10_000) < 0.02) * 1.0
    few = (generator.random(10_000) < 0.05) * np.exp(generator.normal(7, 1, 10_000))
    limits = {"x": None, "y": Numeric(0.0, 1.0)}
    estimate = marginals({"x": few, "y": ones}, cost, ADD_REMOVE, limits)
    for seed in range(60):
        with insecure_seed(seed):
            found = estimate(Noise(cost))
        assert found["x"].is_unseen or found["x"].sd > 1, f"seed {seed}: {found['x'].sd}"
        assert found["y"].is_unseen or found["y"].sd > 0.01, f"seed {seed}: {found['y'].sd}"


@pytest.mark.parametrize("end", [1.0, 2.0])
def test_most_rows_at_an_end_of_the_bounds_are_no_scale(end):
    """A median there is a value, so distances from it begin at zero, as from a median of zero.

    Of 60 seeds most gave scales of 1e-12 here, which hid a tenth of the rows beside those at the
    end, and slopes were 16 standard errors off.
    """
    cost = GDP.of(1.0, 1e-6).part(0.03)
    data = {"x": np.repeat([end, end - 1], [900, 100])}
    estimate = marginals(data, cost, ADD_REMOVE, {"x": Numeric(end - 1, end)})
    for seed in range(60):
        with insecure_seed(seed):
            found = estimate(Noise(cost))["x"].sd
        assert found > 0.1, f"seed {seed}: {found}"


def test_noise_in_a_bin_beside_one_value_is_no_scale():
    """Of 3,500 seeds these gave scales of 3e-9; ones in a hundredth of the rows are hidden."""
    ones, cost = (np.arange(3000) < 30) * 1.0, GDP(0.06)
    estimate = marginals({"y": ones}, cost, ADD_REMOVE, {"y": Numeric(0.0, 1.0)})
    for seed in (844, 1292, 2096, 2595, 3066):
        with insecure_seed(seed):
            assert estimate(Noise(cost))["y"].is_unseen, f"seed {seed}"


def test_a_column_of_one_value_keeps_its_order_of_magnitude():
    found = estimated({name: np.full(4000, 20.0) for name in DECLARED})
    for name, limit in DECLARED.items():
        low, high = (16.0, 32.0) if limit is None else (limit.low, limit.high)
        assert found[name].is_unseen and (found[name].low, found[name].high) == (low, high), name


@pytest.mark.parametrize(("limit", "mu"), [(None, 0.08), (Numeric(1900.0, 2100.0), 0.05)])
def test_few_rows_far_from_zero_have_a_scale_of_their_own(limit, mu):
    """The bin of a median of years is 128 wide; scales were 12 times what they are, or 3."""
    cost, years = GDP(mu), np.random.default_rng(1).integers(2000, 2016, 1000).astype(float)
    assert years.std() == pytest.approx(4.6, abs=0.1)
    estimate, found = marginals({"x": years}, cost, ADD_REMOVE, {"x": limit}), []
    for seed in range(40):
        with insecure_seed(seed):
            found.append(estimate(Noise(cost))["x"])
    assert all(marginal.is_rough for marginal in found)
    assert np.mean([2 < marginal.sd < 10 for marginal in found]) > 0.9


@pytest.mark.parametrize("share", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("codes", [(0.0, 1.0), (2.0, 1.0), (5.0, 3.0)])
def test_where_most_rows_have_one_code_its_bin_is_no_scale(codes, share):
    """That of 1 is an eighth wide; nine scales of ten were a fifth of the deviation of 90% ones."""
    cost, rng, found = GDP(0.08), np.random.default_rng(1), []
    values = np.where(rng.random(1000) < share, codes[1], codes[0])
    estimate = marginals({"x": values}, cost, ADD_REMOVE, {"x": None})
    for seed in range(60):
        with insecure_seed(seed):
            found.append(estimate(Noise(cost))["x"].sd / values.std())
    assert min(found) > 0.03 and np.quantile(found, 0.25) > 0.5, np.quantile(found, [0, 0.25, 0.5])


def test_one_frequent_number_far_from_zero_is_no_scale():
    """Where 85% are 2000 a scale is no less than 3, wherever noise looks."""
    cost, rng = GDP(0.08), np.random.default_rng(1)
    values = 2000 + (rng.random(1000) < 0.15) * rng.choice([-500.0, 500.0], 1000)
    for seed in range(40):
        with insecure_seed(seed):
            found = marginals({"x": values}, cost, ADD_REMOVE, {"x": None})(Noise(cost))["x"]
        assert found.sd > 3, f"seed {seed}: {found.sd}"


@pytest.mark.parametrize(("center", "sd"), [(10.0, 0.3), (1.05, 0.03), (98.0, 1.0), (5e-3, 3e-4)])
def test_few_rows_close_together_have_a_scale_of_their_own(center, sd):
    """Half the bin of their median, twice their deviation, was the least scale there was."""
    cost, found = GDP(0.08), []
    values = np.random.default_rng(1).normal(center, sd, 1000)
    estimate = marginals({"x": values}, cost, ADD_REMOVE, {"x": None})
    for seed in range(40):
        with insecure_seed(seed):
            found.append(estimate(Noise(cost))["x"].sd / sd)
    assert np.mean([0.8 < ratio < 1.5 for ratio in found]) > 0.9, np.quantile(found, [0, 0.5, 1])


def test_no_scale_lies_where_a_histogram_shows_no_rows():
    """Of 1,500 seeds these gave scales of 9 to 3e9 for a normal column, as many bins compete."""
    cost, values = GDP(0.05), np.random.default_rng(1).normal(0, 1, 1000)
    estimate = marginals({"x": values}, cost, ADD_REMOVE, {"x": None})
    for seed in (172, 335, 399, 470, 485, 581, 750, 888, 947, 1198, 1301):
        with insecure_seed(seed):
            found = estimate(Noise(cost))["x"]
        assert found.is_rough and 0.4 < found.sd < 1.6, f"seed {seed}: {found.sd}"


def test_a_tenth_of_ones_beside_zeros_keeps_a_scale():
    """Most rows have the center itself there, so that few are to be seen beyond any distance."""
    cost, ones = GDP(0.05), (np.arange(1000) < 100) * 1.0
    estimate = marginals({"x": ones}, cost, ADD_REMOVE, {"x": None})
    for seed in range(200):
        with insecure_seed(seed):
            found = estimate(Noise(cost))["x"]
        assert found.is_unseen or found.sd < 10, f"seed {seed}: {found.sd}"
