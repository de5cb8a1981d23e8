"""Absorb effects of groups: noisy Newton steps on pairs of rows of one group."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dpstats import option_checks
from dpstats.errors import ArgumentError
from dpstats.estimators.contract import InMemory, Method, Passes, Problem, Ranges, Release
from dpstats.estimators.contract.release import NO_PREDICTIONS
from dpstats.estimators.newton.clusters_of_pairs import with_clusters
from dpstats.estimators.newton.goodness import Squares
from dpstats.estimators.newton.group_parts import (
    in_parts,
    labels_for_pairs,
    labels_for_variances,
    numbered,
)
from dpstats.estimators.newton.group_sizes import GroupSizes
from dpstats.estimators.newton.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.pair_queries import PairQueries
from dpstats.estimators.newton.pair_rows import in_batches
from dpstats.estimators.newton.pair_scales import with_mean_square, with_scales
from dpstats.estimators.newton.queries import Counted
from dpstats.estimators.newton.release import release_of
from dpstats.estimators.newton.rounds import RESPONSE_WEIGHT, Shares, rounds
from dpstats.estimators.newton.sizes import ROWS_PER_NOISE, check_columns
from dpstats.estimators.newton.squared_loss import SquaredLoss
from dpstats.estimators.newton.state import Clusters
from dpstats.evidence import Evidence, NewtonEvidence
from dpstats.inference import ENOUGH_CLUSTERS
from dpstats.noise import Noise, noise_deviation
from dpstats.numerics import Rows
from dpstats.privacy import Cost, PureDP


class _Shares(NamedTuple):
    """Hold the fractions of a cost that releases beside the steps take.

    They are of the distributions of differences, the numbers of rows and pairs, the norm of the
    groups' sizes, the mean square of the response and the scores of groups.
    """

    sizes: float
    numbers: float
    norm: float
    response: float
    clusters: float


# Of mu^2, and of epsilon with delta = 0, where noise falls with the fraction itself and not with
# its root, so that small releases need more of the whole (benchmarks/pairs.py).
_GAUSSIAN = _Shares(0.15, 0.005, 0.01, 0.02, 0.1)
_PURE = _Shares(0.18, 0.015, 0.02, 0.03, 0.15)
_COV_TYPES = "cluster", "nonrobust", "HC1"
_NOTE = "the effects of the absorbed column are not released"
_CLUSTERED = "standard errors are clustered by it"
_ROBUST = _CLUSTERED + ", which holds for errors of different variances too"
_IN_PARTS = (
    "standard errors hold for errors of different variances that are independent: they are "
    "clustered by parts of groups, of which each row drew one of {:,} by chance"
)
_FEW = (
    "the rows of groups with others are too few at this epsilon for the scales of the columns to "
    "be known, so intervals are unbounded; raise epsilon"
)


def release(
    passes: Passes, problem: Problem, cost: Cost, noise: Noise, cov_type: str | None = None
) -> Release:
    r"""Fit the regression of deviations from group means, by pairs of rows of one group.

    The steps are those of :func:`~dpstats.estimators.newton.noisy_newton.release`, of which each
    sum over rows is one over groups of (1/n) times that over the pairs of their n rows: differences
    of rows have no intercept and no group effect, and the sums of unclipped ones are those of
    deviations from the means (:mod:`~dpstats.estimators.newton.pair_sums`).

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP, or epsilon-DP with
    delta = 0: the releases are those of
    :class:`~dpstats.estimators.newton.pair_queries.PairQueries`, whose bounds hold whatever the
    groups are, and of :func:`~dpstats.estimators.newton.clusters_of_pairs.with_clusters`. Their
    fractions of mu^2, or of epsilon, follow from public facts and from whether errors are
    clustered, which a release decides, and add up to at most one (Smith and Thakurta 2022; for
    epsilon Rogers et al. 2016, Theorem 3.6). Where pairs are many, each
    row draws a label by itself, independent of the data, among a number that follows from what was
    released, and groups are divided by labels. For any labels of the rows that two neighbours
    share, and of the one that differs, each release is as private as for other groups; averaging
    over labels keeps that.

    What it estimates: least squares of the response on the design with an effect for each group, of
    all rows; with labels of groups and labels. Standard errors are clustered by group, unless
    ``cov_type`` is "nonrobust", or None and the rows lie in too few groups; with "HC1" few groups
    are divided into parts, which are the clusters
    (:func:`~dpstats.estimators.newton.group_parts.labels_for_variances`). With weights it is
    weighted least squares, and few groups are divided so unless "cluster" is asked for.
    """
    rows, weighted = numbered(Rows.joined(passes.sum(_whole))), problem.weighted
    shares = _PURE if isinstance(cost, PureDP) else _GAUSSIAN
    # what rows count for is in the sums over pairs, and scales are those of the pairs
    problem = replace(problem, weighted=False, grouped=False)
    queries, sizes = _queries(InMemory(rows), problem, noise), GroupSizes.of(rows)
    weight, number = queries.numbers(sizes, cost.part(shares.numbers))
    of_norms = shares.norm * (1 + weighted)  # of weights and of rows
    norm, noise_of_norm, norm_of_rows = queries.norms_of_sizes(sizes, cost.part(of_norms))
    # sums of scores are cut by their mean length, which too many clusters would make too short
    groups = Clusters.of(number, norm + noise_of_norm * weighted, noise_of_norm)
    of_pairs = norm_of_rows, number.number / 2 if weighted else weight.total
    labels, parts = labels_for_pairs(*of_pairs), 1
    if cov_type == "HC1" or cov_type is None and weighted and groups.number < ENOUGH_CLUSTERS:
        parts = labels_for_variances(groups, *of_pairs)
        labels = max(labels, parts)
    rows = in_parts(rows, labels, noise)
    if parts > 1:
        rows, groups = replace(rows, units=rows.keys), groups.divided(labels, number.total)
    queries = with_scales(_queries(in_batches(rows), problem, noise), cost.part(shares.sizes))
    queries = with_mean_square(queries, weight.total, cost.part(shares.response))
    clustered = weighted or cov_type in ("cluster", "HC1")
    clustered |= cov_type is None and groups.number >= ENOUGH_CLUSTERS
    spent = shares.sizes + shares.numbers + of_norms + shares.response
    spent += shares.clusters * clustered
    fitted = rounds(queries, weight, cost.part((1 - spent) / Shares.of(cost).spent))
    state, steps = fitted.state, fitted.steps
    numeric = 0 if problem.layout is None else len(problem.layout.numeric)
    few = weight.total - weight.noise < _fewest(queries, numeric, cost.part(shares.sizes))
    if clustered:
        state = with_clusters(state, steps, fitted.scores, groups, cost.part(shares.clusters))
    else:
        # the squares of pairs are of differences of two errors
        even = state.square / 2 * steps.rows * steps.whitening.kept
        state = replace(state, products=np.diag(even))
    found = release_of(
        replace(state, squares=Squares()), queries.basis, steps.whitening, fitted.wild,
        queries.problem, steps.rows, number, _FEW if few else "",
    )  # fmt: skip
    if weighted:
        found = replace(found, evidence=_of_weighted(found.evidence, number))
    reasons = {**found.reasons, "predictions": NO_PREDICTIONS}
    notes = found.note, _NOTE, _errors(cov_type, groups, clustered, labels if parts > 1 else 1)
    cov_type = "HC1" if parts > 1 else "cluster" if clustered else "nonrobust"
    note = "; ".join(filter(None, notes))
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


def _errors(asked: str | None, groups: Clusters, clustered: bool, parts: int) -> str:
    """Say what standard errors hold for, and why where that was not asked for."""
    if parts > 1:
        return _IN_PARTS.format(parts)
    if asked == "HC1":
        return _ROBUST
    if clustered:
        return _CLUSTERED
    as_good_as = f"the rows lie in groups as good as {groups.number:.0f} of one size"
    few = f", as {as_good_as}" if asked is None else ""
    return f"standard errors take errors as independent and of one variance{few}"


def _cov_type(value) -> str | None:
    """Return "cluster", "HC1", "nonrobust" or None."""
    return value if value is None else option_checks.word("cov_type", *_COV_TYPES)(value)


def _whole(rows: Rows) -> list[Rows]:
    """Return the rows, each with no code, in a list, which others are added to."""
    return [replace(rows, codes=np.empty((len(rows), 0)))]


def _queries(passes: Passes, problem: Problem, noise: Noise) -> PairQueries:
    """Return the releases before anything is known of the columns."""
    basis = IndicatorBasis.unscaled(len(problem.low))
    return PairQueries(basis, passes.sum, problem, noise, SquaredLoss())


def _fewest(queries: PairQueries, columns: int, cost: Cost) -> float:
    """Return the fewest pairs, by their weight, with which intervals are shown.

    ``cost`` is that of the distributions of so many columns and of the response.
    As for rows (:mod:`~dpstats.estimators.newton.noisy_newton`), of which one moves as many times
    less. With a sensitivity of counts alone slopes of 1,729 rows were covered in .59 of fits.
    """
    part, far = cost.part(1 / (columns + RESPONSE_WEIGHT)), queries.score_sensitivity
    return ROWS_PER_NOISE[columns > 1] * noise_deviation(part, far, far)


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
    return replace(
        plain,
        standard_errors="clustered by the absorbed column; normal approximation with the noise",
        release=release,
        fixed_size_summary=False,
        options={"cov_type": (None, _cov_type)},
        check=_check,
        assumptions=(_ABSORBED,),
        ranges=Ranges(share=0.0, needed=False),
        takes=frozenset({"absorbed clusters", "weights"}),
    )


_ABSORBED = (
    "the labels of the absorbed column stay private; a row whose label is missing is left out"
)
