"""Keep scaled rows, for methods without a smaller summary, and sum over them exactly."""

import math
from collections.abc import Callable

import numpy as np

from dpstats.estimators.contract import Problem
from dpstats.estimators.least_squares.dense.gram import box_of
from dpstats.numerics import Rows
from dpstats.numerics.clipping import BLOCK, ENTRY_BITS
from dpstats.numerics.cross_products import exact_sum

_ONE = 2.0**ENTRY_BITS


def scaled_rows(rows: Rows, problem: Problem) -> Rows:
    """Scale and clip rows to (u, v) in units of 2^-20."""
    parts = [block.columns for block in box_of(problem).blocks(rows)]
    *u, v = np.hstack([np.empty((rows.numbers.shape[1] + 1, 0)), *parts])
    return Rows(np.array(u).T, v)


def residual_sums(
    rows: Rows, tau: float, most: np.ndarray | float = _ONE
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function of theta that sums u g exactly, in units of tau 2^-40.

    g is the residual v - u'theta clipped to tau most / 2^20 (a number, or one for each row)
    and cut toward zero to a multiple of tau / 2^20. Each |u_j g| must be at most tau, so
    that the sum over a block is exact in doubles. theta is rounded to a grid on which u'theta
    is exact too, so that a row's term is the same whatever rows stand beside it.
    """
    u, v, most = rows.numbers, rows.response, np.broadcast_to(most, len(rows))

    def sums(theta: np.ndarray) -> np.ndarray:
        grid, exponent = _exact(theta)
        terms = []
        for i in range(0, len(v), BLOCK):
            block = slice(i, i + BLOCK)
            residual = (v[block] - np.ldexp(u[block] @ grid, exponent)) / tau
            terms.append(np.trunc(np.clip(residual, -most[block], most[block])) @ u[block])
        return exact_sum(terms, theta.shape)

    return sums


def _exact(theta: np.ndarray) -> tuple[np.ndarray, int]:
    """Return integers and an exponent e with theta about integers * 2^e.

    The integers add up to at most 2^32 in absolute value, give or take their number, and
    entries of u are at most 2^20: every partial sum of u'theta is below 2^53 and exact.
    """
    exponent = math.frexp(float(np.abs(theta).sum()))[1] - 32
    return np.rint(np.ldexp(theta, -exponent)), exponent
