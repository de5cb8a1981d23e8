"""Formulas with instruments: what they stand for, and what is refused."""

import pytest

import dpstats as dp
from dpstats.formula import InstrumentFormula


@pytest.mark.parametrize(
    "text, structural, reduced, first",
    [
        ("y ~ x + [d ~ z]", "y ~ x + d", "y ~ x + z", "d ~ x + z"),
        ("y ~ [d ~ z]", "y ~ d", "y ~ z", "d ~ z"),
        ("y ~ 1 + x + [d ~ a + b] + w", "y ~ 1 + x + d + w", "y ~ 1 + x + a + b + w",
         "d ~ 1 + x + a + b + w"),
        ("y ~ x + [d ~ z] - 1", "y ~ x + d - 1", "y ~ x + z - 1", "d ~ x + z - 1"),
        ("np.log(y) ~ C(g, levels=['[', ']']) + [np.log(d) ~ C(q, levels=[1, 2])]",
         "np.log(y) ~ C(g, levels=['[', ']']) + np.log(d)",
         "np.log(y) ~ C(g, levels=['[', ']']) + C(q, levels=[1, 2])",
         "np.log(d) ~ C(g, levels=['[', ']']) + C(q, levels=[1, 2])"),
    ],
)  # fmt: skip
def test_three_regressions_of_one_text(text, structural, reduced, first):
    found = InstrumentFormula.parse(text)
    texts = (found.structural.text, found.reduced.text, found.first_stage.text)
    assert texts == (structural, reduced, first)


def test_instruments_are_the_terms_that_stand_in_the_brackets():
    found = InstrumentFormula.parse("y ~ x + C(g) + [d ~ z + z:x]")
    assert found.endogenous == "d" and found.instruments == ("z", "z:x")
    assert InstrumentFormula.parse("y ~ x + [d ~ a + b]").instruments == ("a", "b")


@pytest.mark.parametrize(
    "text, why",
    [
        ("y ~ x", "endogenous regressor and its instruments in brackets"),
        ("y ~ [a ~ z] + [b ~ w]", "endogenous regressor and its instruments in brackets"),
        ("y ~ x [d ~ z]", "brackets added"),
        ("y ~ x * [d ~ z]", "brackets added"),
        ("y ~ x + [d ~ ]", "brackets added"),
        ("y ~ x + [d ~ z ~ w]", "brackets added"),
        ("y ~ x + [d + e ~ z + w]", "one endogenous regressor is proven"),
        ("y ~ x + [d ~ x]", "instrument is to stand in the brackets alone"),
        ("y ~ x + [d ~ z + x]", "instrument is to stand in the brackets alone"),
        ("y ~ x + [d ~ 1]", "instrument is to stand in the brackets alone"),
        ("y ~ x + d + [d ~ z]", "would explain itself"),
        ("y ~ x + [y ~ z]", "would explain itself"),
        ("np.log(y) ~ x + [y ~ z]", "would explain itself"),
        ("y ~ x + [d ~ z * x]", "instrument is to stand in the brackets alone"),
        ("y ~ x + [d ~ z] - d", "would explain itself|left of ~ in the brackets alone"),
        ("y ~ x + [d ~ z - 1]", "write - 1 behind the brackets"),
        ("y ~ x + [d ~ z] | g", r"write C\(state\) with levels="),
        ("y ~ x + [d * e ~ z]", "expected one response"),
        (dp.RFormula("y ~ x | d ~ z"), "formula in Python"),
        (None, "formula in Python"),
    ],
)
def test_what_is_refused_says_what_to_write(text, why):
    with pytest.raises(dp.FormulaError, match=why):
        InstrumentFormula.parse(text)
