"""Take noisy Newton steps on clipped scores, at limits that noisy histograms name."""

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from dpstats.estimators.newton.row_sums import Scores
from dpstats.estimators.newton.steps.bias import Bias
from dpstats.estimators.newton.steps.far_responses import with_far_responses
from dpstats.estimators.newton.steps.flat_responses import FlatLosses, flat_losses
from dpstats.estimators.newton.steps.goodness import Squares
from dpstats.estimators.newton.steps.hidden_rows import hidden_share
from dpstats.estimators.newton.steps.products import scatter, square_limit, squares_cut
from dpstats.estimators.newton.steps.queries import EVEN_WEIGHTS, WEIGHT, Queries
from dpstats.estimators.newton.steps.rare_values import RareValues
from dpstats.estimators.newton.steps.score_tails import Tail, edge_beyond, score_limit, score_tail
from dpstats.estimators.newton.steps.state import NewtonState, prior_variance
from dpstats.estimators.newton.steps.whitening import Whitening
from dpstats.privacy import Cost

# The first limit on scores, in units of the response's standard deviation; the share of the
# score's slope that is left by it, and its relative error.
_START_LIMIT, _START_SLOPE, _START_ERROR = 2.0, 0.9, 0.15
# A score is at most so many times as long as the farthest residual, of a row of ordinary leverage,
# or, of a row of the largest leverage, as its root times how far an ordinary response lies from the
# fit there, which is that root times the length of the position, and times at most this: the row
# lies along few directions.
_FAR_RESIDUAL, _FAR_ROW, _ALIGNED = 2.0, 3.0, 2.0
# Most weights are at most so many times the mean one.
_USUAL = 2.0
# What is cut off scores counts for at most this part of the response's variance where a limit is
# chosen: a step with noise beyond it is worth less than what is known before it. Set on the tables
# of benchmarks/tails.py (.1, .3 and 1 were tried).
_WORTH = 0.1
# So much of what far rows lose where the response stays flat counts where a limit is chosen. With
# all of it intervals of other regressors are 1.5 times as long at epsilon 1, and slopes on the line
# 1.7 times as far off; with a tenth the column's own interval is a third longer
# (benchmarks/tried_tails.py).
_FLAT_WORTH = 0.4
# A tail is taken for heavy with this chance where the noise on a bin hides so large a share of the
# rows.
_HIDDEN_HEAVY, _HIDDEN_SHARE = 0.4, 0.005
# The mean square of residuals that the evidence asks for is off by this part of it, as rows count
# by leverage, and at least by so much. It is hardly above the response's own, and may be the
# farther above it the more likely a heavy tail is.
_LEVERAGE_ERROR, _LEAST_ERROR, _MOST_SQUARE, _ABOVE, _ABOVE_HEAVY = 0.15, 0.05, 1.5, 0.5, 10.0
# A position leaves at least this part of the response's variance.
_LEAST_LEFT = 1e-6
# Relative error of a Hessian: so many times the share of the rows whose scores were cut, between
# these; benchmarks/cases.py prints how wide intervals are then.
_HESSIAN_PER_CUT, _LEAST_HESSIAN_ERROR, _MOST_HESSIAN_ERROR = 4.0, 0.05, 0.4


