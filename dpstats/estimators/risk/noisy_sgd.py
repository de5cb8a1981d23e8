r"""Run noisy gradient descent with clipped gradients (Bassily et al. 2014; Abadi et al. 2016)."""

import math
from functools import partial

import numpy as np

from dpstats import option_checks
from dpstats.estimators.contract import Method, Passes, Problem, Release
from dpstats.estimators.least_squares.dense.gram import box_of
from dpstats.estimators.least_squares.dense.scaled_rows import residual_sums, scaled_rows
from dpstats.noise import Noise, Query
from dpstats.numerics import Rows
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE

# Less than one, by more than the rounding of a row's length can add to its gradient.
_MARGIN = 1 - 2.0**-30
# Keeps the step finite while every noisy gradient so far is exactly zero.
_TINY = 2.0**-500


def sensitivity(neighbors: str) -> float:
    """Bound the L2 sensitivity of the sum of row gradients of norm at most one.

    Add/remove: the change is one gradient, at most 1. Replace-one: it is the difference of
    two, at most 2, reached by opposite ones.
    """
    return 2.0 if neighbors == REPLACE_ONE else 1.0


def release(
    passes: Passes,
    problem: Problem,
    cost: GDP,
    noise: Noise,
    *,
    steps=200,
    clip=1.0,
    learning_rate=0.2,
) -> Release:
    r"""Run gradient descent on the squared loss with clipped row gradients and noise in each step.

    With (u, v) the scaled row, the gradient of (v - u'theta)^2 / 2 is -g u, g the residual.
    Each step releases the sum over rows of g u clipped to Euclidean norm C (which clips g to
    +-C / ||u||) and moves theta by the learning rate times it over the root of the sum of
    its squares so far, coordinate by coordinate (AdaGrad, as in gd_approx), so that no step
    size depends on the private number of rows. The average of theta over the last half of the
    steps is published.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP. Given the steps before,
    theta is public and a row's clipped gradient a function of that row alone, so each step is
    one Gaussian release with the sensitivity C (add/remove) or 2 C (replace-one) derived in
    :func:`sensitivity` and 1 / T of mu^2: a standard deviation of C sqrt(T) / mu or twice that.
    mu's compose adaptively as the root of the sum of squares. Sums are exact integers, and a
    row's term does not depend on the others
    (:func:`~dpstats.estimators.least_squares.dense.scaled_rows.residual_sums`).

    Parameters
    ----------
    steps : int
        Number of steps T, 1 to 10,000.
    clip : float
        Bound C on the norm of a row's gradient, 0.001 to 10, where responses and regressors
        are scaled to [-1, 1] (with row_norm=, rows to norm 1).
    learning_rate : float
        How far the first step moves each scaled coefficient, 0.001 to 10.

    Notes
    -----
    Where it differs from the papers. Bassily et al. (Algorithm 1) draw one row per step, Abadi et
    al. (Algorithm 1) each row with a probability q, and both gain privacy from the draw; here
    every step takes all rows. That is no loss: for large T, steps that take each row with
    probability q and add noise of standard deviation s C are mu-GDP with
    mu = q sqrt(T (e^(1 / s^2) - 1)) (Bu, Dong, Long and Su 2020, by a limit theorem), at least
    q sqrt(T) / s, so the noise of the gradient's unbiased estimate, s C / q, is at least the
    C sqrt(T) / mu it is here, and sampling error comes on top. What samples save is time. The
    composition is exact here, for both relations, and holds for any T.

    References
    ----------
    Bassily, Smith and Thakurta (2014), Private empirical risk minimization, *FOCS*.
    Abadi et al. (2016), Deep learning with differential privacy, *CCS*.
    Bu, Dong, Long and Su (2020), Deep learning with Gaussian differential privacy, *Harvard
    Data Science Review*.
    """
    rows: Rows = passes.sum(partial(scaled_rows, problem=problem))
    length = np.sqrt(np.einsum("ij,ij->i", rows.numbers, rows.numbers))
    gradient = residual_sums(rows, clip, _MARGIN / PRODUCT_UNIT / np.maximum(length, 1.0))
    l2, step_cost = sensitivity(problem.neighbors) / PRODUCT_UNIT, cost.part(1 / steps)
    theta, squares, late = np.zeros((3, len(problem.low)))
    for number in range(steps):
        query = Query("gradient", gradient(theta), l2=l2, unit=clip * PRODUCT_UNIT)
        noisy = noise.add(query, step_cost).values
        squares += noisy**2
        theta = theta + learning_rate * noisy / np.sqrt(np.maximum(squares, _TINY))
        late += theta if number >= steps // 2 else 0.0
    params = box_of(problem).back(late / math.ceil(steps / 2))
    return Release(params, problem.x_new @ params, reasons={"bse": _NO_ERRORS})


_NO_ERRORS = "clipping gradients biases the fit by an unknown amount, so there is no standard error"
METHOD = Method(
    name="noisy_sgd",
    paper="Bassily et al. 2014, Algorithm 1; Abadi et al. 2016, Algorithm 1",
    guarantee="gdp",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    standard_errors=_NO_ERRORS,
    release=release,
    options={
        "steps": (200, option_checks.whole("steps", 1, 10_000)),
        "clip": (1.0, option_checks.number("clip", 0.001, 10)),
        "learning_rate": (0.2, option_checks.number("learning_rate", 0.001, 10)),
    },
)
