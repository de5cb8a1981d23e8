"""Fit NoisyStats: least squares from a noisy variance and covariance (Alabi et al. 2022)."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from dpstats.estimators.contract import Method, Passes, Problem, Release
from dpstats.estimators.lines.simple_regression import Line, too_few
from dpstats.noise import Noise, Query
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.privacy import REPLACE_ONE, PureDP

_ONE = 1 << ENTRY_BITS
# 2^22 products of at most 2^40 stay below 2^63.
_ROWS_IN_INT64 = 1 << 22


@dataclass(frozen=True)
class Sums:
    """Hold the row count and exact sums of x, y, x^2 and xy, in units of 2^-20 and 2^-40."""

    n: int
    x: int
    y: int
    xx: int
    xy: int

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.n + other.n,
            self.x + other.x,
            self.y + other.y,
            self.xx + other.xx,
            self.xy + other.xy,
        )


def summarise(rows: Rows, problem: Problem) -> Sums:
    """Sum over rows clipped to the unit square."""
    x, y = Line.of(problem).integers(rows.numbers, rows.response, ENTRY_BITS)
    sums = Sums(0, 0, 0, 0, 0)
    for start in range(0, len(x), _ROWS_IN_INT64):
        part = slice(start, start + _ROWS_IN_INT64)
        sums = sums + _sums(x[part], y[part])
    return sums


def _sums(x: np.ndarray, y: np.ndarray) -> Sums:
    return Sums(len(x), int(x.sum()), int(y.sum()), int(x @ x), int(x @ y))


def release(passes: Passes, problem: Problem, cost: PureDP, noise: Noise) -> Release:
    """Release slope and intercept by three Laplace mechanisms (Alabi et al. 2022, Algorithm 1).

    Guarantee. epsilon-DP under replace-one: three releases of epsilon / 3 each.

    Sensitivity, for n public and (x, y) in [0, 1]^2. Write m for the mean of the other
    n - 1 rows and let row i move from (t, s) to (t', s').
    - nvar = sum (x - xbar)^2 = const + (1 - 1/n) (t - m_x)^2, and (t - m_x)^2 lies in
      [0, 1]: at most 1 - 1/n.
    - ncov = const + (1 - 1/n) (t - m_x)(s - m_y), and the largest and smallest values
      of the product over the square differ by at most 1: again 1 - 1/n.
    - With the released slope a, sum (y - a x) / n moves by at most (1 + |a|) / n.
    Entries are rounded down to multiples of 2^-20 within [0, 1] first, so n nvar,
    n ncov and sum (y - a x), with a rounded likewise, are exact integers on a grid.

    Status ``failed``: the noisy nvar was not positive (the paper's FAIL), so there is
    no slope; two thirds of the budget are spent.
    """
    sums: Sums = passes.sum(partial(summarise, problem=problem))
    if failure := too_few(problem, sums.n):
        return failure
    third = cost.part(1 / 3)
    unit, l1 = PRODUCT_UNIT / sums.n, (sums.n - 1) * _ONE**2
    queries = {
        "ncov(x, y)": sums.n * sums.xy - sums.x * sums.y,
        "nvar(x)": sums.n * sums.xx - sums.x**2,
    }
    ncov, nvar = (
        noise.add(Query(step, [value], l1=l1, unit=unit), third).values[0]
        for step, value in queries.items()
    )
    if nvar <= 0:
        return Release.nothing(problem, "failed", "the noisy variance of x was not positive (FAIL)")
    slope = round(ncov / nvar * _ONE)
    residual = Query(
        "mean(y - a x)", [_ONE * sums.y - slope * sums.x], l1=_ONE * (_ONE + abs(slope)), unit=unit
    )
    intercept = noise.add(residual, third).values
    params = Line.of(problem).params(intercept[0], slope / _ONE)
    return Release(params, problem.x_new @ params, reasons={"bse": METHOD.standard_errors})


METHOD = Method(
    name="noisy_stats",
    paper="Alabi et al. 2022, Algorithm 1",
    guarantee="pure",
    neighbors=(REPLACE_ONE,),
    single_regressor=True,
    standard_errors="the residual variance is not released, so there is no standard error",
    release=release,
    fixed_size_summary=True,
)
