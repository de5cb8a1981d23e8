"""Formulas of R with instruments, in fixest's form: their parts, and what is refused."""

import pytest

from dpstats.errors import FormulaError
from dpstats.formula import Formula
from dpstats.formula.instruments import InstrumentFormula
from dpstats.formula.r import RFormula, instrument_parts


@pytest.mark.parametrize(
    "text, parts",
    [
        ("y ~ x | d ~ z", ("y", "x", "d", "z", "")),
        ("y~1|d~z+w:v", ("y", "1", "d", "z + w:v", "")),
        ("log(`my y`) ~ x * g | I(d | e) ~ poly(z, 2)",
         ("log(`my y`)", "x * g", "I(d | e)", "poly(z, 2)", "")),
        ("y ~ x | state + year | d ~ z", ("y", "x", "d", "z", "state + year")),
    ],
)  # fmt: skip
def test_parts_are_written_as_r_writes_them(text, parts):
    assert instrument_parts(RFormula(text)) == parts


@pytest.mark.parametrize(
    "text, why",
    [
        ("y ~ x", "got y ~ x"),
        ("~ x | d ~ z", "exogenous regressors, or 1"),
        ("y ~ d ~ z", "exogenous regressors, or 1"),
        ("y ~ (x | d) ~ z", "exogenous regressors, or 1"),
        ("y ~ x | state | year | d ~ z", "one part with absorbed effects at most"),
        ("y ~ x | a + b + c ~ z", "one endogenous regressor is proven"),
        ("y ~ x | d ~ z; w", "cannot read"),
        ("y ~ " + "-" * 9000 + "x | d ~ z", "too many|too deeply"),
        ("y ~ x | d ~ " + "z" * 30_000, "at most 20,000 characters"),
    ],
)
def test_other_forms_are_refused(text, why):
    with pytest.raises(FormulaError, match=why):
        instrument_parts(RFormula(text))


@pytest.mark.parametrize("x", ["1", "age", "age > 40", "!member", "age > 40 & member"])
@pytest.mark.parametrize("z", ["near > 10", "near", "!close", "near > 10 & close"])
def test_a_condition_is_a_term_of_its_own_beside_others(x, z):
    """It stood without parentheses, so that 1 + near > 10 was an instrument."""
    formula = InstrumentFormula.parse(RFormula(f"y ~ {x} | d ~ {z}"))
    others = () if x == "1" else (x,)
    assert formula.instruments == (z,)
    assert formula.structural.terms == (*others, "d")
    assert formula.reduced.terms == formula.first_stage.terms == (*others, z)


def test_a_condition_is_a_term_of_its_own_beside_absorbed_effects():
    for term in ("x > 10", "!x", "z + !x"):
        formula = Formula.parse(RFormula(f"y ~ {term} | state + year"))
        assert formula.terms == (*term.split(" + "), "factor(year)")
