"""Formulas: what is refused before there is a schema, and what stays of a formula."""

import pickle

import pytest

from dpstats.errors import FormulaError
from dpstats.formula import Formula, RFormula
from dpstats.schema import Categorical, Labels, Numeric

MALFORMED = [
    (3, "string|formula"),
    ("", "one response"),
    ("~ x", "one response"),
    ("y + z ~ x", "one response"),
    ("y:z ~ x", "one response"),
    ("1 ~ x", "one response"),
    ("y ~", "cannot read"),
    ("y ~ x ~ z", "~ can only be used once"),
    ("y ~ I(x", "unclosed"),
    ("y ~ I(x +)", "cannot read"),
    ("y ~ .", "name each predictor"),
    ("y ~ x z", r"join them with \+"),
    ("y ~ 0", "no columns"),
    ("y ~ x - x - 1", "no columns"),
    ("y ~ 2 * x", r"I\(2 \* x\)"),
    ("y ~ x + 3", r"I\(2 \* x\)"),
    ("y ~ x^2", r"I\(x \*\* 2\)"),
    ("y ~ I(x^2)", r"I\(x \*\* 2\)"),
    ("y ~ (x + z)^2", r"write \*\*"),
    ("y ~ x**2", r"I\(x\*\*2\)"),
    ("y ~ g + (x + z**2)", r"I\(z\*\*2\)"),
    ("y ~ I(x // 2)", r"\+ - \* / \*\*"),
    ("y ~ I(x % 2)", r"\+ - \* / \*\*"),
    ("y ~ I((x > 1) & (z > 1))", "for 'and'"),
    ("y ~ I((x > 1) and (z > 1))", "for 'and'"),
    ("y ~ I(not x)", "np.where"),
    ("y ~ I(x if x > 0 else z)", "np.where"),
    ("y ~ I(1 < x < 3)", "chained"),
    ("y ~ I(x in [1, 2])", "to compare"),
    ("y ~ I((x > 3)**2)", "power of a comparison"),
    ("y ~ I(((x > 3) * I(z > 3))**2)", "power of a comparison"),
    ("y ~ I(2 ** ((x > 7.99) * -1))", "decimal point"),
    ("y ~ I((1 + (z > 3)) ** np.where(x > 7.99, -1, 1))", "decimal point"),
    ("y ~ I(I(-where(x > 3, 2, 3)) ** -(z > 3))", "decimal point"),
    ("y ~ 'a'", "string"),
    ("y ~ I(g < 'b')", "string"),
    ("y ~ x.mean()", "center"),
    ("y ~ np.mean(x)", "center"),
    ("y ~ x.abs()", "row by row"),
    ("y ~ x.y", r"Q\('x.y'\)"),
    ("y ~ x[0]", "row by row"),
    ("y ~ I([i for i in x])", "row by row"),
    ("y ~ I((lambda: 1)())", "row by row"),
    ("y ~ I(x := 3)", "row by row"),
    ("y ~ I(None) + x", "row by row"),
    ("y ~ I(1j * x)", "row by row"),
    ("y ~ f(x)(z)", "row by row"),
    ("y ~ foo(x)", "not a known function.*log"),
    ("y ~ np.random.normal(x)", "row by row"),
    ("y ~ __import__('os').system('true')", "row by row"),
    ("y ~ eval('x')", "not a known function"),
    ("y ~ math.log(x)", r"np\.log"),
    ("y ~ factor(g)", r"C\(x\)"),
    ("y ~ poly(x)", r"poly\(x, 2\)"),
    ("y ~ poly(x, 0)", "degree from 1"),
    ("y ~ poly(x, 2, raw=3)", "True or False"),
    ("y ~ poly(np.log(x), 2)", "of one column"),
    ("y ~ I(poly(x, 2) + 1)", "stand alone"),
    ("y ~ poly(x, 2, coefs=3)", "not coefs="),
    ("y ~ np.log(x, out=z)", "1 unnamed argument"),
    ("y ~ np.maximum(x)", "2 unnamed argument"),
    ("y ~ np.round(x, 1, z)", "1 or 2 unnamed"),
    ("y ~ I(2)", "no variable"),
    ("y ~ True", "no variable"),
    ("y ~ Q(x)", "quoted name"),
    ("y ~ C()", "one variable"),
    ("y ~ C(x > 3)", "one variable"),
    ("y ~ I(C(g))", "stand alone"),
    ("y ~ C(g, foo)", "contrast among"),
    ("y ~ C(g, Treatment(x))", "constant"),
    ("y ~ C(g, base='a')", "not base="),
    ("y ~ C(g, levels='abc')", "levels="),
    ("y ~ C(g, levels=['a', 'b']) + C(g, levels=['b', 'a'])", "two different"),
    ("y ~ g + C(g)", "everywhere or nowhere"),
    ("y ~ C(x) + I(x**2)", "everywhere or nowhere"),
    ("y ~ np + np.log(x)", "rename"),
    ("y ~ log + log(x)", "rename"),
    ("y ~ center(x, 3)", "options by name"),
    ("y ~ bs(x, 4, 3)", "options by name"),
    ("y ~ bs(x, df=z)", "constant"),
    ("y ~ standardize(x, mean=3)", "not mean="),
    ("y ~ cr(x, df=4, constraints=[1])", "constraints='center'"),
]


