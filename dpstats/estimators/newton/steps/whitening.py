"""Find directions in which X'X is about the number of rows, by noisy products and leverages."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.estimators.newton.row_sums.sums import (
    leverage_counts,
    rough_products,
    whitened_products,
)
from dpstats.estimators.newton.steps.queries import RowQueries
from dpstats.estimators.newton.steps.score_tails import Tail, leverage_limit, leverage_tail
from dpstats.privacy import Cost

# Squared norm of a row's numeric part in the rough sums, for each numeric column.
NUMERIC_NORM = 3.0
# The second X'X pays where its noise, at this limit of leverage, is below the number of rows.
_TYPICAL_LEVERAGE = 3.0
# X'X stands for at least this part of the rows, inverted.
_MOST_SCALED = 4.0
# Of what X'X is in a direction so many quantiles are taken. Noise is at least so much, and a
# released value at most so many deviations below zero.
_QUANTILES, _LEAST_NOISE, _FAR_BELOW = 9, 1e-12, -8.0


@dataclass(frozen=True)
class Lost:
    """Hold what X'X lost by scaling rows down: their number, and leverage in mean ones a row."""

    rows: float = 0.0
    leverage: float = 0.0


@dataclass(frozen=True)
class Whitening:
    """Map coordinates phi to directions in which X'X is about the number of rows.

    ``map`` (m, p), the part ``kept`` (p,) of each direction that stands clear of noise, by what
    part of itself X'X may be off there, ``unsure`` (p,), and the eigenvalues (p,) as released.
    ``errors`` (p, p) times the mean squares (p,) of a position are the variances of the step that
    noise in X'X causes, ``lost`` is what scaling rows down has cost, and a row that lies farther
    than ``reach`` deviations out in one column, and not in others, was scaled down. ``shares``
    (p, m) are quantiles of what X'X is in each direction over what it is taken for.
    """

    map: np.ndarray
    kept: np.ndarray
    unsure: np.ndarray
    eigenvalues: np.ndarray
    errors: np.ndarray
    lost: Lost = Lost()
    reach: float = math.inf
    shares: np.ndarray = field(default_factory=lambda: np.ones((1, 1)))

    def divided(self, by: float) -> "Whitening":
        """Return the map to directions in which X'X is ``by`` times smaller, 1 or more.

        Some directions need no division, so each may be off by as much.
        """
        return replace(
            self,
            map=self.map / math.sqrt(by),
            unsure=np.maximum(self.unsure, 1 - 1 / by),
            errors=self.errors / by**2,
        )

    @cached_property
    def dimension(self) -> float:
        """Return the mean squared norm of a whitened row, at least 1."""
        return max(float(self.kept.sum()), 1.0)


def rough_whitening(
    queries: RowQueries, cost: Cost, rows: float, part: float = 1.0
) -> tuple[Whitening, bool]:
    """Release X'X in the indicator basis, whiten by it, and tell whether a second one pays.

    Where it does half of the cost is left for it. Of the usual bound on the numeric part of a row's
    squared norm, times its weight, ``part`` is taken.
    """
    basis, p = queries.basis, queries.basis.span.shape[1]
    half = cost.part(0.5)
    pays = part * _TYPICAL_LEVERAGE * p * _noise_norm(queries, p, half) < rows
    bound = basis.ones + part * NUMERIC_NORM * len(basis.center)
    work = partial(rough_products, basis, bound)
    gram, deviation = queries.products(
        "X'X", work, bound, basis.free, half if pays else cost, basis.ones + len(basis.center)
    )
    span, weighted = basis.span, _weighted_rows(basis, gram, rows)
    values, vectors, weights, *known = _eigen(span.T @ gram @ span, deviation, weighted)
    map_ = span @ vectors * weights

    squares, free = map_**2, basis.free * (1.0 + np.eye(basis.size))
    errors = deviation**2 * squares.T @ free @ squares
    reach = math.sqrt(NUMERIC_NORM * len(basis.center))
    kept, unsure, shares = known
    return Whitening(map_, kept, unsure, values, errors, reach=reach, shares=shares), pays


