"""The Tukey mechanism: one record, one model, one step of depth; and what users see of it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats import cli
from dpstats.errors import ArgumentError
from dpstats.estimators import METHODS
from dpstats.estimators.contract import InMemory, Problem
from dpstats.estimators.depth.random_subsets import fit_subsets
from dpstats.estimators.quantiles.private_quantiles import grid_point, private_median
from dpstats.noise import Noise, NoisyValues
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, ApproxDP, PureDP
from dpstats.schema import UNLIMITED
from dpstats.testing import insecure_seed

TUKEY = METHODS["tukey"]
COST = ApproxDP(2.0, 1e-5)


def problem(columns=3, neighbors=ADD_REMOVE, intercept=0, half=2.0**60):
    low, high = np.full(columns, -half), np.full(columns, half)
    if intercept is not None:
        low[intercept] = high[intercept] = 1.0
    return Problem(
        low, high, -half, half, intercept, neighbors, None, False, np.empty((0, columns))
    )


def line(n, columns=3, seed=0, noise=0.1):
    """X (n, columns) with an intercept, y (n,) and the coefficients."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.normal(5, 2, (n, columns - 1))])
    beta = np.arange(1.0, columns + 1)
    return X, X @ beta + noise * rng.normal(size=n), beta


class Frozen(Noise):
    """Gives fixed answers and keeps the queries, so that neighbours can be compared."""

    def __init__(self, labels):
        super().__init__(COST)
        self.labels, self.queries = labels, []

    def assign(self, size, parts):
        assert size == len(self.labels)
        self.parts = parts
        return self.labels % parts

    def add(self, query, cost):
        self.queries.append(query)
        return NoisyValues(np.array([900.0 for _ in query.values]), None)

    def choose(self, query, cost):
        self.queries.append(query)
        return query.size * 7 // 10

    def deepest(self, query, cost):
        self.queries.append(query)
        return [1 << 80] * len(query.lower[0])


def compare(left, right, labels, neighbors, m):
    """Run on neighbours with equal labels for common rows; how far the queries move."""
    frozen = [Frozen(np.asarray(each)) for each in labels]
    given = problem(neighbors=neighbors)
    for (X, y), noise in zip((left, right), frozen, strict=True):
        TUKEY.release(InMemory(Rows(X, y)), given, COST, noise, m=m)
    assert [q.step for q in frozen[0].queries] == [q.step for q in frozen[1].queries]
    moved = {"models": 0, "depth": 0, "count": 0, "rank": 0}
    for one, two in zip(frozen[0].queries, frozen[1].queries, strict=True):
        if hasattr(one, "cutoff"):
            moved["models"] = exchanged(one, two, frozen[0].parts)
            moved["depth"] = depth_moved(one, two)
        elif hasattr(one, "imbalance"):
            at = np.linspace(0, one.size - 1, 200).astype(int)
            change = max(abs(one.imbalance(int(i)) - two.imbalance(int(i))) for i in at)
            assert change <= one.sensitivity
            moved["rank"] = max(moved["rank"], change / one.sensitivity)
        else:
            moved["count"] = abs(one.values[0] - two.values[0]) / one.l1
    return moved


def axis_values(query, axis, m):
    """The m models along an axis, from the boxes."""
    above = query.upper[1:] if m % 2 == 0 else query.upper[1:-1]
    return [row[axis] for row in query.lower[1:]] + [row[axis] for row in above]


def exchanged(one, two, m):
    """The largest number of models that differ along one axis."""
    largest = 0
    for axis in range(len(one.lower[0])):
        left, right = axis_values(one, axis, m), axis_values(two, axis, m)
        assert len(left) == len(right) == m
        shared = sum(min(left.count(v), right.count(v)) for v in set(left) & set(right))
        largest = max(largest, len(left) - shared)
    return largest


