"""Designs that are collinear in every table are refused, and no others."""

import pytest

from dpstats.errors import FormulaError
from dpstats.formula import Formula, RFormula
from dpstats.schema import BOOLEAN, UNLIMITED, Categorical, Numeric
from tests.checks.design import rank

SCHEMA = {
    "y": Numeric(0.0, 1.0), "x": Numeric(1.0, 9.0), "z": Numeric(-1.0, 2.0), "b": BOOLEAN,
    "g": Categorical((1, 2, 3)), "h": Categorical(("u", "v", "w", "q")), "s": Categorical((0, 1)),
}  # fmt: skip
# Formulas of full rank, in each dialect.
FULL = [
    "i(g) - 1", "i(g) + C(h) - 1", "i(g, ref=1) + C(h) - 1", "i(g, ref=1) + i(h) - 1",
    "i(g, x)", "x + i(g, x, ref=1)", "i(g, ref=1)*i(h, ref='u')",
    "g*h - 1", "g:h", "g + g:h", "b + g - 1", "x + C(g):x", "C(g):x + C(h):x", "b + I(x > 3)",
    "C(g, Poly)*C(h, Helmert)", "C(h, Diff) + C(g, Sum) - 1",
    "I(g == 1) + I(g == 2)", "I(g == 1) + I(g == 2) - 1", "i(g, x) | s", "C(g) | s",
    "bs(x, df=5)", "bs(x, df=5, include_intercept=True) - 1", "cr(x, df=4) - 1",
    "cc(x, df=4, constraints='center') + g", "cr(x, df=4):C(g) - 1", "g + cr(x, df=4):z",
]  # fmt: skip
IN_R = [
    "i(g) - 1", "i(g) + h - 1", "i(g, ref = 1) + h - 1", "i(g, ref = 1) + i(h) - 1", "i(g, x)",
    "x + i(g, x, ref = 1)", "g*h - 1", "g + g:h", "b + g - 1", 'I(h == "u") + g', "i(g, x) | s",
]  # fmt: skip
# Collinear ones, with the terms and the fix that the message names.
BY_REF = r"collinear whatever the rows are; leave a level out by ref=, as in "
REDUNDANT = [
    ("i(g)", rf"the intercept and i\(g\) are {BY_REF}i\(g, ref=1\)"),
    ("C(h) + i(g) - 1", rf"of C\(h\) and i\(g\) are {BY_REF}i\(g, ref=1\)"),
    ("b + i(s) - 1", rf"of b and i\(s\) are {BY_REF}i\(s, ref=0\)"),
    ("i(g) + i(h) - 1", rf"of i\(g\) and i\(h\) are {BY_REF}i\(h, ref='u'\)"),
    ("x + i(g, x)", rf"of x and i\(g\):x are {BY_REF}i\(g, ref=1\)"),
    ("i(g, x) + i(h, x)", rf"of i\(g\):x and i\(h\):x are {BY_REF}"),
    ("i(g) | s", rf"the effects of s and i\(g\) are {BY_REF}"),
    ("i(g, ref=1) + C(g)", r"i\(g, ref=1\) and C\(g\) are .*; leave one of them out"),
    ("C(g, Sum) + C(g)", r"intercept, C\(g, Sum\) and C\(g\) are .*; leave one of them out"),
    ("C(g, Sum) + C(g) - 1", "leave one of them out"),
    ("C(s, Sum) + C(s) - 1", "leave one of them out"),
    ("I(h == 'u') + h", r"I\(h == 'u'\) and h are .*; leave one of them out"),
    ("I((h == 'u') * 1) + h", "leave one of them out"),
    ("I(g == 1) + I(g == 2) + I(g == 3)", r"the intercept, I\(g == 1\), .*; leave one"),
    ("C(g):I(g == 1)", r"of C\(g\):I\(g == 1\) are collinear"),
    ("cr(x, df=4)", r"write constraints='center' in cr\(x, df=4\)"),
    ("cc(x, df=4) + g - 1", r"of g and cc\(x, df=4\) .*; write constraints='center' in cc"),
    ("bs(x, df=5, include_intercept=True)", r"leave include_intercept out of bs\(x"),
    ("bs(x, knots=[0.5, 7], lower_bound=0, upper_bound=9, degree=1)", "knots below bounds= out of"),
]
REDUNDANT_IN_R = [
    ("factor(g) + i(g, ref = 1)", r"factor\(g\) and i\(g, ref = 1\) are .*; leave one of them out"),
    ("i(g) + factor(g) - 1", "leave one of them out"),
    ('h + I(h == "u")', r'h and I\(h == "u"\) are .*; leave one of them out'),
    ("h + i(g) - 1", r"leave a level of i\(g\) out by ref ="),
    ("x + i(g, x)", r"leave a level of i\(g\) out by ref ="),
]


@pytest.mark.parametrize("text", [*FULL, *map(RFormula, IN_R)])
def test_no_design_of_full_rank_is_refused(text):
    found, columns = rank(type(text)(f"y ~ {text}"), SCHEMA)
    assert found == columns


@pytest.mark.parametrize(
    ("text", "message"), [*REDUNDANT, *((RFormula(text), said) for text, said in REDUNDANT_IN_R)]
)
def test_collinear_designs_are_refused_with_their_terms_and_the_fix(text, message):
    with pytest.raises(FormulaError, match=message):
        Formula.parse(type(text)(f"y ~ {text}")).design(SCHEMA)


@pytest.mark.parametrize("low", [-3.0, 0.25, 5.0])
def test_an_estimated_range_decides_over_no_refusal(low):
    """Beyond its first knot a spline adds up to 1, and the call has been charged by then."""
    free = {"x": UNLIMITED}
    schema = {**SCHEMA, "x": Numeric(low, low + 0.5)}
    text = "y ~ bs(x, knots=[0, 2], degree=1, lower_bound=-4, upper_bound=9{})"
    assert len(Formula.parse(text.format("")).design(schema, clipping=free).names) == 4
    for formula in (text.format(", include_intercept=True"), "y ~ cr(x, df=4)"):
        with pytest.raises(FormulaError, match="collinear"):
            Formula.parse(formula).design(schema, clipping=free)


@pytest.mark.parametrize("text", [text for text, _ in REDUNDANT if "|" not in text])
def test_what_is_refused_is_collinear_on_rows(text, monkeypatch):
    monkeypatch.setattr("dpstats.formula.design.check_redundancy", lambda *_: None)
    found, columns = rank(f"y ~ {text}", SCHEMA)
    assert found < columns
