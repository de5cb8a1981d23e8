"""Take noisy Newton steps of a Poisson regression, at limits that noisy histograms name."""

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from dpstats.estimators.newton.generalized.logistic_position import (
    Hessian,
    Position,
    normal_curvature,
)
from dpstats.estimators.newton.generalized.offsets import log_mean, mean_square
from dpstats.estimators.newton.generalized.poisson_queries import PoissonQueries
from dpstats.estimators.newton.row_sums.sums import FAR_EDGES, SCORE_EDGES
from dpstats.estimators.newton.steps import (
    Bias,
    ClusterQueries,
    Clusters,
    Counted,
    FlatLosses,
    RareValues,
    Tail,
    Whitening,
    flat_losses,
)
from dpstats.estimators.newton.steps.clusters import products_by_tail
from dpstats.estimators.newton.steps.products import scatter, square_limit, squares_cut
from dpstats.estimators.newton.steps.score_tails import leverage_limit, score_limit, score_tail
from dpstats.privacy import Cost

# All set by simulation (benchmarks/poisson.py). The prior of a position, in logs of the mean, has
# so many times the variance that it has for a response of variance one, and no step is longer.
_PRIOR, _LONGEST = 0.5, 1.0
# How far the change of a Hessian along a step counts as that of rare outcomes: means change by
# factors.
_RARE = 1.0
# The first limit on scores, in standard deviations of the response, and the part of their slope
# that is left by it; the relative error of a curvature that follows from the position alone.
_START_LIMIT, _START_SLOPE, _GUESS_ERROR = 2.0, 0.9, 0.2
# Most weights are at most so many times the mean one.
_USUAL = 2.0
# A score is at most so many times as long as the farthest response is, of an ordinary row.
_FAR_RESIDUAL = 2.0
# A tail is taken for heavy with this chance where the noise on a bin hides so large a share of the
# rows.
_HIDDEN_HEAVY, _HIDDEN_SHARE = 0.4, 0.005
# The mean square of scores over the variance of the response: what the position explains is taken
# off down to this part, the rest is off by this part, and at least by so much; it is at most this,
# and the farther above the more likely a heavy tail is. On fourteen tables it is .76 to 1.75. Where
# the response's tail goes on in the noise it is over this part of the variance that this makes.
_LEAST_LEFT, _LEVERAGE_ERROR, _LEAST_ERROR = 0.3, 0.15, 0.05
_MOST_SQUARE, _ABOVE, _ABOVE_HEAVY, _OF_FAR = 1.75, 0.5, 0.3, 0.75
# A long row has so many times the mean curvature of a row, as means grow along it.
_STEEPER = 4.0
# A mean curvature is between these times the one at the start.
_LEAST_CURVATURE, _MOST_CURVATURE = 0.2, 5.0
# What is cut off scores counts for at most this part of the rows, squared, where a limit is chosen.
_WORTH = 0.3
# Noise is harmless below this part of the sampling error of a sum of scores.
_HARMLESS = 0.03
# Offsets leave at least this part of the variance of the response.
_LEAST_OWN = 0.05
# Logs of means beyond this, about that of the start, count as this in a guessed curvature.
_FARTHEST = 4.0


