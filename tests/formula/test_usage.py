"""The variables a formula names, by use."""

import pickle

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.errors import FormulaError
from dpstats.formula import Formula, RFormula


def test_a_formula_lists_its_variables_by_use():
    formula = Formula.parse(
        "np.log(wage) ~ age*I(school**2) + Q('my col'):age + C(sex) + I(race == 'w') + kids"
    )
    assert formula.response == "np.log(wage)"
    assert formula.variables == ("wage", "age", "school", "my col", "sex", "race", "kids")
    assert formula.predictors == formula.variables[1:]
    assert formula.declared == {"wage", "school"}
    assert formula.categorical == {"sex", "race"}


def test_what_was_read_travels_with_the_formula():
    formula = Formula.parse("np.log(y) ~ 0 + a*b + C( g ) | state")
    assert formula.response_variables == ("y",) and formula.variables[-1] == "state"
    assert formula.terms == ("a", "b", "a:b", "C(g)") and not formula.has_intercept
    assert formula.written_terms == ("np.log(y)", "a", "b", "C(g)")
    assert [reading.code for reading in formula.readings][0] == formula.response
    assert not Formula.parse("y ~ x - 1").has_intercept and Formula.parse("y ~ x").has_intercept


@pytest.mark.parametrize("kind", [str, RFormula])
def test_a_formula_is_pickled_as_its_text_in_its_dialect(kind):
    formula = Formula.parse(kind("y ~ x:z + x"))
    again = pickle.loads(pickle.dumps(formula))
    assert (again.text, again.terms) == (formula.text, formula.terms) and type(again.text) is kind
    other = {str: RFormula, RFormula: str}[kind]
    assert Formula.parse(other(formula.text)).terms != formula.terms


@pytest.mark.parametrize(
    "text",
    [
        "y ~ x + y",
        "y ~ x:y",
        "np.log(y) ~ I(y**2)",
        "I(y - x) ~ I(y - x)",
        RFormula("y ~ x + y"),
        RFormula("y ~ x + x:y"),
        RFormula("y ~ x * y"),
        RFormula("log(y) ~ log(y):x + x"),
    ],
)
def test_a_response_may_not_explain_itself(text):
    with pytest.raises(FormulaError, match="stands right of ~ too"):
        Formula.parse(text)
    assert Formula.parse("I(y - before) ~ before").predictors == ("before",)


def test_a_dot_stands_for_other_columns_in_r_alone():
    columns = ["y", "x", "my col"]
    assert Formula.parse(RFormula("y ~ ."), columns).predictors == ("x", "my col")
    with pytest.raises(FormulaError, match=r"write y ~ x \+ Q\('my col'\)"):
        Formula.parse("y ~ .", columns)


def test_a_column_with_the_name_of_the_intercept_is_quoted():
    for text in ("y ~ Intercept", "y ~ x + Intercept", RFormula("y ~ Intercept")):
        with pytest.raises(FormulaError, match="taken for the intercept; write Q"):
            Formula.parse(text)
    assert Formula.parse("y ~ Q('Intercept')").predictors == ("Intercept",)
    assert Formula.parse("Intercept ~ x:Intercept2").response == "Intercept"


LEVELS = {"y": np.ones(9), "x": np.ones(9), "k": np.arange(9), "g": np.arange(9) % 3}


@pytest.mark.parametrize(("formula", "levels"), [("y ~ k", 10_002), ("y ~ x + C(g):k", 6000)])
def test_factors_with_more_levels_than_a_fit_holds_are_refused_with_what_to_write(formula, levels):
    budget, given = dp.Budget(epsilon=1), {"k": range(levels), "g": range(3)}
    with pytest.raises(FormulaError, match=r"merge levels, or .* which dp_ols and dp_iv do"):
        dp.dp_ols(formula, LEVELS, levels=given, epsilon=1, budget=budget)
    assert not budget.calls


def test_absorbed_levels_have_no_columns():
    fit = dp.dp_ols("y ~ x | k", LEVELS, levels={"k": range(10_002)}, epsilon=1)
    assert fit.params.index == ["x"]


@pytest.mark.parametrize("text", [RFormula("factor(k) ~ x"), "C(k) ~ x"])
def test_a_factor_made_as_the_response_is_refused_before_its_levels_are_asked_for(text):
    people = pd.DataFrame({"k": [0, 1], "x": [1.0, 2.0]})
    with pytest.raises(dp.FormulaError, match="write k alone, of which the last of two levels"):
        dp.dp_logit(text, people, epsilon=1)
