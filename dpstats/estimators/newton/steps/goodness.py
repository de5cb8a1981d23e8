"""Compute N, R-squared and the residual variance from what noisy Newton steps released."""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpstats.estimators.contract import Extremes
from dpstats.estimators.newton.steps.bias import Bias

# The part of the difference between two estimates of R-squared that counts as a standard error, and
# of the mean square that was seen beyond the clipped scores; both set by simulation.
_DISAGREEMENT, _BEYOND = 0.6, 0.5
# X'X may lose what lies farther out in a column than this part of where rows are scaled down, and
# than so many deviations. It shows what is within, of which this times the odds of the rest counts
# as a standard error. So much lies within at least. Set by simulation (benchmarks/goodness.py).
_NEARER, _NEAREST, _LOST, _LEAST_WITHIN = 0.6, 3.0, 0.8, 0.1
# R-squared with a larger standard error says nothing.
_LARGEST_ERROR = 0.25
_NAMES = ("fit_rsquared", "fit_rsquared_error", "fit_scale", "fit_scale_error")


@dataclass(frozen=True)
class Explained:
    """Hold the mean square that a fit explains about its mean, and the noise on it."""

    value: float
    deviation: float

    @classmethod
    def of(
        cls, eta: np.ndarray, variance: np.ndarray, kept: np.ndarray, constant: np.ndarray | None,
        step_errors: np.ndarray, rows: float, bias: Bias,
    ) -> "Explained":  # fmt: skip
        """Sum the squares of a position ``eta`` (p,) in whitened directions, less their noise.

        There X'X is the number of rows times ``kept`` (p,), up to noise that moves a step by
        ``step_errors`` (p, p) times the squares of the position in variance. ``constant`` (p,) are
        the coefficients of the constant 1: what it explains is the mean of the response. What is
        cut off scores, the ``bias`` of the position, moves the sum by its part along the gradient.
        """
        value, gradient = kept @ (eta**2 - variance), 2 * kept * eta
        if constant is not None:
            size, mean = constant @ (kept * constant), constant @ (kept * eta)
            if size > 0:
                value -= mean**2 / size
                gradient = gradient - 2 * mean / size * kept * constant
        noise = gradient**2 @ variance + 2 * variance @ variance + bias.square_along(gradient)
        noise += 2 * eta**2 @ (step_errors @ eta**2) / rows**2
        return cls(max(float(value), 0.0), math.sqrt(noise))

    def with_far(self, squares: np.ndarray, extremes: Extremes, reach: float) -> "Explained":
        """Count what X'X, where rows beyond a ``reach`` are scaled down, may lose of each column.

        ``squares`` (d,) are those of the coefficients times the deviations of the columns as they
        are seen: what each explains by itself. Tails that noise hides add to it.
        """
        far = extremes.far_parts(max(_NEARER * reach, _NEAREST))
        odds = far / np.maximum(1 - far, _LEAST_WITHIN)
        more = np.maximum(odds, extremes.far_squares - 1)
        lost = more * np.clip(squares, np.finfo(float).tiny, max(self.value, np.finfo(float).tiny))
        return replace(self, deviation=math.hypot(self.deviation, *(_LOST * lost)))


@dataclass(frozen=True)
class Squares:
    """Hold mean squares of residuals in units of the response's scale.

    ``clipped`` is that of clipped residuals, with the ``noise`` on it, and ``beyond`` is what a
    noisy histogram showed of the part that was cut off.
    """

    clipped: float = math.nan
    noise: float = math.nan
    beyond: float = math.nan

    @property
    def deviation(self) -> float:
        """Return a standard error of ``clipped`` as the mean square of residuals."""
        return math.hypot(self.noise, _BEYOND * self.beyond)


def goodness(
    explained: Explained, squares: Squares, y_scale: float, rows: float, directions: int
) -> dict[str, float]:
    """Return R-squared and the residual variance with their standard errors, by name.

    R-squared is the explained mean square over that and the residual one. The scale of the
    response, from its histogram, gives a second R-squared, which depends on how well the histogram
    shows the tails; most of the difference is counted as an error. There are none where that leaves
    nothing to say.
    """
    residual, total = squares.clipped, explained.value + squares.clipped
    if not residual > 0:  # also where it is NaN
        return {}
    rsquared, part, other = explained.value / total, squares.deviation, min(explained.value, 1.0)
    noise = math.hypot((1 - rsquared) * explained.deviation, rsquared * part) / total
    error = math.hypot(noise, _DISAGREEMENT * (other - rsquared))
    between = _DISAGREEMENT * (1 - other - residual)
    return _figures(rsquared, error, residual, math.hypot(part, between), y_scale, rows, directions)


def goodness_left(
    explained: Explained, error: float, y_scale: float, rows: float, directions: int
) -> dict[str, float]:
    """Return the figures where the residual mean square is what is left of the response's.

    That is 1, with an ``error``.
    """
    rsquared = min(explained.value, 1.0)
    if not rsquared < 1:
        return {}
    of_rsquared = math.hypot(explained.deviation, rsquared * error)
    left = math.hypot(explained.deviation, error)
    return _figures(rsquared, of_rsquared, 1 - rsquared, left, y_scale, rows, directions)


def _figures(
    rsquared: float, error: float, residual: float, residual_error: float, y_scale: float,
    rows: float, directions: int,
) -> dict[str, float]:  # fmt: skip
    """Return R-squared and the residual variance by name, or nothing where they say nothing."""
    if error > _LARGEST_ERROR:
        return {}
    unit = rows / max(rows - directions, 1.0) * y_scale**2
    return dict(zip(_NAMES, (rsquared, error, unit * residual, unit * residual_error), strict=True))
