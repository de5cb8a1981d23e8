"""Infer from the noisy sums of u and v in [-1/2, 1/2] that a line was fitted to."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.evidence.evidence import Vector
from dpstats.evidence.squared_scores import ScoredEvidence
from dpstats.inference import Estimate, GoodnessOfFit, Sums, Uncertainty
from dpstats.inference.goodness_of_fit import of_clipped_line, of_sums
from dpstats.numerics import Meat
from dpstats.numerics.ridge import symmetric

# Squared scores were released in the coordinates (1, 2 u), and for residuals twice as large.
_LINE = np.array([1.0, 0.5])


@dataclass(frozen=True, kw_only=True, eq=False)
class LineEvidence(ScoredEvidence):
    """Hold noisy sums of a line, with Laplace noise.

    ``sigma2`` is None where no line could be fitted.

    Parameters
    ----------
    totals : (6,)
        n and the sums of u, v, u^2, u v and v^2.
    scales : (2,)
        Laplace scales of the noise on n, 0 where n is public, and on the other sums; None, as is
        ``line``, at estimated ranges, where there are no intervals.
    line : (5,)
        Public: index of x among the columns, middle and width of the range of x, and of y.
    """

    totals: Vector
    scales: Vector = None
    line: Vector = None

    @property
    def number(self) -> np.ndarray:
        """Return n."""
        return self.totals[..., 0]

    def uncertainty(self, params: np.ndarray, cov: np.ndarray) -> Uncertainty:
        """Derive the distributions of the errors from a pivot."""
        if self.scales is None:
            return super().uncertainty(params, cov)
        from dpstats.inference.pivot import Pivot  # compiled, so slow to import

        totals = np.array(self.totals)
        totals[totals[:, 0] <= 0] = np.nan
        return Pivot(totals, np.array(self.scales), self.line, self.meat)

    @property
    def meat(self) -> Meat:
        """Return the sum of squared scores in the coordinates (1, u), zero where not released."""
        if self.squares is None:
            none = np.zeros((*self.number.shape, 2, 2))
            return Meat(none, none[..., 0, 0], _LINE)
        squares, cut = np.nan_to_num(self.squares), np.nan_to_num(self.squares_cut) / 4
        slope_first = (self.line[..., 0] == 0)[..., None, None]
        squares = np.where(slope_first, squares[..., ::-1, ::-1], squares)
        deviation = cut * np.nan_to_num(self.squares_deviation)
        return Meat(cut[..., None, None] * squares * np.outer(_LINE, _LINE), deviation, _LINE)

    def goodness(
        self, columns: int, constant: np.ndarray | None, public: Estimate
    ) -> GoodnessOfFit:
        """Work the figures out from the sums, in estimated ranges without their errors."""
        if self.scales is None:
            return of_clipped_line(self.totals, float(self.sigma2), public)
        sums = self.sums()
        if sums is None:
            return super().goodness(columns, constant, public)
        return of_sums(sums, constant, public)

    def sums(self) -> Sums | None:
        """Return the sums as those of u = (1, x), None where no line was fitted or is inferred."""
        if self.scales is None or self.line is None or self.sigma2 is None:
            return None
        column, (x_middle, x_width, y_middle, y_width) = int(self.line[0]), self.line[1:]
        of_rows, scale = map(float, self.scales)
        scales = np.array([of_rows, scale, scale, scale, scale])

        def draw(generator, draws):
            n, su, suu, sv, suv = scales[:, None] * generator.laplace(size=(5, draws))
            return symmetric(np.stack([n, su, suu], axis=-1), 2), np.stack([sv, suv], axis=-1)

        def draw_square(generator, draws):
            return scale * generator.laplace(size=draws)

        slope = y_width / x_width
        transform, shift = np.zeros((2, 2)), np.zeros(2)
        transform[column, 1] = slope
        transform[1 - column] = y_width, -x_middle * slope
        shift[1 - column] = y_middle
        n, su, sv, suu, suv, svv = self.totals
        gram, cross = np.array([[n, su], [su, suu]]), np.array([sv, suv])
        fit = gram, cross, float(svv), float(n), scale, self.meat, _solved, draw, transform, shift
        return Sums(*fit, float(y_width), draw_square)

    def mean(self) -> Estimate | None:
        """Return the mean of the response with the error of the noise on its sum."""
        if self.scales is None or self.line is None or not self.number > 0:
            return None
        y_middle, y_width = self.line[3:]
        unit = y_width / self.number
        error = math.sqrt(2) * self.scales[1] * unit
        return Estimate(float(y_middle + unit * self.totals[2]), float(error))


def _solved(gram: np.ndarray, cross: np.ndarray) -> np.ndarray:
    """Solve for intercept and slope, as noisy_moments does; NaN where it would fail."""
    n, su, suu = gram[..., 0, 0], gram[..., 0, 1], gram[..., 1, 1]
    determinant = n * suu - su * su
    determinant = np.where((n > 0) & (determinant > 0), determinant, np.nan)
    sv, suv = cross[..., 0], cross[..., 1]
    fits = np.stack([suu * sv - su * suv, n * suv - su * sv], axis=-1)
    return fits / determinant[..., None]
