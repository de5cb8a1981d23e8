"""Estimate a regression with instruments by noisy Newton steps, two at a time (this package).

The reduced forms are those of the endogenous variables on all exogenous ones; two-stage least
squares and the tests of Anderson and Rubin (1949) follow from their coefficients and these'
covariance, as minimum distance does (Chamberlain and Imbens 2004; Magnusson 2010).
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpstats import option_checks
from dpstats.estimators.contract import Method, Passes, Problem, Ranges, Release, of_outcome
from dpstats.estimators.least_squares.dense import robust_covariance
from dpstats.estimators.newton.instruments import JointScores, ReducedForms
from dpstats.estimators.newton.instruments.joint_scores import joint_scatter
from dpstats.estimators.newton.instruments.two_stages import structural
from dpstats.estimators.newton.row_sums import IndicatorBasis, Scores
from dpstats.estimators.newton.steps import (
    ClusterQueries,
    Clusters,
    Counted,
    Fitted,
    Queries,
    SquaredLoss,
)
from dpstats.estimators.newton.steps.clusters import of_few, score_limit
from dpstats.estimators.newton.steps.products import square_limit, squares_cut
from dpstats.estimators.newton.steps.rounds import (
    GAUSSIAN,
    GROUPED,
    RESPONSE_WEIGHT,
    Shares,
    stepped,
    whitened,
)
from dpstats.estimators.newton.steps.sizes import (
    TOO_FEW,
    check_levels,
    has_shared_scales,
    number_of_rows,
    rows_for_scales,
)
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE

# Mean and mean square of each of two responses, and its rounds, have this part of what those of a
# single response have.
_HALF = 0.5
# Fraction of mu^2 for the products of scores, of which standard errors are made, and for all that
# clusters take.
_SCORE_PRODUCTS, _CLUSTERS = 0.12, 0.2
# Standard errors are robust always; those of units are clustered.
_COV_TYPES = robust_covariance.COV_TYPES[1:]
# A smaller mean square of residuals counts as this.
_SMALLEST = 1e-12
_SQUARED = SquaredLoss()


def release(
    passes: Passes, problem: Problem, cost: GDP, noise: Noise, cov_type: str = _COV_TYPES[0]
) -> Release:
    """Fit two-stage least squares, with robust standard errors and Anderson-Rubin sets.

    Two reduced forms, of y and of d on exogenous regressors x and instruments z, are fitted as
    :func:`~dpstats.estimators.newton.noisy_newton.release` fits one, with a number of rows, X'X and
    leverages in common, and half of the rest each. Products of the joint scores of both give the
    covariance of their errors. Of a group center and scale of each response are its own, as there.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP (Smith and Thakurta 2022
    for sums that depend on earlier releases within fractions of mu^2 fixed beforehand). All that is
    used of the rows, given earlier releases, is a sum of functions of one row each:
    - their number, X'X, and histograms of |a|^2; mean and mean square (with groups center and
      distances too), histograms of |s| and sums of clipped scores, of y and then of d: as there,
      with the same sensitivities, since for d a row is the same row with another response;
    - products u u' of joint scores u = (s_y / f, s_d / g), f and g released, scaled down to
      |u| <= C, a released limit
      (:func:`~dpstats.estimators.newton.row_sums.indicator_basis.release_products`, B = C^2):
      |u u'| = |u|^2 <= C^2 in the Frobenius norm under add/remove, and
      |u u' - w w'|^2 = |u|^4 + |w|^4 - 2 (u'w)^2 <= 2 C^4 under replace-one. One clip for both:
      clipping each to C would leave |u|^2 up to 2 C^2. The vector |u| <= C is all that is asked of
      a score for errors clustered by a column, too: norms of sizes, lengths and clipped products of
      sums of u by cluster move as :mod:`~dpstats.estimators.newton.steps.clusters` derives.

    Units and weights are as there: the scores of a unit's rows, times what these count for, are
    added up for both responses, and then clipped as one vector.

    What it estimates: two-stage least squares of all rows, with weights weighted two-stage least
    squares. All else is post-processing.
    """
    basis, whole = IndicatorBasis.of(problem), cost
    spent = _CLUSTERS if problem.clustered else _SCORE_PRODUCTS
    cost, shares = cost.part(1 - spent), Shares.of(cost, problem.grouped)
    count = shares.rest(shares.count)
    if problem.neighbors == REPLACE_ONE and not problem.in_parts:
        cost = cost.part(1 / (1 - count))  # no number of rows is bought
    queries = Queries(basis, passes.sum, problem, noise, _SQUARED)
    given = passes.sum(number_of_rows)
    counted = queries.number(given, cost.part(count))
    rows = max(counted.total, 2 * counted.noise)
    own = cost.part(_HALF * shares.rest(shares.response))
    y, d = (_measured(one, rows, own) for one in (queries, _of_treatment(queries)))
    steps, wild = whitened(y, counted, cost)
    of_y, of_d = (stepped(replace(steps, queries=one), wild, cost.part(_HALF)) for one in (y, d))
    products, clusters = _products(of_y, of_d, counted, whole.part(spent))
    shared = has_shared_scales(problem)
    marginals = Shares.of(cost, problem.grouped and not shared).marginals
    few = (counted.total - counted.noise) / counted.part < rows_for_scales(
        len(basis.center), problem, cost, marginals, 2 * RESPONSE_WEIGHT, shared
    )
    of_y, of_d = (replace(f, state=replace(f.state, clusters=clusters)) for f in (of_y, of_d))
    forms = ReducedForms.of(of_y, of_d, products, counted, TOO_FEW if few else "")
    return structural(forms, problem)


def _of_treatment(queries: Queries) -> Queries:
    """Return the queries with the endogenous regressor as the response."""
    instruments = queries.problem.instruments
    assert instruments is not None, "the request has a first stage"
    problem = replace(queries.problem, reference=instruments.reference)
    return replace(queries, total=of_outcome(queries.total, 1), problem=problem)


def _measured(queries: Queries, rows: float, cost: GDP) -> Queries:
    """Release mean and mean square of the response."""
    problem = _SQUARED.measured(
        queries.problem, queries.basis.has_constant, queries.total, rows, cost, queries.noise
    )  # fmt: skip
    return queries.with_problem(problem)


def _products(
    of_y: Fitted, of_d: Fitted, counted: Counted, cost: GDP
) -> tuple[np.ndarray, Clusters | None]:
    """Release the products of joint scores; return them (2 p, 2 p) in units of y and d.

    A joint score is limited at the length of two scores that are each at their own limit, so what
    is cut off its square is at most what is cut off theirs. With clusters they are of sums of joint
    scores, and their number is beside them.
    """
    steps, fits = of_y.steps, (of_y, of_d)
    t, p, rows, queries = steps.whitening.dimension, len(of_y.state.eta), steps.rows, steps.queries
    f, g = (math.sqrt(max(fit.state.square, _SMALLEST)) for fit in fits)
    joint = JointScores(_last_scores(of_y), _last_scores(of_d), (f, g))
    units = np.repeat([f, g], p)
    if queries.problem.clustered:
        products, clusters = _of_clusters(fits, joint, counted, cost)
        return np.outer(units, units) * products, clusters
    per_limit = (math.sqrt(2) if queries.replaces else 1.0) / cost.mu
    limits = [square_limit(fit.scores, per_limit) for fit in fits]
    limit = math.hypot(limits[0] / f, limits[1] / g)
    work, free = partial(joint.products, limit * math.sqrt(t)), np.ones((2 * p, 2 * p), dtype=bool)
    products, deviation = queries.products("score products", work, limit**2 * t, free, cost)
    cut = float(squares_cut(of_y.scores, limits[0])) / f**2
    cut += float(squares_cut(of_d.scores, limits[1])) / g**2
    freedom = rows / max(rows - p, 1.0)  # as HC1 has it
    products = freedom * joint_scatter(products, deviation, rows, t * cut)
    return np.outer(units, units) * products, None


def _of_clusters(
    fits: tuple[Fitted, Fitted], joint: JointScores, counted: Counted, cost: GDP
) -> tuple[np.ndarray, Clusters]:
    """Release products of the sums of joint scores by cluster, in units of the scores."""
    steps, p = fits[0].steps, len(fits[0].state.eta)
    own = ClusterQueries(steps.queries, 2 * p, cost)
    clusters, tails = own.number(counted), [fit.scores for fit in fits]
    limits = [score_limit(tail, counted, clusters.number, own.noise) for tail in tails]
    units = np.array(joint.units)
    limit = float(np.linalg.norm(limits / units))
    clipped = partial(joint.clipped, limit * math.sqrt(steps.whitening.dimension))
    products = own.products(clusters, clipped, limit**2 * steps.whitening.dimension)
    whole = sum(t.mean_square() / unit**2 for t, unit in zip(tails, units, strict=True))
    each = zip(tails, limits, units, strict=True)
    left = sum(tail.mean_square(at) / unit**2 for tail, at, unit in each)
    cut = whole / max(left, _SMALLEST)  # what is cut off the scores, at most
    return of_few(clusters, steps.rows, p) * cut * products, clusters


def _last_scores(fit: Fitted) -> Scores:
    """Return the scores of rows at the position of a fit."""
    return fit.steps.queries.at(fit.steps.whitening.map, fit.state.eta)


def _check(problem: Problem, options: Mapping[str, Any]) -> None:
    check_levels("noisy_instruments", problem)


METHOD = Method(
    "noisy_instruments",
    "this package; reduced forms as in Chamberlain and Imbens 2004, by the default's steps",
    guarantee="gdp",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    standard_errors="robust (HC1), with the noise and the clipped excess included",
    release=release,
    fixed_size_summary=True,
    options={"cov_type": (_COV_TYPES[0], option_checks.word("cov_type", *_COV_TYPES))},
    check=_check,
    ranges=Ranges(
        GAUSSIAN.marginals, marginals=True, response=RESPONSE_WEIGHT, grouped=GROUPED.marginals
    ),
    takes=frozenset({"units", "weights", "clusters"}),
    instrumental=True,
)
