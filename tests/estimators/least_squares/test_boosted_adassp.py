"""Boosted AdaSSP: sensitivities reached and kept, exact sums, and what users see of it."""

import math

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.errors import ArgumentError
from dpstats.estimators import METHODS
from dpstats.estimators.contract import InMemory, Problem
from dpstats.estimators.least_squares.dense.gram import box_of
from dpstats.estimators.least_squares.dense.scaled_rows import _exact, residual_sums, scaled_rows
from dpstats.noise import Noise, NoisyValues
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE
from dpstats.testing import insecure_seed

BOOSTED = METHODS["boosted_adassp"]
COST = GDP(1.0)


def problem(columns, neighbors=ADD_REMOVE, row_norm=None, estimated=False):
    """An intercept and columns in [-2, 6], with a response in [0, 10]."""
    low, high = np.full(columns, -2.0), np.full(columns, 6.0)
    low[0] = high[0] = 1.0
    empty = np.empty((0, columns))
    return Problem(low, high, 0.0, 10.0, 0, neighbors, row_norm, estimated, empty)


class Frozen(Noise):
    """Answers with given arrays and keeps the queries."""

    def __init__(self, answers):
        super().__init__(COST)
        self.answers, self.queries, self.asked = list(answers), [], []

    def add(self, query, cost):
        self.queries.append(query)
        self.asked.append(cost)
        event = type(self).event(query, cost)
        self._record(event)
        return NoisyValues(self.answers.pop(0), event)

    @staticmethod
    def event(query, cost):
        with insecure_seed(0):
            noise = Noise(COST)
            noise.add(query, cost)
        return noise.events[0]


def queries(X, y, given, answers, **options):
    noise = Frozen(answers)
    BOOSTED.release(InMemory(Rows(X, y)), given, COST, noise, **options)
    return noise.queries


def answers(columns, rounds, rng):
    """A well-conditioned Gram matrix, and gradients that send theta anywhere."""
    gram = (np.eye(columns) * 100 + rng.normal(size=(columns, columns)))[np.triu_indices(columns)]
    return [gram, *(rng.normal(0, 100, (rounds, columns)))]


def change(one, two):
    """L2 distance of two queries over the sensitivity they claim."""
    moved = np.array([a - b for a, b in zip(one.values, two.values, strict=True)], dtype=float)
    return np.linalg.norm(moved) / one.l2


SETTINGS = [
    (2, ADD_REMOVE, None, False, 1.0),
    (5, ADD_REMOVE, None, True, 0.3),
    (4, ADD_REMOVE, 7.0, False, 1.0),
    (3, REPLACE_ONE, None, False, 2.0),
    (5, REPLACE_ONE, 0.4, False, 0.1),
]


@pytest.mark.parametrize("columns, neighbors, row_norm, estimated, tau", SETTINGS)
def test_no_neighbour_moves_a_query_beyond_its_sensitivity(
    columns, neighbors, row_norm, estimated, tau
):
    rng = np.random.default_rng(columns)
    given = problem(columns, neighbors, row_norm, estimated)
    X, y = rng.normal(2, 3, (30, columns)), rng.normal(5, 4, 30)
    for _ in range(60):
        frozen = answers(columns, 4, rng)
        row, target = rng.standard_t(1, (1, columns)) * 10, rng.standard_t(1, 1) * 20
        X2, y2 = (
            np.r_[X[neighbors == REPLACE_ONE :], row],
            np.r_[y[neighbors == REPLACE_ONE :], target],
        )
        pairs = zip(
            queries(X, y, given, frozen, rounds=4, tau=tau),
            queries(X2, y2, given, frozen, rounds=4, tau=tau),
            strict=True,
        )
        assert max(change(one, two) for one, two in pairs) <= 1


