"""Formulas with instruments: what they stand for, and what is refused."""

import pytest

import dpstats as dp
from dpstats.formula import InstrumentFormula, RFormula


@pytest.mark.parametrize(
    "text, structural, reduced, first",
    [
        ("y ~ x + [d ~ z]", "y ~ x + d", "y ~ x + z", "d ~ x + z"),
        ("y ~ [d ~ z]", "y ~ d", "y ~ z", "d ~ z"),
        ("y ~ 1 + x + [d ~ a + b] + w", "y ~ 1 + x + d + w", "y ~ 1 + x + a + b + w",
         "d ~ 1 + x + a + b + w"),
        ("y ~ x + [d ~ z] - 1", "y ~ x + d - 1", "y ~ x + z - 1", "d ~ x + z - 1"),
        ("y ~ x + [d ~ z] | g", "y ~ x + d | g", "y ~ x + z | g", "d ~ x + z | g"),
        ("y ~ [d ~ z] + w | g + t", "y ~ d + w | g + t", "y ~ z + w | g + t", "d ~ z + w | g + t"),
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


@pytest.mark.parametrize(
    "text, structural, reduced, first",
    [
        ("y ~ x | d ~ z", "y ~ x + d", "y ~ x + z", "d ~ x + z"),
        ("y ~ 1 | d ~ a + b", "y ~ 1 + d", "y ~ 1 + a + b", "d ~ 1 + a + b"),
        ("y ~ x | g + t | d ~ z", "y ~ x + d | g + t", "y ~ x + z | g + t", "d ~ x + z | g + t"),
        ("log(y) ~ x*g - 1 | I(d^2) ~ factor(q)", "log(y) ~ x * g - 1 + I(d^2)",
         "log(y) ~ x * g - 1 + factor(q)", "I(d^2) ~ x * g - 1 + factor(q)"),
    ],
)  # fmt: skip
def test_three_regressions_of_a_text_in_r(text, structural, reduced, first):
    found = InstrumentFormula.parse(RFormula(text))
    parts = (found.structural.text, found.reduced.text, found.first_stage.text)
    assert parts == tuple(map(RFormula, (structural, reduced, first)))
    assert found.text == RFormula(text)


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
        ("y ~ x + d + [d ~ z]", "d is the endogenous regressor, so leave it out of the others"),
        ("y ~ [d ~ d]", "d is the endogenous regressor, so leave it out of the others"),
        ("y ~ x | d ~ z", r"instruments in brackets, as in 'y ~ x \+ \[d ~ z\]'"),
        ("y ~ x + [y ~ z]", "would explain itself"),
        ("np.log(y) ~ x + [y ~ z]", "would explain itself"),
        ("y ~ x + [d ~ z * x]", "instrument is to stand in the brackets alone"),
        ("y ~ x + [d ~ z] - d", "would explain itself|left of ~ in the brackets alone"),
        ("y ~ x + [d ~ z - 1]", "write - 1 behind the brackets"),
        ("y ~ x | g + [d ~ z]", r"stands last, as in 'y ~ x \+ \[d ~ z\] \| state'"),
        ("y ~ x + [d ~ z | g]", "the column to absorb stands last"),
        ("y ~ x + [d ~ z] | g * h", "absorbs combinations of columns"),
        ("y ~ x + [d ~ z] | g | h", "two |"),
        ("y ~ x + [d ~ z] | z", "z is absorbed, so z cannot stand left of"),
        ("y ~ x + [d ~ z] | d", "d is absorbed, so d cannot stand left of"),
        ("y ~ x + [d * e ~ z]", "expected one response"),
        (None, "expected a formula, as in"),
        (RFormula("y ~ x"), r"one endogenous regressor and its instruments, as in y ~ x \| d ~ z"),
        (RFormula("y ~ x + d | x + z"), "one endogenous regressor and its instruments"),
        (RFormula("y ~ x | g | h | d ~ z"), r"as in y ~ x \| state \| d ~ z"),
        (RFormula("y ~ x | d ~ z | g"), r"as in y ~ x \| state \| d ~ z"),
        (RFormula("y ~ x | g^h | d ~ z"), "make the combinations a column"),
        (RFormula("y ~ x | z | d ~ z"), "z is absorbed"),
        (RFormula("y ~ x | d ~ z ~ w"), "one endogenous regressor and its instruments"),
        (RFormula("y ~ x | d + e ~ z + w"), "one endogenous regressor is proven"),
        (RFormula("y ~ x | d ~ x"), "is to stand right of the second ~ alone"),
        (RFormula("y ~ x + d | d ~ z"), r"d is to stand right of \| alone"),
        (RFormula("y ~ x | y ~ z"), "would explain itself"),
        (RFormula("log(y) ~ x | y ~ z"), "would explain itself"),
        (RFormula("y ~ x | d ~ y"), "would explain itself"),
        (RFormula("y ~ x | d ~ d"), "d"),
        (RFormula("y ~ x | d ~ z - 1"), r"write - 1 left of \|"),
        (RFormula("y ~ x | d ~"), "the end is not expected"),
        (RFormula("y ~ . | d ~ z"), "write out what . stands for"),
        (RFormula("y ~ " + "(" * 5000 + "x | d ~ z"), "too many|too deeply"),
    ],
)
def test_what_is_refused_says_what_to_write(text, why):
    with pytest.raises(dp.FormulaError, match=why):
        InstrumentFormula.parse(text)
