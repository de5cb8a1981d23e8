"""Least squares from noisy cross-products: against loops, exact inverses and 50 digits."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpstats.numerics.ridge import (
    inverse,
    least_eigenvalue,
    lowered,
    lowered_eigenvalues,
    ridge,
    symmetric,
)


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_a_triangle_is_filled_row_by_row(columns):
    numbers = iter(range(1, 1000))
    expected = np.zeros((columns, columns))
    triangle = []
    for j in range(columns):
        for k in range(j, columns):
            expected[j, k] = expected[k, j] = next(numbers)
            triangle.append(expected[j, k])
    stack = np.array([triangle, np.negative(triangle)])
    assert np.array_equal(symmetric(stack, columns), [expected, -expected])


def noisy(rng, columns, sigma):
    """X'X, and X'X with a normal number on each entry on and above the diagonal."""
    X = rng.normal(size=(60, columns))
    noise = symmetric(sigma * rng.normal(size=columns * (columns + 1) // 2), columns)
    return X.T @ X, X.T @ X + noise


def test_the_smallest_eigenvalue_is_bounded_unless_the_noise_is_larger_than_its_bound():
    rng, held = np.random.default_rng(4), 0
    for _ in range(200):
        gram, seen = noisy(rng, 4, 3.0)
        norm = np.abs(np.linalg.eigvalsh(seen - gram)).max()
        bound = least_eigenvalue(seen, 3.0)
        assert bound == pytest.approx(np.linalg.eigvalsh(seen).min() - 2 * 3.0 * 2.0)
        if norm <= 12.0:
            held += 1
            assert bound <= np.linalg.eigvalsh(gram).min()
    assert held > 150


def test_the_ridge_lifts_the_bounded_eigenvalue_to_what_the_noise_needs():
    """Hand-made: eigenvalues 1 and 100, and many matrices at once."""
    grams = np.array([np.diag([1.0, 100.0]), np.diag([90.0, 100.0]), np.diag([-5.0, 1.0])])
    sigma = 2.0
    needed = sigma * math.sqrt(2 * math.log(2 * 4 / 0.05))
    bounds = [max(value - 4 * math.sqrt(2), 0.0) for value in (1.0, 90.0, -5.0)]
    expected = [max(needed - bound, 0.0) for bound in bounds]
    assert ridge(grams, sigma) == pytest.approx(expected)
    assert expected[0] == needed and expected[1] == 0.0


def exact_inverse(matrix):
    """The inverse of a matrix of fractions, by elimination."""
    n = len(matrix)
    rows = [
        [Fraction(v) for v in row] + [Fraction(int(i == j)) for j in range(n)]
        for i, row in enumerate(matrix)
    ]
    for i in range(n):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(n):
            if j != i:
                factor = rows[j][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [[float(value) for value in row[n:]] for row in rows]


@pytest.mark.parametrize("penalty", [0.0, 3.0])
def test_the_inverse_is_exact_where_no_eigenvalue_is_raised(penalty):
    X = np.random.default_rng(2).integers(-9, 10, (20, 4))
    gram = X.T @ X
    expected = exact_inverse((gram + np.diag([int(penalty)] * 4)).tolist())
    np.testing.assert_allclose(inverse(gram, penalty, 0.5), expected, rtol=1e-10)


def test_eigenvalues_below_the_noise_are_raised_to_it():
    turn = np.array([[3.0, 4], [-4, 3]]) / 5
    gram = turn @ np.diag([-7.0, 50.0]) @ turn.T
    expected = turn @ np.diag([1 / (2 * math.sqrt(2)), 1 / 51.0]) @ turn.T
    np.testing.assert_allclose(inverse(gram, 1.0, 2.0), expected, rtol=1e-12)


def upper(at):
    """The chance that a normal variable exceeds this, in 50 digits."""
    return mpmath.erfc(at / mpmath.sqrt(2)) / 2


@pytest.mark.parametrize("seen", [1.01, 1.5, 3.0, 30.0])
@pytest.mark.parametrize("edge", [0.5, 1.0])
def test_a_value_seen_above_an_edge_is_as_likely_exceeded_as_by_one_deviation(seen, edge):
    """P(noisy > seen | noisy > edge) is that of a normal variable above one deviation."""
    with mpmath.workdps(50):
        found = mpmath.mpf(float(lowered(np.array([seen]), edge, np.array([0.25]))[0]))
        chance = upper((seen - found) * 4) / upper((edge - found) * 4)
        if found > 0.125:
            assert float(chance) == pytest.approx(float(upper(1)), rel=1e-6)
        else:
            assert found == 0.125 and chance >= upper(1)


def test_a_value_far_from_the_edge_is_lowered_by_its_deviation_along_each_eigenvector():
    gram = np.array([[40.0, 12.0], [12.0, 47.0]])
    values, vectors = lowered_eigenvalues(gram, 0.01)
    spread = [0.01 * math.sqrt(2 - sum(v**4 for v in vector)) for vector in vectors.T]
    np.testing.assert_allclose(values, np.linalg.eigvalsh(gram) - spread, rtol=1e-9)
    np.testing.assert_allclose(gram @ vectors, vectors * np.linalg.eigvalsh(gram), rtol=1e-12)
