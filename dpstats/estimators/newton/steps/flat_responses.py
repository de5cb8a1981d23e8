"""Bound what scores lose to a limit where the response stays flat in rows far out in one column.

A row that lies ``a`` out along a column, where the fit goes on by ``e a`` and the response stays
flat, has a score of the size e a^2. The sum of those beyond a limit C is at most e^2 times that of
a^4, over C, by Markov's inequality, which the kurtosis of the column tells. Least squares moves by
all of it, as the rows lie along one direction.

Where means are exponential, as of counts, the fit goes on by e^(b a) - 1 for a slope b of its
logarithm. Then e is the slope whose e^2 a^4 adds up to the same squares over the rows far out.

A histogram of scores says how flat it may be: as many rows as lie ``a`` out or more would have
scores of e a^2 or more, and these are no more than it counts and its noise may hide. Nor is more
lost than those beyond the limit have, and a few hidden ones far out. Of exponential means this
bounds e on average over distances: nearer rows have less and farther ones more. From b alone, as it
follows for each distance, intervals of exponential and lognormal columns are up to twice as long at
epsilon 1, and as many of 1,200 simulated tables are missed.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.contract import Extremes
from dpstats.estimators.newton.steps.far_directions import far_directions
from dpstats.estimators.newton.steps.queries import RowQueries
from dpstats.estimators.newton.steps.score_tails import Tail
from dpstats.estimators.newton.steps.whitening import Whitening

# What is cut off is so many times what Markov's inequality says of a kurtosis beyond the normal one
# (benchmarks/tried_tails.py).
_FLAT = 0.6
# Scores may be so many times as long as of the farthest rows that distributions tell of.
_FARTHER = 4.0
# Logs of means grow by at most so much along a column, and nothing is divided by less than this.
_MOST_GROWTH, _LEAST = 3.0, 1e-100


@dataclass(frozen=True)
class FlatLosses:
    """Hold what a limit may cut off rows far out in one column.

    There are ``directions`` (k, p) of length 1 of columns that have a tail, ``lengths`` (k,) of
    what is cut, times the limit, and the scores (k,) of the ``farthest`` rows.
    """

    directions: np.ndarray
    lengths: np.ndarray
    farthest: np.ndarray

    @property
    def longest(self) -> float:
        """Return the largest of the lengths, 0 where no column has a tail."""
        return float(self.lengths.max(initial=0.0))

    def beyond(self, limit: float, tail: Tail) -> np.ndarray:
        """Return what a limit cuts off by what the ``tail`` of scores leaves room for, (k, p)."""
        hidden = _FARTHER * self.farthest * tail.hidden_beyond(limit)
        most = math.sqrt(tail.square_excess(limit)) + hidden
        return np.minimum(self.lengths / limit, most)[:, None] * self.directions


def flat_losses(
    queries: RowQueries, whitening: Whitening, eta: np.ndarray, variance: np.ndarray, tail: Tail,
    rows: float, part: float, exponential: bool = False,
) -> FlatLosses:  # fmt: skip
    """Return what a limit may cut off rows far out in each column.

    The fit is at ``eta`` (p,) with errors of ``variance`` (p,), of logs of means where it is
    ``exponential``. Over ``rows`` rows each counts for ``part``; those of a unit are taken to be
    alike, as for that.
    """
    extremes = queries.reference.extremes
    has_tail, unit = extremes.far_tails > 0, part / math.sqrt(whitening.dimension)
    directions, tails = far_directions(
        queries.basis, whitening.map, queries.problem, extremes.far_tails
    )
    stretched, distances = tails / extremes.far_tails[has_tail], extremes.distances[has_tail]
    slopes = np.sqrt((directions @ eta) ** 2 + directions**2 @ variance)
    if exponential:
        slopes = slopes * _growth(slopes, distances)
    most = [steepest(tail, rows, *one) / unit for one in zip(distances, stretched, strict=True)]
    sizes = unit * np.minimum(slopes, most)
    return FlatLosses(
        directions, _FLAT * sizes**2 * rows * tails / part,
        sizes * stretched * distances[:, -1] ** 2,
    )  # fmt: skip


def _growth(slopes: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Return by which factors (k,) residuals e^(b a) - 1 of rows far out exceed b a.

    It is the root of their mean square, by a^4, over ``distances`` a (k, m), at ``slopes`` b (k,).
    """
    logs = np.clip(slopes[:, None] * distances, _LEAST, _MOST_GROWTH)
    shares = -np.diff(Extremes.SHARES, append=0.0) * distances**4
    squares = (shares * (np.expm1(logs) / logs) ** 2).sum(axis=1)
    return np.sqrt(squares / np.maximum(shares.sum(axis=1), _LEAST))


def steepest(tail: Tail, rows: float, distances: np.ndarray, stretched: float = 1.0) -> float:
    """Return the largest score over a squared distance that a histogram of scores leaves room for.

    More than ``Extremes.SHARES`` (k,) of the rows are ``distances`` (k,) out; where these are
    stretched, their squares ``stretched`` times, as many times fewer rows are.
    """
    shares = tail.most / rows * stretched
    usable = shares < Extremes.SHARES[0]
    logs = -np.log(np.maximum(shares[usable], Extremes.SHARES[-1]))
    squares = np.interp(logs, -np.log(Extremes.SHARES), distances) ** 2 * stretched
    found = tail.edges[usable][squares > 0] / squares[squares > 0]
    return float(found.min(initial=math.inf))
