"""Combinations of columns: row by row, and undone exactly."""

import numpy as np

from dpstats.numerics import Box, ColumnBasis

MATRIX = np.array([[1.0, 0, 0, 0], [0, 1, -4, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
BASIS = ColumnBasis(MATRIX, np.array([1.0, 0, -4, 2]), np.array([1.0, 4, 0, 8]))


def table(n, seed=1):
    """Rows (1, x, x^2, z)."""
    generator = np.random.default_rng(seed)
    x = generator.uniform(0, 4, n)
    return np.column_stack([np.ones(n), x, x**2, generator.uniform(2, 8, n)])


def test_columns_are_those_of_the_product():
    X = table(50)
    Q = np.column_stack([BASIS.column(X, j) for j in range(4)])
    np.testing.assert_allclose(Q, X @ MATRIX, atol=1e-14)


def test_a_row_depends_on_itself_alone():
    """To the last bit, whatever the number of rows and their order."""
    X = table(1001)
    whole = BASIS.column(X, 2)
    for rows in (X[:1], X[5:12], X[::-1], np.asfortranarray(X)):
        places = [int(np.flatnonzero((X == row).all(axis=1))[0]) for row in rows[:20]]
        np.testing.assert_array_equal(BASIS.column(rows, 2)[:20], whole[places])


def test_coefficients_fit_the_same_values():
    params = np.array([[1.0, 2, 3, 4], [0, -1, 0.5, 0]])
    X = table(20)
    for beta, theta in zip(params, BASIS.coefficients(params), strict=True):
        np.testing.assert_allclose(X @ MATRIX @ theta, X @ beta, atol=1e-12)
    np.testing.assert_allclose(BASIS.coefficients(params[0]), BASIS.coefficients(params)[0])


def test_the_numbers_of_a_basis_stand_behind_a_constant():
    numbers = BASIS.of_numbers(np.array([1, 2]))
    np.testing.assert_array_equal(numbers.matrix, [[1, 0, 0], [0, 1, -4], [0, 0, 1]])
    assert (numbers.low.tolist(), numbers.high.tolist()) == ([1, 0, -4], [1, 4, 0])


def test_scaled_rows_are_clipped_whatever_the_columns_hold():
    """Rows far out, infinite or without a number stay within [-1, 1], without a warning."""
    ends = np.array([1, 0, 0, 2.0]), np.array([1, 4, 16, 8.0])
    box = Box.spanning(*ends, -1.0, 1.0, 0, BASIS)
    X = np.array([[1, np.inf, np.inf, 3], [1, 1e300, -1e300, 2], [1, np.nan, 0, 9], [1, 4, 16, 8]])
    rows = box.integers(X, np.zeros(4)) / 2.0**20
    assert np.isfinite(rows).all() and (np.abs(rows) <= 1).all()
    np.testing.assert_array_equal(rows[3, :4], 1.0)


def test_the_map_of_coefficients_and_its_inverse():
    ends = np.array([1, 0, 0, 2.0]), np.array([1, 4, 16, 8.0])
    for intercept in (0, None):
        box = Box.spanning(*ends, -1.0, 3.0, intercept, BASIS)
        transform, shift = box.linear_map()
        theta = np.array([0.3, -0.2, 0.5, 0.1])
        np.testing.assert_allclose(box.reference(transform @ theta + shift), theta, atol=1e-12)
        X = table(30)
        u = box.integers(X, np.zeros(30))[:, :4] / 2.0**20
        v = box.y_center + box.y_scale * (u @ theta)
        np.testing.assert_allclose(X @ (transform @ theta + shift), v, atol=1e-4)
