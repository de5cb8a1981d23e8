"""Take noisy Newton steps of a Poisson regression, at limits that noisy histograms name."""

import math
import os
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from dpstats.estimators.newton.bias import Bias
from dpstats.estimators.newton.logistic_position import (
    Hessian,
    Position,
    normal_curvature,
)
from dpstats.estimators.newton.poisson_queries import PoissonQueries
from dpstats.estimators.newton.products import scatter, square_limit, squares_cut
from dpstats.estimators.newton.release import constant_of
from dpstats.estimators.newton.score_tails import Tail, leverage_limit, score_limit, score_tail
from dpstats.estimators.newton.whitening import Whitening
from dpstats.privacy import Cost

_START_LIMIT, _START_SLOPE = 2.0, 0.9
_GUESS_ERROR = 0.2
_HIDDEN_HEAVY, _HIDDEN_SHARE = 0.4, 0.005
_LEVERAGE_ERROR, _LEAST_ERROR, _MOST_SQUARE, _ABOVE, _ABOVE_HEAVY = 0.15, 0.05, 1.75, 0.5, float(os.environ.get('AH','1'))
_FAR_RESIDUAL = 2.0
_STEEPER = float(os.environ.get('ST','2'))
_WORTH = float(os.environ.get('WO','.3'))
_PRIOR, _LONGEST = float(os.environ.get('PR','1')), float(os.environ.get('LO','1'))
_USUAL = 2.0


@dataclass(frozen=True)
class PoissonSteps:
    queries: PoissonQueries
    whitening: Whitening
    rows: float
    part: float
    leverages: Tail

    @cached_property
    def deviation(self) -> float:
        """Return the standard deviation of the response in units of its mean."""
        reference = self.queries.reference
        return reference.y_scale / self.queries.unit

    @cached_property
    def constant(self) -> np.ndarray:
        basis = self.queries.basis
        return np.linalg.lstsq(
            basis.from_span @ self.whitening.map, constant_of(basis), rcond=None
        )[0]

    @property
    def size(self) -> float:
        """Return the length of the mean whitened row."""
        return math.sqrt(self.whitening.dimension)

    @property
    def sigma(self) -> float:
        return self.deviation * min(_USUAL * self.part, 1.0)

    def start(self, cost: Cost) -> Position:
        p = self.whitening.map.shape[1]
        position = Position.start(p, 1.0, _PRIOR, _LONGEST)
        limit = _START_LIMIT * self.sigma
        return self.step(position, self._guessed(position, _START_SLOPE), limit, cost)

    def second(self, position: Position, tail: Tail, cost: Cost) -> Position:
        limit = self.limit(tail, cost.mu)
        whole = float((tail.sizes < limit) @ tail.mean_counts) / tail.rows
        first = self.bias(position, self._guessed(position, _START_SLOPE), tail,
                          _START_LIMIT * self.sigma)
        position = replace(position, cov=position.cov + self._spread(first))
        hessian = self._guessed(position, whole)
        position = self.step(position, hessian, limit, cost)
        bias = self.bias(position, hessian, tail, limit)
        return replace(position, cov=position.cov + self._spread(bias))

    def step(self, position: Position, hessian: Hessian, limit: float, cost: Cost) -> Position:
        sums = self.queries.scores(position.eta, limit * self.size, cost)
        return position.stepped(hessian, *sums)

    def _guessed(self, position: Position, whole: float) -> Hessian:
        unsure = float(self.whitening.unsure.mean()) + _GUESS_ERROR
        return Hessian.guessed(self._curvature(position) * self.rows * whole, unsure)

    def _curvature(self, position: Position) -> np.ndarray:
        return normal_curvature(
            self.queries.center, position.eta, self.constant, lambda z: np.exp(np.minimum(z, 4))
        )

    def hessian(self, position: Position, limit: float, cost: Cost) -> Hessian:
        p = len(position.eta)
        usual = min(max(float(np.trace(self._curvature(position))) / p, 0.2), 5.0)
        t, times = self.whitening.dimension, math.sqrt(2) if self.queries.replaces else 1.0
        noise = usual * t * math.sqrt(2 * p) * times / cost.mu
        tail = replace(self.leverages, sizes=_STEEPER * self.leverages.sizes)
        bound = usual * t * leverage_limit(tail, usual * self.rows, usual * t, noise)
        return Hessian.released(
            *self.queries.hessian(position.eta, limit * self.size, bound, cost)
        )

    def tail(self, position: Position, cost: Cost) -> Tail:
        extremes = self.queries.reference.extremes
        center = self.queries.reference.y_center / self.queries.unit
        farthest = abs(center) + self.deviation * extremes.y_most
        most = _FAR_RESIDUAL * farthest
        work = partial(self.queries.at(position.eta).counts, self.sigma * self.size)
        counts = self.queries.counts("score norms", work, cost)
        hidden = min(counts.deviation / (_HIDDEN_SHARE * self.rows), 1.0)
        heavy = max(extremes.heavy, _HIDDEN_HEAVY * hidden)
        tail = score_tail(counts.values, counts.deviation, self.sigma, heavy, most)
        square = self.deviation**2
        explained = math.expm1(min(max(float(position.eta @ position.eta) - float(np.trace(position.cov)), 0.0), 2.0))
        left = max(square - explained, 0.3 * square)
        error = math.hypot(extremes.y_error * square, _LEVERAGE_ERROR * left)
        error = max(error, _LEAST_ERROR * square)
        above = (_ABOVE + _ABOVE_HEAVY * heavy) * square
        part = self.part**2
        return tail.given_mean_square((left * part, error * part), (_MOST_SQUARE * square, above))

    def limit(self, tail: Tail, mu: float) -> float:
        p, t = len(self.constant), self.whitening.dimension
        noise = (2 if self.queries.replaces else 1) / mu
        return score_limit(tail, self.sigma, p, noise, _WORTH * self.rows**2 / t)[0]

    def products(self, position: Position, tail: Tail, cost: Cost) -> np.ndarray:
        t, queries, p = self.whitening.dimension, self.queries, len(position.eta)
        limit = square_limit(tail, (math.sqrt(2) if queries.replaces else 1.0) / cost.mu)
        products, deviation = queries.score_products(
            position.eta, limit * math.sqrt(t), cost
        )
        even, cut = tail.mean_square() * tail.rows, t * float(squares_cut(tail, limit))
        freedom = self.rows / max(self.rows - p, 1.0)
        return freedom * scatter(products, deviation, even, cut)

    def bias(self, position: Position, hessian: Hessian, tail: Tail, limit: float) -> Bias:
        """in the eigenvectors of the Hessian."""
        values, turn = hessian.raised, hessian.vectors
        whole = float(values.mean())
        variance = ((position.cov @ turn) * turn).sum(axis=0)
        bias = Bias.of(tail, limit, self.whitening.dimension, turn.T @ position.eta, variance, whole)
        bias = replace(bias, even=bias.even * (whole / values) ** 2)
        return bias.at_most(len(values) * position.prior)

    def _spread(self, bias: Bias) -> np.ndarray:
        return np.eye(len(bias.even)) * float(bias.variance.mean()) + bias.shift**2 * np.outer(
            self.constant, self.constant
        )
