"""Fit a line by noisy gradient descent (Alabi et al. 2022, Algorithms 6 and 7)."""

import math
from functools import partial

import numpy as np

from dpstats import option_checks
from dpstats.estimators.contract import Method, Passes, Problem, Release
from dpstats.estimators.lines.simple_regression import Line, LineRows, too_few
from dpstats.noise import Noise, Query
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS, UNIT
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, Cost

_ONE = 1 << ENTRY_BITS
# Both predictions start in the middle of the response's range.
_START = 0.5
# Keeps the step finite while every noisy gradient so far is exactly zero.
_TINY = 2.0**-500


def summarise(rows: Rows, problem: Problem) -> LineRows:
    """Return the rows themselves on the grid: every step visits them."""
    return LineRows(*Line.of(problem).integers(rows.numbers, rows.response, ENTRY_BITS))


def sensitivities(bound: int, neighbors: str) -> tuple[float, float]:
    """Bound the L1 and L2 sensitivity of the sum of gradients clipped to [-bound, bound]^2.

    Add/remove: the change is one clipped gradient, at most 2 bound and sqrt(2) bound.
    Replace-one: it is the difference of two, each coordinate at most 2 bound: twice as
    much. Attained where x is in the middle and the residual large enough to be clipped.
    """
    rows = 2 if neighbors == REPLACE_ONE else 1
    return 2 * bound * rows, math.sqrt(2) * bound * rows


def release(
    passes: Passes, problem: Problem, cost: Cost, noise: Noise, *, steps=80, tau=1.0
) -> Release:
    """Run gradient descent on (p25, p75), the fits at 1/4 and 3/4 of the range of x.

    The fit at x in [0, 1] is 2 (p25 (3/4 - x) + p75 (x - 1/4)). Each step releases the sum
    over rows of the descent direction 2 (y - fit) (3/4 - x, x - 1/4), each coordinate
    clipped to [-tau, tau] and cut toward zero to a multiple of 2^-20, and moves by it over
    the root of the sum of its squares so far, coordinate by coordinate.

    Guarantee. The whole cost for the given relation. Given the steps before, a row's
    clipped gradient is a function of that row alone, so each step is one Laplace (gd_pure)
    or Gaussian release with the sensitivity derived in :func:`sensitivities`, at 1 / steps
    of the cost, and costs add up under adaptive composition: epsilon-DP for gd_pure, mu-GDP
    for the others. gd_approx takes the largest mu that is (epsilon, delta)-DP. gd_zcdp takes
    mu = epsilon, which is rho-zCDP with rho = epsilon^2 / 2: the standard deviation is
    2 sqrt(2) tau / sqrt(2 rho / steps) = 2 tau / sqrt(rho / steps), the paper's, and the
    (epsilon, delta) this implies is what the result states.

    Parameters
    ----------
    steps : int
        Number of steps T, 1 to 1,000.
    tau : float
        Bound on each coordinate of a row's gradient, on the unit square, 0.001 to 100.

    Notes
    -----
    Where it differs from the paper. Algorithms 6 and 7 subtract the direction above,
    which climbs; it has to be added. They average the iterates before each of the last
    T / 2 steps, which leaves out the result of the last gradient paid for; here it is the
    iterates after them. gd_approx converts by the exact curve of Gaussian differential
    privacy instead of Lemma F.2.
    """
    rows: LineRows = passes.sum(partial(summarise, problem=problem))
    if failure := too_few(problem, len(rows.x)):
        return failure
    x, y, bound = rows.x * UNIT, rows.y * UNIT, int(tau * _ONE)
    weights = 2 * (0.75 - x), 2 * (x - 0.25)
    l1, l2 = sensitivities(bound, problem.neighbors)
    point, squares, path = np.full(2, _START), np.zeros(2), np.empty((steps, 2))
    for step in range(steps):
        query = Query("gradient", _direction(point, weights, y, bound), l1, l2, unit=UNIT)
        noisy = noise.add(query, cost.part(1 / steps)).values
        squares += noisy**2
        point = point + noisy / np.sqrt(np.maximum(squares, _TINY))
        path[step] = point
    p25, p75 = path[steps // 2 :].mean(axis=0)
    params = Line.of(problem).params((3 * p25 - p75) / 2, 2 * (p75 - p25))
    return Release(params, problem.x_new @ params, reasons={"bse": _NO_ERRORS})


def _direction(point, weights, y, bound: int) -> list[int]:
    """Sum the rows' clipped directions exactly, in units of 2^-20.

    Element by element, so that a row's term does not depend on the other rows.
    """
    residual = y - (point[0] * weights[0] + point[1] * weights[1])
    terms = (np.trunc(residual * weight * _ONE) for weight in weights)
    return [int(np.clip(term, -bound, bound).astype(np.int64).sum()) for term in terms]


_NO_ERRORS = "clipping gradients biases the fit by an unknown amount, so there is no standard error"
_ZCDP = (
    "gd_zcdp takes the argument epsilon as rho = epsilon^2 / 2 of zero-concentrated differential "
    "privacy; the epsilon stated here is what that implies at the stated delta"
)
_method = partial(
    Method,
    neighbors=(REPLACE_ONE, ADD_REMOVE),
    single_regressor=True,
    standard_errors=_NO_ERRORS,
    release=release,
    options={
        "steps": (80, option_checks.whole("steps", 1, 1000)),
        "tau": (1.0, option_checks.number("tau", 0.001, 100)),
    },
)
METHODS = (
    _method("gd_pure", "Alabi et al. 2022, Algorithm 6", "pure"),
    _method("gd_approx", "Alabi et al. 2022, Algorithm 7 and Lemma F.2", "gdp"),
    _method("gd_zcdp", "Alabi et al. 2022, Algorithm 7", "zcdp", assumptions=(_ZCDP,)),
)
