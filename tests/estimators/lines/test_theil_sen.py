"""Theil-Sen with three private medians: sensitivity, calibration, accuracy, degenerate data."""

import math

import numpy as np
import pytest

from dpstats import simulate
from dpstats.errors import ArgumentError
from dpstats.estimators import METHODS
from dpstats.estimators.lines.pairwise import all_pairs_imbalance, pairs_imbalance, pairs_of
from dpstats.noise import Noise
from dpstats.privacy import PureDP
from dpstats.testing import insecure_seed
from tests.checks.recording import fit, line_data

ALL = ["exp_theil_sen", "wide_theil_sen", "ss_theil_sen"]
RANKED = ALL[:2]
ONE = 1 << 24


def queries(method, x, y, **options):
    return fit(method, x, y, seed=4, **options)[1].queries


def grid_imbalances(query, points):
    return np.array([query.imbalance(int(i)) for i in points])


def predictions(x, y, x_new):
    """Values at x_new of the lines through all pairs of rows of different x."""
    j, l = np.triu_indices(len(x), 1)
    apart = x[j] != x[l]
    j, l = j[apart], l[apart]
    return y[j] + (y[l] - y[j]) * ((x_new - x[j]) / (x[l] - x[j]))


def tied_line(n, seed):
    """Rows with many equal x, one of them at x_new."""
    x, y = line_data(n, seed)
    return np.round(x * 8) / 8, np.round(y * 16) / 16


@pytest.mark.parametrize("k", [1, 3, "all"])
@pytest.mark.parametrize("method", RANKED)
@pytest.mark.parametrize("n", [2, 7, 8])
def test_no_replaced_row_moves_a_rank_by_more_than_the_sensitivity(method, n, k):
    rng = np.random.default_rng(n)
    for _ in range(25):
        x, y = tied_line(n, rng.integers(10**6))
        row = rng.integers(n)
        others = x.copy(), y.copy()
        others[0][row], others[1][row] = rng.integers(0, 9) / 8, rng.uniform(-1, 2)
        before, after = (queries(method, *table, k=k) for table in ((x, y), others))
        assert len(before) == 2
        points = rng.integers(0, before[0].size, size=40)
        for a, b in zip(before, after, strict=True):
            assert a.sensitivity == 2 * min(n - 1, n - 1 if k == "all" else k)
            values = grid_imbalances(a, points), grid_imbalances(b, points)
            assert np.max(np.abs(values[0] - values[1])) <= a.sensitivity


@pytest.mark.parametrize(("method", "r"), [("exp_theil_sen", 0.5), ("wide_theil_sen", 0.48)])
def test_a_steep_row_moves_a_rank_by_the_whole_sensitivity(method, r):
    """One row above or below all others turns all its lines over."""
    x, y = np.linspace(0, 0.2, 11), np.full(11, 0.5)
    high, low = ((np.r_[x, 0.25], np.r_[y, value]) for value in (1.0, 0.0))
    index = np.array([int((r + 0.5) * ONE)])  # the output range starts at -0.5
    a, b = (queries(method, *table, k="all")[0] for table in (high, low))
    moved = grid_imbalances(a, index) - grid_imbalances(b, index)
    assert moved[0] == a.sensitivity == 22


@pytest.mark.parametrize("k", [1, 2, "all"])
@pytest.mark.parametrize("n", [6, 7])
def test_smooth_queries_of_neighbours_stay_within_their_bounds(n, k):
    rng = np.random.default_rng(n)
    t = 0.2
    for _ in range(60):
        x, y = tied_line(n, rng.integers(10**6))
        row = rng.integers(n)
        others = x.copy(), y.copy()
        others[0][row], others[1][row] = rng.integers(0, 9) / 8, rng.uniform(-1, 2)
        before, after = (queries("ss_theil_sen", *table, k=k) for table in ((x, y), others))
        assert len(before) == 2
        for a, b in zip(before, after, strict=True):
            assert abs(a.index - b.index) <= min(a.bound(t), b.bound(t))
            assert abs(math.log(a.bound(t) / b.bound(t))) <= t * (1 + 1e-12)


