"""Release what errors clustered by a column of private labels are made of.

The covariance is H^-1 S H^-1 as in :mod:`~dpstats.estimators.newton.steps.products`, with S the sum
of u u' over clusters and u the sum of the scores of a cluster's rows (Liang and Zeger 1986). The
labels are private, and so is their number: rows of one label are added up, whatever it is.

Guarantee. A row is in one cluster, and its score s is clipped to |s| <= C. Cut to whole numbers
of 2^-20 C, scores add up exactly.

- Sizes. Let m be the norm |n| of the clusters' sizes without one row, which counts for w in [0, 1].
  With it |n| is in [m, m + w], as sizes are not negative. So |n| moves by at most 1 where a row is
  added, and by no more where it is replaced: both norms are in [m, m + 1].
- Lengths. sum |u| moves by at most |s| <= C where a row is added, and by 2 C where one is replaced.
  Sizes and lengths are one number each, which moves by as much in L1.
- Products. Let v = u min(1, D / |u|). Adding a row moves u by at most C, and v by no more, as the
  projection on a ball does not expand. With v and w of norms at most D, a = (v + w) / 2 and
  d = v - w one has v v' - w w' = a d' + d a', whose squared Frobenius norm is
  2 (|a|^2 |d|^2 + (a.d)^2), and |a|^2 + |d|^2 / 4 + |a.d| <= D^2. With y = |a.d| it is at most
  2 (|d|^2 (D^2 - |d|^2 / 4 - y) + y^2), which is convex in y, so largest at an end. At y = |a| |d|
  it is (|d| (2 D - |d|))^2, at y = 0 it is |d|^2 (2 D^2 - |d|^2 / 2), and for D >= 1.5 |d| the
  first is the larger one; both grow with |d|. So the sensitivity is C (2 D - C) for D >= 1.5 C. A
  row that is replaced is one removed and one added: twice that. sqrt 2, as for sums of
  :func:`~dpstats.estimators.newton.row_sums.indicator_basis.release_products`, would be too little:
  both changes may have any sign. Cut toward zero to whole numbers of 2^-20 D, each of the p entries
  of d is off by less than one of these, so |d| <= C + (sqrt p + 1) 2^-20 D.

With privacy units a unit takes the place of a row. Its label is the one that most of its rows have,
which follows from them alone, so that all of its score, of |s| <= C, is in one cluster.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from dpstats.estimators.newton.row_sums import Scores
from dpstats.estimators.newton.row_sums.indicator_basis import release_products
from dpstats.estimators.newton.row_sums.sums import MARGIN, SCORE_EDGES
from dpstats.estimators.newton.steps.products import squares_cut
from dpstats.estimators.newton.steps.queries import Counted, RowQueries
from dpstats.estimators.newton.steps.score_tails import Tail
from dpstats.estimators.newton.steps.state import Clusters, NewtonState
from dpstats.estimators.newton.steps.steps import Steps
from dpstats.noise import Query, noise_deviation
from dpstats.numerics import KeySums, Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import exact_sum, whole_weights
from dpstats.privacy import Cost

# Fraction of mu^2 that clusters take of a fit.
GAUSSIAN_SHARE = 0.16
# Fractions of the cost for sizes and for lengths; the rest is for products.
_SIZES, _LENGTHS = 0.06, 0.12
# Sums are clipped at so many times their mean length, and at least at so many limits of scores.
_MEAN_LENGTHS, _LEAST_LENGTH = 3.0, 1.5 * (1 + 2.0**-10)
# They are clipped farther out where noise is no more than this part of their products: at so many
# times the mean length and the root of the number of clusters.
_HARMLESS, _FARTHEST = 0.03, 1.5
# So much of what is cut off the squares of scores counts as an error of what makes up for it.
_UNSURE = 0.25
# Limits of scores that are tried, from so many root mean squares on.
_LEAST_LIMIT, _LIMITS = 1.5, 200
_ONE = 1 << ENTRY_BITS
# Rounding may move a norm of p numbers by so many units and p more.
_ROUNDING = 8
_BLOCK = 1 << 12
# Yields the scores of rows, or of units, as whole numbers of 2^-20 of a limit, (p, m).
Clipped: TypeAlias = Callable[[Rows], Iterator[np.ndarray]]


@dataclass(frozen=True)
class ClusterQueries:
    """Release the number of clusters, and products of their sums of scores of ``p`` entries."""

    queries: RowQueries
    p: int
    cost: Cost

    @property
    def noise(self) -> float:
        """Return the deviation of the products' noise where both limits are 1, halved."""
        return noise_of_products(self._products_cost, self.p, self._times)

    @property
    def _times(self) -> float:
        return 2.0 if self.queries.replaces else 1.0

    @property
    def _products_cost(self) -> Cost:
        return self.cost.part(1 - _SIZES - _LENGTHS)

    def number(self, counted: Counted) -> Clusters:
        """Release the norm of the clusters' sizes, of which their effective number follows."""
        return _released(self.queries, counted, self.cost.part(_SIZES))

    def products(self, clusters: Clusters, clipped: Clipped, square: float) -> np.ndarray:
        """Release the products (p, p) of clusters' sums, no variance below its noise.

        ``clipped`` yields scores of rows or units of a squared length of at most ``square``.
        """
        sums = self.queries.total(partial(score_sums, clipped, self.p)).sums
        mean = _length(self.queries, sums, self.cost.part(_LENGTHS)) / clusters.number
        length = max(limit_of_sums(mean, clusters.number, self.p, self.noise), _LEAST_LENGTH)
        products, deviation = release_products(
            "cluster products", clipped_products(sums, length), length**2 * square,
            np.ones((self.p, self.p), dtype=bool), self._products_cost, self.queries.noise,
            self.queries.problem.neighbors, self._times * moved(length, self.p),
        )  # fmt: skip
        return raised(products, math.sqrt(2) * deviation)


