"""Estimate a logistic regression by noisy Newton steps, scores of limited leverage (this package).

Rows of large leverage have smaller weights, as in Mallows' estimator (Künsch, Stefanski and Carroll
1989): with weights that follow from the regressors alone the scores have mean zero under the model
all the same. The rounds are those of :mod:`~dpstats.estimators.newton.noisy_newton`.
"""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpstats.errors import ArgumentError
from dpstats.estimators.contract import (
    Method,
    Offsets,
    Passes,
    Problem,
    Ranges,
    Release,
    mapped,
)
from dpstats.estimators.least_squares.dense import robust_covariance
from dpstats.estimators.newton.generalized import (
    FittedLogit,
    Hessian,
    LevelRows,
    LogisticQueries,
    Position,
)
from dpstats.estimators.newton.generalized.logistic_position import logistic_slope, normal_curvature
from dpstats.estimators.newton.generalized.logistic_queries import mean_response
from dpstats.estimators.newton.generalized.logistic_release import release_of
from dpstats.estimators.newton.generalized.offsets import log_odds
from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.estimators.newton.row_sums.sums import LEVERAGE_EDGES, mapped_rows
from dpstats.estimators.newton.steps import (
    ClusterQueries,
    Clusters,
    Counted,
    RowQueries,
    Tail,
    Whitening,
)
from dpstats.estimators.newton.steps.clusters import GAUSSIAN_SHARE, of_few
from dpstats.estimators.newton.steps.far_directions import far_directions
from dpstats.estimators.newton.steps.hidden_rows import has_room, hidden_share
from dpstats.estimators.newton.steps.products import scatter
from dpstats.estimators.newton.steps.sizes import check_levels, number_of_rows, rows_for_scales
from dpstats.estimators.newton.steps.whitening import whitened
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE
from dpstats.schema import UNLIMITED

# Fractions of mu^2, set by simulation (benchmarks/logit.py): the distributions of the regressors;
# then the number of rows, the response's mean, X'X (half of it for the second one where that
# pays), leverages, five sums of scores, three Hessians (two of the first kind), and the slopes of
# probabilities, with entropies.
_MARGINALS = 0.15
_PARTS = {
    "number": 0.005, "mean": 0.02, "gram": 0.16, "leverages": 0.015, "start": 0.06,
    "second": 0.10, "third": 0.12, "fourth": 0.14, "fifth": 0.17, "hessian": 0.05,
    "last hessian": 0.09, "slopes": 0.02,
}  # fmt: skip
# Fraction of mu^2 for the products of scores, of which robust standard errors are made.
_SCORE_PRODUCTS = 0.08
# The share of ones is taken to be no closer to 0 and 1 than this, and than so many deviations.
_LEAST_SHARE, _LEAST_DEVIATIONS = 0.001, 2.0
# A row adds to a Hessian up to so many times what one of ordinary curvature and leverage does.
# Where noise is small it is the largest bound that keeps it below this part of the Hessian: cut
# rows make steps too long, which do not settle where rare outcomes have skewed regressors
# (benchmarks/logit_grid.py). The bound is above zero where offsets leave no curvature: in units of
# zero what a row adds to a Hessian has no bound.
_LEAST_CURVATURE, _MOST_CURVATURE, _HIDDEN = 1e-6, 5.0, 0.12
# Steps by a released Hessian are taken so many times where the budget is large: they converge, and
# as the noises of the last ones are combined by precision, several cost no more than one.
_REPEATS, _LARGE_MU = 4, 10.0
# The relative error of a curvature that follows from the position alone.
_GUESS_ERROR = 0.15
# The length of a position, in log odds, that the limit of leverage is chosen for.
_USUAL_LENGTH = 0.5
_LEAST_LEVERAGE = 1.4
# Where rows are far out in a column the odds may stay flat; weights then change the sum of scores
# by so many times what Markov's inequality says of a kurtosis beyond the normal one
# (benchmarks/coded.py).
_FLAT = 0.3


class _Start(NamedTuple):
    """Hold a share of ones within its noise, its log odds, and the mean slope mu' there."""

    share: float
    center: float
    slope: float

    @classmethod
    def of(cls, mean: float, error: float, has_constant: bool, offsets: Offsets | None) -> "_Start":
        """Start at a released share of ones; without a constant at even odds."""
        least = max(_LEAST_SHARE, _LEAST_DEVIATIONS * error)
        share = min(max(mean, least), 1 - least) if least < 0.5 and has_constant else 0.5
        center = log_odds(share, offsets) if has_constant else 0.0
        if offsets is None:
            return cls(share, center, share * (1 - share))
        # far out offsets leave no slope
        return cls(share, center, max(float(offsets.mean(logistic_slope, center)), _LEAST_SHARE))


