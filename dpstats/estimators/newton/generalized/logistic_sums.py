"""Add up over rows what noisy Newton steps of a logistic regression need, each row bounded.

Every sum is exact and of functions of one row each, in whole numbers. A row that counts for a part
of one, by its weight or as one of the rows of a privacy unit, adds that part of what it would.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.estimators.newton.row_sums.sums import (
    MARGIN,
    capped_curvature,
    parts_of,
    slices,
    starts_of,
    whitened_blocks,
)
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import exact_sum

_ONE = 2.0**ENTRY_BITS
# The largest values of mu' = mu (1 - mu) and, at mu = 1/2 +- 1 / sqrt 12, of mu'' = mu' (1 - 2 mu);
# and of the entropy of an outcome.
MOST_SLOPE, MOST_BEND, MOST_ENTROPY = 0.25, math.sqrt(3) / 18, math.log(2)
# Probabilities are no closer to 0 and 1 where logarithms are taken.
_LEAST, _MOST = 1e-300, 1 - 2.0**-53


class Block(NamedTuple):
    """Hold some rows a, as columns (p, m), with squared norms, parts, weights and mu, (m,) each."""

    columns: np.ndarray
    squares: np.ndarray
    parts: np.ndarray
    weights: np.ndarray
    means: np.ndarray
    response: np.ndarray


@dataclass(frozen=True)
class LogisticRows:
    """Compute scores and curvatures of whitened rows a = phi @ ``map`` at a position.

    The probability of a row is mu = 1 / (1 + exp(-``center`` - a'``eta`` - o)), o its offset if it
    has one, and its weight is w = min(1, (``limit`` / |a|)^2), a function of its regressors alone.
    """

    basis: IndicatorBasis
    map: np.ndarray
    limit: float
    center: float
    eta: np.ndarray

    def blocks(self, rows: Rows) -> Iterator[Block]:
        """Yield the rows block by block; responses are cut to [0, 1]."""
        from dpstats.numerics.logistic_loops import probabilities

        parts = parts_of(rows)
        for columns, squares, own in whitened_blocks(self.basis, self.map, rows):
            weights = 1 / np.maximum(squares / self.limit**2, 1.0)
            means = probabilities(starts_of(self.center, rows[own]), columns, self.eta)
            y = _within_one(rows.response[own])
            yield Block(columns, squares, parts[own], weights, means, y)

    def scores(self, rows: Rows) -> np.ndarray:
        """Add up the scores w a (y - mu) in units of 2^-20 of the limit, (p,)."""
        from dpstats.numerics.score_loops import cut_sums

        scores = (cut_sums(*terms) for terms in self._scores(rows))
        return exact_sum(scores, (len(self.eta),))

    def products(self, rows: Rows) -> np.ndarray:
        """Add up s s' over the scores s of rows, or of units, in units of limit^2 2^-40, (p, p)."""
        blocks = self.of_units(rows)
        return exact_sum((block @ block.T for block in blocks), (len(self.eta),) * 2)

    def of_units(self, rows: Rows) -> Iterator[np.ndarray]:
        """Yield the scores of rows, or their sums of units, as whole 2^-20 of the limit (p, m)."""
        from dpstats.numerics.kernels import cut_rows, sums_of_runs

        blocks = (cut_rows(*terms) for terms in self._scores(rows))
        if rows.units is None:
            yield from blocks
            return
        sums = sums_of_runs(np.hstack([np.empty((len(self.eta), 0)), *blocks]), rows.units)
        yield from (sums[:, own] for own in slices(sums.shape[1]))

    def hessian(self, bound: float, rows: Rows) -> np.ndarray:
        """Add up w mu' a a', each of a norm of at most ``bound``, in units of it 2^-40, (p, p)."""
        from dpstats.numerics.kernels import cut_rows, products

        terms = (
            products(
                cut_rows(block.columns, _ONE * MARGIN * np.sqrt(self._curvature(bound, block)))
            )
            for block in self.blocks(rows)
        )
        return exact_sum(terms, (len(self.eta),) * 2)

    def slopes(self, rows: Rows) -> np.ndarray:
        """Add up mu', w mu'' a and entropies in units of 2^-20 of the largest values, (2 + p,)."""
        from dpstats.numerics.kernels import cut_rows

        def of(block: Block) -> np.ndarray:
            slope = block.means * (1 - block.means)
            first = np.trunc(block.parts * slope * (_ONE * MARGIN / MOST_SLOPE))
            bend = slope * (1 - 2 * block.means) * (block.parts * block.weights)
            rest = cut_rows(block.columns, bend * (_ONE * MARGIN / (MOST_BEND * self.limit)))
            entropy = np.trunc(
                block.parts * entropies(block.means) * (_ONE * MARGIN / MOST_ENTROPY)
            )
            return np.concatenate([[first.sum()], rest.sum(axis=1), [entropy.sum()]])

        return exact_sum(map(of, self.blocks(rows)), (2 + len(self.eta),))

    def _scores(self, rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield rows (p, m) and what makes them scores, times parts, in 2^-20 of the limit, (m,).

        The products are to be cut toward zero to whole numbers.
        """
        for block in self.blocks(rows):
            left = (block.response - block.means) * (block.parts * block.weights)
            yield block.columns, left * (_ONE * MARGIN / self.limit)

    def _curvature(self, bound: float, block: Block) -> np.ndarray:
        """Return w mu', times parts, over ``bound``, made smaller where a a' is longer, (m,)."""
        curvature = block.weights * block.means * (1 - block.means)
        return capped_curvature(curvature, block.squares, bound, block.parts)


def entropies(means: np.ndarray) -> np.ndarray:
    """Return -mu log mu - (1 - mu) log(1 - mu), the entropy of outcomes of 0 and 1, (m,).

    >>> entropies(np.array([0.0, 0.5, 1.0])).round(4).tolist()
    [0.0, 0.6931, 0.0]
    """
    means = np.clip(means, _LEAST, _MOST)
    return -means * np.log(means) - (1 - means) * np.log1p(-means)


def ones(rows: Rows) -> np.ndarray:
    """Add up responses cut to [0, 1], times parts, in units of 2^-20, as whole numbers (1,)."""
    y = _within_one(rows.response)
    return np.array([int(np.trunc(y * parts_of(rows) * _ONE).sum())], dtype=object)


def _within_one(y: np.ndarray) -> np.ndarray:
    """Cut responses to [0, 1]; NaN is 0."""
    return np.fmin(np.fmax(y, 0.0), 1.0)
