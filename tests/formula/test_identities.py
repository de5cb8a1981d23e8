"""Terms that arithmetic makes collinear are refused, and no others."""

import pytest

from dpstats.errors import FormulaError
from dpstats.formula import Formula, RFormula
from dpstats.schema import BOOLEAN, Categorical, Numeric
from tests.checks.design import rank

SCHEMA = {
    "y": Numeric(0.0, 1.0), "x": Numeric(1.0, 9.0), "z": Numeric(2.0, 5.0), "b": BOOLEAN,
    "year": Numeric(1990.0, 2010.0), "pay": Numeric(0.0, 1e6), "g": Categorical((1, 2, 3)),
}  # fmt: skip
# Formulas of full rank, in each dialect, some of which are close to collinear on these ranges.
FULL = [
    "x + z", "x + np.log(x)", "x*z + I(x**2)", "x + I(x**2) + I(x**3) + I(x**4)",
    "year + I(year**2) + I(year**3) + I(year**4)", "poly(year, 6)", "poly(x, 12) + np.log(x)",
    "poly(x, 12, raw=True) + np.log(x) + I(1/x)", "poly(x, 2) + poly(z, 2) + x:z",
    "pay + np.log(pay + 1e6)", "pay + I(1/(1 + pay/1e6))", "pay + np.exp(-pay/1e6)",
    "np.log(x) + np.log(z) + np.log(x + z)", "np.log(x + 20) + x", "np.log(x/z) + np.log(x)",
    "year + np.maximum(year - 2000, 0)", "x + np.abs(x - 5)", "x + np.sqrt((x - 5)**2)",
    "x + I(((x - 5)**2)**0.5)", "x + np.exp(0.5*np.log((x - 5)**2))", "np.where(x > 3, x, 0) + x",
    "np.sqrt(x) + x + I(x**1.5)", "x + x:C(g)", "g + g:x + g:I(x**2)", "x:C(g) + I(x**2)",
    "center(x) + x - 1", "I(x + 1) + x - 1", "I(center(x) - center(z)) + I(x - z) - 1",
    "scale(x, center=False) + center(x) - 1", "x:z + I(x**2 * z)", "x*b + I(x**2)*b",
    "bs(x, df=4) + z", "np.log(x) + I(np.log(x)**2)", "I(x + z) | g", "x + I(x*(g == 1))",
    "np.round(x) + x", "I(x/z) + x + z", "cr(x, df=3, constraints='center') + I(z**2)",
]  # fmt: skip
IN_R = [
    "x + log(x)",
    "x + I((x^2)^0.5)",
    "x + sqrt(x^2)",
    "poly(x, 3)",
    "x * z + I(x^2)",
    "x + pmax(x - 5, 0)",
    "I(x + z) | g",
]
# Collinear ones, with what the message names.
COLLINEAR = [
    ("x + I(2*x)", r"of x and I\(2 \* x\) are collinear whatever the rows are; leave one of them"),
    ("x + I(x + 1)", r"of the intercept, x and I\(x \+ 1\) are"),
    ("x + I(x + 1) | g", r"of the effects of g, x and I\(x \+ 1\) are"),
    ("Q('x') + x", r"of Q\('x'\) and x are"),
    ("x + z + I(x + z)", r"of x, z and I\(x \+ z\) are"),
    ("I(x - z) + x + z + np.log(x)", r"of I\(x - z\), x and z are"),
    ("scale(x) + x", r"of the intercept, scale\(x\) and x are"),
    ("center(np.log(x)) + np.log(x)", r"of the intercept, center"),
    ("np.log(x/z) + np.log(x) + np.log(z)", r"of np.log\(x / z\), np.log\(x\) and np.log\(z\) are"),
    ("np.log(x) + np.log10(x)", r"of np.log\(x\) and np.log10\(x\) are"),
    ("np.log(1000*x) + np.log(x)", r"of the intercept, np.log\(1000 \* x\) and np.log\(x\) are"),
    ("I(x*z) + x:z", r"of I\(x \* z\) and x:z are"),
    ("I(x**2) + np.square(x)", r"of I\(x \*\* 2\) and np.square\(x\) are"),
    ("year + I(year**2) + I((year - 2000)**2)", "of the intercept, year, "),
    ("poly(x, 2) + I(x**2)", r"of the intercept, poly\(x, 2\) and I\(x \*\* 2\) are"),
    ("x*b + I(3*x):b", r"of x:b and I\(3 \* x\):b are"),
    ("g + g:x + g:I(x + 1)", r"of g, g:x and g:I\(x \+ 1\) are"),
    ("x + C(g, Sum):x + I(2*x):C(g, Sum)", r"of C\(g, Sum\):x and I\(2 \* x\):C\(g, Sum\) are"),
    ("I(x - x)", r"^I\(x - x\) is 0 whatever the rows are; leave it out$"),
    ("I(x/x)", r"of the intercept and I\(x / x\) are"),
]  # fmt: skip
COLLINEAR_IN_R = [
    ("x + I(2 * x)", r"of x and I\(2 \* x\) are"),
    ("x + I(x)", r"of x and I\(x\) are"),
    ("log(x / z) + log(x) + log(z)", r"of log\(x/z\), log\(x\) and log\(z\) are"),
    ("x + I(x + 1)", r"of the intercept, x and I\(x \+ 1\) are"),
]


