"""Coordinates of methods on a Gram matrix, and exact sums in them."""

import math

import numpy as np
import pytest

from dpstats.estimators.contract import Problem
from dpstats.estimators.least_squares.dense.gram import box_of, clipped_box, scaled_moments
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE


def problem(columns=3, neighbors=ADD_REMOVE, row_norm=None, estimated=False, **more):
    """An intercept and columns in [0, 4], and a response in [-2, 6]."""
    low, high = np.array([1.0] + [0.0] * (columns - 1)), np.array([1.0] + [4.0] * (columns - 1))
    x_new = np.empty((0, columns))
    return Problem(low, high, -2.0, 6.0, 0, neighbors, row_norm, estimated, x_new, **more)


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
    assert found.cross.tolist() == sums_by_hand(X, y, box_of(given)) and found.extra is None


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
    assert found.extra == (len(np.unique(units)) if by_unit else 500)
