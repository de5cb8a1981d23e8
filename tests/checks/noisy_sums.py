"""Check how far weighted rows move noisy sums."""

import numpy as np
import pytest

from dpstats.estimators.contract import Problem
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.replay import (
    check_reached,
    line_rows,
    strange_row,
    table,
)
from tests.checks.worst_rows import WORST

PROBLEM = Problem(
    low=np.array([1.0, -1, -1, -1]), high=np.ones(4), y_low=-1.0, y_high=1.0, intercept=0,
    neighbors=ADD_REMOVE, row_norm=None, estimated=False, x_new=np.empty((0, 4)),
)  # fmt: skip


STRANGE = [0.0, 1.0, 0.5, 1e-9, 0.3, 1 - 2.0**-53, 7.0, 1e300, -1.0, np.nan, np.inf, -np.inf]


def with_weights(X, y, weights):
    """The rows with a last column of weights."""
    return np.column_stack([X, np.broadcast_to(weights, len(y))]), y


def neighbour(generator, problem, X, y):
    """The table with one strange row of a strange weight more, less or in place of another."""
    new, response = strange_row(generator, problem)
    at = int(generator.integers(max(len(y), 1)))
    if len(y) and (problem.neighbors == REPLACE_ONE or generator.integers(2)):
        X, y = np.delete(X, at, axis=0), np.delete(y, at)
        if problem.neighbors == ADD_REMOVE:
            return X, y
    elif problem.neighbors == REPLACE_ONE:
        return X, y
    new = np.append(new, generator.choice(STRANGE))
    return np.insert(X, at, new, axis=0), np.insert(y, at, response)


def check_random(case, pairs=12):
    """Random strange tables of strange weights, and neighbours."""
    generator = np.random.default_rng(1)
    for seed in range(pairs):
        n = int(generator.choice([0, 1, 2, 5, 20]))
        X, y = table([strange_row(generator, case.problem) for _ in range(n)], case.problem)
        one = with_weights(X, y, generator.choice(STRANGE, n))
        case.check(one, neighbour(generator, case.problem, *one), seed)


def check_worst(case, weight=1.0):
    """The worst rows of unweighted sums; each moves the number of rows by one too."""
    counted = 0.0
    for step, one, two, share in WORST[case.method.name](case):
        ratios = case.check(with_weights(*one, weight), with_weights(*two, weight))
        check_reached(step, ratios[step], share)
        counted = max(counted, ratios.get("number of rows", 0.0))
    assert counted == pytest.approx(1.0 if case.problem.neighbors == ADD_REMOVE else 0.0)


def check_heavy(case):
    """Rows of a weight beyond the largest count as rows of the largest one."""
    check_worst(case, 7.0)


def check_squares(case):
    """Strange neighbours of rows around a line, at a budget with a second release."""
    generator, p = np.random.default_rng(2), case.problem
    X, y = table(line_rows(generator, p, 200)[0], p)
    y = y + 0.15 * (p.y_high - p.y_low) * generator.uniform(-1, 1, 200)
    one = with_weights(X, y, generator.choice([0.1, 0.5, 1.0], 200))
    for seed in range(8):
        asked = case.check(one, neighbour(generator, p, *one), seed)
        assert "sum of e^2 x x'" in asked
