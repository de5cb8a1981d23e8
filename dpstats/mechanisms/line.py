"""What the methods for one regressor share: the unit square and the way back."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpstats.bounds import Box
from dpstats.mechanisms.spec import Problem, Release
from dpstats.moments import Moments
from dpstats.privacy import REPLACE_ONE, PureDP


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


@dataclass(frozen=True)
class Rows:
    """Rows on the unit square in units of 2^-bits, int64, shape (n,) each.

    The summary of the methods that come back to the rows again and again.
    """

    x: np.ndarray
    y: np.ndarray

    def __add__(self, other: "Rows") -> "Rows":
        return Rows(np.concatenate([self.x, other.x]), np.concatenate([self.y, other.y]))


def too_few(problem: Problem, n: int, needed: int = 2) -> Release | None:
    """The released failure for fewer rows than needed, where their number is public."""
    if problem.neighbors != REPLACE_ONE or n >= needed:
        return None
    reason = f"the fit needs {needed} rows or more and there are {n} (n is public)"
    return Release.nothing(problem, "too_few_rows", reason)


def centred_moments(X: np.ndarray, y: np.ndarray, problem: Problem) -> Moments:
    """Cross-products of (1, x, y) with x and y centred and scaled to [-1, 1]."""
    low, high, y_low, y_high = problem.low, problem.high, problem.y_low, problem.y_high
    return Moments.of(X, y, Box.symmetric(low, high, y_low, y_high, problem.intercept))


def at_each_point(
    problem: Problem,
    cost: PureDP,
    median: Callable[[str, int, PureDP], int],
    bits: int,
    no_errors: str,
) -> Release:
    """A private median at each x_new for an equal share of the cost, and the line through them.

    ``median(step, x_new, cost)`` works on the unit square in units of 2^-bits.
    """
    line = Line.of(problem)
    positions = line.positions(problem.x_new)
    share = cost.part(1 / len(positions))
    values = np.empty(len(positions))
    for i, position in enumerate(positions):
        step = f"median of predictions at x_new[{i}]"
        values[i] = median(step, round(position * 2.0**bits), share) / 2.0**bits
    params, reasons = _line_through(positions, values, line)
    return Release(params, line.values(values), reasons={**reasons, "bse": no_errors})


def _line_through(positions: np.ndarray, values: np.ndarray, line: Line):
    """Coefficients of the line through released predictions, or NaN and the reason."""
    if len(np.unique(positions)) < 2:
        reason = "one prediction does not determine a line; ask for two different x_new"
        return np.full(2, np.nan), {"params": reason}
    slope, intercept = np.polyfit(positions, values, 1)
    return line.params(intercept, slope), {}
