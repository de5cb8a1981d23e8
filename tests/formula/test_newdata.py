"""Predictors at new points: taken in every form, unclipped, and refused by name."""

import numpy as np
import pandas as pd
import pytest

from dpstats.errors import ArgumentError
from dpstats.formula import Formula
from dpstats.schema import Categorical
from tests.checks.design import LEARNT, PLAIN, SCHEMA, as_frame, draw


def test_predictions_take_a_mapping_a_frame_and_scalars_alike():
    design = Formula.parse("y ~ x * g + b + np.log1p(u) + C(h)").design(SCHEMA)
    columns = {"x": [1, 2.5], "g": ["c", "a"], "b": [True, False], "u": [3, 3], "h": [2, -1]}
    X = design.predictors(columns)
    assert X.shape == (2, len(design.names))
    np.testing.assert_array_equal(design.predictors(pd.DataFrame(columns)), X)
    np.testing.assert_array_equal(design.predictors(columns | {"u": 3.0}), X)
    first = {"x": 1, "g": pd.Categorical(["c"]), "b": np.True_, "u": 3, "h": 2}
    np.testing.assert_array_equal(design.predictors(first), X[:1])


@pytest.mark.parametrize("text", PLAIN + LEARNT)
def test_predictors_and_rows_agree_within_the_ranges(text):
    design, batch = Formula.parse(text).design(SCHEMA), draw(60, np.random.default_rng(12), 0)
    X = design.predictors(as_frame(batch))
    np.testing.assert_allclose(design.rows(batch).numbers, X, rtol=1e-12, atol=1e-12)


def test_predictions_are_not_clipped():
    X = Formula.parse("y ~ x + I(z**2)").design(SCHEMA).predictors({"x": 100, "z": [-50]})
    assert X.tolist() == [[1, 100, 2500]]


@pytest.mark.parametrize(
    ("frame", "m"), [({}, 1), ({"k": [1, 2, 3]}, 3), (pd.DataFrame(index=range(4)), 4)]
)
def test_an_intercept_alone_predicts_a_row_for_each_row(frame, m):
    assert Formula.parse("y ~ 1").design(SCHEMA).predictors(frame).tolist() == [[1]] * m


def test_no_new_rows_give_no_predictions():
    design = Formula.parse("y ~ x * g").design(SCHEMA)
    assert design.predictors({"x": [], "g": []}).shape == (0, 6)


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_levels_that_are_dates_are_found_in_every_unit(unit):
    days = pd.date_range("2020-01-01", periods=3)
    design = Formula.parse("y ~ day").design(SCHEMA | {"day": Categorical(tuple(days))})
    X = design.predictors({"day": days.to_numpy(dtype=f"datetime64[{unit}]")})
    assert X.tolist() == [[1, 0, 0], [1, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ({"x": 1, "g": "a"}, "no column u"),
        (
            {"x": np.array(["2020-01-01"], dtype="datetime64[us]"), "u": 1, "g": "a"},
            "column x.*holds dates",
        ),
        ({"x": pd.to_timedelta([1], unit="D"), "u": 1, "g": "a"}, "column x.*holds dates"),
        (None, "rows of the fit"),
        ({"x": 1, "u": 1, "g": "q"}, "'q' is not a level.*'a', 'b', 'c'"),
        ({"x": 1, "u": 1, "g": [None]}, "missing value"),
        ({"x": 1, "u": 1, "g": [float("nan")]}, "missing value"),
        ({"x": [1, np.nan], "u": 1, "g": "a"}, "column x.*NaN"),
        ({"x": "one", "u": 1, "g": "a"}, "numbers in column x"),
        ({"x": 1j, "u": 1, "g": "a"}, "numbers in column x"),
        ({"x": np.array([1j, 2], object), "u": 1, "g": "a"}, "numbers in column x"),
        ({"x": np.array([np.complex64(1), 2], object), "u": 1, "g": "a"}, "numbers in column x"),
        ({"x": np.array([np.timedelta64(1), 2], object), "u": 1, "g": "a"}, "numbers in column x"),
        ({"x": ["1"], "u": 1, "g": "a"}, "numbers in column x"),
        ({"x": np.array([1, "2"], dtype=object), "u": 1, "g": "a"}, "numbers in column x"),
        ({"x": [1, 2], "u": [1, 2, 3], "g": "a"}, "unequal length"),
        ({"x": 1, "u": 0, "g": "a"}, r"np\.log\(u\) has no finite value"),
        ({"x": 9, "u": 1, "g": "a"}, "column x.*spline"),
    ],
)
def test_unusable_new_data_are_refused_by_name(frame, said):
    formula = Formula.parse("y ~ bs(x, df=4) + np.log(u) + g")
    design = formula.design(SCHEMA, {"np.log(u)": (-3, 3)})
    with pytest.raises(ArgumentError, match=said):
        design.predictors(frame)


@pytest.mark.parametrize(
    ("kind", "made"),
    [
        ("list", lambda: [{"x": 1.0}]),
        ("ndarray", lambda: np.ones((2, 1))),
        ("float", lambda: 1.0),
        ("LazyFrame", lambda: pytest.importorskip("polars").LazyFrame({"x": [1.0]})),
        (
            "DuckDBPyRelation",  # which answers to a column, but not as an array
            lambda: pytest.importorskip("duckdb").from_df(pd.DataFrame({"x": [1.0]})),
        ),
    ],
)
def test_what_is_no_data_frame_is_refused_by_its_type(kind, made):
    design = Formula.parse("y ~ x").design(SCHEMA)
    said = f"expected new data as a mapping or a data frame with a column x, got an? {kind}$"
    with pytest.raises(ArgumentError, match=said):
        design.predictors(made())
