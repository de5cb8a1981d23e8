"""Release products of the scores of groups, of which clustered standard errors are made."""

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dpstats.estimators.newton.row_sums import PairRows, Scores
from dpstats.estimators.newton.row_sums.sums import slices
from dpstats.estimators.newton.steps import Clusters, NewtonState, Steps, Tail
from dpstats.estimators.newton.steps.clusters import limit_of_sums, noise_of_products
from dpstats.estimators.newton.steps.products import scatter
from dpstats.estimators.newton.steps.score_tails import score_limit
from dpstats.estimators.newton.within.largest_group import Unequal, whole_groups
from dpstats.estimators.newton.within.pair_queries import PairQueries
from dpstats.noise import Query
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import exact_sum
from dpstats.privacy import Cost

_ONE = 1 << ENTRY_BITS
# Fractions of the cost for the largest group and for lengths; the rest is for the products.
_LARGEST, _LENGTHS = 0.1, 0.1


def moved(step: float, length: float) -> float:
    """Bound |u u' - v v'| in the Frobenius norm for |u|, |v| <= ``length``, |u - v| <= ``step``.

    With s = u + v and d = u - v it is the root of (|s|^2 |d|^2 + (s.d)^2) / 2, where s.d is
    a - b, a = |u|^2 >= b = |v|^2, and |s|^2 = 2 a + 2 b - |d|^2. So the square grows with a, up to
    that of ``length``, and is convex in b: it is largest at b = a, where it grows with |d| up to
    sqrt 2 times ``length``, or at the least b, where v is parallel to u and the root is a - b, of
    |v| = |u| - |d| or at most a.

    >>> moved(1.0, 3.0)
    5.0
    """
    parallel, same = min(step, length), min(step, math.sqrt(2) * length)
    return max(same * math.sqrt(2 * length**2 - same**2 / 2), parallel * (2 * length - parallel))


@dataclass(frozen=True)
class Limited:
    """Hold the scores of a response, the ``limit`` on the length of a pair's, and their unit."""

    at: Scores
    limit: float
    unit: float = 1.0


@dataclass(frozen=True)
class GroupScores:
    """Add up the clipped scores of pairs by group, of one response or of several in one vector.

    Those of each response are over its unit.
    """

    each: tuple[Limited, ...]

    @classmethod
    def of(cls, *fits: tuple[Steps, NewtonState, Tail, float], cost: Cost) -> "GroupScores":
        """Choose limits for (steps, state, distribution of scores, unit) of each response."""
        found = []
        for steps, state, tail, unit in fits:
            queries, p = steps.queries, len(state.eta)
            limit, _ = score_limit(tail, state.sigma, p, queries.score_deviation(p, cost))
            at = queries.at(steps.whitening.map, state.eta)
            found.append(Limited(at, limit * math.sqrt(steps.whitening.dimension), unit))
        return cls(tuple(found))

    @property
    def p(self) -> int:
        """Return the number of entries."""
        return sum(len(one.at.eta) for one in self.each)

    @property
    def limit(self) -> float:
        """Return the length C that a pair has at most: that of vectors of full length each."""
        return math.hypot(*(one.limit / one.unit for one in self.each))

    def sums(self, rows: PairRows) -> np.ndarray:
        """Add up by group, parts of it together, (G, p), in units of 2^-20 C."""
        sums = [
            by_group(one.at, one.limit, rows.of_outcome(place))
            for place, one in enumerate(self.each)
        ]
        shares = [one.limit / one.unit / self.limit for one in self.each]
        return np.hstack([of_one * share for of_one, share in zip(sums, shares, strict=True)])


def with_clusters(
    state: NewtonState, steps: Steps, tail: Tail, clusters: Clusters, cost: Cost
) -> NewtonState:
    """Return the state with the covariance of scores that are summed by group, and their number."""
    scores = GroupScores.of((steps, state, tail, 1.0), cost=cost)
    products, deviation = release_clusters(steps, scores, state.square, clusters, cost)
    products = clusters.correction * scatter(
        products, deviation, state.square / 2 * steps.rows, 0.0
    )
    return replace(state, products=products, clusters=clusters)


