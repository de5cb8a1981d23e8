"""Map one regressor and the response to the unit square, and results back."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.contract import Problem, Release
from dpstats.numerics import Box, Moments, Rows
from dpstats.privacy import REPLACE_ONE, PureDP


@dataclass(frozen=True)
class Line:
    """Map (x, y) to the unit square, for a design (intercept, x).

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
        """Return the unit square of a problem with one regressor."""
        column = 1 - problem.constant
        low, y_low = float(problem.low[column]), problem.y_low
        width, y_width = float(problem.high[column]) - low, problem.y_high - y_low
        return cls(column, low, width or 1.0, y_low, y_width or 1.0)

    def integers(self, X: np.ndarray, y: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
        """Clip x and y to [0, 1] and round them down to multiples of 2^-bits, as int64."""
        x = np.clip((X[:, self.column] - self.low) / self.width, 0.0, 1.0)
        y = np.clip((y - self.y_low) / self.y_width, 0.0, 1.0)
        return (x * 2.0**bits).astype(np.int64), (y * 2.0**bits).astype(np.int64)

    def positions(self, x_new: np.ndarray) -> np.ndarray:
        """Return the positions of design rows x_new (q, 2) on the unit scale of x, shape (q,)."""
        return (x_new[:, self.column] - self.low) / self.width

    def values(self, unit_values: np.ndarray) -> np.ndarray:
        """Convert predictions on the unit scale of y to the user's units."""
        return self.y_low + self.y_width * unit_values

    def params(self, intercept, slope) -> np.ndarray:
        """Convert v = intercept + slope u on the unit square to coefficients in design order.

        Shape (2,) for two numbers, (G, 2) for arrays of shape (G,).
        """
        scaled_slope = slope * self.y_width / self.width
        constant = self.y_low + self.y_width * intercept - scaled_slope * self.low
        pair = (scaled_slope, constant) if self.column == 0 else (constant, scaled_slope)
        return np.stack(pair, axis=-1)


@dataclass(frozen=True)
class LineRows:
    """Hold rows on the unit square in units of 2^-bits, int64, shape (n,) each.

    The summary of methods that use every row more than once.
    """

    x: np.ndarray
    y: np.ndarray

    def __add__(self, other: "LineRows") -> "LineRows":
        return LineRows(np.concatenate([self.x, other.x]), np.concatenate([self.y, other.y]))


def too_few(problem: Problem, n: int, needed: int = 2) -> Release | None:
    """Return the released failure for fewer rows than needed, where their number is public."""
    if problem.neighbors != REPLACE_ONE or n >= needed:
        return None
    reason = f"the fit needs {needed} rows or more and there are {n} (n is public)"
    return Release.nothing(problem, "too_few_rows", reason)


def centred_box(problem: Problem) -> Box:
    """Return the box in which x and y are centred and scaled to [-1, 1]."""
    low, high, y_low, y_high = problem.low, problem.high, problem.y_low, problem.y_high
    return Box.symmetric(low, high, y_low, y_high, problem.intercept)


def centred_moments(rows: Rows, problem: Problem) -> Moments:
    """Sum the cross-products of (1, x, y) with x and y centred and scaled to [-1, 1]."""
    return Moments.of(rows, centred_box(problem))


def at_each_point(
    problem: Problem,
    cost: PureDP,
    median: Callable[[str, int, PureDP], int],
    bits: int,
    no_errors: str,
) -> Release:
    """Release a median at each x_new for an equal part of the cost, and fit a line through them.

    ``median(step, x_new, cost)`` works on the unit square in units of 2^-bits.
    """
    values = point_values(problem, cost, median, bits)
    params, reasons = line_through(problem, values)
    return Release(params, Line.of(problem).values(values), reasons={**reasons, "bse": no_errors})


def point_values(problem: Problem, cost: PureDP, median: Callable, bits: int) -> np.ndarray:
    """Release medians at each x_new on the unit scale, shape (q,), or (G, q) for G groups."""
    positions = Line.of(problem).positions(problem.x_new)
    share, values = cost.part(1 / len(positions)), []
    for i, position in enumerate(positions):
        step = f"median of predictions at x_new[{i}]"
        values.append(median(step, round(position * 2.0**bits), share) / 2.0**bits)
    return np.stack(values, axis=-1)


def line_through(problem: Problem, values: np.ndarray):
    """Fit the least-squares line through released predictions, or return NaN and the reason.

    ``values`` (q,) or (G, q) on the unit scale give coefficients of shape (2,) or (G, 2).
    """
    line = Line.of(problem)
    positions = line.positions(problem.x_new)
    if len(np.unique(positions)) < 2:
        reason = "one prediction does not determine a line; ask for two different x_new"
        return np.full((*values.shape[:-1], 2), np.nan), {"params": reason}
    away = positions - positions.mean()
    slope = sum(a * values[..., i] for i, a in enumerate(away)) / np.sum(away**2)
    mean_value = sum(values[..., i] for i in range(len(away))) / len(away)
    return line.params(mean_value - slope * positions.mean(), slope), {}