@pytest.mark.parametrize("columns, neighbors, row_norm, estimated, tau", SETTINGS)
def test_the_worst_case_reaches_the_sensitivity(columns, neighbors, row_norm, estimated, tau):
    """A hard-coded sensitivity of 1, as in published code, is exceeded here."""
    given = problem(columns, neighbors, row_norm, estimated)
    # A row beyond estimated ranges is shortened as a whole, so the corner moves most there.
    far, response = np.full((1, columns), 6.0 if estimated else 1e6), 10.0 if estimated else 1e9
    if row_norm is None:
        far[0, 0] = 1.0
    else:  # a longer row would take its response down with it
        far[:] = row_norm / math.sqrt(columns)
    empty, none = np.empty((0, columns)), np.empty(0)
    # theta = 0 in the first round, then a prediction so far off that the residual is clipped.
    rng = np.random.default_rng(1)
    frozen = [answers(columns, 1, rng)[0], np.full(columns, -1e5), np.zeros(columns)]
    if neighbors == ADD_REMOVE:
        left, right = (empty, none), (far, np.array([response]))
    else:
        left, right = (far, np.array([-response])), (far, np.array([response]))
    one = queries(*left, given, frozen, rounds=2, tau=tau)
    two = queries(*right, given, frozen, rounds=2, tau=tau)
    residuals_reach = min(1.0, 1 / tau)  # |v| <= 1 against tau, in the first round
    assert residuals_reach * 0.99 <= change(one[1], two[1]) <= 1
    if neighbors == ADD_REMOVE:
        assert 0.99 <= change(one[2], two[2]) <= 1
        norm = box_of(given).norm
        corner = math.sqrt(((norm**4) + norm**4 / columns) / 2)  # of u u', at equal entries
        claimed = one[0].l2 * one[0].unit
        assert change(one[0], two[0]) == pytest.approx(corner / claimed, rel=1e-4)
        assert claimed == pytest.approx(math.sqrt((norm**4 + min(norm**2, norm**4)) / 2))


def test_gradients_are_exact_and_row_by_row():
    """The sum over all rows is the sum over any split of them, to the last unit."""
    rng = np.random.default_rng(2)
    given = problem(6)
    X, y = rng.normal(2, 3, (20_001, 6)), rng.normal(5, 4, 20_001)
    rows = scaled_rows(Rows(X, y), given)
    theta = rng.normal(0, 0.3, 6)
    whole = residual_sums(rows, 0.7)(theta)
    for cut in (1, 77, 8192, 20_000):
        parts = rows[:cut], rows[cut:]
        assert np.array_equal(whole, sum(residual_sums(part, 0.7)(theta) for part in parts))
    one_by_one = sum(residual_sums(row, 0.7)(theta) for row in rows[:300].blocks(1))
    assert np.array_equal(one_by_one, residual_sums(rows[:300], 0.7)(theta))
    u, v = rows.numbers / 2**20, rows.response / 2**20
    wanted = np.clip(v - u @ theta, -0.7, 0.7) @ u
    np.testing.assert_allclose(whole.astype(float) * 0.7 / 2**40, wanted, atol=1e-3)


@pytest.mark.parametrize("size", [0.0, 1e-12, 1.0, 1e9])
def test_theta_on_its_grid_gives_exact_products(size):
    theta = size * np.array([1.0, -0.4, 1 / 3])
    grid, exponent = _exact(theta)
    assert np.all(grid == np.trunc(grid)) and np.abs(grid).sum() * 2**20 < 2**53
    np.testing.assert_allclose(np.ldexp(grid, exponent), theta, rtol=1e-8)


def test_noise_has_the_stated_scale():
    """C tau sqrt(T) / (mu sqrt(2/3)), by the mean of |noise| over empty tables."""
    given = problem(4, row_norm=3.0)
    rounds, tau, mu, draws = 400, 0.5, 1.0, []
    with insecure_seed(3):
        for _ in range(10):
            noise = Noise(GDP(mu))
            kept = noise.add
            noise.add = lambda query, cost, kept=kept: draws.append(kept(query, cost)) or draws[-1]
            empty = InMemory(Rows(np.empty((0, 4)), np.empty(0)))
            BOOSTED.release(empty, given, GDP(mu), noise, rounds=rounds, tau=tau)
    released = [draw.values for draw in draws]
    rounds_only = np.concatenate([values for values in released if len(values) == 4])
    wanted = 1.0 * tau * math.sqrt(rounds) / (mu * math.sqrt(2 / 3))  # C = 1 in scaled units
    assert len(rounds_only) == 16_000
    assert np.mean(np.abs(rounds_only)) == pytest.approx(wanted * math.sqrt(2 / math.pi), rel=0.03)


def frame(n, columns=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 6, (n, columns - 1))
    data = pd.DataFrame(X, columns=[f"x{j}" for j in range(1, columns)])
    return data.assign(y=2 + X @ np.arange(1.0, columns) + rng.normal(0, 1, n))


