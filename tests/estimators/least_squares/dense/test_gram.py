"""Sums of cross-products: their coordinates, and how far a row moves them, by brute force."""

import math
from itertools import product

import numpy as np
import pytest

from dpstats.estimators.contract import Problem
from dpstats.estimators.least_squares.dense.gram import (
    box_of,
    clipped_box,
    l1_sensitivities,
    scaled_moments,
    sensitivities,
)
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, RELATIONS, REPLACE_ONE


def problem(columns=3, neighbors=ADD_REMOVE, row_norm=None, estimated=False, **more):
    """An intercept and columns in [0, 4], and a response in [-2, 6]."""
    low, high = np.array([1.0] + [0.0] * (columns - 1)), np.array([1.0] + [4.0] * (columns - 1))
    x_new = np.empty((0, columns))
    return Problem(low, high, -2.0, 6.0, 0, neighbors, row_norm, estimated, x_new, **more)


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
    assert (two <= np.array(sensitivities(norm, neighbors)) * (1 + 1e-12)).all()
    assert (one <= np.array(l1_sensitivities(norm, columns, neighbors)) * (1 + 1e-12)).all()


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_a_corner_reaches_what_is_stated_for_adding_a_row(columns):
    norm = math.sqrt(columns)
    two, one = moved(norm, np.ones((1, columns + 1)), ADD_REMOVE)
    assert two == pytest.approx(sensitivities(norm, ADD_REMOVE))
    assert one == pytest.approx(l1_sensitivities(norm, columns, ADD_REMOVE))


def test_two_axes_reach_what_is_stated_for_replacing_a_row():
    rows = np.array([[1.0, 0, 1], [0, 1, 1], [1, 0, -1], [0, 1, 0]])
    two, _ = moved(1.0, rows, REPLACE_ONE)
    assert two == pytest.approx(sensitivities(1.0, REPLACE_ONE))


def test_boxes_follow_from_what_is_declared():
    assert box_of(problem()).norm == math.sqrt(3)
    assert box_of(problem(estimated=True)).norm == math.sqrt(1 + 0.6 * 2)
    assert box_of(problem(estimated=True)).norm_clip and not box_of(problem()).norm_clip
    assert clipped_box(problem(estimated=True)).norm == math.sqrt(3)
    for box in (box_of, clipped_box):
        assert box(problem(row_norm=2.5)).scale.tolist() == [2.5] * 3


def rows_of(n, columns=3):
    rng = np.random.default_rng(n)
    X = np.column_stack([np.ones(n), rng.uniform(-1, 5, (n, columns - 1))])
    return X, rng.uniform(-3, 7, n)


def sums_by_hand(X, y, box, weights=None):
    """Sums of w z z' over rows in Python's integers."""
    rows = [[int(entry) for entry in row] for row in box.integers(X, y).tolist()]
    whole = [1] * len(rows) if weights is None else [int(w * 2**20) for w in weights]
    size = range(X.shape[1] + 1)
    return [
        [sum(w * r[j] * r[k] for w, r in zip(whole, rows, strict=True)) for k in size] for j in size
    ]


@pytest.mark.parametrize("n", [0, 1, 50, 9000])
def test_sums_of_rows_are_exact(n):
    X, y = rows_of(n)
    given = problem()
    found = scaled_moments(Rows(X, y), given)
    assert found.cross.tolist() == sums_by_hand(X, y, box_of(given)) and found.rows is None


@pytest.mark.parametrize("by_unit", [False, True])
def test_sums_of_weighted_rows_are_exact_and_count_rows_or_units(by_unit):
    X, y = rows_of(500)
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 2**20, 500, endpoint=True) / 2**20
    units = np.sort(rng.integers(0, 90, 500)).astype(float)
    given = problem(weighted=True, by_unit=by_unit)
    rows = Rows(X, y, parts=weights, units=units if by_unit else None)
    found = scaled_moments(rows, given)
    assert found.cross.tolist() == sums_by_hand(X, y, box_of(given), weights)
    assert found.rows == (len(np.unique(units)) if by_unit else 500)
