"""Estimate a Poisson regression by noisy Newton steps on clipped scores (this package).

The rounds are those of :mod:`~dpstats.estimators.newton.noisy_logit`, and scores are clipped as in
:mod:`~dpstats.estimators.newton.noisy_newton`, since counts have no bound.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dpstats import option_checks
from dpstats.errors import ArgumentError
from dpstats.estimators.contract import Method, Passes, Problem, Ranges, Release, mapped
from dpstats.estimators.least_squares.dense import robust_covariance
from dpstats.estimators.newton.generalized import (
    FarScores,
    FittedCounts,
    Hessian,
    LevelRows,
    PoissonQueries,
    PoissonSteps,
    Position,
)
from dpstats.estimators.newton.generalized.far_scores import (
    averaged,
    farthest_score,
    skewed_directions,
)
from dpstats.estimators.newton.generalized.logistic_release import release_of
from dpstats.estimators.newton.generalized.offsets import log_mean
from dpstats.estimators.newton.generalized.poisson_queries import mean_count
from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.estimators.newton.row_sums.sums import FAR_EDGES, mapped_rows
from dpstats.estimators.newton.steps import Counted, RowQueries, Tail
from dpstats.estimators.newton.steps.clusters import GAUSSIAN_SHARE
from dpstats.estimators.newton.steps.sizes import check_levels, number_of_rows, rows_for_scales
from dpstats.estimators.newton.steps.whitening import whitened
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE

# Fractions of mu^2, set by simulation (benchmarks/poisson.py): the distributions of the columns,
# of which the response's has so many times a regressor's; then the number of rows, the response's
# mean, X'X (half of it for the second one where that pays), leverages, five sums of scores, three
# histograms of their lengths, and three Hessians (two of the first kind).
_MARGINALS, _RESPONSE_WEIGHT = 0.185, 2.0
_PARTS = {
    "number": 0.005, "mean": 0.02, "gram": 0.13, "leverages": 0.015, "start": 0.05,
    "first tail": 0.08, "second": 0.08, "tail": 0.02, "third": 0.1, "last tail": 0.07,
    "fourth": 0.11, "fifth": 0.15, "hessian": 0.04, "last hessian": 0.09,
}  # fmt: skip
# Fraction of mu^2 for the products of scores, of which standard errors are made.
_SCORE_PRODUCTS = 0.08
# Standard errors are robust always; those of units are clustered.
_COV_TYPES = robust_covariance.COV_TYPES[1:]
# The mean is taken to be at least so many deviations of its noise.
_LEAST_DEVIATIONS = 2.0
# Fewer scores than this are none: the last limit cuts nothing off.
_NONE_CUT = 0.5
# The last sums of scores are so many where the budget is large, as steps converge.
_LAST_STEPS, _LARGE_MU = 6, 10.0


def release(
    passes: Passes, problem: Problem, cost: GDP, noise: Noise, cov_type: str = _COV_TYPES[0]
) -> Release:
    """Fit a Poisson regression by noisy Newton steps, with coefficient intervals.

    In whitened directions a the score of a row is s = a (y - mu) / m, where m is the released mean
    of the response, y is cut below at 0, and mu = m exp(a'eta) at the position eta, with
    exp(a'eta) cut at e^20. Scores are clipped to a length C that a released histogram of their
    lengths names. A step is the inverse of a Hessian times a noisy sum of clipped scores; the
    Hessian is guessed for two steps and released for each of the other three. It is the derivative
    of the clipped sum: a clipped score does not change with the position, as a stays. Under a large
    budget the last step is taken several times.

    An offset o of a row, of which the logarithm of an exposure is one, is added to the logarithm
    of its mean: mu = m exp(c + a'eta + o), where c is such that the mean of exp(c + o) over the
    released distribution of offsets is 1.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP (Smith and Thakurta 2022
    for sums that depend on earlier releases within fractions of mu^2 fixed beforehand). All that is
    used of the rows, given earlier releases, is a sum of functions of one row each:
    - their number, X'X and a histogram of |a|^2, as in
      :func:`~dpstats.estimators.newton.noisy_newton.release`;
    - y cut to [0, L] over L, which follows from the released distribution of y: it is in [0, 1], so
      1 under add/remove and replace-one;
    - histograms of |s|: a row is in one bin, so 1, and sqrt 2 under replace-one;
    - s min(1, C / |s|), of a length of at most C: C under add/remove. Under replace-one two of them
      differ by at most the sum of their lengths, 2 C, which is reached by a and -a;
    - (mu / m) a a' of rows with |s| <= C, zero of the others: positive semidefinite of the norm
      (mu / m) |a|^2, which has no bound of its own, so that rows beyond a bound B, which follows
      from released leverages, are scaled down to it: B, and sqrt 2 B under replace-one
      (:func:`~dpstats.estimators.newton.row_sums.indicator_basis.release_products`);
    - for standard errors the products s' s'' of scores clipped to a released length C once more:
      C^2, or sqrt 2 C^2 (the same, B = C^2). Where they are clustered by a column it is the norm of
      the clusters' sizes, the sum of the lengths of their sums of clipped scores, and the products
      of these sums, clipped to a length D (:mod:`~dpstats.estimators.newton.steps.clusters`): 1, C
      and C (2 D - C), under replace-one 1 and twice the others.
    All are cut toward zero to a grid of 2^-20 of these bounds, which keeps each below its own. The
    position is a number, as no eigenvalue of a Hessian is taken for less than 1e-9
    (:attr:`~dpstats.estimators.newton.generalized.logistic_position.Hessian.raised`).

    A row of a privacy unit, and a weighted one, counts for a part in [0, 1] of each, and the parts
    of a unit add up to at most 1. Sums of responses and Hessians are bounded for a unit by the
    triangle inequality, and under replace-one those of two units are as far apart as two rows may
    be, since responses are not negative, nor are inner products of sums of u u'. Scores are added
    up by unit before they are counted and clipped, so that a unit has one, and so are its products.

    An offset is a private number of its row alone, of any size (it counts as 2^20 at most). It
    enters nothing but mu, which may be any number from 0 to m e^20: a score is clipped after mu is
    taken off and a Hessian is scaled down as above, whatever mu is, so these bounds need none on
    offsets. Their distribution is one more histogram within the fraction of the budget for those of
    the columns, and everything that follows from it is post-processing.

    What it estimates: the Poisson regression of all rows, by quasi-maximum likelihood, for any
    response whose mean is exp(x'b): counts need not have the variance of a Poisson distribution, as
    standard errors are robust (HC1). What is cut off the scores would bias it; its size is read off
    the histograms and is part of the intervals. None is shown where the last bins of histograms
    hold many rows far out, or noise could hide 1% of the rows there
    (:class:`~dpstats.estimators.newton.generalized.far_scores.FarScores`), unless declared bounds
    are close.
    """
    basis, whole = IndicatorBasis.of(problem), cost
    spent = GAUSSIAN_SHARE if problem.clustered else _SCORE_PRODUCTS
    cost = cost.part(1 - spent)
    parts = {name: cost.part(part) for name, part in _PARTS.items()}
    rough = RowQueries(basis, passes.sum, problem, noise)
    given = passes.sum(number_of_rows)
    counted = rough.number(given, parts["number"])
    rows = max(counted.total, 2 * counted.noise)
    mean, error = mean_count(rough, rows, parts["mean"])
    unit = max(mean, _LEAST_DEVIATIONS * error)
    whitening, leverages = whitened(rough, parts["gram"], parts["leverages"], rows)
    offsets = rough.reference.offsets
    center = -log_mean(offsets) if basis.has_constant else -math.log(unit)
    total = mapped(passes, partial(mapped_rows, basis, whitening.map)).sum
    queries = PoissonQueries(basis, total, problem, noise, whitening.map, center, unit)
    steps = PoissonSteps(queries, whitening, rows, counted.part, leverages)
    position, hessian, tail, limit, far = _stepped(steps, parts)
    products, clusters = steps.products(position, tail, counted, whole.part(spent))
    few = (counted.total - counted.noise) / counted.part < rows_for_scales(
        len(basis.center) + (offsets is not None), problem, cost, _MARGINALS, _RESPONSE_WEIGHT
    )
    slopes, slopes_noise = _slopes(steps, hessian, mean if basis.has_constant else math.nan, error)
    beyond = tail.beyond(limit)
    fitted = FittedCounts(
        position, hessian, whitening.map, center + math.log(unit), counted, rows, (mean, error),
        1.0, min(beyond / tail.rows, 1.0), products, clusters, slopes, slopes_noise, few,
        # there are no weights, levels without events have no rule, and ``far`` tells more
        np.zeros((0, len(position.eta))), LevelRows.none(len(position.eta)), False,
        None,  # counts have no bound, so their likelihood has none
        steps.bias(position, hessian, tail, limit),
        FarScores(*far, counted.number, beyond >= _NONE_CUT and _may_be_far(steps, position)),
        skewed_directions(queries),
    )  # fmt: skip
    return release_of(fitted, basis, problem)


def _stepped(
    steps: PoissonSteps, parts: Mapping[str, GDP]
) -> tuple[Position, Hessian, Tail, float, tuple[Counted, Counted]]:
    """Take five steps; return the position, the last Hessian, and how scores were clipped last.

    Beside them are the rows far out, of the first histogram of scores and of later ones.
    """
    position = steps.start(parts["start"])
    tail, before = steps.tail(position, parts["first tail"])
    position = steps.second(position, tail, parts["second"])
    tail, between = steps.tail(position, parts["tail"])
    position, _ = _closer(steps, position, tail, parts, ("third", "fourth", "fifth"))
    # means grow as factors along a step, so the lengths of scores are those of a near position
    tail, last = steps.tail(position, parts["last tail"])
    position, limit = _closer(steps, position, tail, parts, ("fourth", "fifth"))
    hessian, cost = steps.hessian(position, limit, parts["last hessian"]), parts["fifth"]
    times = _LAST_STEPS if cost.mu > _LARGE_MU else 1
    for _ in range(times):
        position = steps.step(position, hessian, limit, cost.part(1 / times))
    return position, hessian, tail, limit, (before, averaged(between, last))


def _closer(
    steps: PoissonSteps, position: Position, tail: Tail, parts: Mapping[str, GDP],
    names: Sequence[str],
) -> tuple[Position, float]:  # fmt: skip
    """Take the first of some steps, by a released Hessian, at the limit for all of them."""
    limit = steps.limit(tail, math.sqrt(sum(parts[name].mu ** 2 for name in names)))
    hessian = steps.hessian(position, limit, parts["hessian"])
    return steps.step(position, hessian, limit, parts[names[0]]), limit


def _may_be_far(steps: PoissonSteps, position: Position) -> bool:
    """Tell whether declared bounds let a row be far out."""
    queries, t = steps.queries, steps.whitening.dimension
    near = FAR_EDGES[-1] * steps.sigma * steps.size
    return farthest_score(queries, position.eta, t) > near


def _slopes(
    steps: PoissonSteps, hessian: Hessian, mean: float, error: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of mu and of its derivative by the position, (1 + p,), and noise on them.

    At the optimum the mean of mu is that of the response, where there is a constant, of which the
    Hessian gives the derivative.
    """
    gradient = (hessian.vectors * hessian.values) @ (hessian.vectors.T @ steps.constant)
    noise = np.append(steps.rows * error, np.full(len(gradient), hessian.deviation))
    return np.append(steps.rows * mean, steps.queries.unit * gradient), noise


def _check(problem: Problem, options: Mapping[str, Any]) -> None:
    """Raise ArgumentError for a response that cannot be positive, and for too many levels."""
    if not problem.y_high > 0:
        raise ArgumentError(
            "a Poisson regression takes a response of counts or amounts, got bounds "
            f"({problem.y_low:g}, {problem.y_high:g}); give bounds from 0 on, or leave them out"
        )
    check_levels("dp_poisson", problem)


METHOD = Method(
    "noisy_poisson",
    "this package; noisy M-estimation as in Avella-Medina, Bradshaw and Loh 2023, section 3",
    guarantee="gdp",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    standard_errors="robust (HC1), with the noise and the clipped excess included",
    release=release,
    fixed_size_summary=True,
    options={"cov_type": (_COV_TYPES[0], option_checks.word("cov_type", *_COV_TYPES))},
    check=_check,
    ranges=Ranges(_MARGINALS, marginals=True, response=_RESPONSE_WEIGHT, lognormal_tails=True),
    takes=frozenset({"units", "weights", "clusters"}),
    counts=True,
)
