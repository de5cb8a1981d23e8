"""Add up products of the scores of two responses of each row."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.newton.row_sums import Scores
from dpstats.estimators.newton.row_sums.scores import whole_units
from dpstats.estimators.newton.row_sums.sums import MARGIN, capped, slices
from dpstats.estimators.newton.steps.products import scatter
from dpstats.numerics import Rows
from dpstats.numerics.cross_products import exact_sum

# Correlations of the residuals of y and d are no closer to 1 than this and their noise.
_MOST_ALIKE = 1e-6


@dataclass(frozen=True)
class JointScores:
    """Compute scores of y and of d of each row, over ``units``, one behind the other, (2 p,)."""

    y: Scores
    d: Scores
    units: tuple[float, float]

    def products(self, limit: float, rows: Rows) -> np.ndarray:
        """Add up s' s'' over scores clipped to C, ``limit``, in units of C^2 2^-40, (2 p, 2 p)."""
        blocks = self.clipped(limit, rows)
        return exact_sum((block @ block.T for block in blocks), (2 * len(self.y.eta),) * 2)

    def clipped(self, limit: float, rows: Rows) -> Iterator[np.ndarray]:
        """Yield joint scores of rows, or units, clipped to ``limit``, in 2^-20 of it (2 p, m)."""
        if rows.parts is not None:
            for some in whole_units(rows):
                s = self._clipped_units(limit, some)
                yield from (s[:, own] for own in slices(s.shape[1]))
            return
        both = zip(self.y.blocks(rows), self.d.blocks(rows.of_outcome(1)), strict=True)
        for (whitened, of_y, y_norms), (_, of_d, d_norms) in both:
            y_unit, d_unit = self.units
            joint = np.vstack([whitened * (of_y / y_unit), whitened * (of_d / d_unit)])
            squares = (y_norms / y_unit) ** 2 + (d_norms / d_unit) ** 2
            yield capped(joint, squares, limit**2)

    def _clipped_units(self, limit: float, rows: Rows) -> np.ndarray:
        """Add up the joint scores of each unit's rows, and clip the sums (2 p, units)."""
        from dpstats.numerics.kernels import cut_rows

        y_unit, d_unit = self.units
        of_y, y_norms = self.y.of_units(limit * y_unit, rows)
        of_d, d_norms = self.d.of_units(limit * d_unit, rows.of_outcome(1))
        return cut_rows(
            np.vstack([of_y, of_d]), MARGIN / np.maximum(np.hypot(y_norms, d_norms), 1.0)
        )


def joint_scatter(products: np.ndarray, deviation: float, rows: float, cut: float) -> np.ndarray:
    """Estimate the sum of products of joint scores conservatively, of residuals of unit variance.

    As :func:`~dpstats.estimators.newton.steps.products.scatter` draws eigenvalues together, the two
    are taken in units in which they are not correlated: for errors of one covariance matrix all
    eigenvalues are then equal.
    """
    p = len(products) // 2
    noise = deviation / (math.sqrt(p) * rows)
    most = max(1 - _MOST_ALIKE - noise, 0.0)
    alike = float(np.clip(np.trace(products[:p, p:]) / (p * rows), -most, most))
    root = np.kron(np.linalg.cholesky([[1.0, alike], [alike, 1.0]]), np.eye(p))
    inverse = np.linalg.inv(root)
    apart = scatter(
        inverse @ products @ inverse.T, deviation / (1 - abs(alike)), rows, cut / (1 - abs(alike))
    )
    return root @ apart @ root.T
