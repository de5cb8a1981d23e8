"""Whitening loops: equal to matrix algebra, and each row by itself to the last bit."""

import numpy as np
import pytest

from dpstats.numerics.whitening import residuals, standardised, whitened

FAR = 2.0**20
ROOT = np.array([[2.0, 0, 0], [1, 3, 0], [-1, 0.5, 0.25]])
CENTER = np.array([1.0, -2, 30])


def standard(rows, root=ROOT, center=CENTER):
    out = np.empty((len(rows), len(center)))
    standardised(rows, rows.shape[1] - len(center), center, root, FAR, out)
    return out


def test_rows_are_standardised_by_the_inverse_of_the_root():
    rows = np.random.default_rng(1).normal(size=(50, 5))
    expected = np.linalg.solve(ROOT, (rows[:, 2:] - CENTER).T).T
    np.testing.assert_allclose(standard(rows), expected, rtol=1e-12)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324])
def test_no_number_is_written_that_is_not_within_far(value):
    for center in (CENTER, np.full(3, -1e308), np.full(3, np.inf)):
        for column in range(3):
            rows = np.zeros((1, 3))
            rows[0, column] = value
            found = standard(rows, center=center)
            assert (np.abs(found) <= FAR).all()


def test_whitened_rows_are_codes_and_numbers_times_the_map():
    generator = np.random.default_rng(2)
    map_, numbers = generator.normal(size=(7, 4)), generator.normal(size=(60, 2))
    codes = np.column_stack([generator.integers(0, 3, 60), generator.integers(0, 2, 60)])
    phi = np.hstack([np.eye(3)[codes[:, 0]], np.eye(2)[codes[:, 1]], numbers])
    out = np.empty((60, 4))
    squares = whitened(codes.astype(float), numbers, np.array([0, 3]), map_[:5], map_[5:], out)
    np.testing.assert_allclose(out, phi @ map_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(squares, (out**2).sum(axis=1), rtol=1e-12)


def test_without_codes_a_row_starts_from_the_constant():
    numbers, constant = np.array([[2.0]]), np.array([[5.0]])
    out = np.empty((1, 1))
    squares = whitened(
        np.zeros((1, 1)), numbers, np.zeros(0, int), constant, np.array([[3.0]]), out
    )
    assert out.item() == 11 and squares.item() == 121


def test_a_row_is_the_same_to_the_bit_wherever_it_stands():
    generator = np.random.default_rng(3)
    rows, map_, eta = generator.normal(size=(37, 9)), generator.normal(size=(9, 9)), np.ones(9)
    root, response = np.eye(9) + np.tril(generator.normal(size=(9, 9)), -1), rows[:, 0]

    def computed(rows, response):
        z = standard(rows, root, np.zeros(9))
        out, left = np.empty_like(rows), np.empty(len(rows))
        squares = whitened(rows, z, np.zeros(0, int), np.ones((1, 9)), map_, out)
        residuals(response, out, eta, left)
        return np.column_stack([z, out, squares, left])

    whole = computed(rows, response)
    for order in (slice(None, None, -1), slice(5, 6), slice(1, None, 3)):
        again = computed(np.asfortranarray(rows[order]), response[order])
        assert again.tobytes() == whole[order].copy().tobytes()


def test_residuals_are_the_response_less_the_fit():
    generator = np.random.default_rng(4)
    rows, eta, response = generator.normal(size=(20, 3)), np.array([1.0, 2, -1]), np.arange(20.0)
    left = np.empty(20)
    residuals(response, rows, eta, left)
    np.testing.assert_allclose(left, response - rows @ eta, rtol=1e-12, atol=1e-12)