@pytest.mark.parametrize(("text", "said"), MALFORMED)
def test_a_malformed_formula_is_refused_with_what_to_write(text, said):
    with pytest.raises(FormulaError, match=said) as caught:
        Formula.parse(text)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None


INTERCEPTS = {
    **dict.fromkeys([
        "y ~ x", "y ~ x - z + 1", "y ~ 0 + x + 1", "y ~ 1", "y ~ x*z + I(x**2)", "y ~ C(g)",
        "y ~ g*x", "y ~ g:x + x", "y ~ i(g, x, ref='a') + z", "y ~ g + z + x:z + g:z:x",
        RFormula("y ~ g:x + z"), RFormula("y ~ poly(x, 2) * g"), RFormula("y ~ z + x + 1"),
    ], 0),
    **dict.fromkeys([
        "y ~ x - 1", "y ~ 0 + g", "y ~ x*g + 0", "y ~ x | h", "y ~ x + g - 1 | h",
        RFormula("y ~ 0 + g:x"), RFormula("y ~ x*z - 1"),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("text", INTERCEPTS)
def test_the_intercept_is_the_first_column_of_every_design(text):
    numbers = {name: Numeric(0, 1) for name in "yxz"}
    schema = {**numbers, "g": Categorical(("a", "b", "c")), "h": Labels()}
    formula = Formula.parse(text)
    assert formula.intercept == formula.design(schema).intercept == INTERCEPTS[text]


def test_a_formula_is_read_once_and_survives_pickling():
    formula = Formula.parse("np.log(y) ~ a*b + C(g) - 1")
    assert Formula.parse(formula.text) is formula
    assert pickle.loads(pickle.dumps(formula)) is formula
    kept = formula.keep(["b", "a:b"])
    assert (kept.text, kept.variables) == ("np.log(y) ~ 0 + b + a:b", ("y", "b", "a"))


def test_a_design_is_built_once_for_what_is_written_alike():
    """Levels and ends that are equal and not written alike have designs of their own."""
    formula = Formula.parse("y ~ x + g")

    def design(levels, low, formula=formula):
        numbers = {"y": Numeric(0, 1), "x": Numeric(low, 1)}
        return formula.design({**numbers, "g": Categorical(levels)})

    first = design((0, 1), 0.0)
    assert design((0, 1), 0.0) is first and not first.low.flags.writeable
    others = [
        design((False, True), 0.0), design((0.0, 1.0), 0.0), design((0, 1), -0.0),
        design((0, 1), 0.0, Formula.parse(RFormula("y ~ x + g"))),
    ]  # fmt: skip
    assert not any(first is other for other in others)
    assert [d.names[1] for d in (first, *others[:2])] == ["g[T.1]", "g[T.True]", "g[T.1.0]"]
    assert str(others[2].low[-1]) == "-0.0"
    bounded = [formula.design(first.schema, {"x": (0.2, 0.8)}) for _ in range(2)]
    assert bounded[0] is not bounded[1]
    assert bounded[0].high[-1] == 0.8
