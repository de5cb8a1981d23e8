"""Regression without bounds or tuning: noisy cross-products, shrunken, or a constant."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.bounds import Box
from dpstats.mechanisms.gram import box_of, sensitivities, symmetric
from dpstats.mechanisms.shrinkage import NoisyMoments, needed_rows, shrunken_slopes
from dpstats.mechanisms.spec import Method, Problem, Release
from dpstats.moments import PRODUCT_UNIT, Moments
from dpstats.noise import Noise
from dpstats.noise.queries import Query
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, Cost

# Shares for u'u, u'v and v'v. The last is only for what a constant says of itself.
_SHARES = (0.475, 0.475, 0.05)
_NO_ERRORS = "the fit is shrunken by what the noise calls for, which biases any interval"


def clipping_box(problem: Problem) -> Box:
    """The scaled coordinates, with each column clipped on its own also at estimated ranges.

    Of d columns each may leave out 6% of the rows, so that shortening whole rows would
    touch most of them when d is large. Predictions clip the columns in the same way. A
    column that is uniform on its range has mean square 1/3, hence the row norm there.
    """
    box = box_of(problem)
    if not problem.estimated or problem.row_norm is not None:
        return box
    return replace(box, shorten=False, norm=math.sqrt(1 + (len(problem.low) - 1) / 3))


def l1_sensitivities(norm: float, columns: int, neighbors: str) -> tuple[float, float, float]:
    """L1 sensitivities of the upper triangle of u'u, of u'v and of v'v.

    Rows satisfy ||u|| <= R (``norm``), |u_j| <= 1 and |v| <= 1, so ||u||_1 <= R sqrt(S).

    Add/remove: the triangle of u u' has L1 norm (||u||_1^2 + ||u||^2) / 2 <= R^2 (S + 1) / 2,
    u v has ||u||_1 |v| <= R sqrt(S), and v^2 <= 1. Replace-one: at most twice the first two,
    and v^2 - t^2 lies in [-1, 1].
    """
    times = 2 if neighbors == REPLACE_ONE else 1
    return times * norm**2 * (columns + 1) / 2, times * norm * math.sqrt(columns), 1.0


def summarise(X: np.ndarray, y: np.ndarray, problem: Problem) -> Moments:
    """Cross-products of the scaled rows."""
    return Moments.of(X, y, clipping_box(problem))


def release(moments: Moments, problem: Problem, cost: Cost, noise: Noise) -> Release:
    """The ridge regression that the noise makes best, or the mean of the response.

    Guarantee. The cost, for the given relation: mu-GDP, hence (epsilon, delta)-DP, by three
    Gaussian releases with the L2 sensitivities of
    :func:`~dpstats.mechanisms.gram.sensitivities`, or epsilon-DP by three Laplace releases
    with those of :func:`l1_sensitivities`; their shares add up to one. The rest, the choice
    between a line and a constant included, is post-processing.

    As in AdaSSP (Wang 2018, Algorithm 2) cross-products get noise and the noise calls for a
    ridge; here its penalty minimises an estimate of the risk
    (:func:`~dpstats.mechanisms.shrinkage.shrunken_slopes`). Status ``constant``: no slopes
    can be told from noise, and the private mean of the response is released. Predictions are
    of rows clipped to the ranges of the columns, and lie in the range of the response.
    """
    box = clipping_box(problem)
    noisy = _noisy_moments(moments, box, problem, cost, noise)
    slopes = shrunken_slopes(noisy)
    transform, shift = box.linear_map()
    params = transform @ noisy.theta(slopes) + shift
    inside = np.clip(problem.x_new, problem.low, problem.high) @ params
    constant = len(slopes) > 0 and not slopes.any()
    return Release(
        params=params,
        predictions=np.clip(inside, problem.y_low, problem.y_high),
        status="constant" if constant else "ok",
        reasons={"bse": _NO_ERRORS},
        note=_constant(noisy) if constant else "",
        limited=True,
    )


def _noisy_moments(moments: Moments, box: Box, problem: Problem, cost: Cost, noise: Noise):
    """The three releases."""
    columns, cross = len(problem.low), moments.cross
    values = cross[:columns, :columns][np.triu_indices(columns)], cross[:columns, columns]
    l1 = l1_sensitivities(box.norm, columns, problem.neighbors)
    l2 = sensitivities(box.norm, problem.neighbors)
    found = []
    for step, value, a, b, share in zip(
        ("X'X", "X'y", "y'y"), (*values, cross[columns:, columns]), l1, l2, _SHARES, strict=True
    ):
        query = Query(step, value, l1=a / PRODUCT_UNIT, l2=b / PRODUCT_UNIT, unit=PRODUCT_UNIT)
        found.append(noise.add(query, cost.part(share)))
    gram_sd, cross_sd, _ = (event.deviation for event in noise.events[-3:])
    gram = symmetric(found[0], columns)
    return NoisyMoments(gram, found[1], found[2][0], gram_sd, cross_sd, problem.intercept)


def _constant(noisy: NoisyMoments) -> str:
    """What it would have taken to see a slope."""
    if noisy.intercept is None:
        return "no slope stood out from the noise, so all are zero"
    said = "no slope stood out from the noise, so the mean of the response is released"
    needed = needed_rows(noisy)
    if math.isnan(needed):
        return f"{said}; raise epsilon, or fit more rows or fewer columns"
    return (
        f"{said}; a fit that explains 10% of the variance shows from about {needed:,.0f} rows "
        f"at this epsilon, or with these rows from {needed / noisy.rows:.2g} times this epsilon"
    )


_method = partial(
    Method,
    paper="this package, after Wang 2018, Algorithm 2",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    simple=False,
    errors="the fit is shrunken, which biases any interval",
    summarise=summarise,
    release=release,
    sums=True,
    bounds_share=0.5,
    ranges_everywhere=True,
)
METHODS = (
    _method("shrunken", guarantee="gdp"),
    _method("shrunken_pure", guarantee="pure"),
)
