"""Check how far a row moves the squares of a second pass."""

import numpy as np

from dpstats.estimators import METHODS
from dpstats.estimators.least_squares.dense.gram import box_of
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.replay import (
    Case,
    check_reached,
    line_rows,
    neighbour,
    problem_of,
    table,
    with_row,
)

HC1 = {"cov_type": "HC1"}
STEP = "sum of e^2 x x'"
ROBUST = ("noisy_moments", "adassp", "ssp")


def case_of(name, relation, epsilon=1e4, d=1, **problem):
    """A budget at which the first release has standard errors, so that there is a second."""
    method = METHODS[name]
    problem = problem_of(d, (-3.0, 1.0), (2.0, 10.0), relation, **problem)
    return Case(method, problem, HC1, method.cost(epsilon, 1e-6))


CASES = [
    *(case_of(name, relation) for name in ROBUST for relation in METHODS[name].neighbors),
    *(case_of("adassp", relation, d=3) for relation in METHODS["adassp"].neighbors),
    *(case_of("adassp", ADD_REMOVE, row_norm=norm) for norm in (2.5, 4.0)),
    case_of("noisy_moments", REPLACE_ONE, intercept=1),
]


def lined(case, count=200):
    """Rows on a line."""
    return line_rows(np.random.default_rng(1), case.problem, count)[0]


def check_squares(case) -> None:
    """Random strange neighbours of rows around a line, for which there are two releases."""
    generator = np.random.default_rng(2)
    X, y = table(lined(case), case.problem)
    one = (
        X,
        y + 0.15 * (case.problem.y_high - case.problem.y_low) * generator.uniform(-1, 1, len(y)),
    )
    for seed in range(8):
        asked = case.check(one, neighbour(generator, case.problem, *one), seed)
        assert STEP in asked


def far_row(problem, u, v):
    """The row at these scaled coordinates."""
    box = box_of(problem)
    return box.center + box.scale * np.asarray(u, float), box.y_center + box.y_scale * v


# The corner of all regressors, from where another corner is as far as it gets in L2; in L1 a row
# on the line is farther. The line is at +-1/2 there, so a residual is 3/2, beyond any cut.
OTHERS = {1: [1, -1], 3: [1, 1, -1, -1]}
REACHED = {1: 0.81, 3: 0.89}


def check_worst_square(case) -> None:
    """The row that moves the squares most comes close to what is stated."""
    p, d = case.problem, len(case.problem.low) - 1
    others, corner = lined(case), far_row(p, np.ones(d + 1), -1)
    one = two = table(others, p)
    level = 0.99
    if p.neighbors == ADD_REMOVE:
        two = with_row(*one, corner, 0)
    elif case.method.name == "noisy_moments":
        two = with_row(*table(others[1:], p), corner, 0)
    else:
        one = with_row(*one, corner, 0)
        two, level = with_row(*two, far_row(p, OTHERS[d], 1), 0), REACHED[d]
    best = max(case.check(one, two, seed)[STEP] for seed in range(4))
    check_reached(STEP, best, level)


PLAIN = [case for case in CASES if case.problem.row_norm is None and case.problem.intercept == 0]
