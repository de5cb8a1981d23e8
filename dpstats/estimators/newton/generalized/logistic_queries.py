"""Release the sums over rows of which noisy Newton steps of a logistic regression are made."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpstats.estimators.newton.generalized.logistic_sums import (
    MOST_BEND,
    MOST_ENTROPY,
    MOST_SLOPE,
    LogisticRows,
    ones,
)
from dpstats.estimators.newton.steps import RowQueries
from dpstats.noise import Query
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.privacy import Cost

_ONE = 1 << ENTRY_BITS
# The largest squared length of mu', mu'' and the entropy over their own largest values, together.
_AT = (50 - math.sqrt(1285)) / 81
_LONGEST_SLOPES = (1 - _AT) ** 2 * (1 + 27 * _AT / 4) + (1 - _AT)


@dataclass(frozen=True)
class LogisticQueries(RowQueries):
    """Release sums of scores and curvatures of rows; a score has the length ``limit`` at most.

    Rows are mapped to whitened directions by ``map`` (m, p), and the log odds at the position zero
    are ``center``. The guarantee of each release is its cost, by the sensitivities that
    :func:`dpstats.estimators.newton.noisy_logit.release` derives.
    """

    map: np.ndarray
    limit: float
    center: float

    def scores(self, eta: np.ndarray, cost: Cost) -> tuple[np.ndarray, float]:
        """Release the sum of scores at a position (p,), and the noise on each of them."""
        far = (2 if self.replaces else 1) * _ONE
        sums = self.total(self.at(eta).scores).tolist()
        step = "scores" if eta.any() else "scores at zero"
        noisy = self.noise.add(Query(step, sums, l2=far, unit=self.limit / _ONE), cost)
        return noisy.values, noisy.deviation

    def hessian(self, eta: np.ndarray, most: float, cost: Cost) -> tuple[np.ndarray, float]:
        """Release the Hessian (p, p), and the noise off its diagonal; a row adds ``most`` to it."""
        bound = min(most, MOST_SLOPE * self.limit**2)
        free = np.ones((len(eta), len(eta)), dtype=bool)
        work = partial(self.at(eta).hessian, bound)
        return self.products("Hessian", work, bound, free, cost)

    def score_products(self, eta: np.ndarray, cost: Cost) -> tuple[np.ndarray, float]:
        """Release the sum of products of scores (p, p), and the noise off its diagonal."""
        free = np.ones((len(eta), len(eta)), dtype=bool)
        work = self.at(eta).products
        return self.products("score products", work, self.limit**2, free, cost)

    def slopes(
        self, eta: np.ndarray, cost: Cost
    ) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
        """Release the sums of mu' and of its derivative by the position, (1 + p,), with the noise.

        The sum of entropies is the third, with its noise.
        """
        far = math.sqrt(6 if self.replaces else _LONGEST_SLOPES) * _ONE
        sums = self.total(self.at(eta).slopes).tolist()
        noisy = self.noise.add(Query("slopes and entropies", sums, l2=far, unit=1 / _ONE), cost)
        units = np.append(MOST_SLOPE, np.full(len(eta), MOST_BEND * self.limit))
        entropy = float(noisy.values[-1]) * MOST_ENTROPY, noisy.deviation * MOST_ENTROPY
        return noisy.values[:-1] * units, noisy.deviation * units, entropy

    def at(self, eta: np.ndarray) -> LogisticRows:
        """Return the rows at a position (p,)."""
        return LogisticRows(self.basis, self.map, self.limit, self.center, eta)


def mean_response(queries: RowQueries, rows: float, cost: Cost) -> tuple[float, float]:
    """Release the mean of a response in [0, 1], and the noise on it."""
    sums = queries.total(ones).tolist()
    noisy = queries.noise.add(Query("mean of y", sums, l2=_ONE, unit=1 / _ONE), cost)
    return float(noisy.values[0]) / rows, noisy.deviation / rows
