"""Values of analytic expressions, and which expressions are none."""

import numpy as np
import pytest

from dpstats.formula.expressions.analytic import analytic

X, Z = np.linspace(1.0, 4.0, 101), np.linspace(0.5, 9.0, 101)
VALUES = {
    "I(-x + 2*z - 1e3)": -X + 2 * Z - 1e3,
    "I(+x/z)": X / Z,
    "I(x**2 * z**-3)": X**2 * Z**-3.0,
    "I(Q('z')**0.5)": np.sqrt(Z),
    "np.log(x*z) + 1": np.log(X * Z) + 1,
    "np.log2(x) - log10(z)": np.log2(X) - np.log10(Z),
    "np.square(np.log1p(x/z))": np.log1p(X / Z) ** 2,
    "center(x)*z": (X - 2.5) * Z,
    "scale(z)": (Z - Z.mean()) / Z.std(),
    "poly(x, degree=3, raw=True)": np.stack([X, X**2, X**3], axis=1),
}
OTHERS = [
    "np.abs(x)", "np.exp(x)", "np.sqrt(x)", "I((x - 2)**0.5)", "I((Q('x')**2)**0.5)", "I(x**z)",
    "x > 2", "I(x*(z > 3))",
    "np.where(x > 2, x, 0)", "bs(x, df=4)", "scale(x, center=False)", "np.round(x, 1)", "C(x)",
    f"I(x * 1{'0' * 400})", f"I(x**1{'0' * 400})", "g", "I(g + x)",
]  # fmt: skip


@pytest.mark.parametrize("code", VALUES)
def test_values_are_those_of_numpy(code):
    np.testing.assert_allclose(analytic(code, {"x": X, "z": Z}), VALUES[code], rtol=1e-12)


def test_poly_has_columns_that_are_orthogonal_on_the_range():
    columns = analytic("poly(x, 2)", {"x": X})
    t = (X - 2.5) / 1.5
    np.testing.assert_allclose(columns, np.stack([3**0.5 * t, 5**0.5 * (3 * t**2 - 1) / 2], axis=1))


@pytest.mark.parametrize("code", OTHERS)
def test_others_are_not_evaluated(code):
    assert analytic(code, {"x": X, "z": Z}) is None


def test_nothing_is_learned_where_there_is_no_value():
    """Without a warning."""
    with np.errstate(all="ignore"):
        assert np.isnan(analytic("scale(np.log(x - 9))", {"x": X})).all()
