"""Build neighbouring synthetic tables whose releases are the easiest to tell apart."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.estimators.contract import Extremes, Problem, Reference
from dpstats.numerics import Layout
from dpstats.privacy import ADD_REMOVE

# Rows common to both tables, in most pairs and in the one for methods that need many.
_SHARED, _MANY = 24, 3000
# A row with this x has high leverage; fitted lines through it leave the range of y.
_LEVERAGE = -0.6

Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Pair:
    """Hold two neighbouring inputs of a mechanism; for a method, rows (X, y)."""

    name: str
    first: Any
    second: Any


def corner_problem(d: int, neighbors: str) -> Problem:
    """Describe d regressors, response and intercept in [-1, 1], and predictions at -+1/2."""
    ones = np.ones(d)
    x_new = np.column_stack([[1, 1], np.outer([-0.5, 0.5], ones)])
    low, high = np.r_[1, -ones], np.r_[1, ones]
    layout = Layout((), np.arange(1, d + 1), 0)
    # as of columns that are uniform on [-1, 1]
    deviation = math.sqrt(1 / 3)
    reference = Reference(np.zeros(d), deviation * np.eye(d), 0.0, deviation, Extremes.unknown(d))
    return Problem(low, high, -1.0, 1.0, 0, neighbors, None, False, x_new, layout, reference)


def corner_pairs(d: int, neighbors: str) -> list[Pair]:
    """Build tables that differ in one row in a corner of the ranges, or with high leverage.

    The common rows leave the line undetermined, determine it well, or contradict the differing
    row.
    """
    flat, steep = _corners(d, _SHARED), _on_a_line(d, _SHARED)
    centre, left = _at(d, 0, 0, 2), _joined(_at(d, -1, 0, _SHARED), _at(d, _LEVERAGE, 0))
    if neighbors == ADD_REMOVE:
        row, lever = _at(d, 1, -1), _at(d, _LEVERAGE, 1)
        return [
            _added("two rows at the centre", centre, "x = 1, y = -1", row),
            _added("rows in corners with y = 0", flat, "x = 1, y = -1", row),
            _added("rows on the line y = x1", steep, "x = 1, y = -1", row),
            _added("rows at x = -1, y = 0", left, f"x = {_LEVERAGE}, y = 1", lever),
            _added("many rows on the line y = x1", _on_a_line(d, _MANY), "x = 1, y = -1", row),
        ]
    high, low, other = _at(d, 1, 1), _at(d, 1, -1), _at(d, -1, 1)
    up, down = _at(d, _LEVERAGE, 1), _at(d, _LEVERAGE, -1)
    return [
        _changed("two rows at the centre", centre, "x = 1 becomes -1 at y = 1", high, other),
        _changed("rows in corners with y = 0", flat, "y = 1 becomes -1 at x = 1", high, low),
        _changed("rows on the line y = x1", steep, "x = 1 becomes -1 at y = 1", high, other),
        _changed("rows at x = -1, y = 0", left, f"y = 1 becomes -1 at x = {_LEVERAGE}", up, down),
    ]


def _at(d: int, x: float, y: float, count: int = 1) -> Rows:
    """Repeat a row with all d regressors at x, after the intercept."""
    return np.tile(np.r_[1.0, np.full(d, x)], (count, 1)), np.full(count, float(y))


def _corners(d: int, count: int) -> Rows:
    """Draw rows at random corners, half of them with x1 = 1, and a response of 0."""
    X = np.random.default_rng(20).choice([-1.0, 1.0], (count, d + 1))
    X[:, 0], X[::2, 1], X[1::2, 1] = 1.0, -1.0, 1.0
    return X, np.zeros(count)


def _on_a_line(d: int, count: int) -> Rows:
    """Space rows evenly from the centre to random corners, with y = x1."""
    X = _corners(d, count)[0]
    X[:, 1:] *= np.linspace(0, 1, count)[:, None]
    return X, X[:, 1]


def _joined(rows: Rows, more: Rows) -> Rows:
    """Append rows to others."""
    return np.vstack([rows[0], more[0]]), np.r_[rows[1], more[1]]


def _added(common: str, rows: Rows, description: str, row: Rows) -> Pair:
    """Build a pair of tables, the second with one more row."""
    return Pair(f"{common}; a row {description} added", rows, _joined(rows, row))


def _changed(common: str, rows: Rows, change: str, row: Rows, other: Rows) -> Pair:
    """Build a pair of tables that differ in their last row."""
    return Pair(f"{common}; in one more row {change}", _joined(rows, row), _joined(rows, other))
