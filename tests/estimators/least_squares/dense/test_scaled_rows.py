"""Sums of clipped residuals over scaled rows against Python's integers."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpstats.estimators.contract import Problem
from dpstats.estimators.least_squares.dense.gram import box_of
from dpstats.estimators.least_squares.dense.scaled_rows import residual_sums, scaled_rows
from dpstats.numerics import Rows
from dpstats.numerics.clipping import BLOCK
from dpstats.privacy import ADD_REMOVE

PROBLEM = Problem(
    np.array([1.0, -1, 0]), np.array([1.0, 3, 2]), -1.0, 1.0, 0, ADD_REMOVE, None, False,
    np.empty((0, 3)),
)  # fmt: skip
ONE = 2**20


def rows_of(n):
    rng = np.random.default_rng(n)
    X = np.column_stack([np.ones(n), rng.uniform(-2, 4, (n, 2))])
    return Rows(X, rng.uniform(-2, 2, n))


def z_of(rows):
    """Rows (u, v), shape (n, S + 1)."""
    return np.column_stack([rows.numbers, rows.response])


@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1])
def test_rows_are_scaled_by_themselves_in_any_batches(n):
    rows = rows_of(n)
    whole = scaled_rows(rows, PROBLEM)
    assert np.array_equal(z_of(whole), box_of(PROBLEM).integers(rows.numbers, rows.response))
    cut = n // 3
    both = scaled_rows(rows[:cut], PROBLEM) + scaled_rows(rows[cut:], PROBLEM)
    assert isinstance(both, Rows) and np.array_equal(z_of(both), z_of(whole))


def by_hand(rows, theta, tau, most):
    """The sum of u g in units of tau 2^-40, one row at a time, in fractions."""
    total = [0, 0, 0]
    for row, limit in zip(rows.tolist(), most, strict=True):
        *u, v = map(int, row)
        residual = v - sum(a * b for a, b in zip(u, map(Fraction, theta), strict=True))
        g = math.trunc(min(max(residual / Fraction(tau), -limit), limit))
        total = [t + g * a for t, a in zip(total, u, strict=True)]
    return total


@pytest.mark.parametrize("n", [0, 1, 400, BLOCK + 1])
@pytest.mark.parametrize("tau", [0.25, 1.0])
def test_sums_of_clipped_residuals_are_exact(n, tau):
    rows = scaled_rows(rows_of(n), PROBLEM)
    theta = np.array([0.25, -0.625, 0.125])
    found = residual_sums(rows, tau)(theta)
    assert found.tolist() == by_hand(z_of(rows), theta, tau, [ONE] * n)


def test_coefficients_are_rounded_to_33_bits_at_most_so_that_all_products_are_exact():
    rows = scaled_rows(rows_of(BLOCK), PROBLEM)
    theta = np.array([0.1, -0.7, 1 / 3])
    unit = Fraction(2) ** (math.frexp(np.abs(theta).sum())[1] - 32)
    rounded = [round(Fraction(part) / unit) * unit for part in theta.tolist()]
    found = residual_sums(rows, 1.0)(theta)
    assert found.tolist() == by_hand(z_of(rows), rounded, 1.0, [ONE] * BLOCK)


def test_a_row_may_have_a_limit_of_its_own():
    rows = scaled_rows(rows_of(300), PROBLEM)
    most = np.random.default_rng(1).integers(1, ONE, 300).astype(float)
    theta = np.array([1.0, 0.5, -2.0])
    found = residual_sums(rows, 0.5, most)(theta)
    assert found.tolist() == by_hand(z_of(rows), theta, 0.5, [int(limit) for limit in most])


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e12])
def test_a_term_does_not_depend_on_the_rows_beside_it(size):
    rows = scaled_rows(rows_of(200), PROBLEM)
    theta = size * np.array([0.1, -0.7, 1 / 3])
    one_by_one = [residual_sums(row, 1.0)(theta) for row in rows.blocks(1)]
    assert residual_sums(rows, 1.0)(theta).tolist() == sum(one_by_one).tolist()