BOUNDS = {"x1": (-2, 6), "x2": (-2, 6), "y": (-12, 24)}


def fit(data, formula="y ~ x1 + x2", **arguments):
    with insecure_seed(5):
        arguments = {"epsilon": 1.0, "bounds": BOUNDS, **arguments}
        return dp.dp_ols(formula, data, method="boosted_adassp", **arguments)


def ols(data):
    X = np.column_stack([np.ones(len(data)), data[["x1", "x2"]]])
    return np.linalg.lstsq(X, data["y"], rcond=None)[0]


@pytest.mark.parametrize("neighbors", [ADD_REMOVE, REPLACE_ONE])
def test_it_is_near_least_squares_as_epsilon_grows(neighbors):
    data = frame(4000)
    gaps = [
        np.abs(fit(data, epsilon=e, neighbors=neighbors).params - ols(data)).max()
        for e in (0.2, 2, 1000)
    ]
    assert gaps[2] < 0.01 and gaps[2] < gaps[1] < gaps[0]


def test_boosting_undoes_the_clipping_of_residuals():
    data = frame(4000)
    rough = fit(data, epsilon=100, tau=0.05, rounds=1)
    fine = fit(data, epsilon=100, tau=0.05, rounds=300)
    assert np.abs(fine.params - ols(data)).max() < 0.2 < np.abs(rough.params - ols(data)).max()


def test_ranges_are_estimated_and_a_row_norm_takes_the_units_as_they_are():
    data = frame(6000)
    estimated = fit(data, epsilon=4, bounds=None)
    assert np.abs(estimated.params - ols(data)).max() < 0.5
    assert any("range of x1" in event.step for event in estimated.privacy.events)
    own = fit(data, epsilon=100, bounds={"y": (-24, 24)}, row_norm=8.0)
    assert np.abs(own.params - ols(data)).max() < 0.3
    assert not any("range" in event.step for event in own.privacy.events)


def test_the_better_of_the_two_where_rounds_help():
    """Ranges much too wide: one shot is noise, and rounds with a small tau are not."""
    data, wide = frame(3000), {"x1": (-2, 6), "x2": (-2, 6), "y": (-1000, 1000)}
    errors = {}
    for method, options in (("adassp", {}), ("boosted_adassp", {"tau": 0.02})):
        gaps = []
        for seed in range(5):
            with insecure_seed(seed):
                params = dp.dp_ols(
                    "y ~ x1 + x2", data, method=method, epsilon=1, bounds=wide, **options
                ).params
            gaps.append(np.abs(params - ols(data)).max())
        errors[method] = np.median(gaps)
    assert errors["boosted_adassp"] < errors["adassp"] / 3


@pytest.mark.parametrize("neighbors", [ADD_REMOVE, REPLACE_ONE])
def test_events_compose_to_the_guarantee(neighbors):
    report = fit(frame(50), rounds=30, neighbors=neighbors).privacy
    assert len(report.events) == 31
    assert sum(share for _, share in report.shares()) == pytest.approx(1.0, rel=1e-12)
    assert report.spent[0] <= 1.0 and report.spent[0] == pytest.approx(1.0, rel=1e-6)


def test_the_summary_prints_equal_rounds_once():
    text = str(fit(frame(50)).summary())
    assert text.count("X'g") == 1 and "X'g (100 times)" in text and "66.7%" in text


@pytest.mark.parametrize("n", [0, 1, 2])
def test_it_is_total(n):
    for data in (frame(50).head(n), frame(50).assign(x1=3.0), frame(50).round() * 0 + 1e9):
        result = fit(data)
        assert result.status == "ok" and np.isfinite(result.params).all()
        assert result.bse.isna().all() and "no standard error" in result.reasons["bse"]


def test_groups_report_all_rounds():
    data = frame(600).assign(g=pd.Categorical(np.arange(600) % 3, categories=[0, 1, 2, 3]))
    result = fit(data, by="g", rounds=10, progress=False)
    assert len(result) == 4 and len(result.privacy.events) == 11
    assert result.privacy.spent[0] == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    "name, value", [("rounds", 0), ("rounds", 2.5), ("rounds", True), ("tau", 0), ("tau", "1")]
)
def test_options_are_checked(name, value):
    with pytest.raises(ArgumentError, match=f"expected {name}"):
        fit(frame(10), **{name: value})
