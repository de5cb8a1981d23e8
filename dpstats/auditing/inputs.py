"""Neighbouring made-up tables on which a private release is hard pressed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.mechanisms.shared import Problem
from dpstats.privacy import ADD_REMOVE

# Rows that both tables share, in most pairs and in the one for methods that need many.
_SHARED, _MANY = 24, 3000
# A row this far from the others decides the lines through it, and where it does not stand
# in a corner these reach beyond the range of y.
_LEVER = -0.6

Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Pair:
    """Two neighbouring inputs of a mechanism; for a method, rows (X, y)."""

    name: str
    first: Any
    second: Any


def corner_problem(d: int, neighbors: str) -> Problem:
    """d regressors, the response and an intercept, all in [-1, 1]; predictions at -+1/2."""
    ones = np.ones(d)
    x_new = np.column_stack([[1, 1], np.outer([-0.5, 0.5], ones)])
    low, high = np.r_[1, -ones], np.r_[1, ones]
    return Problem(low, high, -1.0, 1.0, 0, neighbors, None, False, x_new)


def corner_pairs(d: int, neighbors: str) -> list[Pair]:
    """Tables that differ in one row in a corner of the ranges, or in one with much leverage.

    The shared rows leave the line open, fix it firmly, or put it where the differing row
    contradicts it.
    """
    flat, steep = _corners(d, _SHARED), _on_a_line(d, _SHARED)
    middle, left = _at(d, 0, 0, 2), _joined(_at(d, -1, 0, _SHARED), _at(d, _LEVER, 0))
    if neighbors == ADD_REMOVE:
        row, lever = _at(d, 1, -1), _at(d, _LEVER, 1)
        return [
            _added("two rows in the middle", middle, "x = 1, y = -1", row),
            _added("rows in corners with y = 0", flat, "x = 1, y = -1", row),
            _added("rows on the line y = x1", steep, "x = 1, y = -1", row),
            _added("rows at x = -1, y = 0", left, f"x = {_LEVER}, y = 1", lever),
            _added("many rows on the line y = x1", _on_a_line(d, _MANY), "x = 1, y = -1", row),
        ]
    high, low, other = _at(d, 1, 1), _at(d, 1, -1), _at(d, -1, 1)
    up, down = _at(d, _LEVER, 1), _at(d, _LEVER, -1)
    return [
        _changed("two rows in the middle", middle, "x = 1 becomes -1 at y = 1", high, other),
        _changed("rows in corners with y = 0", flat, "y = 1 becomes -1 at x = 1", high, low),
        _changed("rows on the line y = x1", steep, "x = 1 becomes -1 at y = 1", high, other),
        _changed("rows at x = -1, y = 0", left, f"y = 1 becomes -1 at x = {_LEVER}", up, down),
    ]


def _at(d: int, x: float, y: float, count: int = 1) -> Rows:
    """Equal rows with all d regressors at x, the intercept in front."""
    return np.tile(np.r_[1.0, np.full(d, x)], (count, 1)), np.full(count, float(y))


def _corners(d: int, count: int) -> Rows:
    """Rows at random corners, half of them with x1 = 1, and a response that says nothing."""
    X = np.random.default_rng(20).choice([-1.0, 1.0], (count, d + 1))
    X[:, 0], X[::2, 1], X[1::2, 1] = 1.0, -1.0, 1.0
    return X, np.zeros(count)


def _on_a_line(d: int, count: int) -> Rows:
    """Rows drawn out of the corners evenly, with y = x1."""
    X = _corners(d, count)[0]
    X[:, 1:] *= np.linspace(0, 1, count)[:, None]
    return X, X[:, 1]


def _joined(rows: Rows, more: Rows) -> Rows:
    return np.vstack([rows[0], more[0]]), np.r_[rows[1], more[1]]


def _added(shared: str, rows: Rows, what: str, row: Rows) -> Pair:
    return Pair(f"{shared}; a row {what} added", rows, _joined(rows, row))


def _changed(shared: str, rows: Rows, what: str, row: Rows, other: Rows) -> Pair:
    return Pair(f"{shared}; in one more row {what}", _joined(rows, row), _joined(rows, other))
