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

from dpstats.estimators.contract import Method, Passes, Problem, Ranges, Release
from dpstats.estimators.newton.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.joint_scores import JointScores, of_outcome
from dpstats.estimators.newton.products import scatter, square_limit, squares_cut
from dpstats.estimators.newton.queries import Counted, Queries
from dpstats.estimators.newton.release import release_of
from dpstats.estimators.newton.rounds import (
    GAUSSIAN,
    RESPONSE_WEIGHT,
    Fitted,
    stepped,
    whitened,
)
from dpstats.estimators.newton.scores import Scores
from dpstats.estimators.newton.sizes import TOO_FEW, check_levels, number_of_rows, rows_for_scales
from dpstats.estimators.newton.squared_loss import SquaredLoss
from dpstats.estimators.newton.two_stages import ReducedForms, structural
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE

# Fractions of what the distributions of the columns leave: the number of rows, and mean and mean
# square of each of two responses; the rest is for X'X, and halves of it for the rounds of each.
_COUNT, _RESPONSE, _HALF = 0.005 / (1 - GAUSSIAN.marginals), 0.01 / (1 - GAUSSIAN.marginals), 0.5
# Fraction of mu^2 for the products of scores, of which standard errors are made.
_SCORE_PRODUCTS = 0.12
# Correlations of the residuals of y and d are no closer to 1 than this and their noise.
_MOST_ALIKE = 1e-6
# A smaller mean square of residuals counts as this.
_SMALLEST = 1e-12
_SQUARED = SquaredLoss()


def release(passes: Passes, problem: Problem, cost: GDP, noise: Noise) -> Release:
    """Fit two-stage least squares, with robust standard errors and Anderson-Rubin sets.

    Two reduced forms, of y and of d on exogenous regressors x and instruments z, are fitted as
    :func:`~dpstats.estimators.newton.noisy_newton.release` fits one, with a number of rows, X'X and
    leverages in common, and half of the rest each. Products of the joint scores of both give the
    covariance of their errors.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP (Smith and Thakurta 2022
    for sums that depend on earlier releases within fractions of mu^2 fixed beforehand). All that is
    used of the rows, given earlier releases, is a sum of functions of one row each:
    - their number, X'X, and histograms of |a|^2; mean and mean square, histograms of |s| and sums
      of clipped scores, of y and then of d: as there, with the same sensitivities, since for d
      a row is the same row with another response;
    - products u u' of joint scores u = (s_y / f, s_d / g), f and g released, scaled down to
      |u| <= C, a released limit (:func:`~dpstats.estimators.newton.indicator_basis
      .release_products`, B = C^2): |u u'| = |u|^2 <= C^2 in the Frobenius norm under add/remove,
      and |u u' - w w'|^2 = |u|^4 + |w|^4 - 2 (u'w)^2 <= 2 C^4 under replace-one. One clip for
      both: clipping each to C would leave |u|^2 up to 2 C^2.

    What it estimates: two-stage least squares of all rows. All else is post-processing.
    """
    basis, whole = IndicatorBasis.of(problem), cost
    cost = cost.part(1 - _SCORE_PRODUCTS)
    if problem.neighbors == REPLACE_ONE:
        cost = cost.part(1 / (1 - _COUNT))  # no number of rows is bought
    queries = Queries(basis, passes.sum, problem, noise, _SQUARED)
    counted = queries.number(passes.sum(partial(number_of_rows, weighted=False)), cost.part(_COUNT))
    rows = max(counted.total, 2 * counted.noise)
    y, d = (_measured(one, rows, cost) for one in (queries, _of_treatment(queries)))
    steps, wild = whitened(y, counted, cost)
    of_y, of_d = (stepped(replace(steps, queries=one), wild, cost.part(_HALF)) for one in (y, d))
    products = _products(of_y, of_d, whole.part(_SCORE_PRODUCTS))
    few = (counted.total - counted.noise) / counted.part < rows_for_scales(
        len(basis.center), problem, cost, GAUSSIAN.marginals, 2 * RESPONSE_WEIGHT
    )
    forms = _reduced_forms(of_y, of_d, products, counted, TOO_FEW if few else "")
    return structural(forms, problem)


