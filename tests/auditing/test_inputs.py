"""The neighbours an audit starts from."""

import numpy as np
import pytest

from dpstats.auditing.inputs import corner_pairs, corner_problem
from dpstats.privacy import RELATIONS


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_inputs_are_neighbours_within_the_bounds(d, neighbors):
    problem = corner_problem(d, neighbors)
    pairs = corner_pairs(d, neighbors)
    assert pairs
    for pair in pairs:
        (X, y), (Z, v) = pair.first, pair.second
        for rows, response in (pair.first, pair.second):
            assert np.all((rows >= problem.low) & (rows <= problem.high))
            assert np.all(np.abs(response) <= 1) and len(rows) == len(response)
        if neighbors == "add_remove":
            assert len(v) == len(y) + 1
            assert np.array_equal(Z[:-1], X) and np.array_equal(v[:-1], y)
        else:
            differ = np.any(X != Z, axis=1) | (y != v)
            assert differ.sum() == 1