def release(
    passes: Passes,
    problem: Problem,
    cost: GDP,
    noise: Noise,
    cov_type: str = robust_covariance.COV_TYPES[0],
) -> Release:
    """Fit a logistic regression by noisy Newton steps, with coefficient intervals.

    In whitened directions a the score of a row is s = w a (y - mu), where mu is the probability at
    the position, y is cut to [0, 1], and w = min(1, L^2 / |a|^2) for a released limit L. A step
    is the inverse of a Hessian, the sum of w mu' a a' as released, times a noisy sum of scores. It
    starts at the released share of ones; the Hessian is guessed for two steps and released for each
    of the other three, the last time for standard errors too. Under a large budget each of these is
    taken several times.

    An offset o of a row is added to its log odds, so that mu is the probability at a'eta + o. The
    start is the intercept with which the mean probability is the share of ones, over the released
    distribution of offsets; guessed Hessians are means over it.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP (Smith and Thakurta 2022
    for sums that depend on earlier releases within fractions of mu^2 fixed beforehand). All that is
    used of the rows, given earlier releases, is a sum of functions of one row each:
    - their number, X'X and a histogram of |a|^2, as in
      :func:`~dpstats.estimators.newton.noisy_newton.release`;
    - y in [0, 1]: 1 under add/remove and replace-one;
    - scores: |y - mu| <= 1 and w |a| <= L, so L. Under replace-one two scores differ by at most
      the sum of their lengths, 2 L, which is reached by a and -a;
    - w mu' a a', positive semidefinite of a norm of at most w mu' |a|^2 <= L^2 / 4, as
      mu' = mu (1 - mu); rows beyond a smaller bound B are scaled down to it. So B, and sqrt 2 B
      under replace-one
      (:func:`~dpstats.estimators.newton.row_sums.indicator_basis.release_products`);
    - (mu', w mu'' a, h) in units of 1/4, of L / sqrt 108 and of log 2, the largest values of mu',
      of |mu''| |w a| and of the entropy h = -mu log mu - (1 - mu) log(1 - mu). As h / log 2 is at
      most 2 sqrt(mu (1 - mu)) (Lin 1991, Theorem 8), with s = (1 - 2 mu)^2 their squares add up to
      (1 - s)^2 (1 + 27 s / 4) + 1 - s at most. The derivative, (1 - s)(19 - 81 s) / 4 - 1, is zero
      at s = (50 - sqrt 1285) / 81: the value there, 2.3096, is the square of the sensitivity. Under
      replace-one the first and the last differ by at most 1, as they are not negative, and the
      second by at most 2, so sqrt 6;
    - for robust errors the products s s' of scores: L^2 or sqrt 2 L^2;
    - for errors clustered by a column the norm of the clusters' sizes, the sum of the lengths of
      their sums of scores, and the products of these sums, clipped to a length D: by
      :mod:`~dpstats.estimators.newton.steps.clusters`, whose proof asks of a score its length
      alone, with C = L: 1, L and L (2 D - L), under replace-one 1 and twice the others.
    All are cut toward zero to a grid of 2^-20 of these bounds, which keeps each below its own. The
    position is a number, as no eigenvalue of a Hessian is taken for less than 1e-9
    (:attr:`~dpstats.estimators.newton.generalized.logistic_position.Hessian.raised`), and B is
    above zero.

    A row of a privacy unit, and a weighted one, counts for a part in [0, 1] of each, and the parts
    of a unit add up to at most 1. Each bound is one on a norm, so it holds for the sum over the
    unit by the triangle inequality; under replace-one the sums of two units are as far apart as
    two rows may be, since inner products of sums of u u' are not negative, nor are mu' and h. The
    scores of a unit need no clip of their own before they are multiplied or added up by cluster.

    An offset is a private number of its row alone, of any size (it counts as 2^20 at most). It
    enters nothing but mu, and the bounds above hold for every mu in [0, 1]: |y - mu| <= 1 and
    mu' <= 1/4, while w and |a| depend on regressors alone. So they need no bound on offsets. Their
    distribution is one more histogram within the fraction of the budget for those of the columns.

    What it estimates: the logistic regression of all rows. With weights w it is another weighted
    mean of rows, equal under the model; by how much it may differ elsewhere is part of intervals.
    """
    basis, whole = IndicatorBasis.of(problem), cost
    spent = GAUSSIAN_SHARE if problem.clustered else _SCORE_PRODUCTS
    if robust := problem.in_parts or cov_type != robust_covariance.COV_TYPES[0]:
        cost = cost.part(1 - spent)
    parts = {name: cost.part(part) for name, part in _PARTS.items()}
    rough = RowQueries(basis, passes.sum, problem, noise)
    given = passes.sum(number_of_rows)
    counted = rough.number(given, parts["number"])
    rows = max(counted.total, 2 * counted.noise)
    extremes, offsets = rough.reference.extremes, rough.reference.offsets
    mean, error = mean_response(rough, rows, parts["mean"])
    start = _Start.of(mean, error, basis.has_constant, offsets)
    whitening, tail = whitened(rough, parts["gram"], parts["leverages"], rows)
    mu = math.sqrt(sum(parts[name].mu ** 2 for name in ("second", "third", "fourth", "fifth")))
    seen, far = (
        float(far_directions(basis, whitening.map, rough.problem, tails)[1].max(initial=0.0))
        for tails in (extremes.tails, extremes.far_tails)
    )
    limit, kept = _leverage_limit(
        tail, whitening, rows * start.slope, rough.replaces, mu, _FLAT * rows * seen
    )
    total = mapped(passes, partial(mapped_rows, basis, whitening.map)).sum
    queries = LogisticQueries(basis, total, problem, noise, whitening.map, limit, start.center)
    position, hessian = _stepped(queries, whitening, rows * kept, abs(1 - 2 * start.share), parts)
    slopes, slopes_noise, entropy = queries.slopes(position.eta, parts["slopes"])
    products, clusters = None, None
    if problem.clustered:
        products, clusters = _of_clusters(queries, position, counted, rows, whole.part(spent))
    elif robust:
        products = _of_rows(queries, position, hessian, rows, whole.part(spent))
    few = (counted.total - counted.noise) / counted.part < rows_for_scales(
        len(basis.center) + (offsets is not None), problem, cost, _MARGINALS, 0.0
    )
    # some square of a column is as large as its kurtosis, the mean of squares by themselves
    farthest = max(extremes.leverage, far)
    beyond = tail.beyond(limit**2 / whitening.dimension)
    most = (beyond + tail.deviation) * math.sqrt(farthest) if farthest > limit**2 else 0.0
    hidden = hidden_share(tail.deviation, rows) if has_room(basis, problem) else 0.0
    fitted = FittedLogit(
        position, hessian, whitening.map, queries.center, counted, rows, (mean, error), kept,
        min(beyond / tail.rows, 1.0), products, clusters, slopes, slopes_noise, few,
        _changed(queries, hessian, rows, most), LevelRows.of(basis, whitening.map, problem), hidden,
        None if offsets is not None else entropy,
    )  # fmt: skip
    return release_of(fitted, basis, problem)


