"""Tell from noisy counts whether rows lie so far out that no limit on scores holds their bias."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.newton.generalized.poisson_queries import PoissonQueries
from dpstats.estimators.newton.steps import Counted
from dpstats.estimators.newton.steps.far_directions import far_directions
from dpstats.estimators.newton.steps.hidden_rows import LONG, reach

# Counts are told apart from noise at so many of its deviations. One row in a hundred, which a code
# for a missing value may well have, is not to be hidden by noise; fewer than this part of the rows
# are ordinary. Set by simulation (benchmarks/coded.py).
_CLEAR, _CODED, _ORDINARY = 2.0, 0.01, 0.0005
# Where the noise on a bin hides so large a part of the rows, a regressor of this skewness may have
# rows far out that decide its coefficient, where its effect is not exponential, and so may one of
# such a tail where none is seen, as of a column of mostly zeros of which nothing else is: any count
# above the ordinary is a sign of them. Set by the same simulation.
_HIDES, _SKEWED, _UNSEEN_TAIL = 0.003, 1.25, 20.0
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


@dataclass(frozen=True)
class FarScores:
    """Hold how many of ``rows`` have scores far out, at the ``first`` position and at later ones.

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
        """Return the average of both."""
        return averaged(self.first, self.later)

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
    def hidden(self) -> float:
        """Return the share of the rows that may lie far out where intervals are shown."""
        return _CODED if self.possible else 0.0

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


def averaged(*counts: Counted) -> Counted:
    """Average counts of the same rows, each in the measure that it is known."""
    known = [found.noise**-2 for found in counts]
    total = sum(one * found.total for one, found in zip(known, counts, strict=True)) / sum(known)
    return Counted(total, sum(known) ** -0.5)


def farthest_score(queries: PoissonQueries, eta: np.ndarray, dimension: float) -> float:
    """Return how long a score may be, at a position (p,), of a row with one column at its bound.

    The response is at its own bound, or its mean is as large as that column makes it. All other
    columns are ordinary: together they have the mean squared leverage, ``dimension``.
    """
    problem, first = queries.problem, queries.basis.indicators
    offsets = queries.reference.offsets
    highest = 0.0 if offsets is None else offsets.high
    with np.errstate(all="ignore"):  # bounds may be infinite
        numbers = queries.basis.directions(queries.map) * reach(queries.basis, problem)[:, None]
        vectors = np.vstack([queries.map[:first], numbers])
        along = np.abs(vectors @ eta) + _USUAL * np.linalg.norm(eta)
        means = np.maximum(problem.y_high / queries.unit, np.exp(queries.center + highest + along))
        lengths = np.sqrt(dimension + (vectors**2).sum(axis=1)) * means
    return math.inf if np.isnan(lengths).any() else float(lengths.max())


def skewed_directions(queries: PoissonQueries) -> np.ndarray:
    """Return the directions (k, p), of length 1, of numeric columns whose long tail noise may hide.

    Their released distributions are skewed, or mostly zeros with nothing else that is seen, and no
    close bounds are declared. Rows far out in one of them lie along it.
    """
    reference, deviations = queries.reference, np.linalg.norm(queries.basis.root, axis=1)
    extremes, tails = reference.extremes, reference.extremes.far_tails
    skewed = (np.abs(extremes.skewness) > _SKEWED) & (extremes.tails > 0)
    skewed |= tails > np.maximum(extremes.tails, _UNSEEN_TAIL)
    skewed &= reach(queries.basis, queries.problem) > LONG * deviations
    skewed &= reference.hidden > _HIDES
    directions, _ = far_directions(queries.basis, queries.map, queries.problem, tails)
    return directions[skewed[tails > 0]]
