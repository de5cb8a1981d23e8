"""Whiten by noisy X'X, and take a start and steps on clipped scores, within a cost."""

from dataclasses import dataclass, replace

import numpy as np

from dpstats.estimators.newton.steps.queries import EVEN_WEIGHTS, Counted, Queries
from dpstats.estimators.newton.steps.score_tails import Tail, is_wild, mean_leverage
from dpstats.estimators.newton.steps.state import NewtonState
from dpstats.estimators.newton.steps.steps import Steps
from dpstats.estimators.newton.steps.whitening import leverages, refined_whitening, rough_whitening
from dpstats.privacy import Cost, PureDP

# The response takes so many times the budget of a regressor for its distribution: its scale enters
# every coefficient.
RESPONSE_WEIGHT = 2.0
# What columns and X'X take for several outcomes, in units of what they take for one; 1 and .4
# were tried (benchmarks/outcomes.py).
COMMON = 0.65


@dataclass(frozen=True)
class Shares:
    """Hold the fractions of a cost that releases take, fixed by its kind alone.

    Parameters
    ----------
    marginals : float
        Distributions of the columns.
    count, response : float
        The number of rows; mean and mean square of the response.
    gram, leverage : float
        X'X, half of it for the second one where that pays; leverages.
    start, first_tail, tail : float
        Scores at zero; a histogram of scores for the first round, and one for the others.
    rounds : tuple of float
        Scores of each round.
    products : float
        Of the whole, products of scores, where standard errors are robust.
    """

    marginals: float
    count: float
    response: float
    gram: float
    leverage: float
    start: float
    first_tail: float
    tail: float
    rounds: tuple[float, ...]
    products: float

    @classmethod
    def of(cls, cost: Cost, grouped: bool = False, outcomes: int = 1) -> "Shares":
        """Return the fractions of a cost: of epsilon with delta = 0, else of mu^2.

        The rows of a group are fewer than those of all groups, whose distributions of the columns
        take less. Of several outcomes each has the parts that are of one response.
        """
        pure = isinstance(cost, PureDP)
        if grouped:
            return GROUPED_PURE if pure else GROUPED
        alone = PURE if pure else GAUSSIAN
        return alone if outcomes == 1 else alone._among(outcomes)

    def _among(self, outcomes: int) -> "Shares":
        """Return the fractions for several outcomes of the same rows.

        What is of the rows alone is released once, for less of the whole; the rest is divided.
        """
        marginals, gram, leverage = (
            COMMON * part for part in (self.marginals, self.gram, self.leverage)
        )
        own = self.response, self.start, self.first_tail, self.tail, *self.rounds
        left = 1 - marginals - self.count - gram - leverage
        response, start, first_tail, tail, *steps = (
            part * left / (outcomes * sum(own)) for part in own
        )
        return Shares(
            marginals, self.count, response, gram, leverage, start, first_tail, tail, tuple(steps),
            self.products / outcomes,
        )  # fmt: skip

    @property
    def spent(self) -> float:
        """Return what :func:`rounds` spends of what the distributions of the columns leave."""
        own = self.gram, self.leverage, self.start, self.first_tail, self.tail, *self.rounds
        return sum(self.rest(part) for part in own)

    def rest(self, part: float) -> float:
        """Return a fraction of the whole as one of what the distributions of the columns leave."""
        return part / (1 - self.marginals)


# Set by simulation and measured by benchmarks/tails.py.
GAUSSIAN = Shares(0.185, 0.005, 0.02, 0.25, 0.015, 0.045, 0.02, 0.08, (0.07, 0.14, 0.17), 0.08)
# Noise falls with the fraction itself and not with its root, so that small releases need more of
# the whole, and fewer rounds waste less of it; set by simulation (benchmarks/pure.py).
PURE = Shares(0.22, 0.01, 0.025, 0.23, 0.025, 0.05, 0.02, 0.06, (0.1, 0.26), 0.15)
# Of a group the center and the scale of its response take a part of what all groups save
# (benchmarks/pooled.py).
GROUPED = Shares(0.09, 0.005, 0.05, 0.27, 0.015, 0.05, 0.02, 0.09, (0.07, 0.16, 0.18), 0.08)
GROUPED_PURE = Shares(0.14, 0.01, 0.08, 0.24, 0.025, 0.05, 0.02, 0.06, (0.1, 0.275), 0.15)


@dataclass(frozen=True)
class Fitted:
    """Hold the position after all rounds, the steps that led there and the last ``scores``.

    It is ``wild`` where so many rows have a huge leverage that the scales must have failed.
    """

    state: NewtonState
    steps: Steps
    scores: Tail
    wild: bool


def rounds(queries: Queries, counted: Counted, cost: Cost) -> Fitted:
    """Release X'X and leverages, and take a start and steps on clipped scores."""
    steps, wild = whitened(queries, counted, cost)
    return stepped(steps, wild, cost)


def whitened(queries: Queries, counted: Counted, cost: Cost) -> tuple[Steps, bool]:
    """Release X'X and leverages; return steps from there, and whether the scales have failed."""
    shares = Shares.of(cost, queries.problem.grouped, queries.problem.outcomes)
    gram, leverage = (cost.part(shares.rest(part)) for part in (shares.gram, shares.leverage))
    count, extremes = max(counted.total, 2 * counted.noise), queries.reference.extremes
    part = _part_of_bound(queries, counted)
    whitening, pays = rough_whitening(queries, gram, count, part)
    tail, deviation = leverages(queries, whitening, leverage, extremes.heavy, extremes.leverage)
    if pays:
        whitening = refined_whitening(queries, whitening, tail, gram, count, part)
    else:
        whitening = whitening.divided(mean_leverage(tail))
    # steps divide by the number of rows, which is as unsure as X'X
    whitening = replace(whitening, unsure=np.hypot(whitening.unsure, counted.noise / count))
    steps = Steps(queries, whitening, count, tail.farthest, counted.part, counted.alike)
    return steps, is_wild(tail, deviation, count)


def _part_of_bound(queries: Queries, counted: Counted) -> float:
    """Return what part of the bound on products of rows is enough where these are times weights.

    It is halfway from that of the mean weight to that of the largest. Uneven weights have all of
    it, as the few rows that have most of X'X would be cut, and so do rows of units and pairs, which
    are not cut with their weights.
    """
    problem = queries.problem
    if problem.by_unit or problem.paired or counted.part < EVEN_WEIGHTS:
        return 1.0
    return (1 + counted.part) / 2


def stepped(steps: Steps, wild: bool, cost: Cost) -> Fitted:
    """Take a start and steps; what X'X and leverages cost is left of ``cost``."""
    shares = Shares.of(cost, steps.queries.problem.grouped, steps.queries.problem.outcomes)
    first, *others = (cost.part(shares.rest(part)) for part in shares.rounds)
    state = steps.start(cost.part(shares.rest(shares.start)))
    scores = steps.tail(state, cost.part(shares.rest(shares.first_tail)))
    state = steps.step(steps.clipped(state, scores), scores, first)
    scores = steps.tail(state, cost.part(shares.rest(shares.tail)))
    for part in others:
        state = steps.step(state, scores, part)
    return Fitted(state, steps, scores, wild)
