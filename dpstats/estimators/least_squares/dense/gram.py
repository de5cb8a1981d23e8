"""Choose the scaled coordinates of methods on a noisy Gram matrix."""

import math

from dpstats.estimators.contract import Problem
from dpstats.numerics import Box, Moments, Rows


def box_of(problem: Problem) -> Box:
    """Return the scaled coordinates of the problem.

    Privately estimated ranges are generous, so most rows are well inside them: there a
    row norm of sqrt(1 + 0.6 d) with d = S - 1 loses few rows and needs less noise. Rows
    beyond them are norm-clipped as a whole, so that they bend a linear relation less.
    """
    columns = len(problem.low)
    if problem.row_norm is not None:
        return Box.ball(columns, problem.row_norm, problem.y_low, problem.y_high)
    norm = math.sqrt(1 + 0.6 * (columns - 1)) if problem.estimated else None
    low, high, y_low, y_high = problem.low, problem.high, problem.y_low, problem.y_high
    return Box.symmetric(low, high, y_low, y_high, problem.intercept, norm, problem.estimated)


def clipped_box(problem: Problem) -> Box:
    """Return scaled coordinates in which each column is clipped on its own, at any range.

    A fit in them is about the variables as clipped to their ranges, declared or estimated, and
    every row weighs the same. Where the problem has a basis, the columns of that are clipped.
    """
    if problem.row_norm is not None:
        return box_of(problem)
    low, high, y_low, y_high = problem.low, problem.high, problem.y_low, problem.y_high
    return Box.spanning(low, high, y_low, y_high, problem.intercept, problem.basis)


def scaled_moments(rows: Rows, problem: Problem) -> Moments:
    """Sum the cross-products of the scaled rows, each as often as it counts."""
    return Moments.of(rows, box_of(problem))
