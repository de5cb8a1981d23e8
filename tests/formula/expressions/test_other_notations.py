"""Formulas in the notations of other programs are answered with what to write here."""

import pytest

from dpstats.errors import FormulaError
from dpstats.formula import Condition, Formula, RFormula
from dpstats.formula.expressions.other_notations import in_own_words, meant

# A formula, and what its message says to write: in Python, and in R where it is refused there.
STATA = [
    ("y ~ x + i.region", "write y ~ x + C(region)", None),
    ("y ~ c.age##c.age", "write y ~ age + I(age**2)", "write y ~ age + I(age^2)"),
    ("y ~ c.age#c.age", "write y ~ I(age**2)", "write y ~ I(age^2)"),
    ("y ~ i.region##c.age", "write y ~ C(region) * age", "write y ~ factor(region) * age"),
    ("y ~ ib3.region", "write y ~ C(region, Treatment(3))", None),
    ("y ~ ib3.g#i.h", "C(g, Treatment(3)):C(h)", 'relevel(g, "3"):factor(h)'),
    ("y ~ L2.x", "L2.x needs other rows", None),
    ("reg y x z", "write y ~ x + z", "write y ~ x + z"),
    ("y = x", "write y ~ x", "write y ~ x"),
    ("y ~ x, robust", "after the comma, robust", "after the comma, robust"),
    ("y ~ x if age > 30", 'subset="age > 30"', 'subset="age > 30"'),
]
OTHERS = [
    ("y ~ csw(x, z)", "['y ~ x', 'y ~ x + z']", "list(y ~ x, y ~ x + z)"),
    ("y ~ x + [educ ~ nearc4]", "instruments are for dp_iv", "dp_iv(y ~ x | d ~ z, data)"),
    ("y ~ x | g | educ ~ z", "instruments are for dp_iv", "dp_iv(y ~ x | d ~ z, data)"),
    ("y ~ x | educ ~ z", "instruments are for dp_iv", "dp_iv(y ~ x | d ~ z, data)"),
    ("cbind(a, b) ~ x", "['a ~ x', 'b ~ x']", "list(a ~ x, b ~ x)"),
    ("cbind(a, b) ~ x", "as a row for each trial", "as a row for each trial"),
    ("y ~ x + (1 | g)", "effects of g: y ~ x | g", "effects of g: y ~ x | g"),
    ("df$y ~ df$x", "write y ~ x", "write y ~ x"),
    ("y ~ df['x']", "write y ~ x", "write y ~ x"),
    ("y ~ splines::ns(x, 3)", "without splines::", "write poly(x, 3)"),
    ("y ~ dplyr::lag(x)", "without dplyr::", "without dplyr::"),
    ("y ~ as.factor(g)", "dpstats.RFormula", None),
]


READINGS = [
    (kind(text), words)
    for text, python, r in STATA + OTHERS
    for kind, words in ((str, python), (RFormula, r))
    if words is not None
]


@pytest.mark.parametrize(("formula", "words"), READINGS)
def test_another_notation_is_answered_with_what_to_write(formula, words):
    with pytest.raises(FormulaError) as refused:
        Formula.parse(formula)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "y ~ foo(bar(x), 3)", "y ~ I(a | b)", "y ~ I(g == 'a')", "y ~ mean(x)", "y ~ x | g + h",
        "y ~ i.region + foo(S.x)", "y ~ (x",
    ],
)  # fmt: skip
def test_another_mistake_keeps_its_own_message(text):
    assert meant(text, in_r=True) == ""
    with pytest.raises(FormulaError, match="^the reason$"), in_own_words(text, in_r=True):
        raise FormulaError("the reason")


def test_names_with_dots_are_columns_of_r():
    assert Formula.parse(RFormula("y ~ i.region + L.x")).predictors == ("i.region", "L.x")


def test_functions_of_r_itself_may_name_their_package():
    assert Formula.parse(RFormula("base::log(y) ~ stats::relevel(g, 'b')")).predictors == ("g",)


@pytest.mark.parametrize("text", ["x.notna()", "~isnan(x)", "not isnull(x)"])
def test_a_condition_on_missing_values_says_that_they_are_left_out(text):
    with pytest.raises(FormulaError, match="left out anyway"):
        Condition.parse(text)
    with pytest.raises(FormulaError, match="left out anyway"):
        Condition.parse(RFormula("!is.na(x)"))
