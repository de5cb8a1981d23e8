"""Absorb effects of groups from a regression with instruments: noisy Newton steps on pairs."""

import math
from dataclasses import replace

import numpy as np

from dpstats.estimators.contract import Method, Passes, Problem, Release
from dpstats.estimators.contract.release import NO_PREDICTIONS
from dpstats.estimators.newton.instruments import ReducedForms
from dpstats.estimators.newton.instruments.joint_scores import joint_scatter
from dpstats.estimators.newton.instruments.two_stages import structural
from dpstats.estimators.newton.steps import Clusters, Fitted, Squares
from dpstats.estimators.newton.steps import Shares as Steps
from dpstats.estimators.newton.steps.rounds import stepped, whitened
from dpstats.estimators.newton.steps.sizes import check_columns
from dpstats.estimators.newton.within import GroupScores, PairQueries, Shares
from dpstats.estimators.newton.within.clusters_of_pairs import release_clusters
from dpstats.estimators.newton.within.pair_numbers import FEW, absorbing, by_groups, fewest, paired
from dpstats.estimators.newton.within.pair_scales import with_mean_square, with_scales
from dpstats.noise import Noise
from dpstats.privacy import GDP

# Of mu^2; products of scores are of twice as many entries as with one response.
_SHARES = Shares(0.17, 0.005, 0.01, 0.015, 0.15)
# The steps of each of y and d take so much of what X'X and leverages leave.
_HALF = 0.5
_COV_TYPES = "HC1", "cluster"
# A smaller mean square of residuals counts as this.
_SMALLEST = 1e-12


def release(
    passes: Passes, problem: Problem, cost: GDP, noise: Noise, cov_type: str | None = None
) -> Release:
    r"""Fit two-stage least squares of deviations from group means, by pairs of rows of one group.

    Two reduced forms, of y and of d on exogenous regressors x and instruments z, are fitted as
    :func:`~dpstats.estimators.newton.absorbed.release` fits one, with numbers of rows and pairs,
    distributions of the columns, X'X and leverages in common, and half of the rest each. Joint
    scores are added up by group, and their products give the covariance of both.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP (Smith and Thakurta 2022
    for sums that depend on earlier releases within fractions of mu^2 fixed beforehand):
    - numbers of rows and pairs, norms of sizes and the division of large groups are those of
      :func:`~dpstats.estimators.newton.within.pair_numbers.paired`;
    - differences of the columns, X'X and leverages are functions of pairs of rows without their
      responses, and differences of y, their mean square, histograms and sums of scores are of pairs
      with one response each: a row is the same row with d in the place of y. So each moves as
      :class:`~dpstats.estimators.newton.within.pair_queries.PairQueries` has it, whatever the
      groups are;
    - the products are those of
      :func:`~dpstats.estimators.newton.within.clusters_of_pairs.release_clusters`, of a pair's
      vector (s / f, r / g) with f and g released.

    What it estimates: two-stage least squares of y on x and d with an effect for each group, of all
    rows, with weights weighted. As all regressors and instruments are deviations from group means,
    it is that of the deviations (Frisch and Waugh 1933). Standard errors are clustered by group;
    where groups are too few, or with "HC1", these are divided into parts, which are the clusters
    (:func:`~dpstats.estimators.newton.within.group_parts.labels_for_variances`). All else is
    post-processing.
    """
    weighted = problem.weighted
    # what rows count for is in the sums over pairs, and differences have no center
    problem = replace(problem, weighted=False, grouped=False)
    divided = {None: "if few", "HC1": "always", "cluster": "never"}[cov_type]
    pairs = paired(by_groups(passes), problem, cost, noise, _SHARES, divided)
    weight, sizes = pairs.weight, cost.part(_SHARES.sizes)
    y, d = (
        with_mean_square(one, weight.total, cost.part(_SHARES.response))
        for one in with_scales(PairQueries.over(pairs.passes, problem, noise), sizes)
    )
    left = cost.part((1 - _SHARES.spent(weighted, 2, clustered=True)) / Steps.of(cost).spent)
    steps, wild = whitened(y, weight, left)
    of_y, of_d = (stepped(replace(steps, queries=one), wild, left.part(_HALF)) for one in (y, d))
    products = _products(of_y, of_d, pairs.clusters, cost.part(_SHARES.clusters))
    numeric = 0 if problem.layout is None else len(problem.layout.numeric)
    few = weight.total - weight.noise < fewest(y, numeric, 2, sizes)
    of_y, of_d = (_by_groups(fit, pairs.clusters) for fit in (of_y, of_d))
    forms = ReducedForms.of(of_y, of_d, products, pairs.number, FEW if few else "")
    found = structural(forms, problem)
    return replace(
        found,
        cov_type="HC1" if pairs.parts else "cluster",
        reasons={**found.reasons, "predictions": NO_PREDICTIONS},
        note="; ".join(filter(None, (found.note, pairs.note(cov_type, clustered=True)))),
    )


def _by_groups(fit: Fitted, clusters: Clusters) -> Fitted:
    """Return the fit with the number of its clusters; squares of pairs tell no R-squared."""
    return replace(fit, state=replace(fit.state, clusters=clusters, squares=Squares()))


def _products(of_y: Fitted, of_d: Fitted, clusters: Clusters, cost: GDP) -> np.ndarray:
    """Release the products (2 p, 2 p) of joint scores of groups, in units of y and of d.

    Those of errors that are alike in a group are larger than of independent ones, whose squares
    are half of those of pairs; where they are, the former are what directions are drawn to.
    """
    fits, steps, p = (of_y, of_d), of_y.steps, len(of_y.state.eta)
    units = [math.sqrt(max(fit.state.square, _SMALLEST)) for fit in fits]
    scores = GroupScores.of(
        *((fit.steps, fit.state, fit.scores, unit) for fit, unit in zip(fits, units, strict=True)),
        cost=cost,
    )
    products, deviation = release_clusters(steps, scores, 1.0, clusters, cost)
    even = steps.rows / 2
    mean = np.array([np.trace(products[own, own]) / p for own in (slice(0, p), slice(p, None))])
    excess = np.sqrt(np.maximum(mean / even, 1.0))
    larger = np.repeat(excess, p)
    apart = products / np.outer(larger, larger)
    apart = joint_scatter(apart, deviation / float(excess.min()) ** 2, even, 0.0)
    back = larger * np.repeat(units, p)
    return clusters.correction * np.outer(back, back) * apart


def method(plain: Method) -> Method:
    """Describe what the method for instruments does with ``y ~ x + [d ~ z] | column``."""
    return absorbing(
        plain, release, _COV_TYPES, lambda problem, options: check_columns(problem),
        "clustered by the absorbed column, or by parts of few groups",
    )  # fmt: skip
