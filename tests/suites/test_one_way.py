"""A call opens its table, parses its formula and learns its design once, whatever the engine."""

import polars as pl
import pytest

import dpstats as dp
from dpstats.formula.formula import designed
from dpstats.r import bridge

UNIT = {"x": (0, 1), "y": (0, 1)}
BOTH = {**UNIT, "z": (0, 1)}


ONCE = {"opened": 1, "parsed": 1, "learned": 1}


@pytest.mark.parametrize("bounds", [UNIT, None], ids=["declared", "estimated"])
@pytest.mark.parametrize("grouped", [{}, {"by": "area", "groups": ["a0", "a1"]}], ids=["", "by"])
def test_a_fit(line, bounds, grouped, enough, steps):
    counts = {}
    for method in dp.METHODS:
        steps.clear()
        designed.cache_clear()
        call = {"method": method, "epsilon": 8, "bounds": bounds, **grouped, **enough(method)}
        dp.dp_ols("y ~ x", line, **call)
        counts[method] = dict(steps)
    assert {method: count for method, count in counts.items() if count != ONCE} == {}


def test_auto(line, steps):
    dp.dp_ols("y ~ x", line, epsilon=1)
    assert steps == ONCE


@pytest.mark.parametrize("source", ["csv", "parquet", "lazy"])
def test_what_is_read_in_batches(line, source, tmp_path, steps):
    frame = pl.DataFrame({name: line[name].to_numpy() for name in ("x", "y")})
    path = tmp_path / f"rows.{source}"
    if source == "csv":
        frame.write_csv(path)
    elif source == "parquet":
        frame.write_parquet(path)
    data = frame.lazy() if source == "lazy" else str(path)
    dp.dp_ols("y ~ x", data, method="adassp", epsilon=8, bounds=UNIT)
    assert steps == ONCE


def test_from_r(line, tmp_path, steps):
    """What R is told of the result, N, R-squared and the ranges, parses its formula once more."""
    path = tmp_path / "rows.csv"
    line[["x", "y"]].to_csv(path, index=False)
    bridge.fit("y ~ x", str(path), method="adassp", epsilon=8.0, bounds={"x": [0, 1], "y": [0, 1]})
    assert steps == {"opened": 1, "parsed": 2, "learned": 1}


def test_several_formulas_share_one_table(line, steps):
    formulas = {"a": "y ~ x", "b": "z ~ x"}
    dp.dp_ols(formulas, line, method="adassp", epsilon=8, bounds=BOTH)
    assert steps == {"opened": 1, "parsed": 2, "learned": 2}


def test_a_selection_learns_the_design_of_what_it_chose_too(line, steps):
    """How a factor is coded depends on the other terms, so the columns may differ.

    Here the term that is chosen is the one that was checked, whose design is built once.
    """
    dp.dp_ols("y ~ x + z", line, method="adassp", epsilon=8, bounds=BOTH, select="kendall", k=1)
    # all terms; a set of k of them, checked before a row is read; the chosen ones
    assert steps == {"opened": 1, "parsed": 3, "learned": 2}
