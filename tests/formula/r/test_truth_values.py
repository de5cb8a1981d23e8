"""Columns that are true or false in arithmetic of R, where they are 1 and 0."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.formula import Formula
from dpstats.formula.r.truth_values import with_numbers
from dpstats.schema import BOOLEAN, Categorical, Numeric

SCHEMA = {"y": Numeric(-1, 5), "x": Numeric(0, 8), "b": BOOLEAN, "c": BOOLEAN}
ROWS = {"y": np.zeros(4), "x": np.array([1.0, 2.0, 3.0, 4.0]), "b": np.array([0, 0, 1, 1]),
        "c": np.array([0, 1, 0, 1])}  # fmt: skip


def design(text, schema=SCHEMA):
    return Formula.parse(dp.RFormula(text)).design(schema)


@pytest.mark.parametrize(
    ("term", "values", "ends"),
    [
        ("I(100 * b)", [0, 0, 100, 100], (0, 100)),
        ("I(x * b)", [0, 0, 3, 4], (0, 8)),
        ("I(-b)", [0, 0, -1, -1], (-1, 0)),
        ("I(b + c)", [0, 1, 1, 2], (0, 2)),
        ("I(b * c)", [0, 0, 0, 1], (0, 1)),
        ("I(b - c * (x > 1))", [0, -1, 1, 0], (-1, 1)),
        ("as.integer(b)", [0, 0, 1, 1], (0, 1)),
        ("I(2 * as.numeric(b))", [0, 0, 2, 2], (0, 2)),
        ("exp(b)", [1, 1, np.e, np.e], (1, np.e)),
        ("I((b + c) == 1)", [0, 1, 1, 0], (0, 1)),
        ("I(b == c)", [1, 0, 0, 1], (0, 1)),
        ("ifelse(b, c, x)", [1, 2, 0, 1], (0, 8)),
        ("b", [0, 0, 1, 1], (0, 1)),
        ("I(b)", [0, 0, 1, 1], (0, 1)),
    ],
)
def test_a_truth_value_is_1_or_0_as_in_r(term, values, ends):
    found = design(f"y ~ {term}")
    np.testing.assert_allclose(found.rows(ROWS).numbers[:, 1], values)
    np.testing.assert_allclose((found.low[1], found.high[1]), ends)
    assert found.names[1] in (term, f"{term}TRUE")
    new = {**ROWS, "b": ROWS["b"] == 1, "c": ROWS["c"] == 1}
    new = {name: new[name] for name in found.schema if name != "y"}
    np.testing.assert_allclose(found.predictors(new)[:, 1], values)


def test_a_response_may_be_a_multiple_of_one():
    found = design("I(100 * b) ~ x")
    assert found.response_bounds == (0, 100) and found.responses(ROWS).tolist() == [0, 0, 100, 100]


def test_levels_0_and_1_stay_levels():
    with pytest.raises(dp.FormulaError, match="k"):
        design("y ~ I(100 * k)", {**SCHEMA, "k": Categorical((0, 1))})


def test_what_is_a_multiple_of_another_term_is_refused():
    with pytest.raises(dp.FormulaError, match="collinear"):
        design("y ~ b + I(100 * b)")


def test_python_has_its_own_words_for_it():
    with pytest.raises(dp.FormulaError, match=r"write \(b == True\) for b"):
        Formula.parse("y ~ I(b + c)").design(SCHEMA)


def test_a_design_with_one_survives_the_way_to_a_result():
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"x": rng.random(4000), "b": rng.random(4000) < 0.4})
    df["y"] = df.x + 2 * df.b + rng.normal(size=4000) / 10
    with dp.testing.insecure_seed(1):
        found = dp.dp_ols(dp.RFormula("y ~ x + I(10 * b)"), df, epsilon=1e4)
    np.testing.assert_allclose(found.params, [0, 1, 0.2], atol=0.02)
    again = dp.DPResults.from_json(found.to_json())
    new = {"x": [0.5, 0.5], "b": [False, True]}
    np.testing.assert_allclose(again.predict(new), found.predict(new))
    np.testing.assert_allclose(np.diff(found.predict(new)), 2, atol=0.02)


def test_only_the_columns_that_are_named_are_numbers():
    assert with_numbers("(2.0 * Q('x'))", {"b"}) == "(2.0 * Q('x'))"
    assert with_numbers("poly(Q('b'), 2)", {"b"}) == "poly(Q('b'), 2)"
