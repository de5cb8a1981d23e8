"""Fit with absorbed effects of privacy units: AdaSSP and SSP for panels with person effects."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats import option_checks
from dpstats.estimators.contract import Method, Passes, Problem, Release, released_twice
from dpstats.estimators.contract.release import UNIT_ABSORBED, UNIT_EFFECTS
from dpstats.estimators.least_squares.dense.robust_covariance import (
    FRACTION,
    reference,
    release_squares,
    sum_of_squares,
    sums_by_unit,
    weighted_scores,
)
from dpstats.estimators.least_squares.within.fit import absorbing, fit_within
from dpstats.estimators.least_squares.within.units import (
    UnitDeviations,
    UnitSums,
    clipped_scores,
    release_within_units,
)
from dpstats.noise import Noise
from dpstats.numerics import Moments, Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.privacy import GDP, Cost


def release(
    penalty_of, passes: Passes, problem: Problem, cost: GDP, noise: Noise, cov_type="cluster"
) -> Release:
    r"""Fit the regression of deviations from unit means, with a ridge as in AdaSSP or without.

    Guarantee. mu-GDP for the given relation between tables that differ in all rows of one unit,
    hence (epsilon, delta)-DP: the releases are those of
    :func:`~dpstats.estimators.least_squares.within.units.release_within_units`, and the rest is
    post-processing. The noise depends on the number of units in no way. Where a ridge is needed,
    intervals are those of least squares on the same sums, as in
    :mod:`dpstats.estimators.least_squares.adassp`.

    At declared ranges standard errors are clustered by unit, by a tenth of mu^2 for squared scores
    at these coefficients; at estimated ones there are no intervals.
    """
    return released_twice(
        lambda cost: _first(penalty_of, passes, problem, cost, noise),
        lambda found, cost: _scored(found, passes, problem, cost, noise),
        cost,
        0.0 if problem.estimated else FRACTION,
    )


def _first(
    penalty_of: Callable, passes: Passes, problem: Problem, cost: GDP, noise: Noise
) -> Release:
    """Release sums of products of deviations, and solve for the coefficients."""
    sums = passes.sum(partial(UnitSums.of, problem=problem))
    within = release_within_units(sums, UnitDeviations(problem), problem.neighbors, cost, noise)
    return replace(fit_within(within, problem, penalty_of), note=UNIT_EFFECTS)


def _squares_after(first: Release, problem: Problem, cost: Cost) -> Callable:
    """Return the function that sums s s' over the scores s of units, given the first release."""
    of = UnitDeviations(problem)
    theta, cut = reference(first.basis, of.box, of.norm, problem, cost)
    return partial(unit_squares, problem, theta, cut * 2.0**ENTRY_BITS)


def unit_squares(
    problem: Problem, theta: np.ndarray, cut: np.ndarray | float, rows: Rows
) -> Moments:
    """Sum s s' over scores s = sum w d_u e / c of units, and half of w min(e^2 / c^2, 1).

    d = (d_u, d_v) is a row's deviation from the mean of its unit, and e = d_v - d_u'theta, clipped
    to [-c, c].
    """
    assert rows.units is not None, "rows of units have their numbers"
    deviations = UnitDeviations(problem)
    scores, kept = weighted_scores(deviations.blocks(rows), theta, cut)
    scores = clipped_scores(sums_by_unit(scores, rows.units), deviations.norm)
    return sum_of_squares(scores, kept)


def _scored(first: Release, passes: Passes, problem: Problem, cost: Cost, noise: Noise) -> Release:
    """Release the squared scores of units, for standard errors clustered by unit.

    Guarantee. The cost, given the first release. A unit's score is no longer than R and its entries
    are at most 1 (:func:`~dpstats.estimators.least_squares.within.units.clipped_scores`), and its
    part of the last value is in [0, 1/2]: the sensitivity is the one that
    :func:`~dpstats.estimators.least_squares.dense.robust_covariance.release_squares` states.
    """
    of = UnitDeviations(problem)
    squares = passes.sum(_squares_after(first, problem, cost))
    return release_squares(squares, first, of.box, of.norm, problem, cost, noise)


def methods(plain: Sequence[Method]) -> dict[str, Method]:
    """Return, by name, what methods do with ``y ~ x | id`` where ``id`` is the privacy unit."""
    cov_type = "cluster", option_checks.word("cov_type", "cluster")
    return {each.name: absorbing(each, release, cov_type, UNIT_ABSORBED) for each in plain}
