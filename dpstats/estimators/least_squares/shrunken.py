"""Fit without bounds or tuning: shrunken slopes from noisy cross-products, or a constant."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.estimators.contract import Method, Passes, Problem, Ranges, Release, released_twice
from dpstats.estimators.contract.release import CLIPPED
from dpstats.estimators.least_squares.dense import NoisyMoments, NoisySums
from dpstats.estimators.least_squares.dense.fit import with_intervals
from dpstats.estimators.least_squares.dense.gram import clipped_box
from dpstats.estimators.least_squares.dense.noisy_sums import noisy_sums
from dpstats.estimators.least_squares.dense.robust_covariance import COV_TYPES, OPTIONS, score_share
from dpstats.estimators.least_squares.dense.shrinkage import needed_rows, shrunken_slopes
from dpstats.estimators.least_squares.factors import BlockBasis, BlockSums, NoisyBlockSums
from dpstats.estimators.least_squares.factors.fit import shrunken_params, with_block_intervals
from dpstats.estimators.least_squares.factors.scores import scored
from dpstats.estimators.least_squares.factors.sums import release_block_sums
from dpstats.evidence import Evidence
from dpstats.noise import Noise
from dpstats.numerics import Box, Moments, Rows
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE, Cost

_ZERO = "no slope stood out from the noise, so all are zero"
_CONSTANT = "no slope stood out from the noise, so the mean of the response is released"
_MORE = "raise epsilon, or fit more rows or fewer columns"
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
    if not problem.estimated or problem.row_norm is not None:
        return clipped_box(problem)
    norm = math.sqrt(1 + (len(problem.low) - 1) / 3)
    return replace(clipped_box(problem), norm=norm)


def summarise(rows: Rows, problem: Problem) -> Moments | BlockSums:
    """Sum the cross-products of scaled rows, of designs with factors in indicators and numbers."""
    if problem.coded:
        return BlockSums.of(rows, BlockBasis.of(problem))
    return Moments.of(rows, clipping_box(problem))


def release(passes: Passes, problem: Problem, cost: Cost, noise: Noise) -> Release:
    """Fit ridge regression with the least estimated risk, or the mean of the response.

    Guarantee. The cost, for the given relation: mu-GDP, hence (epsilon, delta)-DP, by three
    Gaussian releases with the L2 sensitivities of
    :meth:`~dpstats.numerics.coordinates.Sensitivity.of`, or epsilon-DP by three Laplace releases
    with those in L1 (:func:`~dpstats.estimators.least_squares.dense.noisy_sums.noisy_sums`). The
    rest, the choice between a line and a constant included, is post-processing.

    As in AdaSSP (Wang 2018, Algorithm 2) cross-products get noise and the noise calls for a
    ridge; here its penalty minimises an estimate of the risk
    (:func:`~dpstats.estimators.least_squares.dense.shrinkage.shrunken_slopes`). Status
    ``constant``: no slopes can be told from noise, and the private mean of the response is
    released. Predictions are of rows clipped to the ranges of the columns, and lie in the range of
    the response.

    Powers or splines of one variable are first combined into columns that are orthogonal on its
    range, as in :func:`~dpstats.estimators.least_squares.adassp.release`: each coordinate is
    clipped to [-1, 1].

    Designs with factors are summed in indicators, by
    :func:`~dpstats.estimators.least_squares.factors.sums.release_block_sums`, which has the proof:
    for L2 with Gaussian noise and for L1 with Laplace noise, whatever the number of levels. Slopes
    and the effects of levels are shrunken by
    :func:`~dpstats.estimators.least_squares.factors.shrinkage.shrunken_blocks`.

    The parts that the rows of a privacy unit count for add up to at most 1, so that each bound
    holds for units (:func:`~dpstats.estimators.least_squares.dense.noisy_sums.noisy_sums`). Such
    rows, and weighted ones, are summed in the columns of the design.
    """
    summary = passes.sum(partial(summarise, problem=problem))
    if isinstance(summary, BlockSums):
        return _fitted_blocks(_block_sums(summary, problem, cost, noise), problem)
    return _fitted(_noisy_sums(summary, problem, cost, noise), problem)


def release_with_intervals(
    passes: Passes, problem: Problem, cost: GDP, noise: Noise, cov_type: str = COV_TYPES[0]
) -> Release:
    """Release as :func:`release`, with the intervals of least squares where noise allows them.

    They are those of :func:`~dpstats.estimators.least_squares.dense.fit.with_intervals`, or with
    factors of :func:`~dpstats.estimators.least_squares.factors.fit.with_block_intervals`.

    Guarantee. The cost, for the given relation, as in :func:`release`: the same three noisy
    sums with the same sensitivities; what follows is post-processing. Robust standard errors take a
    tenth of mu^2 for squared scores at the coefficients of least squares
    (:func:`~dpstats.estimators.least_squares.dense.robust_covariance.release_squares`).
    """
    return released_twice(
        lambda cost: _first(passes, problem, cost, noise),
        lambda found, cost: scored(found, passes, problem, cost, noise),
        cost,
        score_share(cov_type, problem, at_estimated=False),
    )


def _first(passes: Passes, problem: Problem, cost: GDP, noise: Noise) -> Release:
    """Release a shrunken fit, with the intervals of least squares at declared ranges."""
    summary = passes.sum(partial(summarise, problem=problem))
    if isinstance(summary, BlockSums):
        blocks = _block_sums(summary, problem, cost, noise)
        fit = _fitted_blocks(blocks, problem)
        return fit if problem.estimated else with_block_intervals(fit, blocks, problem)
    sums = _noisy_sums(summary, problem, cost, noise)
    fit = _fitted(sums, problem)
    return fit if problem.estimated else with_intervals(fit, sums, problem)


def _noisy_sums(moments: Moments, problem: Problem, cost: Cost, noise: Noise) -> NoisySums:
    """Release the cross-products of rows clipped by :func:`clipping_box`."""
    box = clipping_box(problem)
    return noisy_sums(moments, box, problem.neighbors, cost, noise, problem.counted)


def _block_sums(sums: BlockSums, problem: Problem, cost: Cost, noise: Noise) -> NoisyBlockSums:
    """Release the sums in indicators."""
    basis = BlockBasis.of(problem)
    return release_block_sums(sums, basis, problem.neighbors, cost, noise, problem.counted)


def _fitted_blocks(sums: NoisyBlockSums, problem: Problem) -> Release:
    """Fit shrunken slopes and effects of levels, or a constant, to sums in indicators."""
    basis = BlockBasis.of(problem)
    params, vary = shrunken_params(sums, basis)
    note = _ZERO if basis.box.intercept is None else _CONSTANT
    return _release(params, not vary, f"{note}; {_MORE}", problem)


def _fitted(sums: NoisySums, problem: Problem) -> Release:
    """Fit the shrunken slopes, or a constant, to the noisy sums."""
    box = clipping_box(problem)
    noisy = NoisyMoments.of(sums, box, problem.intercept)
    slopes = shrunken_slopes(noisy)
    constant = len(slopes) > 0 and not slopes.any()
    note = _constant(noisy, sums.rows) if constant else ""
    params = box.back(noisy.theta(slopes))
    return replace(
        _release(params, constant, note, problem), evidence=Evidence(**noisy.response(box))
    )


def _release(params: np.ndarray, constant: bool, note: str, problem: Problem) -> Release:
    """Build the release of these coefficients, with predictions that keep to released ranges."""
    inside = np.clip(problem.x_new, problem.low, problem.high) @ params
    return Release(
        params=params,
        predictions=np.clip(inside, problem.y_low, problem.y_high),
        status="constant" if constant else "ok",
        reasons={"bse": CLIPPED if problem.estimated else _SHRUNKEN},
        note=note if constant else "",
        limited=True,
    )


def _constant(noisy: NoisyMoments, rows: float | None) -> str:
    """Explain how many rows or how much epsilon it would have taken to see a slope.

    ``rows`` is their number where they have weights, and None where the sums tell it.
    """
    if noisy.intercept is None:
        return _ZERO
    needed = needed_rows(noisy)
    if math.isnan(needed) or rows is not None:
        return f"{_CONSTANT}; {_MORE}"
    return (
        f"{_CONSTANT}; a fit that explains 10% of the variance shows from about {needed:,.0f} rows "
        f"at this epsilon, or with these rows from {needed / noisy.rows:.2g} times this epsilon"
    )


_method = partial(
    Method,
    paper="this package, after Wang 2018, Algorithm 2",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    fixed_size_summary=True,
    ranges=Ranges(share=0.5, everywhere=True),
    takes=frozenset({"weights", "units", "basis", "codes"}),
)


METHODS = (
    _method(
        "shrunken",
        guarantee="gdp",
        standard_errors="with declared bounds those of least squares on the same sums, else none",
        release=release_with_intervals,
        options=OPTIONS,
    ),
    _method(
        "shrunken_pure",
        guarantee="pure",
        standard_errors="the fit is shrunken, which biases any interval",
        release=release,
    ),
)
