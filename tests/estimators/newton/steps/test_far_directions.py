"""Where rows far out in long-tailed columns lie, and by how much their fourth power is longer."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.estimators.contract import Extremes, Problem, Reference
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.steps.far_directions import far_directions
from dpstats.formula import Formula
from dpstats.privacy import ADD_REMOVE
from dpstats.schema import Categorical, Numeric
from dpstats.testing import insecure_seed

FAR, N = 20.0, 200_000


def problem(formula: str, within: list[float]) -> Problem:
    """The problem of a formula in x, z and codes g, with such deviations within codes."""
    schema = {name: Numeric(-FAR, FAR) for name in "yxz"} | {"g": Categorical(("a", "b", "c"))}
    design, d = Formula.parse(formula).design(schema), len(within)
    extremes = replace(Extremes.unknown(d), within=np.array(within))
    reference = Reference(np.zeros(d), np.eye(d), 0.0, 1.0, extremes)
    return Problem(
        design.low, design.high, -FAR, FAR, design.intercept, ADD_REMOVE, None, False,
        np.empty((0, len(design.names))), design.layout, reference,
    )  # fmt: skip


def whitening(basis: IndicatorBasis, phi: np.ndarray) -> np.ndarray:
    """A map of coordinates in which rows have the covariance about zero of the identity."""
    values, vectors = np.linalg.eigh(phi.T @ phi / len(phi))
    return vectors[:, values > 1e-9] / np.sqrt(values[values > 1e-9])


def test_rows_far_out_in_a_column_lie_along_it():
    made = problem("y ~ x + z", [0.0, 0.0])
    basis, rng = IndicatorBasis.of(made), np.random.default_rng(1)
    phi = np.column_stack([np.ones(500), rng.normal(size=(500, 2))])
    map_ = whitening(basis, phi)
    directions, tails = far_directions(basis, map_, made, np.array([0.0, 7.0]))
    expected = basis.directions(map_)[1]
    assert directions == pytest.approx(expected[None] / np.linalg.norm(expected))
    assert tails.tolist() == [7.0]
    none = far_directions(basis, map_, made, np.zeros(2))
    assert none[0].shape == (0, 3) and none[1].shape == (0,)


@pytest.mark.parametrize("within", [0.0, 2.0])
@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_the_directions_of_columns_of_any_unit_are_finite(size, within):
    """As of np.exp(x), which may have a scale of 1e-190: fits of it ended after their charge."""
    made = problem("y ~ x + z", [within, 0.0])
    basis = IndicatorBasis.of(made)
    map_ = np.vstack([np.zeros(2), size * np.array([[3.0, 4.0], [0.0, 1.0]])])
    directions, tails = far_directions(basis, map_, made, np.array([5.0, 0.0]))
    assert directions == pytest.approx(np.array([[0.6, 0.8]]))
    assert np.isfinite(tails).all() and tails[0] >= 5


def test_columns_that_move_with_one_are_part_of_its_direction():
    made = problem("y ~ x + z", [0.0, 0.0])
    moves = np.array([[1.0, -2.0], [0.0, 1.0]])
    extremes = replace(made.reference.extremes, moves=moves)
    made = replace(made, reference=replace(made.reference, extremes=extremes))
    basis = IndicatorBasis.of(made)
    map_ = np.vstack([np.zeros(2), np.diag([3.0, 0.5])])
    found = far_directions(basis, map_, made, np.array([5.0, 0.0]))[0]
    assert found == pytest.approx(np.array([[3, -1]]) / 10**0.5)


@pytest.mark.parametrize("formula", ["y ~ x * g", "y ~ g + x:g"])
def test_rows_of_a_code_lie_along_the_number_and_its_column(formula):
    """With a number of a long tail, in codes of 5% and 35% of the rows and the others."""
    rng, deviation = np.random.default_rng(2), 1.5
    x = deviation * rng.laplace(size=N) / np.sqrt(2)
    g = rng.choice(3, N, p=[0.6, 0.35, 0.05])
    made = problem(formula, [deviation] * 3)
    basis, whole = IndicatorBasis.of(made), "*" in formula
    columns = [x * (g == code) for code in (1, 2)] if whole else [x * (g == c) for c in range(3)]
    phi = np.column_stack([np.eye(3)[g], *([x] if whole else []), *columns])
    map_ = whitening(basis, phi)
    directions, tails = far_directions(basis, map_, made, np.full(3, 3.0))
    shares = np.array([(g == code).mean() for code in range(3)])
    assert tails == pytest.approx(3.0 / shares, rel=0.03)
    for code, direction in enumerate(directions):
        far = (g == code) & (np.abs(x) > 4 * deviation)
        rows = phi[far]
        along = rows @ map_ @ direction
        assert len(rows) > 5
        # nearly all of the length of these rows is along their direction
        assert np.linalg.norm(along) > 0.95 * np.linalg.norm(rows @ map_)
        longer = ((phi @ map_ @ direction) ** 4).mean() - 3.0 / shares[code]
        assert longer == pytest.approx(tails[code], rel=0.25)


@pytest.mark.parametrize(("options", "least"), [({}, 9), ({"epsilon": 4.0}, 9)], ids=str)
@pytest.mark.parametrize("absorbed", ["", " | g"])
def test_intervals_of_an_interaction_hold_where_the_response_stays_flat(options, least, absorbed):
    """Ten seeded fits of the logarithm of a skewed column, twice as steep in 5% of the rows.

    Along the columns of the interaction alone three were held at epsilon 4, and two at 1.
    """
    held = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        z, errors = rng.normal(size=(2, 20_000))
        rural, g = rng.random(20_000) < 0.05, rng.integers(100, size=20_000)
        data = pd.DataFrame({"x": np.exp(0.8 * z), "rural": rural, "g": g})
        data["y"] = 0.5 * z * (1 + rural) + errors
        own = data.assign(rural=rural * 1.0, product=data.x * rural)
        if absorbed:
            own = own - own.groupby(g).transform("mean")
        best = smf.ols("y ~ x + rural + product", own).fit().params["product"]
        with insecure_seed(seed):
            fit = dp.dp_ols("y ~ x * rural" + absorbed, data, **{"epsilon": 1.0} | options)
        (low, high) = fit.conf_int().filter(like="x:", axis=0).to_numpy()[0]
        held += bool(low <= best <= high)
    assert held >= least