def _reduced_forms(
    of_y: Fitted, of_d: Fitted, products: np.ndarray, counted: Counted, few: str
) -> ReducedForms:
    """Return the releases of both, with how the sampling errors of one go with the other's."""
    p, steps = len(of_y.state.eta), of_y.steps
    directions = of_y.steps.queries.basis.from_span @ steps.whitening.map
    scale = of_y.steps.queries.reference.y_scale * of_d.steps.queries.reference.y_scale
    across = scale / (steps.rows**2 * of_y.state.hessian * of_d.state.hessian)
    y, d = (
        release_of(
            replace(fit.state, products=products[own, own]), steps.queries.basis, steps.whitening,
            fit.wild, fit.steps.queries.problem, steps.rows, counted, few,
        )
        for fit, own in ((of_y, slice(0, p)), (of_d, slice(p, None)))
    )  # fmt: skip
    cross = across * directions @ products[:p, p:] @ directions.T
    return ReducedForms(y, d, cross, directions)


def _of_treatment(queries: Queries) -> Queries:
    """Return the queries with the endogenous regressor as the response."""
    instruments = queries.problem.instruments
    assert instruments is not None, "the request has a first stage"
    problem = replace(queries.problem, reference=instruments.reference)
    return replace(queries, total=of_outcome(queries.total, 1), problem=problem)


def _measured(queries: Queries, rows: float, cost: GDP) -> Queries:
    """Release mean and mean square of the response."""
    problem = _SQUARED.measured(
        queries.problem, queries.basis.has_constant, queries.total, rows, cost.part(_RESPONSE),
        queries.noise,
    )  # fmt: skip
    return queries.with_problem(problem)


def _products(of_y: Fitted, of_d: Fitted, cost: GDP) -> np.ndarray:
    """Release the products of joint scores; return them (2 p, 2 p) in units of y and d.

    A joint score is limited at the length of two scores that are each at their own limit, so what
    is cut off its square is at most what is cut off theirs.
    """
    steps, t, p = of_y.steps, of_y.steps.whitening.dimension, len(of_y.state.eta)
    queries, rows = steps.queries, steps.rows
    per_limit = (math.sqrt(2) if queries.replaces else 1.0) / cost.mu
    f, g = (math.sqrt(max(fit.state.square, _SMALLEST)) for fit in (of_y, of_d))
    longest = [square_limit(fit.scores, per_limit) for fit in (of_y, of_d)]
    limit = math.hypot(longest[0] / f, longest[1] / g)
    joint = JointScores(_last_scores(of_y), _last_scores(of_d), (f, g))
    work, free = partial(joint.products, limit * math.sqrt(t)), np.ones((2 * p, 2 * p), dtype=bool)
    products, deviation = queries.products("score products", work, limit**2 * t, free, cost)
    cut = float(squares_cut(of_y.scores, longest[0])) / f**2
    cut += float(squares_cut(of_d.scores, longest[1])) / g**2
    freedom = rows / max(rows - p, 1.0)  # as HC1 has it
    units = np.repeat([f, g], p)
    return freedom * np.outer(units, units) * _scatter(products, deviation, rows, t * cut)


def _last_scores(fit: Fitted) -> Scores:
    """Return the scores of rows at the position of a fit."""
    return fit.steps.queries.at(fit.steps.whitening.map, fit.state.eta)


def _scatter(products: np.ndarray, deviation: float, rows: float, cut: float) -> np.ndarray:
    """Estimate the sum of products of joint scores conservatively, of residuals of unit variance.

    As :func:`~dpstats.estimators.newton.products.scatter` draws eigenvalues together, the two are
    taken in units in which they are not correlated: for errors of one covariance matrix all
    eigenvalues are then equal.
    """
    p = len(products) // 2
    noise = deviation / (math.sqrt(p) * rows)
    most = max(1 - _MOST_ALIKE - noise, 0.0)
    alike = float(np.clip(np.trace(products[:p, p:]) / (p * rows), -most, most))
    root = np.kron(np.linalg.cholesky([[1.0, alike], [alike, 1.0]]), np.eye(p))
    inverse = np.linalg.inv(root)
    apart = scatter(
        inverse @ products @ inverse.T, deviation / (1 - abs(alike)), rows, cut / (1 - abs(alike))
    )
    return root @ apart @ root.T


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
    check=_check,
    ranges=Ranges(GAUSSIAN.marginals, marginals=True, response=RESPONSE_WEIGHT),
    instrumental=True,
)
