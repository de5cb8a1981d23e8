"""The meat of a sandwich: HC1 in exact fractions where nothing is noisy or cut."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpstats.numerics import Meat
from dpstats.numerics.sandwich import positive_part

RNG = np.random.default_rng(6)
U = np.column_stack([np.ones(30), RNG.integers(-8, 9, (30, 2)) / 8])
E = RNG.integers(-16, 17, 30) / 16
W = RNG.integers(1, 9, 30) / 8


def summed(*factors):
    """Sums of u_j u_k times the factors of each row, by fractions."""
    total = [[Fraction(0)] * 3 for _ in range(3)]
    for row, *parts in zip(U.tolist(), *(factor.tolist() for factor in factors), strict=True):
        for j in range(3):
            for k in range(3):
                total[j][k] += Fraction(row[j]) * Fraction(row[k]) * math.prod(map(Fraction, parts))
    return total


def floats(matrix, factor=1):
    return [[float(value * factor) for value in row] for row in matrix]


GRAM, SQUARES = summed(), summed(E, E)
ENERGY = SQUARES[0][0]


def exact(products, kept=None) -> Meat:
    """Sums of squared scores without noise."""
    return Meat(np.array(products), np.zeros(()), np.ones(3), kept)


def test_without_noise_it_is_hc1():
    meat = exact(floats(SQUARES))
    found = meat.covariance(np.array(floats(GRAM)), float(ENERGY), 30)
    np.testing.assert_allclose(found, floats(SQUARES, Fraction(30, 27)), rtol=1e-12)


@pytest.mark.parametrize(("cut", "most"), [(0.75, 2), (0.25, 3)])
def test_what_lies_beyond_the_cut_counts_twice_as_if_half_had_been_kept_at_least(cut, most):
    kept_of_rows = np.minimum(np.abs(E), cut)
    within = summed(kept_of_rows, kept_of_rows)
    factor = min(1 + 2 * (ENERGY - within[0][0]) / within[0][0], 3)
    assert most - 1 < factor <= most
    found = exact(floats(within)).covariance(np.array(floats(GRAM)), float(ENERGY), 30)
    np.testing.assert_allclose(found, floats(within, factor * Fraction(30, 27)), rtol=1e-12)


def test_without_a_release_all_of_it_is():
    meat = exact(np.zeros((3, 3)))
    found = meat.covariance(np.array(floats(GRAM)), float(ENERGY), 30)
    np.testing.assert_allclose(found, floats(GRAM, ENERGY / 27), rtol=1e-12)


def test_with_weights_what_was_kept_is_raised_to_the_weighted_sum_of_squares():
    squares, kept = summed(W, W, E, E), summed(W, E, E)[0][0]
    meat = exact(floats(squares), np.array(float(kept) / 2))
    found = meat.covariance(np.array(floats(GRAM)), float(kept), 30)
    # half of the weighted sum of squares was kept, and the other half counts twice
    np.testing.assert_allclose(found, floats(squares, 3 * Fraction(30, 27)), rtol=1e-12)


def test_noise_adds_its_largest_deviation_in_every_direction():
    products = np.array(floats(SQUARES))
    meat = Meat(products, np.array(0.5), np.array([1.0, 2.0, 0.5]))
    found = meat.covariance(np.array(floats(GRAM)), 0.0, 30)
    added = math.sqrt(2) * 0.5 * np.diag([1.0, 4.0, 0.25])
    np.testing.assert_allclose(found, 30 / 27 * (products + added), rtol=1e-12)


def test_the_positive_part_is_the_nearest_matrix_without_negative_eigenvalues():
    """What is left of a matrix is negative and at right angles to it (Moreau)."""
    matrices = RNG.normal(size=(5, 4, 4))
    matrices = matrices + np.swapaxes(matrices, -1, -2)
    positive = positive_part(matrices)
    left = matrices - positive
    assert np.linalg.eigvalsh(positive).min() >= -1e-12
    assert np.linalg.eigvalsh(left).max() <= 1e-12
    np.testing.assert_allclose(positive @ left, 0, atol=1e-12)
