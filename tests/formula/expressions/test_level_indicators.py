"""i() of fixest in both dialects: which columns it makes, how they are named, what is refused."""

import numpy as np
import pytest

from dpstats.errors import FormulaError
from dpstats.formula import Formula, RFormula
from dpstats.schema import BOOLEAN, Categorical, Numeric

YEARS = (2007, 2008, 2009, 2010)
SCHEMA = {
    "y": Numeric(0.0, 1.0), "z": Numeric(0.0, 1.0), "x": Numeric(-1.0, 1.0), "b": BOOLEAN,
    "year": Categorical(YEARS), "g": Categorical(("a", "b", "c")),
}  # fmt: skip
# A formula, one of R with the same columns, their names, and their values at year=2010, z=0.5.
FORMS = [
    ("y ~ i(year, ref=2009)", "y ~ i(year, ref = 2009)",
     ["year::2007", "year::2008", "year::2010"], [0, 0, 1]),
    ("y ~ i(year, z, ref=2009)", "y ~ i(year, z, ref = 2009)",
     ["year::2007:z", "year::2008:z", "year::2010:z"], [0, 0, 0.5]),
    ("y ~ i(year, z, ref=[2007, 2009])", "y ~ i(year, z, ref = c(2007, 2009))",
     ["year::2008:z", "year::2010:z"], [0, 0.5]),
    ("y ~ i(year, z)", "y ~ i(year, z)", [f"year::{year}:z" for year in YEARS], [0, 0, 0, 0.5]),
    ("y ~ i(g, ref='a')", "y ~ i(g, ref = 'a')", ["g::b", "g::c"], [0, 1]),
    ("y ~ x:i(year, z, ref=[2007, 2008, 2010])", "y ~ x:i(year, z, ref = c(2007, 2008, 2010))",
     None, [0]),
]  # fmt: skip
ROW = {"y": 0.5, "z": 0.5, "x": 0.25, "b": 1, "year": 3, "g": 2}


@pytest.mark.parametrize(("text", "in_r", "names", "values"), FORMS)
def test_a_column_stands_for_each_level_but_the_reference(text, in_r, names, values):
    for formula, intercept in ((text, "Intercept"), (RFormula(in_r), "(Intercept)")):
        design = Formula.parse(formula).design(SCHEMA)
        assert design.names[0] == intercept
        assert names is None or [*design.names[1:]] == names
        rows = design.rows({name: np.array([value]) for name, value in ROW.items()})
        np.testing.assert_array_equal(rows.numbers, [[1, *values]])


def test_columns_are_the_same_beside_what_else_is_in_the_formula():
    """Patsy and R leave a level out of an interaction beside its main effects, i() does not."""
    for text in ("y ~ z + i(year, z, ref=2009)", "y ~ C(year) + i(year, z, ref=2009)"):
        names = Formula.parse(text).design(SCHEMA).names
        assert [name for name in names if "::" in name] == FORMS[1][2]
    both = Formula.parse(RFormula("y ~ z + factor(year) + i(year, z, ref = 2009)")).design(SCHEMA)
    assert [name for name in both.names if "::" in name] == FORMS[1][2]


def test_terms_are_written_so_that_they_can_be_read_again():
    formula = Formula.parse("y ~ x + i(year, z, ref=2009)")
    assert formula.terms == ("x", "i(year, ref=2009):z")
    kept = formula.keep(["i(year, ref=2009):z"]).design(SCHEMA)
    assert [*kept.names[1:]] == FORMS[1][2]


WRONG = [
    ("y ~ i(year, b, ref=2009)", "multiplies a number, and b is true or false"),
    ("y ~ i(year, z > 1, ref=2009)", "multiplies a number, and z > 1 is true or false"),
    ("y ~ i(year, g, ref=2009)", "multiplies a number, and g is a factor"),
    ("y ~ i(year, ref=1999)", "1999"),
    ("y ~ i(x + 1)", r"i\(\) takes a column, a number to multiply"),
    ("y ~ i(x) - 1", r"needs levels of x"),
    ("y ~ i(year, z, x, ref=2009)", r"i\(\) takes|expected i\("),
]


@pytest.mark.parametrize(("text", "reason"), WRONG)
@pytest.mark.parametrize("dialect", [str, RFormula])
def test_what_i_does_not_take_is_refused(text, reason, dialect):
    with pytest.raises(FormulaError, match=reason):
        Formula.parse(dialect(text)).design(SCHEMA)


@pytest.mark.parametrize(
    "text",
    ["y ~ I(i(year))", "y ~ i(year, keep=2008)", RFormula("y ~ i(year, z, keep = 2008)")],
)
def test_it_stands_alone_and_has_no_other_option(text):
    with pytest.raises(FormulaError, match=r"i\(\) (must stand alone|takes|has no keep =)"):
        Formula.parse(text).design(SCHEMA)


def test_all_levels_beside_an_intercept_are_refused():
    with pytest.raises(FormulaError, match="add up to each other"):
        Formula.parse(RFormula("y ~ i(year)")).design(SCHEMA)
    for text in ("y ~ i(year)", "y ~ x + i(year)", "y ~ i(year) | g", "y ~ i(year) + i(g) - 1"):
        with pytest.raises(FormulaError, match=r"collinear.*leave a level out by ref=, as in i\("):
            Formula.parse(text).design(SCHEMA)
    names = Formula.parse("y ~ x + i(year) - 1").design(SCHEMA).names
    assert names == (*(f"year::{year}" for year in YEARS), "x")


# Formulas without a constant, or of slopes, and the factor beside i() that keeps all its levels.
WHOLE = [
    ("y ~ i(year, ref=2009) + C(g) - 1", "C(g)[{}]", None),
    ("y ~ i(year, z, ref=2009) + C(g):z", "C(g)[{}]:z", None),
    (RFormula("y ~ i(year, ref = 2009) + g - 1"), "g{}", None),
    (RFormula("y ~ i(year, ref = 2009) + i(g) - 1"), "g::{}", None),
    ("y ~ i(year, ref=2009) + C(g)", "C(g)[T.{}]", "a"),
]


@pytest.mark.parametrize(("text", "name", "left_out"), WHOLE)
def test_a_reference_does_not_stand_for_the_constant(text, name, left_out):
    """Patsy, and R by its rule, left a level of g out, so rows of both references had no column."""
    names = Formula.parse(text).design(SCHEMA).names
    kept = [level for level in "abc" if name.format(level) in names]
    assert kept == [level for level in "abc" if level != left_out]
