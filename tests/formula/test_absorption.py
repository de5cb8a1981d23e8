"""``y ~ x | state`` in both dialects: what is split off, and what is refused."""

import numpy as np
import pytest

from dpstats.errors import FormulaError
from dpstats.formula import Formula, RFormula
from dpstats.formula.absorption import split_off
from dpstats.schema import Categorical, Labels, Numeric

UNIT = Numeric(0.0, 1.0)
SCHEMA = {"y": UNIT, "x": UNIT, "z": UNIT, "h": Categorical(("a", "b", "c")), "g": Labels()}


@pytest.mark.parametrize(
    ("text", "regression", "absorbed"),
    [
        ("y ~ x | g", "y ~ x", "g"),
        ("y ~ x|g", "y ~ x", "g"),
        ("y ~ Q('a|b') + x | Q('my | g')", "y ~ Q('a|b') + x", "my | g"),
        ("y ~ np.maximum(x, z) | g", "y ~ np.maximum(x, z)", "g"),
        ("y ~ x", "y ~ x", None),
        ("y ~ x | g + h", "y ~ x + C(h)", "g"),
        ("y ~ x | g + h + Q('my k')", "y ~ x + C(h) + C(Q('my k'))", "g"),
        (RFormula("y ~ x | g + h + k"), "y ~ x + factor(h) + factor(k)", "g"),
        (RFormula("y ~ x + z | g"), "y ~ x + z", "g"),
        (RFormula("log(y) ~ x^2 | `my g`"), "log(y) ~ x^2", "my g"),
        (RFormula("y ~ x"), "y ~ x", None),
    ],
)
def test_the_last_part_is_split_off(text, regression, absorbed):
    found = split_off(text)
    assert (str(found.regression), found.absorbed) == (regression, absorbed)
    assert type(found.regression) is type(text)


WRONG = [
    ("y ~ x | g + a^b", "combinations"),
    ("y ~ x | g + C(h)", "one column after"),
    ("y ~ x | a + b", "b is not declared"),
    ("y ~ x | a^b", "combinations"),
    ("y ~ x | a*b", "combinations"),
    ("y ~ x | a:b", "one column after"),
    ("y ~ x | a, b", "combinations"),
    ("y ~ x | ", "one column after"),
    ("y ~ x | C(g)", "one column after"),
    ("y ~ x | g | d", "instruments"),
    ("y ~ x + g | g", "g is absorbed"),
    ("y ~ x:g | g", "g is absorbed"),
    ("g ~ x | g", "g is absorbed"),
    ("y ~ 1 | g", "needs a regressor"),
]


@pytest.mark.parametrize(("text", "reason"), WRONG)
def test_anything_but_one_column_is_refused_with_what_to_write(text, reason):
    with pytest.raises(FormulaError, match=reason):
        Formula.parse(text).design({**SCHEMA, "a": Labels(), "b": Labels()})


WRONG_IN_R = [
    ("y ~ x | g + factor(h)", "columns after"),
    ("y ~ x | a + b", "b is not declared"),
    ("y ~ x | a^b", "combinations"),
    ("y ~ x | factor(g)", "one column after"),
    ("y ~ x | a | d", "at most one|one column"),
    ("y ~ x + (1 | g)", "no random effects"),
    ("y ~ x + g | g", "g is absorbed"),
    ("y ~ 1 | g", "needs a regressor"),
]


@pytest.mark.parametrize(("text", "reason"), WRONG_IN_R)
def test_the_same_holds_in_r(text, reason):
    with pytest.raises(FormulaError, match=reason):
        Formula.parse(RFormula(text)).design({**SCHEMA, "a": Labels(), "b": Labels()})


@pytest.mark.parametrize("sign", ["", "0 + ", "1 + ", "-1 + "])
def test_factors_are_coded_as_beside_an_intercept_which_is_left_out(sign):
    """The absorbed effects contain the constant, with 0 + in the formula or without."""
    design = Formula.parse(f"y ~ {sign}x + h | g").design(SCHEMA)
    assert set(design.names) == {"h[T.b]", "h[T.c]", "x"} and design.intercept is None
    in_r = Formula.parse(RFormula(f"y ~ {sign.replace('-1 +', '0 +')}x + h | g")).design(SCHEMA)
    assert in_r.names == ("x", "hb", "hc") and in_r.intercept is None


def test_levels_of_a_second_column_become_indicators():
    assert {*Formula.parse("y ~ x | g + h").design(SCHEMA).names} == {"x", "C(h)[T.b]", "C(h)[T.c]"}
    in_r = Formula.parse(RFormula("y ~ x | g + h")).design(SCHEMA)
    assert in_r.names == ("x", "factor(h)b", "factor(h)c")


def test_rows_do_not_depend_on_the_absorbed_column():
    batch = {"y": np.array([0.5]), "x": np.array([0.25]), "h": np.array([2])}
    design = Formula.parse("y ~ x + h | g").design(SCHEMA)
    rows = design.rows({**batch, "g": np.array([7.0])})
    X, y = rows.numbers, rows.response
    assert dict(zip(design.names, X[0], strict=True)) == {"h[T.b]": 0, "h[T.c]": 1, "x": 0.25}
    assert y.tolist() == [0.5]


def test_what_a_formula_says_of_itself():
    formula = Formula.parse("y ~ x + C(h) | g")
    assert formula.variables == ("y", "x", "h", "g")
    assert formula.predictors == ("x", "h")
    assert formula.absorbed == "g" and not formula.has_intercept
    assert Formula.parse("y ~ x").absorbed is None


def test_the_dot_of_r_leaves_the_absorbed_column_out():
    assert str(RFormula("y ~ . | g").over(["y", "x", "g", "z"])) == "y ~ (x + z) | g"