def _of_rows(
    queries: LogisticQueries, position: Position, hessian: Hessian, rows: float, cost: GDP
) -> np.ndarray:
    """Release the products (p, p) of the scores of rows."""
    products, deviation = queries.score_products(position.eta, cost)
    freedom = rows / max(rows - len(position.eta), 1.0)  # as HC1 has it
    return freedom * scatter(products, deviation, float(hessian.raised.mean()), 0.0)


def _of_clusters(
    queries: LogisticQueries, position: Position, counted: Counted, rows: float, cost: GDP
) -> tuple[np.ndarray, Clusters]:
    """Release the products of the sums of scores by cluster, and how many there are."""
    own = ClusterQueries(queries, len(position.eta), cost)
    clusters = own.number(counted)
    products = own.products(clusters, queries.at(position.eta).of_units, queries.limit**2)
    return of_few(clusters, rows, own.p) * products, clusters


def _leverage_limit(
    tail: Tail, whitening: Whitening, information: float, replaces: bool, mu: float, flat: float
) -> tuple[float, float]:
    """Choose the limit on scores of least expected error, and return what leverage it keeps.

    The error is that of the noise, of the rows that weights leave, and of what these change: the
    sum of scores by ``flat`` over the cubed limit, where the odds stay flat far out in a column.
    """
    t, p, found = whitening.dimension, whitening.map.shape[1], []
    for leverage in LEVERAGE_EDGES[LEVERAGE_EDGES >= _LEAST_LEVERAGE].tolist():
        weights = np.minimum(1.0, leverage / np.maximum(tail.sizes, 1e-12))
        held = float(tail.mean_counts @ (weights * tail.sizes))
        kept = max(held, 1e-12) / max(float(tail.mean_counts @ tail.sizes), 1e-12)
        noise = leverage * t * ((1 + replaces) / mu / (information * kept)) ** 2
        changed = 2 / p * (_USUAL_LENGTH * (1 - kept)) ** 2
        if leverage < tail.farthest:
            changed += (flat / ((leverage * t) ** 1.5 * information * kept)) ** 2 / p
        found.append((1 / (information * kept) + noise + changed, math.sqrt(leverage * t), kept))
    return min(found)[1:]


