"""Tell the levels of which noise could account for all outcomes of the rarer kind.

Where a level has one outcome alone, as where all who hold a licence have a car, its coefficient is
infinite. Steps go there by about one in log odds each, so a position after five of them, and the
curvature it was reached by, look like those of a level in which some have the other outcome. What
tells them apart is how many these are, beside the noise on the sum of scores of the level's rows.
"""

from typing import NamedTuple

import numpy as np

from dpstats.estimators.contract import Problem, Reference
from dpstats.estimators.newton.generalized.logistic_position import NODES, WEIGHTS
from dpstats.estimators.newton.row_sums import IndicatorBasis

# Outcomes of the rarer kind in a level are to stand so many deviations of noise clear. (Of the
# intervals of factors that benchmarks/one_outcome.py counts 4 of 294 miss, and 41 of 389 with 0.)
# Numbers that are 1 in 2% of the rows are not always seen to be 0 and 1; levels of factors are.
_CLEAR = 5.0
# Log odds of a level with one outcome differ by more than this from those of other rows after five
# steps; where they differ less noise would have to hide more outcomes than it does.
_STRONG = 2.5
# A number of two values has 0 and 1 where their distance and its mean are so close to theirs.
_CLOSE = 0.25
# Levels of a smaller share have no rows that could be seen.
_NO_SHARE = 1e-12


class LevelRows(NamedTuple):
    """Hold the mean mapped rows (k, p) of levels, and which share of the rows (k,) has each.

    ``mean`` (p,) is that of all rows, or zeros where columns do not give the constant.
    """

    means: np.ndarray
    shares: np.ndarray
    mean: np.ndarray

    @classmethod
    def none(cls, directions: int) -> "LevelRows":
        """Return those of no level."""
        return cls(np.zeros((0, directions)), np.zeros(0), np.zeros(directions))

    @classmethod
    def of(cls, basis: IndicatorBasis, map_: np.ndarray, problem: Problem) -> "LevelRows":
        """Return those of the levels of factors, and of the two values of 0/1 numbers.

        With A the left inverse of the whitening map, where phi c is 1 in the rows of a level and 0
        in others its share is |A c|^2, and the mean of its mapped rows is A c over the share
        (:func:`~dpstats.estimators.newton.steps.rare_values.rare_levels`). The rows that have not
        a value have the mean of all less theirs. Of a 0/1 number c is its column.
        """
        layout, reference = problem.layout, problem.reference
        assert layout is not None and reference is not None
        inverse = np.linalg.pinv(map_).T
        found, every = basis.levels @ inverse, basis.unit @ inverse
        if basis.has_constant:
            two = np.asarray(layout.numeric)[_zero_one(reference)]
            numbers = basis.to_design[:, two].T @ inverse
            found = np.vstack([found, numbers, every - numbers])
        shares = (found**2).sum(axis=1)
        held = shares > _NO_SHARE
        return cls(found[held] / shares[held, None], shares[held], every)

    def hidden(
        self, eta: np.ndarray, center: float, noise: np.ndarray, inverse: np.ndarray, rows: float
    ) -> np.ndarray:
        """Return directions (j, p) of errors in levels whose outcomes noise could make all alike.

        ``noise`` (p, p) is the covariance of the error of ``eta`` (p,) that noise makes, and
        ``inverse`` that of the Hessian, by which the sum of scores of a level's rows has a noise of
        root(v'noise v) / (v'inverse v), for the mean v of its rows. The share that has the
        rarer outcome is averaged over what log odds vary by within a level, as if these were
        normal.
        """
        units = self.means * np.sqrt(self.shares)[:, None]
        middle = center + self.means @ eta
        # what neither the level nor the constant is
        across = self.mean - (units @ self.mean)[:, None] * units
        length = np.maximum((across**2).sum(axis=1), _NO_SHARE)
        varies = float(eta @ eta) - (units @ eta) ** 2 - (across @ eta) ** 2 / length
        within = np.sqrt(np.maximum(varies, 0.0))
        odds = np.exp(-np.abs(middle[:, None] + within[:, None] * NODES))
        share = (odds / (1 + odds)) @ WEIGHTS
        moved = self.means @ inverse
        deviation = np.sqrt(np.maximum(((self.means @ noise) * self.means).sum(axis=1), 0.0))
        least = _CLEAR * deviation / (moved * self.means).sum(axis=1)
        strong = np.abs((self.means - self.mean) @ eta) > _STRONG * (1 - self.shares)
        found = moved[strong & (rows * self.shares * share < least)]
        return found / np.linalg.norm(found, axis=1)[:, None]


def _zero_one(reference: Reference) -> np.ndarray:
    """Tell which numbers (d,) are 0 and 1, as far as their distributions show it.

    Of two values at a distance w the one in a share q of the rows makes the variance w^2 q (1 - q).
    """
    gaps = np.maximum(reference.extremes.squared_gaps, 4.0)
    distance = np.sqrt(gaps) * np.linalg.norm(reference.root, axis=1)
    rarer = (1 - np.sqrt(1 - 4 / gaps)) / 2
    mean = np.minimum(reference.center, 1 - reference.center)
    near = (np.abs(distance - 1) < _CLOSE) & (np.abs(mean - rarer) < _CLOSE / 2)
    return near & (reference.extremes.squared_gaps > 0)
