"""poly(x, k) is orthonormal on the public range, row by row, and reads back as raw powers."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss, legval

import dpstats as dp
from dpstats.formula import Formula
from dpstats.schema import Categorical, Numeric

SCHEMA = {"y": Numeric(-5, 9), "x": Numeric(18, 65), "g": Categorical(("a", "b"))}
POINTS, WEIGHTS = leggauss(20)
AGES = 41.5 + 23.5 * POINTS
QUADRATIC = np.array([1.0, 0.06, -0.0006])


def columns(text, x=AGES, schema=SCHEMA):
    """The design at values of x."""
    return Formula.parse(text).design(schema).predictors({"x": x, "g": ["a"] * len(x)})


@pytest.mark.parametrize("degree", [1, 2, 5, 12])
def test_columns_are_orthonormal_for_a_uniform_column(degree):
    X = columns(f"y ~ poly(x, {degree})")
    np.testing.assert_allclose(X.T * (WEIGHTS / 2) @ X, np.eye(degree + 1), atol=1e-10)
    for j in range(1, degree + 1):
        legendre = legval(POINTS, np.eye(degree + 1)[j]) * np.sqrt(2 * j + 1)
        np.testing.assert_allclose(X[:, j], legendre, atol=1e-9)


def test_raw_columns_are_powers():
    X = columns("y ~ poly(x, degree=3, raw=True) - 1")
    np.testing.assert_allclose(X, np.stack([AGES, AGES**2, AGES**3], axis=1), rtol=1e-14)


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("ends", [(18, 65), (-3, 2), (2000, 2001)])
def test_bounds_hold_all_values_and_are_reached(raw, ends):
    schema = SCHEMA | {"x": Numeric(*ends)}
    design = Formula.parse(f"y ~ poly(x, 6, raw={raw})").design(schema)
    X = columns(design._recipe[0].text, np.linspace(*ends, 20_001), schema)
    width = design.high - design.low
    assert (X >= design.low - 1e-9 * width).all() and (X <= design.high + 1e-9 * width).all()
    np.testing.assert_allclose(X.min(axis=0), design.low, atol=1e-5 * width.max())
    np.testing.assert_allclose(X.max(axis=0), design.high, atol=1e-5 * width.max())


def test_both_dialects_have_the_same_columns():
    ours = Formula.parse("y ~ poly(x, 3):g").design(SCHEMA)
    theirs = Formula.parse(dp.RFormula("y ~ poly(x, 3):g")).design(SCHEMA)
    assert ours.names[1:4:2] == ("poly(x, 3)[0]:g[a]", "poly(x, 3)[2]:g[a]")
    assert theirs.names[1:4:2] == ("poly(x, 3)P1:ga", "poly(x, 3)P3:ga")
    raw = Formula.parse(dp.RFormula("y ~ poly(x, 2, raw = TRUE):g")).design(SCHEMA)
    assert raw.names[1:3] == ("poly(x, 2, raw = TRUE)1:ga", "poly(x, 2, raw = TRUE)2:ga")
    assert Formula.parse(dp.RFormula("y ~ poly(x, 1)")).design(SCHEMA).names[1] == "poly(x, 1)"
    rows = {"x": np.array([20.0, 50.0]), "g": np.array([0, 1]), "y": np.zeros(2)}
    np.testing.assert_array_equal(ours.rows(rows).numbers, theirs.rows(rows).numbers)


@pytest.mark.parametrize("text", ["y ~ poly(x, 2)", "y ~ g + poly(x, 2, raw=True)"])
def test_weights_of_raw_powers_rebuild_the_polynomial(text):
    design = Formula.parse(text).design(SCHEMA)
    names, weights = design.raw_powers("x")
    assert names == ["x", "I(x**2)"]
    beta = np.arange(1.0, len(design.names) + 1)
    places = [j for j, name in enumerate(design.names) if "poly" in name]
    powers = np.stack([np.ones_like(AGES), AGES, AGES**2], axis=1)
    expected = columns(text)[:, places] @ beta[places]
    np.testing.assert_allclose(powers @ (weights @ beta), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("text", ["y ~ x", "y ~ poly(x, 2):g", "y ~ poly(x, 2) * g"])
def test_only_a_polynomial_outside_of_products_has_raw_powers(text):
    with pytest.raises(dp.ArgumentError, match=r"expected one term poly\(x, k\)"):
        Formula.parse(text).design(SCHEMA).raw_powers("x")


@pytest.fixture(scope="module")
def workers() -> dict:
    """20,000 rows of a quadratic in age, within the schema's ranges."""
    rng = np.random.default_rng(4)
    age = rng.uniform(18, 65, 20_000)
    return {
        "x": age,
        "y": np.vander(age, 3, increasing=True) @ QUADRATIC + rng.normal(0, 0.4, 20_000),
    }


@pytest.mark.parametrize("method", ["adassp", "ssp", "shrunken", "noisy_newton"])
@pytest.mark.parametrize("dialect", [str, dp.RFormula])
def test_a_quadratic_that_raw_powers_hide_is_seen(workers, method, dialect):
    """Each is within 4.5 standard errors of the truth: a chance below 1e-4 for all of them."""
    bounds = None if method == "noisy_newton" else {"x": (18, 65), "y": (-1, 5)}
    with dp.testing.insecure_seed(2):
        fit = dp.dp_ols(dialect("y ~ poly(x, 2)"), workers, method=method, epsilon=1, bounds=bounds)
    raw = fit.raw_powers("x")
    assert raw.index.tolist() == ["Intercept", "x", "I(x**2)"]
    assert (np.abs(raw["estimate"] - QUADRATIC) < 4.5 * raw["std_error"]).all()
    assert (np.abs(raw["estimate"] / QUADRATIC - 1) < 0.3).all()
    assert ((raw["lower"] < raw["estimate"]) & (raw["estimate"] < raw["upper"])).all()
    again = dp.DPResults.from_json(fit.to_json())
    assert again.raw_powers("x").equals(raw)
    assert "Legendre polynomials on a public range, x in [" in _text(fit)
    with dp.testing.insecure_seed(2):
        powers = dp.dp_ols(
            dialect("y ~ I(x * 2)"), workers, method=method, epsilon=1, bounds=bounds
        )
    assert "Legendre" not in _text(powers)


def _text(fit) -> str:
    return " ".join(str(fit.summary()).split())


def test_the_level_of_intervals_of_raw_powers_is_checked(workers):
    with dp.testing.insecure_seed(2):
        fit = dp.dp_ols(
            "y ~ poly(x, 2)", workers, method="adassp", epsilon=1,
            bounds={"x": (18, 65), "y": (-1, 5)},
        )  # fmt: skip
    wide, narrow = fit.raw_powers("x", 0.01), fit.raw_powers("x", alpha=0.2)
    assert (wide["lower"] < narrow["lower"]).all()
    with pytest.raises(dp.ArgumentError, match="alpha"):
        fit.raw_powers("x", 2)
