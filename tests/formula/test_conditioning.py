"""Columns that are nearly collinear on their box are named, from the schema alone."""

import pytest

from dpstats.formula import Formula
from dpstats.formula.conditioning import collinear_columns
from dpstats.schema import Categorical, Numeric

SCHEMA = {
    "y": Numeric(0, 1),
    "x": Numeric(20, 60),
    "c": Numeric(-1, 1),
    "z": Numeric(0, 9),
    "g": Categorical(tuple("abcdefgh")),
}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("y ~ x + I(x**2) + z + g", ("x", "I(x ** 2)")),
        ("y ~ poly(z, 2, raw=True)", ("poly(z, 2, raw=True)[0]", "poly(z, 2, raw=True)[1]")),
        ("y ~ x + np.abs(x)", ("x", "np.abs(x)")),
        ("y ~ x + z + g", ()),
        ("y ~ c + I(c**2)", ()),
        ("y ~ poly(x, 4) + g", ()),
        ("y ~ x", ()),
        ("y ~ g", ()),
        ("y ~ np.minimum(x, 1) + z", ()),
    ],
)
def test_powers_on_a_range_far_from_zero_are_collinear(text, names):
    assert collinear_columns(Formula.parse(text).design(SCHEMA)) == names


def test_many_columns_are_not_judged():
    wide = {f"x{i}": Numeric(5, 6) for i in range(31)} | {"y": Numeric(0, 1)}
    text = "y ~ I(x0**2) + " + " + ".join(f"x{i}" for i in range(31))
    assert collinear_columns(Formula.parse(text).design(wide)) == ()