@dataclass(frozen=True)
class Steps:
    """Take steps of scores in whitened directions, over ``rows`` rows.

    ``most_leverage`` is the largest squared leverage in units of the mean one, ``part`` what rows
    count for on average, and ``alike`` what is left of the mean square of scores as those of a unit
    are added up, at least.
    """

    queries: Queries
    whitening: Whitening
    rows: float
    most_leverage: float
    part: float = 1.0
    alike: float = 1.0

    @cached_property
    def rare(self) -> RareValues:
        """Return the rare values of numbers and levels of factors."""
        return RareValues.of(self.queries, self.whitening)

    def start(self, cost: Cost) -> NewtonState:
        """Step from zero, and shrink toward it by the prior of each direction."""
        p, unit = self.whitening.map.shape[1], math.sqrt(self.whitening.dimension)
        limit = _START_LIMIT * self._usual_part
        sums, _, deviation, _ = self.queries.scores(
            "scores at zero", self._at(np.zeros(p)), limit * unit, limit, cost
        )
        slope, prior = _START_SLOPE * self.rows, prior_variance(p)
        eta = sums / slope
        variance = (deviation / slope) ** 2 + (_START_ERROR * eta) ** 2
        variance += self.whitening.errors @ eta**2 / self.rows**2 + self.whitening.unsure**2 * prior
        part = prior / (prior + variance)
        return NewtonState(
            part * eta, part * variance, Bias.none(p), sigma=self._usual_part, left=self._left(part)
        )

    def step(self, state: NewtonState, tail: Tail, cost: Cost) -> NewtonState:
        """Choose a limit by the tail of score norms, step, and combine with what was known.

        What a limit cuts off biases a step, by no more than least squares explains, which is at
        most the response's variance; an earlier step that cut more is trusted less. Biases of steps
        are of the same rows, so they are added up before they are squared.
        """
        t, p, eta, rows = self.whitening.dimension, len(state.eta), state.eta, self.rows
        queries = self.queries
        noise = queries.score_deviation(p, cost)
        limit, slope = score_limit(tail, state.sigma, p, noise, _WORTH * rows**2 / t)
        # where the square of what is lost and that of the noise, both by the limit, are least
        flat = self._flat(state, tail)
        longest = _FLAT_WORTH * flat.longest
        limit = max(limit, min(math.sqrt(longest / (math.sqrt(p) * noise)), tail.farthest))
        limit = edge_beyond(limit, tail, state.sigma, p, noise)
        # squares are those of residuals, where rows count for parts those of the clipped scores
        cut, size = square_limit(tail, noise / WEIGHT), 1.0
        if queries.problem.in_parts:
            cut, size = limit, t
        explained = self._explained(state)
        hessian = slope * queries.loss.curvature(queries.reference, explained)
        sums, squares, deviation, square_deviation = queries.scores(
            "scores", self._at(eta), limit * math.sqrt(t), cut, cost
        )
        step, step_variance = sums / (hessian * rows), (deviation / (hessian * rows)) ** 2
        lost = self._lost(state, tail, flat, limit)
        bias = Bias.of(tail, limit, t, eta, state.variance, hessian * rows, lost).at_most(1.0)
        known = _inflated(state.variance, step, step_variance)
        relative = _hessian_error(slope) ** 2 + self.whitening.unsure**2
        relative = np.maximum(relative, state.left_over(step, step_variance))
        relative = relative + self.rare.parts_cut(tail, limit, rows)
        variance = step_variance + self.whitening.errors @ known / rows**2 + relative * known
        variance += self._overshoot(known, limit, hessian)
        earlier = state.bias.at_least(bias, len(self.rare.rarity))
        before = known + earlier.variance
        gain = before / (before + variance + bias.variance)
        squares, noise = max(squares, 0.0) / (rows * size), square_deviation / (rows * size)
        beyond = float(squares_cut(tail, cut)) / (tail.rows * self.part)
        return NewtonState(
            eta=eta + gain * step,
            variance=(1 - gain) ** 2 * known + gain**2 * variance,
            sigma=min(math.sqrt(max(tail.mean_square(limit), 1e-12)), 1.1 * state.sigma),
            bias=earlier.combined(bias, gain),
            square=self._square(squares + noise, beyond, slope, explained),
            slope=slope,
            hessian=hessian,
            moved=float(((gain * step) ** 2).sum()),
            moved_noise=float((gain**2).sum() * step_variance),
            squares=Squares(squares, noise, beyond),
            hidden=hidden_share(tail.deviation, self.rows),
            left=state.left * self._left(gain),
        )

    def _left(self, gain: np.ndarray) -> np.ndarray:
        """Return what part of an error a step leaves, (p, m), by what X'X may be in a direction.

        A step taken up by ``gain`` (p,) is as many times too long as X'X is larger than it is taken
        for. That is so in all steps alike, so that these parts multiply.
        """
        return 1 - gain[:, None] * self.whitening.shares

    def _flat(self, state: NewtonState, tail: Tail) -> FlatLosses:
        """Return what rows far out in one column may lose to a limit."""
        known = state.eta, state.variance
        return flat_losses(self.queries, self.whitening, *known, tail, self.rows, self.part)

    def _lost(self, state: NewtonState, tail: Tail, flat: FlatLosses, limit: float) -> np.ndarray:
        """Return what a limit cuts off rows far out and of rare values, (k, p)."""
        far = flat.beyond(limit, tail)
        if not len(self.rare.rarity):
            return far
        left = self._most_left(state)
        rare = self.rare.one_sided_losses(
            tail, limit, self.rows, self.part, left * self._even_square, min(left, 1.0)
        )
        return np.vstack([far, rare])

    def _most_left(self, state: NewtonState) -> float:
        """Bound the mean square of residuals at a position, in units of the response's.

        It is what the position leaves, as far as the response's scale may be off, and no more than
        the last step saw, unless rows count for parts: that is of scores then.
        """
        loss, reference = self.queries.loss, self.queries.reference
        left = max(loss.mean_square(reference, self._explained(state)), _LEAST_LEFT)
        left += reference.extremes.y_error
        return left if self.queries.problem.in_parts else min(left, state.square)

    def _square(self, seen: float, beyond: float, slope: float, explained: float) -> float:
        """Return a mean square of residuals that is conservative, in units of the response's.

        It is what was ``seen`` and what may be ``beyond`` the limit, but no more than the position
        leaves of the response's, and than may be missing of that. Where rows count for parts it is
        that of scores, which are longer where leverages are.
        """
        loss, reference, most = self.queries.loss, self.queries.reference, math.inf
        if not self.queries.problem.in_parts:
            most = loss.mean_square(reference, explained) + 2 * reference.extremes.y_error
            most += self._beyond_known(self._heavy())
        return max(seen, min((seen + beyond) * slope**2, most))

    def _beyond_known(self, heavy: float) -> float:
        """Return how far a mean square may lie above the response's own, as tails are heavy.

        ``heavy`` is the chance of it; where distributions show no heavy tail it counts for as much
        as the ends of the response leave room for one.
        """
        extremes = self.queries.reference.extremes
        seen = min(extremes.heavy_seen, heavy)
        heavy = seen + (heavy - seen) * extremes.room
        return _ABOVE_HEAVY * heavy / max(1 - heavy, 1e-3)

    def _overshoot(self, known: np.ndarray, limit: float, hessian: float) -> np.ndarray:
        """Return the variances (p,) of what rows that X'X has scaled down add to a step.

        It is too long by the leverage that they have lost there, but their clipped scores are no
        longer than their number times the limit.
        """
        lost, unit = self.whitening.lost, math.sqrt(self.whitening.dimension)
        longest = lost.rows / self.part * limit * unit / (hessian * self.rows)
        return np.minimum(lost.leverage**2 * known, longest**2)

    def clipped(self, start: NewtonState, tail: Tail) -> NewtonState:
        """Return the start with the clipping bias that the tail, released after it, implies.

        It is no farther off than it is long, on average.
        """
        square = float(start.eta @ start.eta + start.variance.sum())
        limit = _START_LIMIT * self._usual_part
        bias = Bias.of(
            tail, limit, self.whitening.dimension, start.eta, start.variance,
            _START_SLOPE * self.rows, self._lost(start, tail, self._flat(start, tail), limit),
        )  # fmt: skip
        return replace(start, bias=bias.at_most(square))

    def tail(self, state: NewtonState, cost: Cost) -> Tail:
        """Release a histogram of score norms, and read it with what else is known of their tail.

        What X'X and the position leave of the residuals' mean square is theirs, so a tail without
        it is too short. This and the rest of the evidence are released numbers.
        """
        queries = self.queries
        loss, reference = queries.loss, queries.reference
        extremes, unit = reference.extremes, math.sqrt(self.whitening.dimension)
        most = max(_FAR_RESIDUAL * loss.farthest(reference), self._farthest_row(state))
        work = partial(self._at(state.eta).counts, state.sigma * unit)
        counts = queries.counts("score norms", work, cost)
        hidden = min(counts.deviation / (_HIDDEN_SHARE * self.rows), 1.0)
        heavy = self._heavy(hidden)
        tail = score_tail(counts.values, counts.deviation, state.sigma, heavy, most)
        if not queries.problem.in_parts:
            tail = with_far_responses(tail, extremes, self.rows, self.whitening.dimension)
        left = loss.mean_square(reference, self._explained(state))
        error = max(math.hypot(extremes.y_error, _LEVERAGE_ERROR * left), _LEAST_ERROR)
        above = _ABOVE + extremes.y_error + self._beyond_known(heavy)
        least = left * self._even_square, error * self._even_square
        return tail.given_mean_square(least, (_MOST_SQUARE, above))

    def _heavy(self, hidden: float = 0.0) -> float:
        """Return how likely a heavy tail is, of which noise hides a part from 0 to 1.

        All columns and the noise tell it as far as a histogram of the response leaves it open; of
        scores of units, or of rows of uneven weights, that tells little.
        """
        extremes, problem = self.queries.reference.extremes, self.queries.problem
        heavy = max(extremes.heavy, _HIDDEN_HEAVY * hidden)
        if extremes.y_heavy is None or problem.by_unit or self.part < EVEN_WEIGHTS:
            return heavy
        least, most = extremes.y_heavy
        return min(max(heavy, least), most)

    @property
    def _even_square(self) -> float:
        """Return the mean square of scores of residuals whose own is 1, of even leverages."""
        return self.part**2 * self.alike

    @property
    def _usual_part(self) -> float:
        """Return what most rows count for at most, given what they do on average."""
        return min(_USUAL * self.part, 1.0)

    def _farthest_row(self, state: NewtonState) -> float:
        """Return how long the score of a row of the largest leverage may be, in units of scores."""
        root, t = math.sqrt(self.most_leverage), self.whitening.dimension
        fitted = root * float(np.linalg.norm(state.eta)) * min(math.sqrt(t), _ALIGNED)
        return root * (_FAR_ROW + fitted)

    def with_products(self, state: NewtonState, tail: Tail, cost: Cost) -> NewtonState:
        """Release the products of clipped scores, of which robust or clustered errors are made."""
        p, t, queries = len(state.eta), self.whitening.dimension, self.queries
        limit = square_limit(tail, queries.product_deviation(p, cost))
        work = partial(self._at(state.eta).products, limit * math.sqrt(t))
        products, deviation = queries.products(
            "score products", work, limit**2 * t, np.ones((p, p), dtype=bool), cost, p
        )
        even, cut = state.square * self.rows, t * float(squares_cut(tail, limit))
        freedom = self.rows / max(self.rows - p, 1.0)  # as HC1 has it
        products = freedom * scatter(products, deviation, even, cut)
        return replace(state, products=products)

    def _explained(self, state: NewtonState) -> float:
        """Estimate the variance that the position explains."""
        return float(self.whitening.kept @ np.maximum(state.eta**2 - state.variance, 0.0))

    def _at(self, eta: np.ndarray) -> Scores:
        """Return the scores of rows at a position (p,)."""
        return self.queries.at(self.whitening.map, eta)


def _hessian_error(slope: float) -> float:
    """Bound the relative error of the Hessian that is taken to be ``slope`` times X'X.

    A row whose score is cut keeps a part of its slope, and may have a large leverage.
    """
    return min(_LEAST_HESSIAN_ERROR + _HESSIAN_PER_CUT * (1 - slope), _MOST_HESSIAN_ERROR)


def _inflated(variance: np.ndarray, step: np.ndarray, step_variance: float) -> np.ndarray:
    """Inflate variances that the length of a step shows to be too small."""
    surprise = step**2 - step_variance
    variance = variance * max(1.0, surprise.sum() / variance.sum())
    far = step**2 > 4 * (variance + step_variance)
    return np.where(far, np.maximum(variance, surprise), variance)