@pytest.mark.parametrize("text", [*FULL, *map(RFormula, IN_R)])
def test_no_other_design_is_refused(text):
    assert Formula.parse(type(text)(f"y ~ {text}")).design(SCHEMA).names


@pytest.mark.parametrize(
    ("text", "message"), [*COLLINEAR, *((RFormula(text), said) for text, said in COLLINEAR_IN_R)]
)
def test_collinear_terms_are_named(text, message):
    with pytest.raises(FormulaError, match=message):
        Formula.parse(type(text)(f"y ~ {text}")).design(SCHEMA)


@pytest.mark.parametrize("text", [text for text, _ in COLLINEAR])
def test_what_is_refused_is_collinear_on_rows(text, monkeypatch):
    monkeypatch.setattr("dpstats.formula.design.check_identities", lambda *_: None)
    found, columns = rank(f"y ~ {text}", SCHEMA)
    assert found < columns


@pytest.mark.parametrize("text", [text for text in FULL if "|" not in text])
def test_what_a_selection_keeps_is_not_refused_either(text):
    """It is chosen from rows, after the whole formula was checked."""
    formula = Formula.parse(f"y ~ {text}")
    kept = [formula.keep({*formula.terms} - {term}) for term in formula.terms]
    found = [check.design(SCHEMA).names for check in kept if check.terms or check.has_intercept]
    assert all(found) and len(found) >= len(formula.terms) - 1


def test_a_term_with_bounds_of_its_own_is_clipped_to_them():
    design = Formula.parse("y ~ x + I(2*x)").design(SCHEMA, {"I(2 * x)": (0, 3)})
    assert design.high.tolist() == [1, 9, 3]


@pytest.mark.parametrize("ends", [(-3.0, -1.0), (0.0, 1.0), (5.0, 5.001), (1e8, 1e9)])
def test_what_is_refused_does_not_depend_on_ranges(ends):
    """They may be estimated after the call was checked."""
    schema = {**SCHEMA, "x": Numeric(*ends)}
    for text in ("x + I(x**2)", "x + np.abs(x)", "poly(x, 3) + z", "center(x) + x - 1"):
        Formula.parse(f"y ~ {text}").design(schema)
    for text in ("x + I(2*x)", "poly(x, 2) + x", "scale(x) + x"):
        with pytest.raises(FormulaError, match="collinear"):
            Formula.parse(f"y ~ {text}").design(schema)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("text", ["I(x**150) + x", "I(1e-300 * x) + z", "I(1e300 * z) + x"])
def test_squares_of_large_and_tiny_columns_stay_within_the_doubles(text):
    assert Formula.parse(f"y ~ {text}").design(SCHEMA).names
