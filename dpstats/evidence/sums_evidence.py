"""Infer from the noisy cross-products of scaled rows (u, v) that least squares was solved from."""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpstats.evidence.evidence import Matrix, Number, Vector
from dpstats.evidence.squared_scores import ScoredEvidence
from dpstats.inference import Estimate, GoodnessOfFit, Sums
from dpstats.inference.goodness_of_fit import WEIGHTED, of_sums
from dpstats.numerics.ridge import inverse, lowered_eigenvalues, ridge, symmetric


@dataclass(frozen=True, kw_only=True, eq=False)
class SumsEvidence(ScoredEvidence):
    """Hold noisy u'u, u'v and v'v, with Gaussian noise on the upper triangle.

    Parameters
    ----------
    gram, cross, square : (S, S), (S,), ()
    scales : (3,)
        Of the noise on an entry of each.
    transform, shift : (S, S), (S,)
        Coefficients in the user's units are transform @ theta + shift.
    y_scale
        Of v, in units of the response; None where effects are absorbed.
    ridge
        The penalty; None for a method that never has one.
    energy
        The residual sum of squares of v, raised by one standard deviation of its noise.
    weighted_rows, weighted_rows_error
        The number of rows, where these have weights, and its noise.
    """

    gram: Matrix
    cross: Vector
    square: Number
    scales: Vector
    transform: Matrix
    shift: Vector
    y_scale: Number = None
    ridge: Number = None
    energy: Number = None
    weighted_rows: Number = None
    weighted_rows_error: Number = None

    def covariance(self, intercept: int | None) -> np.ndarray:
        """Compute the covariance of the coefficients from sampling and from privacy noise.

        With noise E on u'u and w on u'v, theta - theta_0 is about A^-1 (u'e + w - E theta).
        E is symmetric with independent entries of standard deviation s_A on and above the
        diagonal, so Cov(E b) = s_A^2 (||b||^2 I + b b' - diag(b^2)). Cov(u'e) is that of
        :class:`~dpstats.numerics.sandwich.Meat`. For A^-1 the eigenvalues are taken from
        :func:`~dpstats.numerics.ridge.lowered_eigenvalues`, because intervals are shown only where
        the noisy ones are large enough.
        """
        gram, sigma = self.gram, self.scales
        values, vectors = lowered_eigenvalues(gram, sigma[0])
        bread = (vectors / values) @ vectors.T
        theta = bread @ self.cross
        noise_part = (sigma[1] ** 2 + sigma[0] ** 2 * (theta @ theta)) * np.eye(len(theta))
        noise_part += sigma[0] ** 2 * (np.outer(theta, theta) - np.diag(theta**2))
        assert self.energy is not None and self.rows is not None, "released with an intercept"
        meat = self.meat_of(len(theta)).covariance(gram, self.energy, self.rows, intercept or 0)
        return self.transform @ (bread @ (meat + noise_part) @ bread) @ self.transform.T

    def goodness(
        self, columns: int, constant: np.ndarray | None, public: Estimate
    ) -> GoodnessOfFit:
        """Work the figures out from the sums; of weighted rows but for the residual variance."""
        if self.weighted_rows is None:
            return of_sums(self.sums(), constant, public)
        rows = self.counted(public, self.weighted_rows, self.weighted_rows_error)
        figures = of_sums(self.sums(), constant, rows)
        return replace(figures, scale=Estimate(), scale_reason=WEIGHTED)

    def sums(self) -> Sums:
        """Return the sums, solved as the method does, and their noise."""
        columns = len(self.cross)
        of_gram, of_cross, of_square = self.scales
        size = columns * (columns + 1) // 2

        def draw(generator, draws):
            triangles = of_gram * generator.normal(size=(draws, size))
            return symmetric(triangles, columns), of_cross * generator.normal(size=(draws, columns))

        def solve(gram, cross):
            penalty = 0.0 if self.ridge is None else ridge(gram, of_gram)
            return np.einsum("...st,...t->...s", inverse(gram, penalty, of_gram), cross)

        def number(value: np.ndarray | None, unknown: float = math.nan) -> float:
            return unknown if value is None else float(value)

        return Sums(
            self.gram, self.cross, float(self.square), number(self.rows), float(of_square),
            self.meat_of(columns), solve, draw, self.transform, self.shift, number(self.y_scale),
            lambda generator, draws: float(of_square) * generator.normal(size=draws),
            number(self.ridge, 0.0),
        )  # fmt: skip
