"""Estimate by noisy Newton steps: rough sums, whitening, rounds of clipped scores (this package).

The ideas are those of noisy optimisation for M-estimators (Avella-Medina, Bradshaw and Loh 2023),
of boosting on residuals (Tang et al. 2023, Algorithm 1) and of private preconditioning (Biswas et
al. 2020); the indicator basis, the limits read off histograms and the combination of the rounds
are this package's.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpstats.estimators.contract import Method, Passes, Problem, Ranges, Release
from dpstats.estimators.least_squares.dense import robust_covariance
from dpstats.estimators.newton.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.loss import Loss
from dpstats.estimators.newton.queries import Queries
from dpstats.estimators.newton.release import release_of
from dpstats.estimators.newton.score_tails import is_wild, mean_leverage
from dpstats.estimators.newton.sizes import check_levels, number_of_rows, rows_for_scales
from dpstats.estimators.newton.squared_loss import SquaredLoss
from dpstats.estimators.newton.steps import Steps
from dpstats.estimators.newton.whitening import leverages, refined_whitening, rough_whitening
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE

# Fractions of mu^2, set by simulation and measured by benchmarks/tails.py: the distributions of the
# columns; then the number of rows, the response's mean and mean square, X'X (half of it for the
# second one where that pays), leverages, the start, a histogram for the first round and one for the
# others, and the scores of each of three. They add up to 1.
_MARGINALS = 0.185
# The response takes so many times the budget of a regressor for its distribution: its scale enters
# every coefficient.
_RESPONSE_WEIGHT = 2.0
_COUNT, _RESPONSE, _GRAM, _LEVERAGE, _START, _FIRST_TAIL, _TAIL, *_ROUNDS = (
    part / (1 - _MARGINALS)
    for part in (0.005, 0.02, 0.25, 0.015, 0.045, 0.02, 0.08, 0.07, 0.14, 0.17)
)
# Fraction of mu^2 for the products of scores, of which robust standard errors are made.
_SCORE_PRODUCTS = 0.08
_SQUARED = SquaredLoss()


def release(
    passes: Passes,
    problem: Problem,
    cost: GDP,
    noise: Noise,
    cov_type: str = robust_covariance.COV_TYPES[0],
    loss: Loss = _SQUARED,
) -> Release:
    """Fit least squares by noisy Newton steps on clipped scores, with coefficient intervals.

    In the whitened directions a the score of a row is s = a (v - a'eta), v the response about
    its released mean in units of its released standard deviation. A step adds the noisy sum
    of clipped scores over the number of rows; three steps, each at a limit that a noisy histogram
    of |s| names, and the start are combined by their variances as a Kalman filter would. Where X'X
    was of rows scaled down alone, and their released mean leverage is above 1, a is divided by its
    root.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP (Smith and Thakurta 2022
    for sums that depend on earlier releases within fractions of mu^2 fixed beforehand).
    All that is used of the rows, given earlier releases, is a sum of functions of one row each:
    - their number: 1 under add/remove; public under replace-one;
    - mean and mean square of the response
      (:func:`~dpstats.estimators.newton.squared_loss.SquaredLoss.measured`);
    - X'X in two coordinates, with rows scaled to a squared norm of at most B, which is public or
      released: sensitivity B or sqrt 2 B
      (:func:`~dpstats.estimators.newton.indicator_basis.release_products`);
    - histograms of |a|^2 and |s|: one row is in one bin, so 1 or sqrt 2;
    - sums of (s', w C q) with s' = s min(1, C / |s|), w = 0.3 and q in [0, 1] the square of the
      residual over a released limit, at most 1. Add/remove: at most C sqrt(1 + w^2). Replace-one:
      scores differ by at most 2 C and q by at most 1, so C sqrt(4 + w^2);
    - for robust errors the products s' s'' of scores clipped to a released length C once more
      (:func:`~dpstats.estimators.newton.indicator_basis.release_products`, B = C^2): C^2 or
      sqrt 2 C^2.
    Scores and q are cut toward zero to a grid of 2^-20, which keeps each below its bound.
    Responses are not clipped otherwise: one far out has a score of length C. Variables are clipped
    far out (:attr:`~dpstats.range_estimation.Marginal.clipping`).

    With privacy units the rows of a unit count for parts that add up to at most 1, and each bound
    above holds for all of them together: norms of sums are at most the sums of norms times parts,
    inner products of sums of u u' are not negative, a histogram's counts move by a vector of L1
    norm at most 1, and scores are added up by unit before they are clipped, so that a unit has one,
    and so are its products; q is |s'|^2 / C^2. The number of rows is then the sum of the parts,
    which both relations hide.

    With weights a row counts for the part w = weight / largest weight of one, as a unit of that row
    alone: products, leverages, the response and scores are times w, so that each bound above holds,
    and covariances are made of the products of scores, as with units. Beside the sum of the parts
    the number of rows (or units) is released: (w, 1) has a norm of at most sqrt 2 under add/remove,
    and replacing a row moves w alone, by at most 1.

    What it estimates: least squares, with weights weighted least squares, of the response on the
    design of the variables so clipped, of all rows. What is cut off the scores would bias it; its
    size is read off the histograms and is part of the intervals.
    """
    basis, whole_cost = IndicatorBasis.of(problem), cost
    robust = problem.in_parts or cov_type != robust_covariance.COV_TYPES[0]
    if robust:
        cost = cost.part(1 - _SCORE_PRODUCTS)
    if not problem.in_parts and problem.neighbors == REPLACE_ONE:
        cost = cost.part(1 / (1 - _COUNT))  # no number of rows is bought
    queries = Queries(basis, passes.sum, problem, noise, loss)
    rows = passes.sum(partial(number_of_rows, weighted=problem.weighted))
    counted = queries.number(rows, cost.part(_COUNT))
    count = max(counted.total, 2 * counted.noise)
    problem = loss.measured(
        problem, basis.has_constant, passes.sum, count, cost.part(_RESPONSE), noise
    )
    queries = queries.with_problem(problem)
    extremes = queries.reference.extremes
    whitening, pays = rough_whitening(queries, cost.part(_GRAM), count)
    tail, deviation = leverages(
        queries, whitening, cost.part(_LEVERAGE), extremes.heavy, extremes.leverage
    )
    if pays:
        whitening, lost = refined_whitening(queries, whitening, tail, cost.part(_GRAM), count)
    else:
        whitening, lost = whitening.divided(mean_leverage(tail)), 0.0
    # steps divide by the number of rows, which is as unsure as X'X
    whitening = replace(whitening, unsure=np.hypot(whitening.unsure, counted.noise / count))
    steps = Steps(queries, whitening, count, lost, tail.farthest, counted.part)
    state = steps.start(cost.part(_START))
    first, second, third = _ROUNDS
    scores = steps.tail(state, cost.part(_FIRST_TAIL))
    state = steps.step(steps.clipped(state, scores), scores, cost.part(first))
    scores = steps.tail(state, cost.part(_TAIL))
    state = steps.step(state, scores, cost.part(second))
    state = steps.step(state, scores, cost.part(third))
    # the noise on the number of rows alone is not to show an interval
    few = (counted.total - counted.noise) / counted.part < rows_for_scales(
        len(basis.center), problem, cost, _MARGINALS, _RESPONSE_WEIGHT
    )
    few = few or extremes.y_unseen
    if robust:
        state = steps.with_products(state, scores, whole_cost.part(_SCORE_PRODUCTS))
    wild = is_wild(tail, deviation, count)
    return release_of(state, basis, whitening, wild, problem, count, counted, few)


def _check(problem: Problem, options: Mapping[str, Any]) -> None:
    check_levels("noisy_newton", problem)


METHOD = Method(
    "noisy_newton",
    "this package; noisy M-estimation as in Avella-Medina, Bradshaw and Loh 2023, section 3",
    guarantee="gdp",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    standard_errors="normal approximation with the noise and the clipped excess included",
    release=release,
    fixed_size_summary=True,
    options=robust_covariance.OPTIONS,
    check=_check,
    ranges=Ranges(_MARGINALS, marginals=True, response=_RESPONSE_WEIGHT),
    takes=frozenset({"units", "weights"}),
)