def with_clusters(
    steps: Steps, state: NewtonState, tail: Tail, counted: Counted, cost: Cost
) -> NewtonState:
    """Return the state with the products of the sums of scores by cluster, and their number."""
    at = steps.queries.at(steps.whitening.map, state.eta)
    own = ClusterQueries(steps.queries, len(state.eta), cost)
    products, clusters = products_by_tail(
        own, at, steps.whitening.dimension, tail, counted, steps.rows
    )
    return replace(state, products=products, clusters=clusters)


def products_by_tail(
    own: ClusterQueries, at: Scores, t: float, tail: Tail, counted: Counted, rows: float
) -> tuple[np.ndarray, Clusters]:
    """Release the products of the sums of scores at a limit that their ``tail`` names."""
    clusters = own.number(counted)
    limit = score_limit(tail, counted, clusters.number, own.noise)
    clipped = partial(at.clipped, limit * math.sqrt(t))
    products = own.products(clusters, clipped, limit**2 * t)
    # what is cut off the scores
    cut = tail.mean_square() / max(tail.mean_square(limit), 1e-12)
    return of_few(clusters, rows, own.p) * cut * products, clusters


def of_few(clusters: Clusters, rows: float, p: int) -> float:
    """Return the factor of statsmodels and Stata for few clusters and so many rows."""
    return clusters.correction * (rows - 1) / max(rows - p, 1.0)


def score_sums(clipped: Clipped, p: int, rows: Rows) -> KeySums:
    """Add up clipped scores (p,) by cluster, in units of 2^-20 of their limit."""
    return KeySums.of(labels(rows), clipped(rows), p)


def sizes(rows: Rows) -> KeySums:
    """Add up what rows count for by cluster, in units of 2^-20."""
    parts = np.full(len(rows), _ONE) if rows.parts is None else whole_weights(rows.parts)
    if rows.units is not None:
        parts = np.bincount(rows.unit_order, parts).astype(np.int64)
    return KeySums.of(labels(rows), [parts[None]])


def labels(rows: Rows) -> np.ndarray:
    """Return the cluster of each row (m,), or of each unit: that of most of its rows.

    Of equally many it is the label with the least key.
    """
    assert rows.clusters is not None, "the request reads labels"
    if rows.units is None:
        return rows.clusters
    order = np.lexsort((rows.clusters, rows.units))
    units, keys = rows.units[order], rows.clusters[order]
    new = np.append(True, (np.diff(units) != 0) | (np.diff(keys) != 0))[: len(keys)]
    starts = np.flatnonzero(new)
    units, keys, counts = units[starts], keys[starts], np.diff(starts, append=len(keys))
    best = np.lexsort((keys, -counts, units))
    return keys[best[np.flatnonzero(np.diff(units[best], prepend=-1))]]


def clipped_products(sums: np.ndarray, length: float) -> np.ndarray:
    """Add up v v' over sums (G, p) clipped to D, ``length`` times 2^20, in units of D^2 2^-40."""
    from dpstats.numerics.kernels import lengths

    size, p = length * _ONE, sums.shape[1]
    blocks = _columns(sums)
    cut = (np.trunc(u * (_ONE * MARGIN / np.maximum(lengths(u), size))) for u in blocks)
    return exact_sum((v @ v.T for v in cut), (p, p))


