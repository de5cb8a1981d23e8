"""Whiten by noisy X'X, and take a start and three steps on clipped scores, within a cost."""

from dataclasses import dataclass, replace

import numpy as np

from dpstats.estimators.newton.queries import Counted, Queries
from dpstats.estimators.newton.score_tails import Tail, is_wild, mean_leverage
from dpstats.estimators.newton.state import NewtonState
from dpstats.estimators.newton.steps import Steps
from dpstats.estimators.newton.whitening import leverages, refined_whitening, rough_whitening
from dpstats.privacy import GDP

# Fractions of mu^2, set by simulation and measured by benchmarks/tails.py: the distributions of the
# columns; then X'X (half of it for the second one where that pays), leverages, the start, a
# histogram for the first round and one for the others, and the scores of each of three.
MARGINALS = 0.185
_GRAM, _LEVERAGE, _START, _FIRST_TAIL, _TAIL, *_ROUNDS = (
    part / (1 - MARGINALS) for part in (0.25, 0.015, 0.045, 0.02, 0.08, 0.07, 0.14, 0.17)
)
# The response takes so many times the budget of a regressor for its distribution: its scale enters
# every coefficient.
RESPONSE_WEIGHT = 2.0
# What :func:`rounds` spends of the cost that it is given.
SPENT = _GRAM + _LEVERAGE + _START + _FIRST_TAIL + _TAIL + sum(_ROUNDS)


@dataclass(frozen=True)
class Fitted:
    """Hold the position after all rounds, the steps that led there and the last ``scores``.

    It is ``wild`` where so many rows have a huge leverage that the scales must have failed.
    """

    state: NewtonState
    steps: Steps
    scores: Tail
    wild: bool


def rounds(queries: Queries, counted: Counted, cost: GDP) -> Fitted:
    """Release X'X and leverages, and take a start and three steps on clipped scores."""
    steps, wild = whitened(queries, counted, cost)
    return stepped(steps, wild, cost)


def whitened(queries: Queries, counted: Counted, cost: GDP) -> tuple[Steps, bool]:
    """Release X'X and leverages; return steps from there, and whether the scales have failed."""
    count, extremes = max(counted.total, 2 * counted.noise), queries.reference.extremes
    whitening, pays = rough_whitening(queries, cost.part(_GRAM), count)
    tail, deviation = leverages(
        queries, whitening, cost.part(_LEVERAGE), extremes.heavy, extremes.leverage
    )
    if pays:
        whitening = refined_whitening(queries, whitening, tail, cost.part(_GRAM), count)
    else:
        whitening = whitening.divided(mean_leverage(tail))
    # steps divide by the number of rows, which is as unsure as X'X
    whitening = replace(whitening, unsure=np.hypot(whitening.unsure, counted.noise / count))
    steps = Steps(queries, whitening, count, tail.farthest, counted.part)
    return steps, is_wild(tail, deviation, count)


def stepped(steps: Steps, wild: bool, cost: GDP) -> Fitted:
    """Take a start and three steps; what X'X and leverages cost is left of ``cost``."""
    state = steps.start(cost.part(_START))
    first, second, third = _ROUNDS
    scores = steps.tail(state, cost.part(_FIRST_TAIL))
    state = steps.step(steps.clipped(state, scores), scores, cost.part(first))
    scores = steps.tail(state, cost.part(_TAIL))
    state = steps.step(state, scores, cost.part(second))
    state = steps.step(state, scores, cost.part(third))
    return Fitted(state, steps, scores, wild)