def test_smooth_bounds_are_reached():
    # four pairs of k = 1 predict 0.2, 0.4, 0.6, 0.8 at x_new; the lowest moves to the top
    n = 8
    with insecure_seed(4):
        pairs = pairs_of(n, 1, Noise(PureDP(1)))
    x, y = np.zeros(n), np.zeros(n)
    x[pairs[:, 1]] = 1.0
    y[pairs] = np.array([0.2, 0.4, 0.6, 0.8])[:, None]
    above = y.copy()
    above[pairs[0, 0]] = 1.0  # at x_new = 0 its line now starts at 1
    a, b = (queries("ss_theil_sen", x, v, k=1, x_new=[0.0])[0] for v in (y, above))
    assert abs(a.index - b.index) == pytest.approx(a.bound(20.0), rel=1e-6)
    # all predictions equal: every row moved to an end lets the bound grow by e^t
    narrow = dict(k=1, x_new=[0.0], output_range=(0, 1))
    y[:] = 0.5
    above = y.copy()
    above[pairs[0, 0]] = 1.0
    a, b = (queries("ss_theil_sen", x, v, **narrow)[0] for v in (y, above))
    assert math.log(b.bound(0.1) / a.bound(0.1)) == pytest.approx(0.1)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("x_new", [(0.5,), (0.25, 0.75), (0.0, 0.3, 1.0)])
def test_prediction_points_share_the_budget(method, x_new):
    _, noise = fit(method, *line_data(30), epsilon=3.0, x_new=x_new)
    assert [e.cost.epsilon for e in noise.events] == pytest.approx([3 / len(x_new)] * len(x_new))