@dataclass(frozen=True)
class PoissonSteps:
    """Take steps of clipped scores in whitened directions, over ``rows`` rows.

    ``part`` is what rows count for on average, and ``leverages`` is the tail of squared leverages.
    """

    queries: PoissonQueries
    whitening: Whitening
    rows: float
    part: float
    leverages: Tail

    @cached_property
    def constant(self) -> np.ndarray:
        """Return the coefficients (p,) of the constant 1, zeros where there is none."""
        basis = self.queries.basis
        directions = basis.from_span @ self.whitening.map
        return np.linalg.lstsq(directions, basis.constant, rcond=None)[0]

    @cached_property
    def rare(self) -> RareValues:
        """Return the rare values of numbers and levels of factors."""
        return RareValues.of(self.queries, self.whitening)

    @property
    def deviation(self) -> float:
        """Return the standard deviation of the response in units of its mean.

        It is that which offsets leave of it, if there are any.
        """
        if self.queries.reference.offsets is None:
            return self.spread
        left = self.spread**2 - (mean_square(self.queries.reference.offsets) - 1)
        return math.sqrt(max(left, _LEAST_OWN * self.spread**2))

    @property
    def spread(self) -> float:
        """Return the standard deviation of the response in units of its mean, offsets in it."""
        return self.queries.reference.y_scale / self.queries.unit

    @property
    def sigma(self) -> float:
        """Return the unit of the sizes of scores, times the length of the mean whitened row."""
        return self.deviation * min(_USUAL * self.part, 1.0)

    @property
    def size(self) -> float:
        """Return the length of the mean whitened row."""
        return math.sqrt(self.whitening.dimension)

    def start(self, cost: Cost) -> Position:
        """Step from zero, by a Hessian as if directions were normal."""
        position = Position.start(len(self.constant), _RARE, _PRIOR, _LONGEST)
        hessian = self._guessed(position, _START_SLOPE)
        return self.step(position, hessian, _START_LIMIT * self.sigma, cost)

    def second(self, position: Position, tail: Tail, cost: Cost) -> Position:
        """Step once more so, at a limit by the tail; what is cut of scores counts as noise."""
        first = self._guessed(position, _START_SLOPE)
        position = self._with_bias(position, first, tail, _START_LIMIT * self.sigma)
        limit = self.limit(tail, cost.mu)
        whole = float((tail.sizes < limit) @ tail.mean_counts) / tail.rows
        hessian = self._guessed(position, whole)
        position = self.step(position, hessian, limit, cost)
        return self._with_bias(position, hessian, tail, limit)

    def step(self, position: Position, hessian: Hessian, limit: float, cost: Cost) -> Position:
        """Step by a noisy sum of scores clipped at a limit."""
        sums = self.queries.scores(position.eta, limit * self.size, cost)
        return position.stepped(hessian, *sums)

    def hessian(self, position: Position, limit: float, cost: Cost) -> Hessian:
        """Release the Hessian of scores clipped at a limit, each row's to a bound.

        The bound weighs noise against what rows of large leverage lose by it.
        """
        p, t = len(position.eta), self.whitening.dimension
        mean = float(np.trace(self._curvature(position))) / p
        usual = min(max(mean, _LEAST_CURVATURE), _MOST_CURVATURE)
        times = math.sqrt(2) if self.queries.replaces else 1.0
        noise = usual * t * math.sqrt(2 * p) * times / cost.mu
        tail = replace(self.leverages, sizes=_STEEPER * self.leverages.sizes)
        bound = usual * t * leverage_limit(tail, usual * self.rows, usual * t, noise)
        return Hessian.released(*self.queries.hessian(position.eta, limit * self.size, bound, cost))

    def tail(self, position: Position, cost: Cost) -> tuple[Tail, Counted]:
        """Release a histogram of the lengths of scores, and read it with what else is known.

        Their mean square is about the variance of the response, less what the position explains.
        The count in the last bin, of rows far out, is returned beside the tail.
        """
        extremes, reference = self.queries.reference.extremes, self.queries.reference
        farthest = abs(reference.y_center) / self.queries.unit + self.spread * extremes.y_most
        at, unit = self.queries.at(position.eta), self.sigma * self.size
        work = partial(at.counts, unit, edges=FAR_EDGES)
        counts = self.queries.counts("score norms", work, cost)
        hidden = min(counts.deviation / (_HIDDEN_SHARE * self.rows), 1.0)
        heavy = max(extremes.heavy, _HIDDEN_HEAVY * hidden)
        farthest *= _FAR_RESIDUAL
        tail = score_tail(counts.values, counts.deviation, self.sigma, heavy, farthest, FAR_EDGES)
        unit, left = (self.deviation * self.part) ** 2, self._left(position)
        # weights w <= 1: the mean of w^2 s^2 is at most that of w s^2
        most = unit / self.part * max(1.0, _OF_FAR * extremes.y_far_square)
        error = max(math.hypot(extremes.y_error, _LEVERAGE_ERROR * left), _LEAST_ERROR)
        above = _ABOVE + _ABOVE_HEAVY * heavy
        if reference.offsets is not None:  # what they leave of the variance may be little
            left = 0.0
        tail = tail.given_mean_square(
            (left * unit, error * unit), (_MOST_SQUARE * most, above * most)
        )
        return tail, Counted(float(counts.values[-1]), counts.deviation)

    def limit(self, tail: Tail, mu: float) -> float:
        """Choose the limit of scores of least expected error, for steps of ``mu`` in all.

        It is farther out where the noise is harmless there, up to the end of the last bin of the
        histogram that may hold a row.
        """
        noise = (2 if self.queries.replaces else 1) / mu
        worth = _WORTH * self.rows**2 / self.whitening.dimension
        limit = score_limit(tail, self.sigma, len(self.constant), noise, worth)[0]
        harmless = _HARMLESS * math.sqrt(tail.mean_square() * self.rows) / noise
        ends = np.append(SCORE_EDGES, 2 * SCORE_EDGES[-1]) * self.sigma
        end = ends[np.searchsorted(ends[:-1], tail.farthest)]
        return max(limit, min(harmless, float(end)))

    def products(
        self, position: Position, tail: Tail, counted: Counted, cost: Cost
    ) -> tuple[np.ndarray, Clusters | None]:
        """Estimate the sum of s s' over scores s, (p, p), of which standard errors are made.

        With clusters these are sums of scores, and their number is beside it.
        """
        queries, p = self.queries, len(position.eta)
        if queries.problem.clustered:
            own, at = ClusterQueries(queries, p, cost), queries.at(position.eta)
            return products_by_tail(own, at, self.whitening.dimension, tail, counted, self.rows)
        limit = square_limit(tail, (math.sqrt(2) if queries.replaces else 1.0) / cost.mu)
        released = queries.score_products(position.eta, limit * self.size, cost)
        even, cut = tail.mean_square() * tail.rows, float(squares_cut(tail, limit))
        freedom = self.rows / max(self.rows - p, 1.0)  # as HC1 has it
        return freedom * scatter(*released, even, self.whitening.dimension * cut), None

    def bias(self, position: Position, hessian: Hessian, tail: Tail, limit: float) -> Bias:
        """Return what scores clipped at a limit bias a position by, along Hessian eigenvectors.

        Counts are skewed, so rows of rare values lose on one side. So do those far out in a column
        along which means grow as factors where the response does not.
        """
        values, turn, t = hessian.raised, hessian.vectors, self.whitening.dimension
        whole, eta = float(values.mean()), turn.T @ position.eta
        variance = ((position.cov @ turn) * turn).sum(axis=0)
        deviation = self.deviation * self.part
        rare = self.rare.one_sided_losses(tail, limit, self.rows, deviation)
        lost = np.vstack([self._flat(position, tail).beyond(limit, tail), rare])
        bias = Bias.of(tail, limit, t, eta, variance, whole, lost @ turn * (whole / values))
        bias = replace(bias, even=bias.even * (whole / values) ** 2)
        return bias.at_most(len(values) * position.prior)

    def _flat(self, position: Position, tail: Tail) -> FlatLosses:
        """Return what rows far out in one column may lose to a limit."""
        known = position.eta, np.diag(position.cov)
        return flat_losses(
            self.queries, self.whitening, *known, tail, self.rows, self.part, exponential=True
        )

    def _with_bias(
        self, position: Position, hessian: Hessian, tail: Tail, limit: float
    ) -> Position:
        """Return the position with a bias as an error of any direction, and of the constant."""
        bias = self.bias(position, hessian, tail, limit)
        even = float(bias.variance.mean()) * np.eye(len(bias.even))
        shift = bias.shift**2 * np.outer(self.constant, self.constant)
        return replace(position, cov=position.cov + even + shift)

    def _left(self, position: Position) -> float:
        """Estimate the part of the response's variance that the position leaves.

        For normal directions means have the variance e^v - 1, v that of their logs.
        """
        square = float(position.eta @ position.eta) - float(np.trace(position.cov))
        explained = math.expm1(min(max(square, 0.0), _FARTHEST)) / self.deviation**2
        explained *= mean_square(self.queries.reference.offsets)
        return max(1 - explained, _LEAST_LEFT)

    def _guessed(self, position: Position, whole: float) -> Hessian:
        """Return the Hessian for normal directions, of which a part ``whole`` is not clipped."""
        unsure = float(self.whitening.unsure.mean()) + _GUESS_ERROR
        errors = self.whitening.errors / self.rows**2
        return Hessian.guessed(self._curvature(position) * (self.rows * whole), unsure, errors)

    def _curvature(self, position: Position) -> np.ndarray:
        """Return the mean curvature (p, p) for normal directions."""
        center = self.queries.center + log_mean(self.queries.reference.offsets)
        return normal_curvature(center, position.eta, self.constant, _mean_of)


def _mean_of(predictor: np.ndarray) -> np.ndarray:
    """Return means at values of the linear predictor, cut far out."""
    return np.exp(np.minimum(predictor, _FARTHEST))
