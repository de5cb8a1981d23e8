"""Provide the coordinates and sensitivities of methods on a noisy Gram matrix."""

import math

from dpstats.estimators.contract import Problem
from dpstats.numerics import Box, Moments, Rows
from dpstats.privacy import REPLACE_ONE


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


def sensitivities(norm: float, neighbors: str) -> tuple[float, float, float]:
    """Bound the L2 sensitivities of the upper triangle of u'u, of u'v and of v'v.

    Rows satisfy ||u|| <= R (``norm``), |u_j| <= 1 and |v| <= 1.

    Add/remove: the change is the term of one row.
    - Upper triangle of u u': sum_{j<=k} u_j^2 u_k^2 = (||u||^4 + sum_j u_j^4) / 2
      <= (R^4 + min(R^2, R^4)) / 2, since u_j^4 <= u_j^2 and sum_j u_j^4 <= ||u||^4.
    - u v: ||u|| |v| <= R.
    - v^2 <= 1.

    Replace-one: the change is the difference of two such terms.
    - Upper triangles of u u' and w w' have inner product
      ((u.w)^2 + sum_j u_j^2 w_j^2) / 2 >= 0, so the squared norm of the difference is
      at most twice the add/remove bound.
    - u v - w t: at most 2 R (reached at w = u, t = -v).
    - v^2 - t^2 lies in [-1, 1].
    """
    squared = (norm**4 + min(norm**2, norm**4)) / 2
    if neighbors == REPLACE_ONE:
        return math.sqrt(2 * squared), 2 * norm, 1.0
    return math.sqrt(squared), norm, 1.0


def l1_sensitivities(norm: float, columns: int, neighbors: str) -> tuple[float, float, float]:
    """Bound the L1 sensitivities of the upper triangle of u'u, of u'v and of v'v.

    Rows satisfy ||u|| <= R (``norm``), |u_j| <= 1 and |v| <= 1, so ||u||_1 <= R sqrt(S).

    Add/remove: the triangle of u u' has L1 norm (||u||_1^2 + ||u||^2) / 2 <= R^2 (S + 1) / 2,
    u v has ||u||_1 |v| <= R sqrt(S), and v^2 <= 1. Replace-one: at most twice the first two,
    and v^2 - t^2 lies in [-1, 1].
    """
    times = 2 if neighbors == REPLACE_ONE else 1
    return times * norm**2 * (columns + 1) / 2, times * norm * math.sqrt(columns), 1.0
