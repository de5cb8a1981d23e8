"""What the methods for one regressor share: the unit square and the way back."""

from dataclasses import dataclass

import numpy as np

from dpstats.mechanisms.spec import Problem


@dataclass(frozen=True)
class Line:
    """The map from (x, y) to the unit square, for a design (intercept, x).

    Parameters
    ----------
    column : int
        Index of x among the two design columns.
    low, width, y_low, y_width : float
        Bounds; a width is 1 where the bounds coincide.
    """

    column: int
    low: float
    width: float
    y_low: float
    y_width: float

    @classmethod
    def of(cls, problem: Problem) -> "Line":
        """The unit square of a problem with one regressor."""
        column = 1 - problem.intercept
        low, y_low = float(problem.low[column]), problem.y_low
        width, y_width = float(problem.high[column]) - low, problem.y_high - y_low
        return cls(column, low, width or 1.0, y_low, y_width or 1.0)

    def integers(self, X: np.ndarray, y: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
        """x and y clipped to [0, 1] and rounded down to multiples of 2^-bits, as int64."""
        x = np.clip((X[:, self.column] - self.low) / self.width, 0.0, 1.0)
        y = np.clip((y - self.y_low) / self.y_width, 0.0, 1.0)
        return (x * 2.0**bits).astype(np.int64), (y * 2.0**bits).astype(np.int64)

    def positions(self, x_new: np.ndarray) -> np.ndarray:
        """Where the design rows x_new (q, 2) lie on the unit scale of x, shape (q,)."""
        return (x_new[:, self.column] - self.low) / self.width

    def values(self, unit_values: np.ndarray) -> np.ndarray:
        """Predictions on the unit scale of y in the user's units."""
        return self.y_low + self.y_width * unit_values

    def params(self, intercept: float, slope: float) -> np.ndarray:
        """Coefficients in design order for v = intercept + slope u on the unit square."""
        beta = np.empty(2)
        beta[self.column] = slope * self.y_width / self.width
        beta[1 - self.column] = self.y_low + self.y_width * intercept - beta[self.column] * self.low
        return beta