def refined_whitening(
    queries: RowQueries, first: Whitening, tail: Tail, cost: Cost, rows: float, part: float = 1.0
) -> Whitening:
    """Release X'X again in whitened coordinates, and whiten by it.

    It takes the half of the cost that is left for it. Of a limit on leverages ``part`` is the bound
    on a row's squared norm times its weight.
    """
    p, t, half = first.map.shape[1], first.dimension, cost.part(0.5)
    limit = leverage_limit(tail, rows, t, part * t * _noise_norm(queries, p, half))
    bound = part * limit * t
    work = partial(whitened_products, queries.basis, first.map, bound)
    free = np.ones((p, p), dtype=bool)
    gram, deviation = queries.products("whitened X'X", work, bound, free, half, p)
    values, vectors, weights, kept, unsure, shares = _eigen(gram, deviation, rows)

    errors = deviation**2 * np.outer(weights**2, weights**2) * (1.0 + np.eye(p))
    map_ = first.map @ vectors * weights
    lost = Lost(tail.beyond(limit), tail.excess(limit) / rows)
    reach = math.sqrt((limit - 1) * t)  # other columns have the mean leverage of a row, t
    return Whitening(map_, kept, unsure, values, errors, lost, reach, shares)


def whitened(
    queries: RowQueries, gram: Cost, histogram: Cost, rows: float
) -> tuple[Whitening, Tail]:
    """Release X'X, leverages, and X'X again where that pays."""
    extremes = queries.reference.extremes
    whitening, pays = rough_whitening(queries, gram, rows)
    tail, _ = leverages(queries, whitening, histogram, extremes.heavy, extremes.leverage)
    if pays:
        whitening = refined_whitening(queries, whitening, tail, gram, rows)
    return whitening, tail


def _noise_norm(queries: RowQueries, p: int, cost: Cost) -> float:
    """Approximate the norm of the noise on (p, p) products of rows of norm 1."""
    return math.sqrt(2 * p) * queries.product_deviation(p, cost)


def leverages(
    queries: RowQueries, whitening: Whitening, cost: Cost, heavy: float, most: float
) -> tuple[Tail, float]:
    """Release a histogram of squared leverages, of at most ``most``; return the noise on it too."""
    work = partial(leverage_counts, queries.basis, whitening.map, whitening.dimension)
    noisy = queries.counts("leverages", work, cost, queries.one)
    tail = leverage_tail(noisy.values, noisy.deviation, heavy, most / whitening.dimension)
    return tail, noisy.deviation


def _weighted_rows(basis: IndicatorBasis, gram: np.ndarray, rows: float) -> float:
    """Estimate the effective sample size of X'X; rows that were scaled down count for less.

    Directions are whitened to that number, while sums of scores, of rows not scaled down, stand
    for all ``rows``: a step from one to the other would overshoot.
    """
    diagonal, ends = np.diag(gram), [*basis.offsets, basis.indicators]
    weighted = rows
    if basis.sizes:
        blocks = [diagonal[i:j].sum() for i, j in zip(ends[:-1], ends[1:], strict=True)]
        weighted = float(np.average(blocks, weights=1 / np.array(basis.sizes)))
    elif basis.indicators:
        weighted = float(diagonal[0])
    return min(max(weighted, rows / _MOST_SCALED), rows)


def _eigen(gram: np.ndarray, deviation: float, rows: float):
    """Return eigenvalues and vectors, whitening weights, and how well each direction is known.

    Eigenvalues are taken as no smaller than half the norm of the noise. Of a direction are known
    the part above that, and the relative error of its eigenvalue: a'(noise)a has a standard
    deviation of sqrt 2 times ``deviation`` for a unit vector a. What it is over what it is taken
    for follows from both, as it is positive.
    """
    values, vectors = np.linalg.eigh(gram)
    raised = np.maximum(values, deviation * math.sqrt(len(values)))
    kept, noise = np.maximum(values, 0.0) / raised, math.sqrt(2) * deviation / raised
    unsure = np.maximum(1 - kept, np.minimum(noise, 1.0))
    return values, vectors, np.sqrt(rows / raised), kept, unsure, _shares(values / raised, noise)


def _shares(means: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return quantiles (p, m) of normal variables (p,) given that they are positive, as X'X is."""
    from scipy.special import ndtr, ndtri

    noise = np.maximum(noise, _LEAST_NOISE)
    positive = ndtr(np.maximum(means / noise, _FAR_BELOW))[:, None]
    beyond = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    found = means[:, None] - noise[:, None] * ndtri(beyond * positive)
    return np.maximum(found, 0.0)