def test_all_pairs_count_what_a_list_of_pairs_counts():
    rng = np.random.default_rng(5)
    for n in (2, 3, 9, 40):
        x, y = ((np.round(v * 8) / 8 * ONE).astype(np.int64) for v in line_data(n, n))
        pairs = pairs_of(n, n - 1, None)
        for x_new in (0, ONE // 4, ONE // 8 * 3):
            whole, listed = all_pairs_imbalance(x, y, x_new), pairs_imbalance(x, y, x_new, pairs)
            for r in rng.integers(-ONE, 2 * ONE, size=20):
                assert whole(int(r)) == listed(int(r))


@pytest.mark.parametrize("n", [2, 3, 4, 7, 10])
def test_each_row_is_in_at_most_k_pairs_and_no_pair_comes_twice(n):
    with insecure_seed(n):
        for k in range(1, n):
            pairs = pairs_of(n, k, Noise(PureDP(1)))
            assert np.bincount(pairs.ravel(), minlength=n).max() <= k
            assert len(pairs) == (k * (n // 2) if k < n - 1 else n * (n - 1) // 2)
            assert len({frozenset(pair) for pair in pairs.tolist()}) == len(pairs)
            assert all(j != l for j, l in pairs.tolist())


@pytest.mark.parametrize("theta", [0.01, 0.05])
def test_widened_median_on_an_exact_line_has_its_stated_law(theta):
    """J is 0 within theta of the line and N outside, so the odds are known."""
    n, epsilon = 8, 4.0
    x = np.linspace(0, 1, n)
    hits = 0
    for seed in range(2000):
        release, _ = fit("wide_theil_sen", x, np.full(n, 0.5), epsilon, seed=seed, x_new=[0.5],
                         theta=theta)  # fmt: skip
        hits += abs(release.predictions[0] - 0.5) <= theta
    inside, outside = 2 * theta, (2 - 2 * theta) * math.exp(-epsilon * n / 2 / 4)
    chance = inside / (inside + outside)
    assert hits / 2000 == pytest.approx(chance, abs=5 * math.sqrt(chance * (1 - chance) / 2000))


def test_theil_sen_on_an_exact_line_has_its_stated_law():
    """Without a width only grid points next to the line stand out; nearly uniform."""
    values = [fit("exp_theil_sen", np.linspace(0, 1, 8), np.full(8, 0.5), 4.0, seed=s,
                  x_new=[0.5])[0].predictions[0] for s in range(500)]  # fmt: skip
    assert np.mean(np.abs(np.array(values) - 0.5)) == pytest.approx(0.5, abs=0.07)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("k", [10, "all"])
def test_close_to_theil_sen_for_large_epsilon(method, k):
    x, y = line_data(301)
    grid = [np.round(v * ONE).astype(np.int64) for v in (x, y)]
    release, _ = (
        fit(method, x, y, 1e4, k=k, theta=0.001)
        if "wide" in method
        else fit(method, x, y, 1e4, k=k)
    )
    for at, value in zip((0.25, 0.75), release.predictions, strict=True):
        z = predictions(*grid, round(at * ONE)) / ONE
        assert value == pytest.approx(np.median(z), abs=0.003 if k == "all" else 0.02)
        assert value == pytest.approx(np.polyval(np.polyfit(x, y, 1), at), abs=0.02)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("n", [0, 1])
def test_a_line_needs_two_rows(method, n):
    release, noise = fit(method, np.full(n, 0.5), np.full(n, 0.5))
    assert release.status == "too_few_rows" and not noise.events


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("k", [1, "all"])
@pytest.mark.parametrize("x", [np.full(6, 0.5), np.full(7, 0.25), np.repeat([0.0, 1.0], 4),
                               np.full(2, 0.25)])  # fmt: skip
def test_tied_and_constant_x_give_values_within_the_output_range(method, k, x):
    for seed in range(10):
        y = np.linspace(-3, 3, len(x))
        release, noise = fit(method, x, y, seed=seed, k=k, output_range=(-0.25, 1.25))
        assert release.status == "ok" and len(noise.events) == 2
        assert np.all((release.predictions >= -0.25) & (release.predictions <= 1.25))


def test_pairs_without_a_line_leave_the_smooth_median_alone():
    x, y = line_data(60, noise=0.2)
    x = np.round(x * 3) / 3
    (query, _) = queries("ss_theil_sen", x, y)
    z = predictions(*(np.floor(v * ONE).astype(np.int64) for v in (x, y)), ONE // 4)
    ordered = np.sort(z) / ONE
    median = ordered[(len(z) - 1) // 2 : len(z) // 2 + 1]
    assert median[0] - 1e-6 <= query.index / ONE - 0.5 <= median[-1] + 1e-6


def test_smooth_median_takes_fewer_pairs_of_many_rows():
    x, y = line_data(3000)
    release, _ = fit("ss_theil_sen", x, y, 5.0)
    assert release.predictions == pytest.approx([0.325, 0.575], abs=0.02)


def test_smooth_median_wins_where_points_lie_on_a_line():
    """The setting of figure 18: n = 30, x ~ N(0.5, 0.01^2), noise of s.d. 0.005."""
    df = simulate.line(30, x_sd=0.01, noise_sd=0.005, seed=1)
    errors = {m: [abs(fit(m, df.x, df.y, 8.0, seed=s, x_new=[0.5])[0].predictions[0] - 0.45)
                  for s in range(60)] for m in ALL}  # fmt: skip
    assert np.quantile(errors["ss_theil_sen"], 0.68) < 0.01
    assert np.quantile(errors["wide_theil_sen"], 0.68) < 0.02


@pytest.mark.parametrize(("method", "option"), [
    ("exp_theil_sen", {"k": 0}), ("exp_theil_sen", {"k": 1.5}), ("exp_theil_sen", {"k": True}),
    ("wide_theil_sen", {"theta": 0}), ("wide_theil_sen", {"theta": math.nan}),
    ("ss_theil_sen", {"output_range": (1, 0)}), ("ss_theil_sen", {"output_range": (0, 50)}),
    ("ss_theil_sen", {"output_range": 3}), ("ss_theil_sen", {"output_range": (0, math.nan)}),
])  # fmt: skip
def test_bad_options_are_refused_by_name(method, option):
    ((name, value),) = option.items()
    with pytest.raises(ArgumentError, match=name):
        METHODS[method].options[name][1](value)
