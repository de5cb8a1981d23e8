"""Boxes against exact fractions: rows become whole numbers, coefficients go there and back."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpstats.numerics.clipping import ENTRY_BITS, Box
from dpstats.numerics.column_basis import ColumnBasis

ONE = 2**ENTRY_BITS
# Middles and half ranges are powers of two, so that floating point is exact.
LOW, HIGH = np.array([1.0, -1.0, 0.0, 0.25]), np.array([1.0, 3.0, 8.0, 0.75])
ENDS = (-2.0, 6.0)


def rows_of(n=60):
    """Rows on a grid of 1/16, of which some lie outside the bounds."""
    rng = np.random.default_rng(3)
    X = np.column_stack([np.ones(n), *(rng.integers(-40, 160, n) / 16 for _ in range(3))])
    return X, rng.integers(-80, 160, n) / 16


def by_hand(value, low, high, centred):
    """A number less the middle, over the half range, clipped and cut toward zero."""
    low, high, value = map(Fraction, (low, high, value))
    middle = (low + high) / 2 if centred else Fraction(0)
    half = max(abs(low - middle), abs(high - middle)) or 1
    return int(min(max((value - middle) / half, -1), 1) * ONE)


@pytest.mark.parametrize("intercept", [0, None])
def test_each_column_is_centred_scaled_and_clipped_by_itself(intercept):
    X, y = rows_of()
    box = Box.symmetric(LOW, HIGH, *ENDS, intercept)
    ends = [*zip(LOW, HIGH, strict=True), ENDS]
    centred = [intercept is not None and j != intercept for j in range(5)]
    rows = [
        [by_hand(value, *ends[j], centred[j]) for j, value in enumerate((*row, response))]
        for row, response in zip(X.tolist(), y.tolist(), strict=True)
    ]
    assert box.integers(X, y).tolist() == rows


@pytest.mark.parametrize("norm", [1.0, 1.5])
def test_no_row_is_longer_than_the_norm_in_exact_arithmetic(norm):
    X, y = rows_of(300)
    box = Box.symmetric(LOW, HIGH, *ENDS, 0, norm, True)
    rows = [[int(entry) for entry in row] for row in box.integers(X, y)]
    lengths = [sum(entry**2 for entry in row[:-1]) for row in rows]
    assert max(lengths) <= Fraction(norm) ** 2 * ONE**2
    assert max(lengths) >= (Fraction(norm) * Fraction(999, 1000)) ** 2 * ONE**2
    assert max(abs(row[-1]) for row in rows) <= ONE


def test_a_row_that_is_shrunken_as_a_whole_keeps_its_line():
    box = Box.symmetric(np.array([1.0, -1]), np.array([1.0, 1]), -1.0, 1.0, 0, None, True)
    # v = u / 2, and four times too far out
    assert box.integers(np.array([[1.0, 4.0]]), np.array([2.0])).tolist() == [
        [ONE // 4, ONE, ONE // 2]
    ]


def test_rows_of_a_ball_are_scaled_to_length_one_together_with_the_response():
    box = Box.ball(2, 5.0, -3.0, 4.0)
    # inside, cut toward zero; and twice the radius
    X, y = np.array([[1.5, 2.0], [6.0, 8.0]]), np.array([2.0, 4.0])
    inside, outside = box.integers(X, y).tolist()
    assert inside == [math.trunc(Fraction(part) * ONE) for part in ("0.3", "0.4", "0.5")]
    margin = 1 - Fraction(1, 2**30)
    assert outside == [int(Fraction(part) * ONE * margin) for part in ("0.6", "0.8", "0.5")]


@pytest.mark.parametrize("basis", [False, True])
@pytest.mark.parametrize("intercept", [0, None])
def test_coefficients_go_there_and_back_and_predict_the_same(intercept, basis):
    mixed = np.eye(4)
    mixed[1, 2], mixed[2, 3] = -0.5, 0.25
    given = ColumnBasis(mixed, LOW - [0, 1, 1, 1], HIGH + [0, 1, 1, 1]) if basis else None
    box = Box.spanning(LOW, HIGH, *ENDS, intercept, given)
    theta = np.array([0.3, -0.7, 0.2, 0.4])
    transform, shift = box.linear_map()
    beta = transform @ theta + shift
    np.testing.assert_allclose(box.reference(beta.copy()), theta, rtol=1e-12)
    X = np.column_stack([np.ones(5), *np.random.default_rng(1).uniform(0.3, 0.7, (3, 5))])
    u = ((X @ mixed if basis else X) - box.center) / box.scale
    if intercept is not None:
        assert (u[:, 0] == 1).all()
    np.testing.assert_allclose(X @ beta, box.y_center + box.y_scale * (u @ theta), rtol=1e-12)
