"""Coordinates: bounds on what a row adds to sums of products by brute force, and ways back."""

import math
from itertools import product

import numpy as np
import pytest

from dpstats.estimators.least_squares.factors import BlockBasis
from dpstats.estimators.least_squares.within.groups import GroupDeviations
from dpstats.estimators.least_squares.within.units import UnitDeviations
from dpstats.numerics import Box, Moments, Rows, Sensitivity
from dpstats.privacy import ADD_REMOVE, RELATIONS, REPLACE_ONE
from tests.checks.block_sums import problem_of


def parts(u, v):
    """The upper triangle of u u', u v and v^2 of one row."""
    return np.outer(u, u)[np.triu_indices(len(u))], u * v, np.array([v * v])


def moved(norm, rows, neighbors):
    """The largest L2 and L1 distances between the parts of any two rows, or of one and none."""
    none = np.zeros(rows.shape[1])
    pairs = [(a, none) for a in rows] if neighbors == ADD_REMOVE else list(product(rows, rows))
    far = [
        [(np.linalg.norm(p - q), np.abs(p - q).sum()) for p, q in zip(one, two, strict=True)]
        for one, two in ((parts(a[:-1], a[-1]), parts(b[:-1], b[-1])) for a, b in pairs)
    ]
    return np.max(far, axis=0).T


def rows_within(norm, columns, count=60):
    """Rows with ||u|| <= norm and entries in [-1, 1], corners and axes among them."""
    rng = np.random.default_rng(8)
    u = rng.uniform(-1.0, 1.0, (count, columns)) * rng.choice([0.0, 1.0, 9.0], (count, columns))
    u = np.vstack([np.clip(u, -1, 1), np.ones((1, columns)), np.eye(columns)])
    u *= np.minimum(norm / np.maximum(np.linalg.norm(u, axis=1), 1e-9), 1.0)[:, None]
    rows = np.column_stack([u, rng.choice([-1.0, 0.3, 1.0], len(u))])
    return np.vstack([rows, rows * [*[1.0] * columns, -1.0]])


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("columns", [1, 2, 4])
@pytest.mark.parametrize("norm", [0.5, 1.0, 1.3, 2.0])
def test_no_row_moves_the_sums_further_than_stated(neighbors, columns, norm):
    norm = min(norm, math.sqrt(columns))
    two, one = moved(norm, rows_within(norm, columns), neighbors)
    stated = Sensitivity.of(norm, columns, neighbors)
    assert (two <= np.array(stated.l2) * (1 + 1e-12)).all()
    assert (one <= np.array(stated.l1) * (1 + 1e-12)).all()


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_a_corner_reaches_what_is_stated_for_adding_a_row(columns):
    norm = math.sqrt(columns)
    two, one = moved(norm, np.ones((1, columns + 1)), ADD_REMOVE)
    stated = Sensitivity.of(norm, columns, ADD_REMOVE)
    assert two == pytest.approx(stated.l2) and one == pytest.approx(stated.l1)


def test_two_axes_reach_what_is_stated_for_replacing_a_row():
    rows = np.array([[1.0, 0, 1], [0, 1, 1], [1, 0, -1], [0, 1, 0]])
    two, _ = moved(1.0, rows, REPLACE_ONE)
    assert two == pytest.approx(Sensitivity.of(1.0, 2, REPLACE_ONE).l2)


PROBLEM = problem_of(1, 2)
MIDDLE, HALF = 1.0, 2.0  # of the range of the response
# Each in the columns of PROBLEM: an intercept, three dummies of a factor and two numbers.
COORDINATES = {
    "dense": Box.spanning(PROBLEM.low, PROBLEM.high, -1.0, 3.0, 0, None),
    "factors": BlockBasis.of(PROBLEM),
    "groups": GroupDeviations(PROBLEM),
    "units": UnitDeviations(PROBLEM),
}


def rows_of(n, seed):
    """Rows within and beyond their bounds, as codes and numbers or as columns, of one unit."""
    rng = np.random.default_rng(seed)
    codes, numbers = rng.integers(0, 4, n), rng.uniform(-1, 3, (n, 2))
    X = np.column_stack([np.ones(n), np.eye(4)[codes][:, 1:], numbers])
    alike = {"response": rng.uniform(-2, 4, n), "parts": np.full(n, 1 / n), "units": np.zeros(n)}
    return Rows(X, **alike), Rows(numbers, codes=codes[:, None].astype(float), **alike)


def given(name, n, seed):
    return rows_of(n, seed)[name == "factors"]


@pytest.mark.parametrize("name", COORDINATES)
def test_rows_become_whole_numbers_that_depend_on_a_row_or_its_unit_alone(name):
    rows, coordinates = given(name, 5000, 1), COORDINATES[name]
    blocks = [*coordinates.blocks(rows)]
    columns = np.hstack([block.columns for block in blocks])
    assert (columns == np.trunc(columns)).all() and np.abs(columns).max() <= 2**21
    assert sum(block.columns.shape[1] for block in blocks) == len(rows)
    assert np.hstack([block.parts for block in blocks]) == pytest.approx(rows.parts, abs=2.0**-20)
    if name != "units":
        (alone,) = coordinates.blocks(rows[4321:4322])
        assert alone.columns.tolist() == columns[:, 4321:4322].tolist()


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("name", ["dense", "units"])
def test_no_unit_moves_sums_further_than_the_coordinates_state(name, neighbors):
    """Those of groups and of codes are replayed in tests of their own."""
    coordinates = COORDINATES[name]
    stated = coordinates.sensitivity(neighbors)
    for seed in range(40):
        one, two = (
            Moments.of(given(name, 1 + seed % 9, seed + more), coordinates) for more in (0, 100)
        )
        change = one.cross if neighbors == ADD_REMOVE else one.cross - two.cross
        change = change.astype(float) * one.unit
        parts = change[:-1, :-1][np.triu_indices(6)], change[:-1, -1], change[-1:, -1]
        far = [np.linalg.norm(part) for part in parts]
        assert (np.array(far) <= stated.l2).all()
        if stated.l1 is not None:
            assert (np.array([np.abs(part).sum() for part in parts]) <= stated.l1).all()


@pytest.mark.parametrize("name", COORDINATES)
def test_coefficients_are_mapped_back_to_those_of_the_columns(name):
    """Predictions of rows within their bounds are the same, about means their differences."""
    coordinates, rng = COORDINATES[name], np.random.default_rng(3)
    rows, coded = rows_of(60, 2)
    numbers = np.clip(coded.numbers, 0, 2)
    X = np.column_stack([rows.numbers[:, :4], numbers])
    box = getattr(coordinates, "box", coordinates)
    if name == "factors":
        alpha, gamma = rng.normal(size=4), rng.normal(size=2)
        z = coordinates.scaled([coded.codes[:, 0].astype(int)], numbers, rows.response)
        v, theta = (
            alpha[coded.codes[:, 0].astype(int)] + z[:, :-1] / 2.0**20 @ gamma,
            (alpha, gamma),
        )
    else:
        theta = rng.normal(size=6)
        v = box.integers(X, rows.response)[:, :-1] / 2.0**20 @ theta
    found = X @ coordinates.back(theta)
    np.testing.assert_allclose(np.diff(found), HALF * np.diff(v), atol=1e-5)
    if name in ("dense", "factors"):
        np.testing.assert_allclose(found, MIDDLE + HALF * v, atol=1e-5)
