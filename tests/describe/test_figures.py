"""Every column has a description: without rows, constant, missing, far out, at any epsilon."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.describe.distribution import Distribution

N = 500
COLUMNS = {
    "no rows": np.zeros(0),
    "missing": np.full(N, np.nan),
    "constant": np.full(N, 7.0),
    "zero": np.zeros(N),
    "infinite": np.full(N, np.inf),
    "huge": np.full(N, -1e300),
    "tiny": np.linspace(0, 1e-300, N),
    "both": np.where(np.arange(N) % 2, 1e300, -1e300),
    "far from zero": 1e15 + np.arange(N),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("epsilon", [1e-6, 1, 1e6])
@pytest.mark.parametrize("bounds", [None, {"x": (0, 10)}, {"x": (-1e60, 1e60)}])
def test_any_column_has_a_description(name, epsilon, bounds):
    values = COLUMNS[name]
    factor = pd.Categorical(np.where(np.arange(len(values)) % 3, "a", "b"), categories=["a", "b"])
    data = pd.DataFrame({"x": values, "g": factor})
    for by in (None, "g"):
        columns = ["x", "g"] if by is None else ["x"]
        with dp.testing.insecure_seed(1):
            found = dp.dp_describe(data, columns, epsilon=epsilon, by=by, bounds=bounds)
        frame = found.frame
        ordered = (frame["lower"] <= frame["upper"]).all()
        assert ordered and found.summary() and found.to_html() and found.to_latex()
        assert repr(dp.DPDescription.from_json(found.to_json()).figures) == repr(found.figures)


LAWS = {
    "lognormal": (lambda rng: np.exp(rng.normal(size=5000)), (0, 60)),
    "zeros": (lambda rng: np.where(rng.random(5000) < 0.9, 0, rng.gamma(1, 9, 5000)), (0, 99)),
    "t": (lambda rng: rng.standard_t(3, 5000), (-40, 40)),
    "counts": (lambda rng: rng.negative_binomial(0.5, 0.2, 5000).astype(float), (0, 50)),
}


@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("name", LAWS)
def test_within_bounds_a_deviation_has_an_interval_that_holds_whatever_its_tail(name, epsilon):
    """The model of a tail does not carry one here. All of 12 tables at a level of 95%."""
    law, bounds = LAWS[name]
    high = []
    for seed in range(12):
        values = np.clip(law(np.random.default_rng(seed)), *bounds)
        with dp.testing.insecure_seed(seed):
            found = dp.dp_describe({"x": values}, "x", epsilon=epsilon, bounds={"x": bounds})
        row = found.frame.set_index("statistic").loc["sd"]
        assert row["lower"] <= values.std() <= row["upper"] <= (bounds[1] - bounds[0]) / 2
        assert (row["status"] == "ok") == (0 < row["lower"] and row["upper"] < 2 * row["estimate"])
        high.append(row["upper"] / values.std())
    assert np.median(high) > 1.1


def test_without_bounds_there_is_none_for_such_a_tail():
    values = LAWS["lognormal"][0](np.random.default_rng(1))
    with dp.testing.insecure_seed(1):
        row = dp.dp_describe({"x": values}, "x", epsilon=4).frame.set_index("statistic").loc["sd"]
    assert row["status"] == "not_identified" and row["upper"] == np.inf


def test_rows_beyond_limits_are_counted_with_the_bins_that_limits_lie_in():
    points, cumulative = np.arange(5.0), np.array([10.0, 30.0, 60.0, 90.0, 100.0])
    curve = Distribution(points, cumulative, np.full(5, 2.0), 100.0, 9.0)
    assert curve.beyond(0.5, 3.5, 0.0) == pytest.approx((0.3, 0.4))
    assert curve.beyond(0.6, 3.4, 1.0) == pytest.approx((0.32, 0.42))
    assert curve.beyond(-9.0, 9.0, 1.0) == pytest.approx((0.12, 0.12))
    assert curve.beyond(9.0, -9.0, 1.0) == (1.0, 1.0)
