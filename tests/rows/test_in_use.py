"""Rows in use: complete ones at which all terms of the formula have a finite value."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.formula import Formula
from dpstats.rows import RowsInUse
from dpstats.schema import UNLIMITED, Numeric

# Ranges that nothing is clipped to.
SCHEMA = {name: Numeric(1.0, 2.0) for name in "ywx"}
FREE = dict.fromkeys("ywx", UNLIMITED)
ROWS = {
    "y": np.array([1.0, 0.0, -1.0, 5.0, np.nan, 2.0]),
    "w": np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1e200]),
    "x": np.array([0.0, 1.0, 2.0, 3.0, 4.0, 1e200]),
}


@pytest.mark.parametrize(
    ("formula", "used"),
    [
        ("y ~ x + w", [1, 1, 1, 1, 0, 1]),
        ("np.log(y) ~ x", [1, 0, 0, 1, 0, 1]),
        ("y ~ np.log(x) + w", [0, 1, 1, 1, 0, 1]),
        ("y ~ I(x / w)", [1, 1, 1, 0, 0, 1]),
        ("y ~ I(x * w)", [1, 1, 1, 1, 0, 1]),
        ("y ~ w:np.exp(x)", [1, 1, 1, 1, 0, 0]),
    ],
)
def test_a_row_without_a_finite_value_of_a_term_is_left_out(formula, used):
    """Each row by itself: the same ones are in use whatever rows stand beside them."""
    design = Formula.parse(formula).design(SCHEMA, clipping=FREE)
    rows = RowsInUse(design.schema, terms=(design,) if design.has_terms else ())
    assert rows.mask(ROWS).astype(int).tolist() == used
    alone = [rows.mask({name: column[[i]] for name, column in ROWS.items()}) for i in range(6)]
    assert np.concatenate(alone).astype(int).tolist() == used
    assert ("no finite value" in rows.left_out) == ("(" in formula)


@pytest.mark.parametrize("formula", ["y ~ bs(x, df=4)", "y ~ poly(x, 2)", "np.log(y) ~ x"])
def test_no_row_is_asked_where_none_is_complete(formula):
    """As a spline of no rows is an error, which would tell that none is complete."""
    bounds, nothing = {"x": (0, 9), "y": (1, 9)}, np.full(50, np.nan)
    design = Formula.parse(formula).design({k: Numeric(*map(float, v)) for k, v in bounds.items()})
    assert RowsInUse(design.schema, terms=(design,)).mask({"x": nothing, "y": nothing}).sum() == 0
    table = pd.DataFrame({"x": nothing, "y": nothing})
    with dp.testing.insecure_seed(1):
        fit = dp.dp_ols(formula, table, epsilon=1, bounds=bounds, progress=False)
    assert fit.status != "ok"


def test_values_beyond_declared_bounds_count_as_the_bound_and_have_a_value():
    design = Formula.parse("y ~ np.log(x)").design({"y": UNLIMITED, "x": Numeric(1.0, 9.0)})
    mask = RowsInUse(design.schema, terms=(design,)).mask(ROWS)
    assert mask.tolist() == [True, True, True, True, False, True]


@pytest.mark.parametrize("options", [{}, {"delta": 0}, {"by": "g"}, {"method": "adassp"}])
@pytest.mark.parametrize("column", ["x", "y"])
def test_an_infinite_number_without_bounds_is_missing(column, options):
    """As a logarithm of zero that was taken before the call is."""
    data = pd.DataFrame(np.random.default_rng(1).normal(size=(2000, 2)), columns=["x", "y"])
    data["g"], found = np.arange(2000) % 2, []
    for nothing in (np.nan, -np.inf, np.inf):
        data.loc[::9, column] = nothing
        with dp.testing.insecure_seed(1):
            fit = dp.dp_ols("y ~ x", data, epsilon=8, progress=False, **options)
        found.append(np.asarray(fit.params))
    np.testing.assert_array_equal(found, [found[0]] * 3)


@pytest.mark.parametrize("formula", ["np.log(q) ~ z", "y ~ np.log(q) + z", "y ~ np.log1p(q) + z"])
@pytest.mark.parametrize("options", [{}, {"delta": 0}, {"by": "g"}, {"neighbors": "replace_one"}])
def test_fits_are_those_of_the_rows_that_have_values(formula, options):
    """With codes of -1 and zeros in a fifth of the rows, to the bit: no query sees the others."""
    rng, n = np.random.default_rng(1), 4000
    z = rng.normal(size=n)
    q = np.where(rng.random(n) < 0.2, rng.integers(-1, 1, n), np.exp(z + rng.normal(size=n)))
    data = pd.DataFrame({"q": q, "z": z, "y": z + rng.normal(size=n), "g": rng.integers(2, size=n)})
    kept, found = data[data.q > (-1 if "log1p" in formula else 0)], []
    for frame in (data, kept):
        with dp.testing.insecure_seed(1):
            found.append(dp.dp_ols(formula, frame, epsilon=8, progress=False, **options))
    np.testing.assert_array_equal(*(np.asarray(fit.params) for fit in found))
    np.testing.assert_array_equal(*(np.asarray(fit.conf_int())[..., -2:] for fit in found))


def test_it_is_said_where_the_number_of_rows_is_public():
    data = pd.DataFrame({"q": np.arange(500.0), "y": np.arange(500.0)})
    call = {"epsilon": 8, "neighbors": "replace_one", "progress": False}
    with dp.testing.insecure_seed(1):
        of_term, plain = (dp.dp_ols(f, data, **call) for f in ("y ~ np.log(q)", "y ~ q"))
    said = ["; ".join(fit.privacy.assumptions) for fit in (of_term, plain)]
    assert "at which a term has no finite value" in said[0]
    assert "no finite value" not in said[1]
