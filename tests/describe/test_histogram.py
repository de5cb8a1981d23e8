"""Histograms of a description: counts of the table, groups, weights and intervals."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.describe.cumulative import deviation, prefix_sums
from dpstats.describe.histogram import _step
from dpstats.describe.joint import Joint
from tests.checks.descriptions import COLUMNS


def people(n=20_000, seed=0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": rng.integers(18, 90, n), "wage": np.round(rng.lognormal(3, 0.5, n), 2),
        "g": pd.Categorical(rng.choice(["a", "b"], n)), "w": rng.uniform(0.5, 2, n),
        "missing": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
    })  # fmt: skip


def described(data, columns, epsilon=1e6, seed=1, **more) -> dp.DPDescription:
    with dp.testing.insecure_seed(seed):
        return dp.dp_describe(data, columns, epsilon=epsilon, histogram=True, **more)


def counted(data, row, weight=1.0) -> float:
    inside = (data[row.variable] >= row.left) & (data[row.variable] < row.right)
    if np.isinf(row.right) or row.right == 90:
        inside = data[row.variable] >= row.left
    return float((inside * weight).sum())


@pytest.mark.parametrize("by", [None, "g"])
def test_counts_are_those_of_the_table_as_epsilon_grows(by):
    data = people()
    table = described(data, ["age", "wage", "missing"], by=by, bounds={"age": (18, 90)}).histogram
    for row in table.rename(columns={"count": "total"}).itertuples():
        rows = data if by is None else data[data["g"] == row.g]
        assert row.total == pytest.approx(counted(rows, row), abs=0.5)
    first = table.groupby("variable").first()["left"]
    assert first["age"] == 18 and first["wage"] == -np.inf
    sizes = table.groupby("variable", sort=False).size() / (1 if by is None else 2)
    assert sizes.between(5, 22).all()
    together = table.groupby("variable")["count"].sum()
    assert together["missing"] == pytest.approx(data["missing"].count(), abs=1)


def test_weighted_counts_are_sums_of_weights():
    data = people()
    table = described(data, ["age"], weights="w", bounds={"w": (0, 2)}).histogram
    for row in table.rename(columns={"count": "total"}).itertuples():
        assert row.total == pytest.approx(counted(data, row, data["w"]), abs=0.5)


def test_factors_have_their_counts_beside_bins_of_numbers():
    data = people()
    table = described(data, ["g", "age"]).histogram
    assert list(table) == "variable level left right count std_error lower upper".split()
    levels = table[table["variable"] == "g"]
    assert levels["level"].tolist() == ["a", "b"] and levels["left"].isna().all()
    np.testing.assert_allclose(levels["count"], data["g"].value_counts()[["a", "b"]], atol=0.1)
    assert table["variable"].drop_duplicates().tolist() == ["g", "age"]


def test_the_noise_on_a_count_is_that_of_a_difference_of_prefix_sums():
    """4,000 draws: a deviation off by 5% comes out once in 10^5 runs."""
    part = Joint.of(COLUMNS, 1).parts["x"]
    size = part.limits.size
    draws = np.random.default_rng(0).normal(size=(4000, size))
    sums = np.pad(prefix_sums(draws, part.weights), ((0, 0), (1, 0)))
    for first, last in [(0, 3), (2, 5), (4, size), (0, size)]:
        found = (sums[:, last] - sums[:, first]).std()
        assert deviation(part.weights, first, last) == pytest.approx(found, rel=0.05)


def test_intervals_of_counts_hold_the_noise():
    """20 tables of about 40 bins: below .93 of them once in 300 runs if all are independent."""
    inside = []
    for seed in range(20):
        data = people(5000, seed)
        table = described(data, ["age", "wage", "missing"], 1.0, seed).histogram
        inside += [r.lower <= counted(data, r) <= r.upper for r in table.itertuples()]
    assert len(inside) > 400 and np.mean(inside) > 0.93


@pytest.mark.parametrize("bins, width, step", [
    (20, 1.0, 1), (21, 1.0, 2), (90, 1.0, 5), (101, 0.01, 10), (30, 5.0, 2), (41, 0.05, 4),
    (1000, 0.5, 100), (200, 0.1, 10),
])  # fmt: skip
def test_bins_are_1_2_or_5_times_a_power_of_ten(bins, width, step):
    assert _step(bins, width, 20) == step
    assert f"{step * width:e}"[:5] in ("1.000", "2.000", "5.000")


def test_a_histogram_costs_nothing_and_changes_no_figure():
    data, budget = people(), dp.Budget(epsilon=1)
    with_bars = described(data, ["age"], 1.0, budget=budget)
    with dp.testing.insecure_seed(1):
        without = dp.dp_describe(data, ["age"], epsilon=1)
    assert repr(with_bars.figures) == repr(without.figures)
    assert budget.spent[0] == pytest.approx(1) and not without.bars
