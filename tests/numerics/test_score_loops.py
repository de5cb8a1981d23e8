"""Loops over scores: equal to numpy, and nothing is lost of one row or of many."""

import numpy as np
import pytest

from dpstats.numerics.score_loops import above, clipped_sums, norms, sums_and_squares

GRID = 2.0**20
EDGES = np.array([0.1, 0.5, 1.0, 2.0, 4.0])
SIZES = [0, 1, 4095, 4096]


def scores(n):
    """Rows (3, n), residuals and norms of scores, a few of them far out."""
    rng = np.random.default_rng(n)
    rows, left = rng.normal(size=(3, n)), rng.normal(size=n)
    rows[:, n // 3 : n // 3 + 1] *= 1e9
    left[n // 2 : n // 2 + 1] = 2.0**20
    return rows, left, norms((rows**2).sum(axis=0), left)


@pytest.mark.parametrize("n", SIZES)
def test_a_score_is_as_long_as_its_row_times_the_residual(n):
    rows, left, sizes = scores(n)
    np.testing.assert_allclose(sizes, np.linalg.norm(rows * left, axis=0), rtol=1e-15)


@pytest.mark.parametrize("n", SIZES)
def test_rows_are_counted_by_size(n):
    sizes = scores(n)[2]
    found = above(sizes, 0.7, EDGES).tolist()
    assert found == [n, *((sizes / 0.7 > edge).sum() for edge in EDGES), 0]


@pytest.mark.parametrize("n", SIZES)
def test_sums_are_of_scores_cut_to_the_limit_and_to_whole_numbers(n):
    rows, left, sizes = scores(n)
    s = rows * (left * (GRID / np.maximum(sizes, 1.5)))
    squares = 0.3 * np.minimum(np.abs(left) / 0.8, 1.0) ** 2 * GRID
    found = clipped_sums(rows, left, sizes, 1.5, 0.8, 0.3, GRID)
    assert found.tolist() == np.trunc(np.vstack([s, squares])).sum(axis=1).tolist()
    assert (np.linalg.norm(s, axis=0) <= GRID * (1 + 1e-12)).all()


@pytest.mark.parametrize("n", SIZES)
def test_sums_of_vectors_and_of_squares_are_of_whole_numbers(n):
    rows, _, _ = scores(n)
    factors = GRID / np.maximum(np.linalg.norm(rows, axis=0), 1.0)
    whole = np.trunc(rows * factors)
    squares = np.trunc(0.3 / GRID * (whole**2).sum(axis=0))
    expected = [*whole.sum(axis=1), squares.sum()]
    assert sums_and_squares(rows, factors, 0.3 / GRID).tolist() == expected


def test_a_size_at_an_edge_is_not_above_it():
    assert above(np.full(4, 3.0), 3.0, EDGES).tolist() == [4, 4, 4, 0, 0, 0, 0]
