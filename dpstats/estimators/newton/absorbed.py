"""Absorb effects of groups: noisy Newton steps on pairs of rows of one group."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dpstats.errors import ArgumentError
from dpstats.estimators.contract import Method, Passes, Problem, Release
from dpstats.estimators.contract.release import NO_PREDICTIONS
from dpstats.estimators.newton.steps import Counted, Squares
from dpstats.estimators.newton.steps import Shares as Steps
from dpstats.estimators.newton.steps.release import release_of
from dpstats.estimators.newton.steps.rounds import rounds
from dpstats.estimators.newton.steps.sizes import check_columns
from dpstats.estimators.newton.within import PairQueries, Shares
from dpstats.estimators.newton.within.clusters_of_pairs import with_clusters
from dpstats.estimators.newton.within.pair_numbers import FEW, absorbing, by_groups, fewest, paired
from dpstats.estimators.newton.within.pair_scales import with_mean_square, with_scales
from dpstats.evidence import Evidence, NewtonEvidence
from dpstats.inference import ENOUGH_CLUSTERS
from dpstats.noise import Noise
from dpstats.privacy import Cost, PureDP

# Of mu^2, and of epsilon with delta = 0, where noise falls with the fraction itself and not with
# its root, so that small releases need more of the whole (benchmarks/pairs.py).
_GAUSSIAN = Shares(0.15, 0.005, 0.01, 0.02, 0.1)
_PURE = Shares(0.18, 0.015, 0.02, 0.03, 0.15)
_COV_TYPES = "cluster", "nonrobust", "HC1"


def release(
    passes: Passes, problem: Problem, cost: Cost, noise: Noise, cov_type: str | None = None
) -> Release:
    r"""Fit the regression of deviations from group means, by pairs of rows of one group.

    The steps are those of :func:`~dpstats.estimators.newton.noisy_newton.release`, of which each
    sum over rows is one over groups of (1/n) times that over the pairs of their n rows: differences
    of rows have no intercept and no group effect, and the sums of unclipped ones are those of
    deviations from the means (:mod:`~dpstats.estimators.newton.row_sums.pair_sums`).

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP, or epsilon-DP with
    delta = 0: the releases are those of
    :class:`~dpstats.estimators.newton.within.pair_queries.PairQueries`, whose bounds hold whatever
    the groups are, and of
    :func:`~dpstats.estimators.newton.within.clusters_of_pairs.with_clusters`. Their fractions of
    mu^2, or of epsilon, follow from public facts and from whether errors are clustered, which a
    release decides, and add up to at most one (Smith and Thakurta 2022; for epsilon Rogers et al.
    2016, Theorem 3.6). Where pairs are many groups are divided at random
    (:func:`~dpstats.estimators.newton.within.pair_numbers.paired`).

    What it estimates: least squares of the response on the design with an effect for each group, of
    all rows; with labels of groups and labels. Standard errors are clustered by group, unless
    ``cov_type`` is "nonrobust", or None and the rows lie in too few groups; with "HC1" few groups
    are divided into parts, which are the clusters
    (:func:`~dpstats.estimators.newton.within.group_parts.labels_for_variances`). With weights it is
    weighted least squares, and few groups are divided so unless "cluster" is asked for.
    """
    weighted = problem.weighted
    shares = _PURE if isinstance(cost, PureDP) else _GAUSSIAN
    # what rows count for is in the sums over pairs, and scales are those of the pairs
    problem = replace(problem, weighted=False, grouped=False)
    if_few = "if few" if cov_type is None and weighted else "never"
    pairs = paired(
        by_groups(passes), problem, cost, noise, shares, "always" if cov_type == "HC1" else if_few
    )  # fmt: skip
    weight, sizes = pairs.weight, cost.part(shares.sizes)
    (queries,) = with_scales(PairQueries.over(pairs.passes, problem, noise), sizes)
    queries = with_mean_square(queries, weight.total, cost.part(shares.response))
    clustered = weighted or cov_type in ("cluster", "HC1")
    clustered |= cov_type is None and pairs.clusters.number >= ENOUGH_CLUSTERS
    left = 1 - shares.spent(weighted, 1, clustered)
    fitted = rounds(queries, weight, cost.part(left / Steps.of(cost).spent))
    state, steps = fitted.state, fitted.steps
    numeric = 0 if problem.layout is None else len(problem.layout.numeric)
    few = weight.total - weight.noise < fewest(queries, numeric, 1, sizes)
    if clustered:
        own = cost.part(shares.clusters)
        state = with_clusters(state, steps, fitted.scores, pairs.clusters, own)
    else:
        # the squares of pairs are of differences of two errors
        even = state.square / 2 * steps.rows * steps.whitening.kept
        state = replace(state, products=np.diag(even))
    found = release_of(
        replace(state, squares=Squares()), queries.basis, steps.whitening, fitted.wild,
        queries.problem, steps.rows, pairs.number, FEW if few else "",
    )  # fmt: skip
    if weighted:
        found = replace(found, evidence=_of_weighted(found.evidence, pairs.number))
    reasons = {**found.reasons, "predictions": NO_PREDICTIONS}
    note = "; ".join(filter(None, (found.note, pairs.note(cov_type, clustered))))
    cov_type = "HC1" if pairs.parts else "cluster" if clustered else "nonrobust"
    return replace(found, cov_type=cov_type, reasons=reasons, note=note)


def _of_weighted(evidence: Evidence | None, number: Counted) -> NewtonEvidence:
    """Return the evidence with the number of rows and their mean weight, as released.

    The residual variance of a row of weight one is not: it would be that of pairs by their weights.
    """
    assert isinstance(evidence, NewtonEvidence)
    return replace(
        evidence, sigma2=None, weighted_rows=number.number, weighted_rows_error=number.noise,
        mean_weight=number.part,
    )  # fmt: skip


def _check(problem: Problem, options: Mapping[str, Any]) -> None:
    """Raise ArgumentError for too many columns, and for errors of one variance with weights."""
    check_columns(problem)
    if problem.weighted and options["cov_type"] == "nonrobust":
        raise ArgumentError(
            'cov_type="nonrobust" takes errors of one variance, which weighted rows have not, for '
            "granted; leave it out, which clusters errors by the absorbed column"
        )


def method(plain: Method) -> Method:
    """Describe what noisy Newton steps do with ``y ~ x | column``."""
    return absorbing(
        plain, release, _COV_TYPES, _check,
        "clustered by the absorbed column; normal approximation with the noise",
    )  # fmt: skip
