"""Compute N, R-squared and the residual variance from what noisy Newton steps released."""

import math
from dataclasses import dataclass

import numpy as np

# The part of the difference between two estimates of R-squared that counts as a standard error, and
# of the mean square that was seen beyond the clipped scores; both set by simulation.
_DISAGREEMENT, _BEYOND = 0.6, 0.5
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
        step_errors: np.ndarray, rows: float,
    ) -> "Explained":  # fmt: skip
        """Sum the squares of a position ``eta`` (p,) in whitened directions, less their noise.

        There X'X is the number of rows times ``kept`` (p,), up to noise that moves a step by
        ``step_errors`` (p, p) times the squares of the position in variance. ``constant`` (p,) are
        the coefficients of the constant 1: what it explains is the mean of the response.
        """
        value = kept @ (eta**2 - variance)
        if constant is not None:
            size = float(constant @ (kept * constant))
            value -= float(constant @ (kept * eta)) ** 2 / size if size > 0 else 0.0
        noise = 4 * (kept * eta) ** 2 @ variance + 2 * variance @ variance
        noise += 2 * eta**2 @ (step_errors @ eta**2) / rows**2
        return cls(max(float(value), 0.0), math.sqrt(noise))


@dataclass(frozen=True)
class Squares:
    """Hold mean squares of residuals in units of the response's scale.

    ``clipped`` is that of clipped residuals, with the ``noise`` on it, and ``beyond`` is what a
    noisy histogram showed of the part that was cut off.
    """

    clipped: float = math.nan
    noise: float = math.nan
    beyond: float = math.nan

    @classmethod
    def left(cls, explained: Explained, error: float) -> "Squares":
        """Return what a fit leaves of a mean square of 1, which is released with an ``error``."""
        noise = math.hypot(error, explained.deviation)
        return cls(max(1 - explained.value, 0.0), noise, 0.0)

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
    part = squares.deviation
    rsquared, other = explained.value / total, min(explained.value, 1.0)
    noise = math.hypot(residual / total * explained.deviation, rsquared * part) / total
    error = math.hypot(noise, _DISAGREEMENT * (other - rsquared))
    if error > _LARGEST_ERROR:
        return {}
    between = _DISAGREEMENT * (1 - other - residual)
    freedom = rows / max(rows - directions, 1.0)
    unit = freedom * y_scale**2
    values = rsquared, error, unit * residual, unit * math.hypot(part, between)
    return dict(zip(_NAMES, values, strict=True))
