"""Fit without bounds or tuning: shrunken slopes from noisy cross-products, or a constant."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.mechanisms.shared import Method, NoisyMoments, NoisySums, Problem, Release
from dpstats.mechanisms.shared.gram import box_of, moments_in
from dpstats.mechanisms.shared.least_squares import with_intervals
from dpstats.mechanisms.shared.noisy_sums import noisy_sums
from dpstats.mechanisms.shared.release import CLIPPED
from dpstats.mechanisms.shared.shrinkage import needed_rows, shrunken_slopes
from dpstats.noise import Noise
from dpstats.numerics import Box, Moments
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE, Cost

_SHRUNKEN = (
    "the fit is shrunken by what the noise calls for, which biases any interval; with delta > 0 "
    "there are intervals of least squares"
)


def clipping_box(problem: Problem) -> Box:
    """Return scaled coordinates in which each column is clipped on its own at estimated ranges.

    Of d columns each may leave out 6% of the rows, so that norm-clipping rows would
    touch most of them when d is large. Predictions clip the columns in the same way. A
    column that is uniform on its range has mean square 1/3, hence the row norm there.
    """
    box = box_of(problem)
    if not problem.estimated or problem.row_norm is not None:
        return box
    return replace(box, norm_clip=False, norm=math.sqrt(1 + (len(problem.low) - 1) / 3))


def summarise(X: np.ndarray, y: np.ndarray, problem: Problem) -> Moments:
    """Sum the cross-products of the scaled rows."""
    return moments_in(clipping_box(problem), X, y, problem)


def release(moments: Moments, problem: Problem, cost: Cost, noise: Noise) -> Release:
    """Fit ridge regression with the least estimated risk, or the mean of the response.

    Guarantee. The cost, for the given relation: mu-GDP, hence (epsilon, delta)-DP, by three
    Gaussian releases with the L2 sensitivities of
    :func:`~dpstats.mechanisms.shared.gram.sensitivities`, or epsilon-DP by three Laplace releases
    with those of :func:`~dpstats.mechanisms.shared.gram.l1_sensitivities`
    (:func:`~dpstats.mechanisms.shared.noisy_sums.noisy_sums`). The rest, the choice
    between a line and a constant included, is post-processing.

    As in AdaSSP (Wang 2018, Algorithm 2) cross-products get noise and the noise calls for a
    ridge; here its penalty minimises an estimate of the risk
    (:func:`~dpstats.mechanisms.shared.shrinkage.shrunken_slopes`). Status ``constant``: no slopes
    can be told from noise, and the private mean of the response is released. Predictions are
    of rows clipped to the ranges of the columns, and lie in the range of the response.
    """
    return _fitted(_noisy_sums(moments, problem, cost, noise), problem)


def release_with_intervals(moments: Moments, problem: Problem, cost: GDP, noise: Noise) -> Release:
    """Release as :func:`release`, with the intervals of least squares where noise allows them.

    They are those of :func:`~dpstats.mechanisms.shared.least_squares.with_intervals`.

    Guarantee. The cost, for the given relation, as in :func:`release`: the same three noisy
    sums with the same sensitivities; what follows is post-processing.
    """
    sums = _noisy_sums(moments, problem, cost, noise)
    fit = _fitted(sums, problem)
    return fit if problem.estimated else with_intervals(fit, sums, problem)


def _noisy_sums(moments: Moments, problem: Problem, cost: Cost, noise: Noise) -> NoisySums:
    """Release the cross-products of rows clipped by :func:`clipping_box`."""
    return noisy_sums(moments, clipping_box(problem).norm, problem.neighbors, cost, noise)


def _fitted(sums: NoisySums, problem: Problem) -> Release:
    """Fit the shrunken slopes, or a constant, to the noisy sums."""
    noisy = NoisyMoments(
        sums.gram, sums.cross, sums.square, *sums.deviations[:2], *_constant_column(problem)
    )
    transform, shift = clipping_box(problem).linear_map()
    slopes = shrunken_slopes(noisy)
    params = transform @ noisy.theta(slopes) + shift
    inside = np.clip(problem.x_new, problem.low, problem.high) @ params
    constant = len(slopes) > 0 and not slopes.any()
    return Release(
        params=params,
        predictions=np.clip(inside, problem.y_low, problem.y_high),
        status="constant" if constant else "ok",
        reasons={"bse": CLIPPED if problem.estimated else _SHRUNKEN},
        note=_constant(noisy, sums.rows) if constant else "",
        limited=True,
    )


def _constant_column(problem: Problem) -> tuple[int | None, float]:
    """Return the index of the constant column and its value after scaling."""
    if problem.intercept is None:
        return None, 1.0
    return problem.intercept, 1 / float(clipping_box(problem).scale[problem.intercept])


def _constant(noisy: NoisyMoments, rows: float | None) -> str:
    """Explain how many rows or how much epsilon it would have taken to see a slope.

    ``rows`` is their number where they have weights, and None where the sums tell it.
    """
    if noisy.intercept is None:
        return "no slope stood out from the noise, so all are zero"
    sentence = "no slope stood out from the noise, so the mean of the response is released"
    needed = needed_rows(noisy)
    if math.isnan(needed) or rows is not None:
        return f"{sentence}; raise epsilon, or fit more rows or fewer columns"
    return (
        f"{sentence}; a fit that explains 10% of the variance shows from about {needed:,.0f} rows "
        f"at this epsilon, or with these rows from {needed / noisy.rows:.2g} times this epsilon"
    )


_method = partial(
    Method,
    paper="this package, after Wang 2018, Algorithm 2",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    summarise=summarise,
    fixed_size_summary=True,
    takes_weights=True,
    bounds_share=0.5,
    ranges_everywhere=True,
)


METHODS = (
    _method(
        "shrunken",
        guarantee="gdp",
        standard_errors="with declared bounds those of least squares on the same sums, else none",
        release=release_with_intervals,
    ),
    _method(
        "shrunken_pure",
        guarantee="pure",
        standard_errors="the fit is shrunken, which biases any interval",
        release=release,
    ),
)
