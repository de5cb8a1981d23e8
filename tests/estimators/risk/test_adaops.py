"""AdaOPS: its two preliminary bounds hold, and it comes near least squares."""

import math

import numpy as np
import pytest

from dpstats.estimators import METHODS
from tests.checks.recording import fit, line_data


@pytest.mark.parametrize("n", [5, 200])
def test_the_bounds_that_adaops_draws_by_fail_as_rarely_as_it_says(n):
    """At delta = 0.3 each may fail once in ten, for the smaller of two neighbours."""
    x, y = line_data(n, seed=4)
    u = np.column_stack([np.ones(n), 2 * x - 1])
    failures = np.zeros(2)
    for seed in range(200):
        _, noise = fit("adaops", x, y, 1.0, seed=seed, delta=0.3)
        query = noise.queries[-1]
        bound = 2 / query.leverage - query.ridge
        smaller = u[:-1].T @ u[:-1]
        mean = np.linalg.solve(smaller + query.ridge * np.eye(2), u[:-1].T @ (2 * y[:-1] - 1))
        failures += [
            bound > np.linalg.eigvalsh(smaller)[0] + 1e-9,
            query.residual < 1 + math.sqrt(2) * np.linalg.norm(mean),
        ]
    assert np.all(failures <= 200 * 0.1 + 5 * math.sqrt(200 * 0.1 * 0.9))


def test_adaops_comes_near_least_squares_as_epsilon_grows():
    x, y = line_data(4000, seed=3)
    slope, intercept = np.polyfit(x, y, 1)
    gaps = []
    for epsilon in (0.3, 3, 300):
        releases = [fit("adaops", x, y, epsilon, seed=s)[0] for s in range(5)]
        gaps.append(np.median([np.abs(r.params - [intercept, slope]).max() for r in releases]))
    assert gaps[2] < 2e-3 and gaps[2] < gaps[1] < gaps[0]


def test_adaops_is_proven_for_adding_and_removing_rows_only():
    assert METHODS["adaops"].neighbors == ("add_remove",)
