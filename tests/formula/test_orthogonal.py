"""Bases of columns of one variable: Legendre's polynomials on its range, in their ranges."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.polynomial import Legendre

from dpstats.formula import Formula
from dpstats.formula.orthogonal import orthogonal_basis
from dpstats.schema import Categorical, Labels, Numeric

SCHEMA = {
    "y": Numeric(0, 1),
    "x": Numeric(20, 65),
    "z": Numeric(5, 6),
    "c": Numeric(-1, 1),
    "g": Categorical(("a", "b")),
    "s": Labels(),
}


def design_of(text, **more):
    return Formula.parse(text).design(SCHEMA, **more)


def columns(design, basis, x, name="x"):
    """Return the columns of the basis (m, S) for values of one variable."""
    rows = design.columns_at(name, x)
    return np.column_stack([basis.column(rows, j) for j in range(rows.shape[1])])


@given(st.integers(2, 5), st.floats(-50, 50), st.floats(0.1, 300))
@settings(max_examples=25, deadline=None)
def test_powers_become_legendre_polynomials_within_their_ranges(degree, place, width):
    """Up to a constant and a factor; no point of the range lies outside the stated one."""
    degree = min(degree, 3) if abs(place) > 10 else degree  # what floating point can tell
    low = place * width
    schema = {"y": Numeric(0, 1), "x": Numeric(low, low + width)}
    powers = " + ".join(["x", *(f"I(x**{k})" for k in range(2, degree + 1))])
    design = Formula.parse(f"y ~ {powers}").design(schema)
    basis = orthogonal_basis(design)
    assume(basis is not None or not low < 0 < low + width)  # powers about zero may be uncorrelated
    x = low + width * np.random.default_rng(1).uniform(size=500)
    Q, t = columns(design, basis, x), 2 * (x - low) / width - 1
    assert (basis.low <= Q).all() and (basis.high >= Q).all()
    for k in range(1, degree + 1):
        expected = np.column_stack([np.ones(500), Legendre.basis(k)(t)])
        coefficients = np.linalg.lstsq(expected, Q[:, k], rcond=None)[0]
        spread = abs(coefficients[1])
        np.testing.assert_allclose(expected @ coefficients, Q[:, k], atol=1e-4 * spread)
        width_of_u = (basis.high[k] - basis.low[k]) / (np.ptp(Legendre.basis(k)(np.r_[-1, 1, t])))
        assert width_of_u == pytest.approx(spread * 1.002, rel=0.02)


def test_declared_bounds_may_be_those_of_a_stand_in():
    """A variable of which a term is declared stands in as (.25, .75), which a user may declare."""
    schema = {"y": Numeric(0, 1), "x": Numeric(0.25, 0.75)}
    assert orthogonal_basis(Formula.parse("y ~ x + I(x**2)").design(schema)) is not None


@pytest.mark.parametrize(
    ("text", "touched"),
    [
        ("y ~ x + I(x**2) + z + g", ["x", "I(x ** 2)"]),
        ("y ~ g + x + z + I(z**2) + I(x**2)", ["x", "z", "I(z ** 2)", "I(x ** 2)"]),
        ("y ~ x + I(x**2) - 1", ["x", "I(x ** 2)"]),
        ("y ~ x + I(x**2) | s", ["x", "I(x ** 2)"]),
        ("y ~ np.log(x) + x", ["np.log(x)", "x"]),
        ("y ~ x + I(x**2) + x:z + x:g", ["x", "I(x ** 2)"]),
        ("y ~ poly(x, 2, raw=True)", ["poly(x, 2, raw=True)[0]", "poly(x, 2, raw=True)[1]"]),
    ],
)
def test_columns_of_one_variable_are_combined_where_that_helps(text, touched):
    design = design_of(text)
    basis = orthogonal_basis(design)
    moved = np.flatnonzero((basis.matrix != np.eye(len(design.names))).any(axis=0))
    combined = np.flatnonzero((basis.matrix != np.eye(len(design.names))).any(axis=1))
    assert {design.names[j] for j in np.union1d(moved, combined)} == set(touched)
    others = [j for j, name in enumerate(design.names) if name not in touched]
    np.testing.assert_array_equal(basis.low[others], design.low[others])
    np.testing.assert_array_equal(basis.high[others], design.high[others])


@pytest.mark.parametrize(
    "text", ["y ~ poly(x, 3) + z", "y ~ c + I(c**2)", "y ~ x + z + g", "y ~ x + np.abs(x)",
             "y ~ x + np.minimum(x, 1)"],
)  # fmt: skip
def test_other_columns_stay_as_they_are(text):
    assert orthogonal_basis(design_of(text)) is None


def test_terms_with_declared_bounds_stay_as_they_are():
    """A declared bound may clip a column, which then is no polynomial."""
    text = "y ~ x + I(x**2)"
    assert orthogonal_basis(design_of(text, term_bounds={"I(x**2)": (0, 100)})) is None


def test_columns_without_a_constant_are_orthogonal_about_zero():
    nodes = np.linspace(20, 65, 4001)
    for text, center in (("y ~ x + I(x**2) - 1", 0.0), ("y ~ x + I(x**2)", 1.0)):
        design = design_of(text)
        Q = columns(design, orthogonal_basis(design), nodes)[:, -2:]
        Q = Q - center * Q.mean(axis=0)
        angle = Q[:, 0] @ Q[:, 1] / np.sqrt((Q[:, 0] @ Q[:, 0]) * (Q[:, 1] @ Q[:, 1]))
        assert abs(angle) < 0.01, text


def test_the_smallest_direction_of_a_spline_is_no_longer_hidden():
    """Columns of bs() in a basis have a smallest eigenvalue at least 1.5 times as large."""
    design = design_of("y ~ bs(x, df=5)")
    basis = orthogonal_basis(design)
    x = np.linspace(20, 65, 3001)
    eigenvalues = []
    for Q, low, high in (
        (design.columns_at("x", x), design.low, design.high),
        (columns(design, basis, x), basis.low, basis.high),
    ):
        U = (2 * Q - low - high)[:, 1:] / (high - low)[1:]
        eigenvalues.append(np.linalg.eigvalsh(np.cov(U.T))[0])
    assert eigenvalues[1] > 1.5 * eigenvalues[0]
