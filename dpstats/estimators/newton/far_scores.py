"""Tell from noisy counts whether rows lie so far out that no limit on scores holds their bias."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.newton.poisson_queries import PoissonQueries
from dpstats.estimators.newton.queries import Counted, RowQueries

# Counts are told apart from noise at so many of its deviations. One row in a hundred, which a code
# for a missing value may well have, is not to be hidden by noise; fewer than this part of the rows
# are ordinary. Set by simulation (benchmarks/coded.py).
_CLEAR, _CODED, _ORDINARY = 2.0, 0.01, 0.0005
# Distributions of columns show a share of rows far out that is so many deviations of noise on a
# count of leverages (``benchmarks coded --logit``).
_SHOWN = 6.0
# A regressor of this skewness may have far rows that decide its coefficient, where its effect is
# not exponential: any count above the ordinary is a sign of them. There is no tail beyond bounds
# closer than so many standard deviations. Set by the same simulation.
_SKEWED, _LONG = 1.25, 10.0
# Other columns are at most so many deviations of the predictor away.
_USUAL = 2.0
_SEEN = (
    "some rows lie so far from the model, as codes for missing values do, that a few of them "
    "decide the coefficients, so intervals are unbounded; leave them out by subset=, declare "
    "bounds= or take the logarithm of a skewed regressor"
)
_HIDDEN = (
    "the noise could hide 1% of the rows far out, as codes for missing values are, so intervals "
    "are unbounded; raise epsilon or n, or declare bounds= of all columns, close enough that none "
    "can be far out"
)

ASSUMED = (
    "intervals take it that fewer than 1% of the rows lie far out, as codes for missing values and "
    "the tail of a skewed regressor do; close bounds= of all columns, or the logarithm of a "
    "regressor, rule that out"
)


@dataclass(frozen=True)
class FarScores:
    """Hold how many of ``rows`` have scores far out, at the ``first`` position and at a later one.

    A later position has come closer to rows off the model, whose coefficients yield to them; those
    of codes for missing values are far out at both. It is not ``possible`` that these bias
    anything where declared bounds are close (:func:`farthest_score`) or no score is clipped.
    """

    first: Counted
    later: Counted
    rows: float
    possible: bool = True

    @property
    def mean(self) -> Counted:
        """Return the average of both, each in the measure that it is known."""
        first, later = self.first.noise**-2, self.later.noise**-2
        total = (first * self.first.total + later * self.later.total) / (first + later)
        return Counted(total, (first + later) ** -0.5)

    @property
    def failure(self) -> str:
        """Say why no interval holds the bias of rows far out; empty where there is none."""
        if not self.possible:
            return ""
        if self._exceed(_CLEAR):
            return _SEEN
        # a count below zero is luck, by which no interval is to be shown
        mean = self.mean
        most = max(mean.total, 0.0) + _CLEAR * mean.noise
        return _HIDDEN if most > _CODED * self.rows else ""

    @property
    def unclear(self) -> bool:
        """Tell whether more rows than are ordinary are counted far out, by noise or not."""
        return self.possible and self._exceed(0.0)

    def _exceed(self, clear: float) -> bool:
        """Tell whether a count exceeds what is ordinary by so many deviations of its noise."""
        ordinary = _ORDINARY * self.rows
        return any(
            found.total > ordinary + clear * found.noise for found in (self.first, self.mean)
        )


def may_be_hidden(queries: RowQueries, deviation: float, rows: float) -> bool:
    """Tell whether bounds leave room for codes, in 1% of the rows or more, that noise may hide."""
    deviations = np.linalg.norm(queries.basis.root, axis=1)
    has_room = bool((_reach(queries) > _LONG * deviations).any())
    return has_room and _SHOWN * deviation > _CODED * rows


def farthest_score(queries: PoissonQueries, eta: np.ndarray, dimension: float) -> float:
    """Return how long a score may be, at a position (p,), of a row with one column at its bound.

    The response is at its own bound, or its mean is as large as that column makes it. All other
    columns are ordinary: together they have the mean squared leverage, ``dimension``.
    """
    problem, first = queries.problem, queries.basis.indicators
    offsets = queries.reference.offsets
    highest = 0.0 if offsets is None else offsets.high
    with np.errstate(all="ignore"):  # bounds may be infinite
        numbers = queries.basis.directions(queries.map) * _reach(queries)[:, None]
        vectors = np.vstack([queries.map[:first], numbers])
        along = np.abs(vectors @ eta) + _USUAL * np.linalg.norm(eta)
        means = np.maximum(problem.y_high / queries.unit, np.exp(queries.center + highest + along))
        lengths = np.sqrt(dimension + (vectors**2).sum(axis=1)) * means
    return math.inf if np.isnan(lengths).any() else float(lengths.max())


def skewed_directions(queries: PoissonQueries) -> np.ndarray:
    """Return the directions (k, p), of length 1, of numeric columns that may have a long tail.

    Their released distributions are skewed, and no close bounds are declared. Rows far out in one
    of them lie along it.
    """
    extremes, deviations = queries.reference.extremes, np.linalg.norm(queries.basis.root, axis=1)
    skewed = (np.abs(extremes.skewness) > _SKEWED) & (extremes.tails > 0)
    skewed &= _reach(queries) > _LONG * deviations
    return queries.basis.unit_directions(queries.map)[skewed]


def _reach(queries: RowQueries) -> np.ndarray:
    """Return how far the declared bounds of numeric columns lie from their centers, (d,)."""
    problem, center = queries.problem, queries.basis.center
    assert problem.layout is not None
    ends = (end[problem.layout.numeric] - center for end in (problem.low, problem.high))
    return np.maximum(*(np.abs(end) for end in ends))