def depth_moved(one, two):
    """The largest change of the depth over the corners and centres of all boxes."""

    def depth(query, point):
        inside = [
            all(a <= p <= b for a, p, b in zip(low, point, high, strict=True))
            for low, high in zip(query.lower, query.upper, strict=True)
        ]
        assert inside == sorted(inside, reverse=True)  # nested
        return sum(inside) - 1

    points = [*one.lower, *one.upper, *two.lower, *two.upper]
    points += [
        [(a + b) // 2 for a, b in zip(*c, strict=True)]
        for c in zip(one.lower, two.upper, strict=True)
    ]
    return max(abs(depth(one, point) - depth(two, point)) for point in points)


@pytest.mark.parametrize("extreme", [False, True])
@pytest.mark.parametrize("neighbors", [ADD_REMOVE, REPLACE_ONE])
def test_one_record_exchanges_one_model_and_moves_depth_by_at_most_one(neighbors, extreme):
    rng = np.random.default_rng(4)
    X, y, _ = line(200)
    labels = rng.integers(0, 2**40, 200)
    seen = []
    for trial in range(30):
        row = rng.normal(5, 2, (1, 3)) * (2.0**50 if extreme else 1)
        row[0, 0] = 1.0
        target = np.array([1e18 if extreme else rng.normal()])
        at = rng.integers(201)
        if neighbors == ADD_REMOVE:
            more = np.insert(X, at, row, axis=0), np.insert(y, at, target)
            both = labels, np.insert(labels, at, rng.integers(2**40))
        else:
            X2, y2 = X.copy(), y.copy()
            X2[at % 200], y2[at % 200] = row[0], target[0]
            more, both = (X2, y2), (labels, labels)
        seen.append(compare((X, y), more, both, neighbors, m=20 if trial % 2 else "auto"))
    assert {s["models"] for s in seen} == {1}
    assert max(s["depth"] for s in seen) == 1
    assert max(s["rank"] for s in seen) == 1
    assert max(s["count"] for s in seen) == (1 if neighbors == ADD_REMOVE else 0)


def test_models_are_least_squares_of_each_part():
    X, y, _ = line(600, columns=5, noise=1.0)
    X[:, 2] = 1e6 + X[:, 2] * 1e-2  # far off centre: a Gram matrix of raw columns is useless
    X[:, 3] *= 1e-9
    labels = np.random.default_rng(1).integers(0, 12, 600)
    center = np.array([0, 5, 1e6, 0, 1.0])
    models = fit_subsets(X, y, labels, 12, 0, center)
    for j in range(12):
        part = (X[labels == j] - center) * np.array([1, 1, 1e2, 1e9, 1])
        part[:, 0] = 1
        wanted = np.linalg.lstsq(part, y[labels == j], rcond=None)[0] * [1, 1, 1e2, 1e9, 1]
        np.testing.assert_allclose(models[j], wanted, rtol=1e-7)
    through_zero = fit_subsets(X[:, 1:2], y, labels, 12, None, np.zeros(1))
    wanted = [
        X[labels == j, 1] @ y[labels == j] / (X[labels == j, 1] ** 2).sum() for j in range(12)
    ]
    np.testing.assert_allclose(through_zero[:, 0], wanted, rtol=1e-10)


def test_models_are_finite_for_any_part():
    """No rows, fewer rows than columns, constant and collinear columns, huge values."""
    rng = np.random.default_rng(2)
    X, y, _ = line(60, columns=5)
    labels = rng.integers(0, 3, 60)  # parts 3 to 9 are empty
    labels[:3] = [5, 6, 6]
    X[:, 2] = 0.1  # constant, and its mean is not exactly representable
    X[:, 4] = 3 * X[:, 1] - 2
    X[7], y[7] = [1, 2.0**60, -(2.0**60), 2.0**60, 2.0**60], -(2.0**60)
    with np.errstate(all="raise"):
        models = fit_subsets(X, y, labels, 10, 0, np.zeros(5))
    assert np.isfinite(models).all()
    clean = [j for j in (0, 1, 2) if j != labels[7]]
    assert not models[clean][:, [2, 4]].any() and models[clean][:, [1, 3]].all()
    assert not models[[3, 4, 7, 8, 9]].any()
    assert models[5, 0] == y[0] and not models[5, 1:].any()
    assert fit_subsets(X[:0], y[:0], labels[:0], 4, 0, np.zeros(5)).shape == (4, 5)


def test_median_of_a_column_of_any_scale():
    rng = np.random.default_rng(3)
    for scale in (1e-9, 1.0, 1e12):
        values = scale * rng.normal(2011, 5, 20_000)
        with insecure_seed(1):
            noise = Noise(PureDP(0.1))
            found = private_median(values, "median", PureDP(0.1), noise, ADD_REMOVE)
        assert abs(found / scale - 2011) < 0.3
        assert noise.events[0].sensitivity == 1
    assert [grid_point(i) for i in (409_599, 409_601)] == [-(2.0**-40), 2.0**-40]
    points = np.array([grid_point(i) for i in range(0, 819_201, 37)])
    assert np.all(np.diff(points) > 0) and points[-1] < 2.0**60


@pytest.mark.parametrize("values", [[], [5.0], [0.0] * 50 + [1.0] * 5])
def test_median_of_no_one_or_tied_rows(values):
    with insecure_seed(2):
        noise = Noise(PureDP(5.0))
        found = private_median(np.array(values), "median", PureDP(5.0), noise, REPLACE_ONE)
    assert np.isfinite(found) and noise.events[0].sensitivity == 2
    assert len(values) < 50 or found == 0.0


def test_ties_do_not_stall_the_median():
    """With most of the weight e^-70 of the first guess, doubles lose the running sums."""
    asked = []

    class Counting(Noise):
        def choose(self, query, cost):
            def counted(index):
                asked.append(index)
                return query.imbalance(index)

            return super().choose(replace(query, imbalance=counted), cost)

    values = np.repeat([0.0, 1.0], [20_000, 2_000])
    with insecure_seed(3):
        found = private_median(values, "m", PureDP(0.02), Counting(PureDP(0.02)), ADD_REMOVE)
    assert found == 0.0 and len(asked) < 200


def frame(n, seed=0, noise=0.1):
    X, y, beta = line(n, seed=seed, noise=noise)
    return pd.DataFrame({"y": y, "a": X[:, 1], "b": X[:, 2]}), beta


def fit(data, formula="y ~ a + b", seed=9, **arguments):
    with insecure_seed(seed):
        return dp.dp_ols(formula, data, method="tukey", **{"epsilon": 2.0, **arguments})


def test_it_is_near_least_squares_and_nearer_with_a_larger_epsilon():
    """Means over 40 seeds: 0.023 and 0.014, their difference three of its standard errors."""
    data, _ = frame(20_000, noise=1.0)
    X = np.column_stack([np.ones(len(data)), data[["a", "b"]]])
    ols = np.linalg.lstsq(X, data["y"], rcond=None)[0]

    def gap(epsilon):
        fits = [fit(data, seed=seed, epsilon=epsilon, m=700) for seed in range(40)]
        return np.mean([np.abs(one.params - ols).max() for one in fits])

    assert gap(100) < gap(1) < 0.05 and gap(100) < 0.03


def test_units_of_measurement_do_not_matter():
    data, beta = frame(20_000)
    scaled = data.assign(a=data["a"] * 1e6 + 1e8, y=data["y"] * 1e-5)
    params = fit(scaled).params * 1e5
    assert params["a"] * 1e6 == pytest.approx(beta[1], rel=0.02)
    assert params["b"] == pytest.approx(beta[2], rel=0.02)
    assert fit(scaled).predict({"a": [5e6 + 1e8], "b": [5]}).iloc[0] * 1e5 == pytest.approx(
        26, rel=0.01
    )


def test_no_range_is_asked_for_estimated_or_used():
    data, _ = frame(5000)
    result = fit(data)
    assert result.status == "ok" and not result.points
    assert {kind for kind in result.schema.values()} == {UNLIMITED}
    assert not any("range" in event.step for event in result.privacy.events)
    assert dp.DPResults.from_json(result.to_json()).params.equals(result.params)
    drawn = fit(data, "y ~ a").plot().get_yticklabels()  # no line, but its coefficients
    assert [label.get_text() for label in drawn] == ["Intercept", "a"]
    assert len(fit(data, "y ~ a", x_new=[1, 2, 3]).predictions) == 3
    bounded = fit(data, "y ~ a", bounds={"a": (0, 10)})
    assert list(bounded.predictions.index) == ["p25", "p75"]


def test_the_command_line_draws_coefficients_without_a_range(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame(5000)[0].to_csv("rows.csv", index=False)
    argv = ["fit", "rows.csv", "y ~ a", "--method", "tukey", "--epsilon", "1", "--plot", "p.png"]
    assert cli.main([*argv, "-o", "r.json"]) == 2
    assert "nothing declares what a is" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.json")) and not list(tmp_path.glob("*.png"))
    assert cli.main([*argv, "--types", "a=number", "--types", "y=number", "-o", "r.json"]) == 0
    assert (tmp_path / "p.png").stat().st_size > 1000


def steps(result):
    return [event.step.split(" of ")[0] for event in result.privacy.events]


def test_what_is_bought_follows_from_what_is_public():
    data, _ = frame(8000)
    tested = ["stability", "deep point"]
    assert steps(fit(data)) == ["number", "median", "median", *tested]
    assert steps(fit(data, m=300)) == ["median", "median", *tested]
    assert steps(fit(data, neighbors="replace_one")) == ["median", "median", *tested]
    ranges = {"a": (0, 10), "b": (0, 10)}
    assert steps(fit(data, bounds=ranges)) == ["number", *tested]
    assert steps(fit(data, "y ~ 0 + a + b", m=300)) == tested
    assert steps(fit(data, "y ~ 1")) == ["number", *tested]


@pytest.mark.parametrize("arguments", [{}, {"m": 400}, {"bounds": {"a": (0, 9), "b": (0, 9)}}])
def test_events_compose_to_the_guarantee(arguments):
    report = fit(frame(8000)[0], delta=1e-6, **arguments).privacy
    assert report.spent == (pytest.approx(2.0, rel=1e-9), 1e-6)
    assert report.neighbors == "add_remove"


@pytest.mark.parametrize("n", [0, 1, 2, 40])
def test_too_few_rows_are_a_released_failure(n):
    result = fit(frame(2000)[0].head(n))
    assert result.status == "ptr_failed"
    assert result.params.isna().all() and "models are too few" in result.reasons["params"]
    assert result.privacy.spent[1] == 0


def test_constant_columns_and_ties_pass():
    data, beta = frame(8000, noise=0.0)
    result = fit(data.assign(b=7.0), "y ~ a + b")
    assert result.status == "ok" and result.params["b"] == 0.0
    tied = data.assign(a=data["a"].round(), b=data["b"].round())
    tied["y"] = 1 + 2 * tied["a"] + 3 * tied["b"]
    np.testing.assert_allclose(fit(tied).params, beta, atol=1e-6)


def test_there_are_no_standard_errors_and_a_reason():
    result = fit(frame(5000)[0])
    assert result.bse.isna().all() and "no standard error" in result.reasons["bse"]


def test_groups_and_seeds():
    data = frame(9000)[0].assign(g=pd.Categorical(np.arange(9000) % 3, categories=[0, 1, 2, 3]))
    result = fit(data, by="g", m=150, epsilon=6, progress=False)
    assert list(result.status) == ["ok", "ok", "ok", "ok"]  # no row at all: every model is 0
    assert result.params.loc[3].eq(0).all()
    assert fit(frame(5000)[0]).params.equals(fit(frame(5000)[0]).params)


def test_m_may_be_none():
    assert fit(frame(3000)[0], m=None).method == "tukey"


@pytest.mark.parametrize("m", [2, 10_001, 2.5, "all", True])
def test_m_is_checked_before_any_row(m):
    with pytest.raises(ArgumentError, match="expected m to be"):
        fit(frame(10)[0], m=m)


def test_row_norm_is_refused():
    with pytest.raises(ArgumentError, match="row_norm"):
        fit(frame(10)[0], row_norm=3.0)