def release_clusters(
    steps: Steps, scores: GroupScores, square: float, clusters: Clusters, cost: Cost
) -> tuple[np.ndarray, float]:
    r"""Release the products (p, p) of the scores of groups, and the deviation of their noise.

    ``clusters`` is their effective number, as released, and ``square`` the mean square of residuals
    of pairs, in the units of scores.

    T_g is the sum (1/n) sum_{i<j} of the scores of pairs of group g, clipped to length C, or that
    of its parts. The covariance of the sum over groups is sum_g T_g T_g' (Liang and Zeger 1986;
    Arellano 1987), of T_g cut to length D. That is at least what is said by
    :func:`~dpstats.estimators.newton.steps.clusters.limit_of_sums`, and at least the length that
    the largest group may have where groups are of different sizes
    (:meth:`~dpstats.estimators.newton.within.largest_group.Unequal.limit`).

    Guarantee. The cost. By the proof of
    :class:`~dpstats.estimators.newton.within.pair_queries.PairQueries` a row that joins a group
    moves its T_g by at most 3/2 C and no other. That proof asks of a pair's vector its length
    alone: of two responses it is (s / f, r / g), for scores s and r of y and of d that are clipped
    to the lengths A and B, and public f and g, so it has at most C = |(A / f, B / g)|. Cutting to D
    does not expand distances (projection on a ball), so u u', u the cut T_g, moves by
    :func:`moved`; under replace-one two groups change so, or one twice. The sum of |T_g| moves by
    3/2 C, or 3 C. Groups' sums of each response are rounded down to whole multiples of 2^-20 times
    A or B, so of no more than 2^-20 C in these units, and u toward zero to whole 2^-20 D. That of
    the size of the largest group is derived by
    :meth:`~dpstats.estimators.newton.within.largest_group.Unequal.released`.
    """
    queries, p, limit = steps.queries, scores.p, scores.limit
    assert isinstance(queries, PairQueries)
    unequal = Unequal.released(queries, cost.part(_LARGEST))
    total = _total_length(queries, scores, cost.part(_LENGTHS))
    left, step = cost.part(1 - _LARGEST - _LENGTHS), 1.5 * limit * (1 + 2 * math.sqrt(p) / _ONE)
    mean, noise = total / clusters.number, noise_of_products(left, p, queries.groups_changed)
    length = step * max(limit_of_sums(mean / step, clusters.number, p, noise), 1.5)
    length = max(length, unequal.limit(total, p, square, 2 * steps.rows, clusters.number))
    far = moved(step + 2 * math.sqrt(p) * length / _ONE, length) * queries.groups_changed
    work = partial(_products, scores, length)
    return queries.cluster_products(work, length**2, far / length**2, p, left)


def _total_length(queries: PairQueries, scores: GroupScores, cost: Cost) -> float:
    """Release the sum of the lengths of groups' scores, and add the noise in it."""
    value = queries.total(partial(_lengths, scores))
    rounded = 2 + math.sqrt(scores.p)
    far = queries.groups_changed * (1.5 * _ONE + rounded)
    query = Query("scores of groups", [value], l1=far, l2=far, unit=1 / _ONE)
    noisy = queries.noise.add(query, cost)
    return scores.limit * (max(float(noisy.values[0]), 0.0) + noisy.deviation)


def by_group(at: Scores, limit: float, rows: PairRows) -> np.ndarray:
    """Add up clipped scores of pairs by group, parts of it together, (G, p), in 2^-20 limit."""
    return whole_groups(at.by_group(limit, 1.0, 0.0, rows)[:, :-1], rows).astype(float)


def _lengths(scores: GroupScores, rows: PairRows) -> int:
    lengths = np.sqrt((scores.sums(rows) ** 2).sum(axis=1))
    return int(np.floor(lengths).astype(np.int64).sum())


def _products(scores: GroupScores, length: float, rows: PairRows) -> np.ndarray:
    """Add up u u' over groups, u cut to ``length``, in units of length^2 2^-40."""
    sums = scores.sums(rows) * (scores.limit / length)
    size = np.sqrt((sums**2).sum(axis=1)) / _ONE
    cut = np.trunc(sums * ((1 - 2.0**-30) / np.maximum(size, 1.0))[:, None])
    blocks = (cut[own] for own in slices(len(cut)))
    return exact_sum((block.T @ block for block in blocks), (scores.p,) * 2)