def _columns(sums: np.ndarray) -> Iterator[np.ndarray]:
    """Yield sums (G, p) as columns (p, m), few at a time, in one layout whatever m is."""
    for start in range(0, max(len(sums), 1), _BLOCK):
        yield np.ascontiguousarray(sums[start : start + _BLOCK].T, dtype=float)


def raised(products: np.ndarray, noise: float) -> np.ndarray:
    """Estimate S (p, p) from ``products`` whose quadratic form of a unit vector has ``noise``.

    An eigenvalue is its own size and that of the noise, as legs of a right triangle: no variance is
    taken to be below its noise, and one of five times the noise hardly changes. For any S and noise
    intervals of normal scores, of 9 clusters or more, then cover at least 94.4% (95% where S is
    below 1.5 times the noise).
    """
    values, vectors = np.linalg.eigh(products)
    return (vectors * np.hypot(np.maximum(values, 0.0), noise)) @ vectors.T


def moved(length: float, p: int) -> float:
    """Bound how far a row moves products clipped at ``length`` limits of its score, over D^2."""
    row = 1 / length + (math.sqrt(p) + 1) / _ONE
    return row * (2 - row)


def _released(queries: RowQueries, counted: Counted, cost: Cost) -> Clusters:
    """Release the norm of the clusters' sizes, of which their effective number follows."""
    held = queries.total(sizes).sums.ravel().tolist()
    norm = math.isqrt(sum(n * n for n in held))  # at most one unit below the root
    far = _ONE + 1
    query = Query("norm of cluster sizes", [norm], l1=far, l2=far, unit=1 / _ONE)
    noisy = queries.noise.add(query, cost)
    return Clusters.of(counted, float(noisy.values[0]), noisy.deviation)


def _length(queries: RowQueries, sums: np.ndarray, cost: Cost) -> float:
    """Release the sum of the lengths of ``sums`` (G, p), over the limit of one row's score."""
    from dpstats.numerics.kernels import lengths

    blocks = _columns(sums)
    total = sum(int(np.floor(lengths(u)).sum()) for u in blocks)
    far = (2.0 if queries.replaces else 1.0) * _ONE + sums.shape[1] + _ROUNDING
    query = Query("cluster lengths", [total], l1=far, l2=far, unit=1 / _ONE)
    noisy = queries.noise.add(query, cost)
    return max(float(noisy.values[0]), 0.0)


def noise_of_products(cost: Cost, p: int, times: float) -> float:
    """Return the deviation of noise on products (p, p) that ``times`` changes move by 1 each."""
    values = p * (p + 1) // 2
    return noise_deviation(cost, math.sqrt(values) * times, times, values)


def limit_of_sums(mean: float, number: float, p: int, noise: float) -> float:
    """Return where sums of scores are cut, in steps that a row moves one by, given their mean.

    At some mean lengths; and where the noise in products, at most 2 ``noise`` for a limit of 1, is
    harmless, as far out as the sum of the largest of clusters with as large a norm of sizes is
    where scores in clusters are alike.
    """
    harmless = _HARMLESS * number * mean**2 / (p * 2 * noise)
    farther = min(harmless, _FARTHEST * math.sqrt(number) * mean)
    return max(farther, _MEAN_LENGTHS * mean)


def score_limit(tail: Tail, counted: Counted, number: float, noise: float) -> float:
    """Choose the limit of scores with the least error in products of their sums.

    ``noise`` is its standard deviation where both limits, on scores and on sums, are 1, and grows
    with what makes up for the squares that are cut off, of which a part stays unsure. Sums of
    independent scores have a length of the root of their number.
    """
    mean = math.sqrt(max(tail.mean_square(), 1e-12))
    limits = np.geomspace(_LEAST_LIMIT * mean, 2 * SCORE_EDGES[-1], _LIMITS)
    length = _MEAN_LENGTHS * mean * math.sqrt(max(counted.number / number, 1.0))
    lengths = np.maximum(length, _LEAST_LENGTH * limits)
    cut, whole = squares_cut(tail, limits), tail.rows * mean**2
    left = np.maximum(1 - cut / whole, 1e-9)
    errors = np.hypot(noise * limits * (2 * lengths - limits) / left, _UNSURE * cut)
    return float(limits[int(np.argmin(errors))])
