"""Check that the products of one row, or of all rows of one unit, stay within their bound."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.newton.row_sums import sums
from tests.checks.newton_queries import BASIS
from tests.checks.noisy_newton import coded, phi, rows

# The map of coordinates phi to those that are multiplied, and a bound on squared norms.
WITHIN = {"rough": (np.eye(BASIS.size), 8.0), "whitened": (BASIS.span, 3.0)}


def check_within(part: str) -> None:
    """Raise AssertionError unless the nuclear norm of what is added up is at most the bound.

    A row is cut by w |a|^2 where it is alone, and by |a|^2 among the rows of a unit.
    """
    generator, (map_, bound) = np.random.default_rng(3), WITHIN[part]
    X, y = rows(generator, 400)
    X[:, -2:] *= 4
    table, squares = coded(X, y), ((phi(BASIS, X) @ map_) ** 2).sum(axis=1)
    weights = generator.integers(1, 2**20, 400) / 2.0**20
    for i in range(400):
        size = _size(part, map_, bound, replace(table[i : i + 1], parts=weights[i : i + 1]))
        assert size == pytest.approx(min(weights[i] * squares[i] / bound, 1), abs=1e-4)
        assert size <= 1
    longest = np.argsort(squares)[-8:]
    unit = replace(table[longest], parts=np.full(8, 1 / 8), units=np.zeros(8, np.int64))
    assert 0.99 < _size(part, map_, bound, unit) <= 1


def _size(part: str, map_: np.ndarray, bound: float, of_rows) -> float:
    """The nuclear norm of a sum of products, which are positive, over the bound."""
    if part == "rough":
        return float(np.trace(sums.rough_products(BASIS, bound, of_rows))) / 2.0**40
    return float(np.trace(sums.whitened_products(BASIS, map_, bound, of_rows))) / 2.0**40
