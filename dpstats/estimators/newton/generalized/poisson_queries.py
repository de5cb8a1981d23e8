"""Release the sums over rows of which noisy Newton steps of a Poisson regression are made."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from dpstats.estimators.newton.generalized.poisson_loss import (
    PoissonLoss,
    hessian,
    responses,
    score_sums,
)
from dpstats.estimators.newton.row_sums import Scores
from dpstats.estimators.newton.steps import RowQueries
from dpstats.estimators.newton.steps.squared_loss import limit_of_squares
from dpstats.noise import Query
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.privacy import Cost

_ONE = 1 << ENTRY_BITS


@dataclass(frozen=True)
class PoissonQueries(RowQueries):
    """Release sums of clipped scores and their slopes, in whitened directions, by ``map`` (m, p).

    Means at the position zero are exp(``center``) times ``unit``, and residuals are in this unit.
    The guarantee of each release is its cost, by the sensitivities that
    :func:`dpstats.estimators.newton.noisy_poisson.release` derives.
    """

    map: np.ndarray
    center: float
    unit: float

    def at(self, eta: np.ndarray) -> Scores:
        """Return the scores of rows at a position (p,)."""
        loss = PoissonLoss(self.center, self.unit)
        return Scores(loss, self.basis, self.map, self.reference, eta)

    def scores(self, eta: np.ndarray, limit: float, cost: Cost) -> tuple[np.ndarray, float]:
        """Release the sum of scores clipped to ``limit``, (p,), and the noise on each of them."""
        far = (2 if self.replaces else 1) * _ONE
        sums = self.total(partial(score_sums, self.at(eta), limit)).tolist()
        step = "scores" if eta.any() else "scores at zero"
        noisy = self.noise.add(Query(step, sums, l2=far, unit=limit / _ONE), cost)
        return noisy.values, noisy.deviation

    def hessian(
        self, eta: np.ndarray, limit: float, bound: float, cost: Cost
    ) -> tuple[np.ndarray, float]:
        """Release the Hessian (p, p) of clipped scores, and the noise off its diagonal."""
        free = np.ones((len(eta), len(eta)), dtype=bool)
        work = partial(hessian, self.at(eta), limit, bound)
        return self.products("Hessian", work, bound, free, cost)

    def score_products(self, eta: np.ndarray, limit: float, cost: Cost) -> tuple[np.ndarray, float]:
        """Release the sum of products of clipped scores (p, p), and the noise off its diagonal."""
        free = np.ones((len(eta), len(eta)), dtype=bool)
        work = partial(self.at(eta).products, limit)
        return self.products("score products", work, limit**2, free, cost)


def mean_count(queries: RowQueries, rows: float, cost: Cost) -> tuple[float, float]:
    """Release the mean of the response, cut below at 0, and the noise on it.

    It is cut far out too; what its released distribution shows beyond is added.
    """
    reference = queries.reference
    extremes, center, scale = reference.extremes, reference.y_center, reference.y_scale
    far = max(center + scale * limit_of_squares(extremes.y_reach, rows * cost.mu), scale)
    sums = queries.total(partial(responses, far)).tolist()
    noisy = queries.noise.add(Query("mean of y", sums, l2=_ONE, unit=1 / _ONE), cost)
    beyond = extremes.y_weights @ np.maximum(center + scale * extremes.y_points - far, 0.0)
    return far * float(noisy.values[0]) / rows + float(beyond), far * noisy.deviation / rows
