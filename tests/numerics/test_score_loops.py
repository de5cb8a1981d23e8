"""Loops over scores: equal to numpy row by row, in blocks and in what is left over."""

import numpy as np
import pytest

from dpstats.estimators.newton.indicator_basis import RowMap
from dpstats.numerics.score_loops import clipped_sums, leverages_above, scores_above
from dpstats.numerics.whitening import residuals, whitened

FAR, GRID = 2.0**20, 2.0**20
EDGES = np.array([0.1, 0.5, 1.0, 2.0, 4.0])
TO = RowMap(
    np.zeros(0, int), np.array([1.0, -2]), np.array([2.0, 3]), np.ones((3, 1)),
    np.array([[1.0, 0], [0.5, 2], [-1, 1]]),
)  # fmt: skip
AT = 0.5, 1.5, np.array([0.3, -0.2, 0.7])
SIZES = [0, 1, 2047, 2048, 2049, 5000]


def rows(n):
    """Rows with one far out in each column and one that is no number."""
    rng = np.random.default_rng(n)
    columns, response = rng.normal(size=(2, n)), rng.normal(size=n)
    columns[:, n // 3 : n // 3 + 1], response[n // 2 : n // 2 + 1] = 1e30, np.nan
    return columns, response


def scores(columns, response):
    """Whitened rows (p, n), squared norms, residuals, norms of scores."""
    out = np.empty((3, len(response)))
    squares = whitened(columns[:0], columns, 0, tuple(TO), FAR, out)
    left = residuals(response, AT[0], AT[1], FAR, out, AT[2])
    return out, squares, left, np.sqrt(squares) * np.abs(left)


def counted(sizes):
    """How many there are, how many above each edge, and none above all."""
    return [len(sizes), *((sizes > edge).sum() for edge in EDGES), 0]


@pytest.mark.parametrize("n", SIZES)
def test_rows_are_counted_by_size(n):
    columns, response = rows(n)
    _, squares, _, norms = scores(columns, response)
    assert leverages_above(columns[:0], columns, tuple(TO), FAR, 3.0, EDGES).tolist() == counted(
        squares / 3.0
    )
    found = scores_above(columns[:0], columns, response, tuple(TO), FAR, *AT, 0.7, EDGES)
    assert found.tolist() == counted(norms / 0.7)


@pytest.mark.parametrize("n", SIZES)
def test_sums_are_of_scores_cut_to_the_limit_and_to_whole_numbers(n):
    columns, response = rows(n)
    whitened_rows, _, left, norms = scores(columns, response)
    s = whitened_rows * (left * (GRID / np.maximum(norms, 1.5)))
    squares = 0.3 * np.minimum(np.abs(left) / 0.8, 1.0) ** 2 * GRID
    found = clipped_sums(columns[:0], columns, response, tuple(TO), FAR, *AT, 1.5, 0.8, 0.3, GRID)
    assert found.tolist() == np.trunc(np.vstack([s, squares])).sum(axis=1).tolist()
    assert (np.linalg.norm(s, axis=0) <= GRID * (1 + 1e-12)).all()


def test_a_size_at_an_edge_is_not_above_it():
    to = TO._replace(center=np.zeros(2), numbers_to=np.zeros((3, 2)))
    at_edge = leverages_above(np.zeros((0, 4)), np.zeros((2, 4)), tuple(to), FAR, 3.0, EDGES)
    assert at_edge.tolist() == [4, 4, 4, 0, 0, 0, 0]
