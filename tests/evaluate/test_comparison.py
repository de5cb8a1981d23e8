"""Methods compared on several public tables."""

import pytest

import dpstats as dp
from dpstats.evaluate import (
    compare,
    overview,
)


def test_compare_and_overview():
    sets = {
        "small": {"formula": "y ~ x", "data": dp.simulate.line(40, seed=1)},
        "large": {"formula": "y ~ x", "data": dp.simulate.line(4000, seed=1)},
    }
    bounds = {"x": (0, 1), "y": (0, 1)}
    table = compare(sets, methods=["noisy_stats", "ols"], epsilon=1, bounds=bounds, trials=20,
                    seed=1, public=True)  # fmt: skip
    assert table.columns[0] == "data" and list(table["data"].unique()) == ["small", "large"]
    lines = overview(table)
    assert lines.index.names == ["data", "method", "point"]
    assert lines.loc[("large", "ols (not private)", "p25"), "within"] == 1
    assert lines.loc[("small", "noisy_stats", "p25"), "median_ratio"] > 1
    for other in (3, sets, table[["method", "point"]]):
        with pytest.raises(dp.ArgumentError, match="expected table to be what error_bounds"):
            overview(other)
    with pytest.raises(dp.ArgumentError, match="data_sets"):
        compare({}, methods=["ols"], epsilon=1, bounds=bounds, public=True)
