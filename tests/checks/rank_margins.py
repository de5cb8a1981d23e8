"""Check how far a row moves the ends of intervals of ranks."""

import numpy as np

from tests.checks.replay import (
    line_rows,
    neighbour,
    table,
)


def rows_of(case, count=40):
    """Rows on a line; more of them for the models of tukey."""
    size = 600 if case.method.name == "tukey" else count
    return line_rows(np.random.default_rng(1), case.problem, size)[0]


def check_ends(case) -> dict[str, float]:
    """Random neighbours of many rows; returns how much of its sensitivity each query moved."""
    generator, best = np.random.default_rng(2), {}
    one = table(rows_of(case), case.problem)
    for seed in range(1, 9, 2):
        other = neighbour(generator, case.problem, *one)
        for step, ratio in case.check(one, other, seed).items():
            best[step] = max(best.get(step, 0.0), ratio)
    return best