def _stepped(
    queries: LogisticQueries, whitening: Whitening, rows: float, rare: float,
    parts: Mapping[str, GDP],
) -> tuple[Position, Hessian]:  # fmt: skip
    """Take five steps, or more of the last three; return the position and the last Hessian."""
    constant = queries.basis.constant
    constant = np.linalg.lstsq(queries.basis.from_span @ whitening.map, constant, rcond=None)[0]
    unsure = float(whitening.unsure.mean()) + _GUESS_ERROR
    errors = whitening.errors / rows**2
    position = Position.start(whitening.map.shape[1], rare)
    offsets = queries.reference.offsets
    slope_at = logistic_slope if offsets is None else partial(offsets.mean, logistic_slope)

    def curvature() -> np.ndarray:
        return normal_curvature(queries.center, position.eta, constant, slope_at)

    def stepped(hessian: Hessian, cost: GDP) -> Position:
        return position.stepped(hessian, *queries.scores(position.eta, cost))

    def released(cost: GDP) -> Hessian:
        usual = max(float(np.trace(curvature())) / len(position.eta), _LEAST_CURVATURE)
        hidden = cost.mu * rows / math.sqrt(len(position.eta))
        most = usual * max(_MOST_CURVATURE * whitening.dimension, _HIDDEN * hidden)
        return Hessian.released(*queries.hessian(position.eta, most, cost))

    repeats = _REPEATS if parts["fifth"].mu > _LARGE_MU else 1
    each = {name: part.part(1 / repeats) for name, part in parts.items()}
    for name in ("start", "second"):
        position = stepped(Hessian.guessed(curvature() * rows, unsure, errors), parts[name])
    for name in ("third", "fourth") * repeats:
        position = stepped(released(each["hessian"]), each[name])
    hessian = released(parts["last hessian"])
    for _ in range(repeats):
        position = stepped(hessian, each["fifth"])
    return position, hessian


def _changed(queries: LogisticQueries, hessian: Hessian, rows: float, most: float) -> np.ndarray:
    """Return what weights may change the position by where odds stay flat far out, (k, p).

    Of a row that lies ``a`` out along a column the probability is off by 1 at most where the fit
    goes on and the odds stay flat, and weights take less than |a| times that off its score, beyond
    the limit L of leverage. The sum over these rows is at most that of a^4 over L^3, which the
    kurtosis of the column tells. Nor is it more than ``most``, the length of all rows that may lie
    there.
    """
    extremes = queries.reference.extremes
    directions, tails = far_directions(
        queries.basis, queries.map, queries.problem, extremes.far_tails
    )
    lost = np.minimum(_FLAT * rows * tails / queries.limit**3, most)
    return (lost[:, None] * directions) @ hessian.inverse


def _check(problem: Problem, options: Mapping[str, Any]) -> None:
    """Raise ArgumentError for a response beyond 0 and 1, and for too many levels."""
    low, high = problem.y_low, problem.y_high
    if (low, high) != (0.0, 1.0):
        found = "any number" if high >= UNLIMITED.high else f"numbers in ({low:g}, {high:g})"
        raise ArgumentError(
            "a logit takes a response of 0 and 1, True and False or two levels, got "
            f"{found}; write a comparison such as wage > 10, or declare the columns that it is "
            'computed from, as in bounds={"employed": (0, 1)} for 1 - employed'
        )
    check_levels("dp_logit", problem)


METHOD = Method(
    "noisy_logit",
    "this package; Mallows' weights as in Künsch, Stefanski and Carroll 1989",
    guarantee="gdp",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    standard_errors="normal approximation with the noise included",
    release=release,
    fixed_size_summary=True,
    options=robust_covariance.OPTIONS,
    check=_check,
    ranges=Ranges(_MARGINALS, marginals=True, response=0.0, lognormal_tails=True),
    takes=frozenset({"units", "weights", "clusters"}),
    binary=True,
)
