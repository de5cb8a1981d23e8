"""Summarise how close many fits of one method come to the assumed values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, t

from dpstats.estimators.contract import Release
from dpstats.evaluate.error_bounds import percentile_error
from dpstats.evaluate.references import not_private
from dpstats.evidence import Stack
from dpstats.inference import UNBOUNDED

# The label of trials of least squares without privacy.
OLS = not_private("ols")


@dataclass(frozen=True)
class Trials:
    """Hold R estimates of T quantities, coefficients and then predictions.

    Parameters
    ----------
    estimates : numpy.ndarray, shape (R, T)
        NaN where nothing was released.
    intervals : numpy.ndarray, shape (R, T, 2)
        Infinite where unbounded and NaN where there is none.
    truth : numpy.ndarray, shape (T,)
    reasons : tuple of str
        The reasons why numbers are missing.
    """

    estimates: np.ndarray
    intervals: np.ndarray
    truth: np.ndarray
    reasons: tuple[str, ...] = ()

    @classmethod
    def of_releases(cls, releases: Sequence[Release], rows, truth, alpha: float) -> "Trials":
        """Collect releases of the quantities ``rows`` (T, S) @ coefficients with ``truth`` (T,)."""
        estimates = np.array([np.r_[r.params, r.predictions] for r in releases])
        errors = Stack.of(releases, rows.shape[1]).uncertainty()
        asked = [release.reasons for release in releases]
        if len(rows) == len(releases[0].params):  # there are no predictions to explain
            asked = [{k: v for k, v in of_one.items() if k != "predictions"} for of_one in asked]
        reasons = [reason for of_one in asked for reason in of_one.values()]
        unbounded = errors.unbounded_at(np.arange(rows.shape[1]))
        reasons += [UNBOUNDED] * bool(unbounded.all(axis=1).any())
        return cls(estimates, errors.intervals(rows, alpha), truth, tuple(dict.fromkeys(reasons)))

    @classmethod
    def of_ols(cls, fits: Sequence[np.ndarray], truth, alpha: float, freedom: int) -> "Trials":
        """Collect fits of least squares without privacy: estimates and standard errors (T, 2)."""
        estimates, errors = np.moveaxis(np.array(fits), 2, 0)
        half = t.isf(alpha / 2, max(freedom, 1)) * errors
        return cls(estimates, np.stack([estimates - half, estimates + half], -1), truth)

    def numbers(self) -> np.ndarray:
        """Return the numbers of a :class:`~dpstats.planning.forecast.Forecast` in order, (T, 7)."""
        errors, width = (self.error(50), self.error(90)), self.width()
        proportions = self.coverage(), self.unbounded(), self.failed()
        return np.column_stack([self.truth, *errors, width, *proportions])

    def error(self, q: float) -> np.ndarray:
        """Return the q-th percentile of |estimate - truth|, (T,); infinite for a failed fit."""
        return percentile_error(self.estimates[None], self.truth[None], q)[0]

    def width(self, q: float = 50) -> np.ndarray:
        """Return the q-th percentile of the widths (T,): NaN where there never is an interval.

        Where there is one in some trials, it is infinitely wide in the others.
        """
        widths = self.intervals[..., 1] - self.intervals[..., 0]
        widest = percentile_error(widths[None], np.zeros((1, len(self.truth))), q)[0]
        return np.where(np.isnan(widths).all(axis=0), np.nan, widest)

    def width_error(self) -> np.ndarray:
        """Return the relative uncertainty of the median widths, (T,).

        It is the longer side of the distribution-free 95% interval between two order statistics:
        infinite where that does not end, 0 where no median is finite and more trials tell nothing.
        """
        low, high = (self.width(q) for q in median_ranks(len(self.estimates)))
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = self.width()
            error = np.maximum(high - middle, middle - low) / middle
        return np.where(np.isfinite(low) & (low < high), error, 0.0)

    def coverage(self) -> np.ndarray:
        """Return the proportion of the released intervals that hold the truth, (T,)."""
        low, high = np.moveaxis(self.intervals, 2, 0)
        released = ~np.isnan(low)
        covered = np.sum((low <= self.truth) & (self.truth <= high), axis=0)
        return np.where(released.any(axis=0), covered / np.maximum(released.sum(axis=0), 1), np.nan)

    def released(self) -> np.ndarray:
        """Count the trials with an interval, bounded or not, (T,)."""
        return np.sum(~np.isnan(self.intervals[..., 0]), axis=0)

    def unbounded(self) -> np.ndarray:
        """Return the proportion of trials without a bounded interval; NaN where none has any."""
        bounded = np.isfinite(self.intervals).all(axis=2).mean(axis=0)
        return np.where(np.isnan(self.intervals).all(axis=(0, 2)), np.nan, 1 - bounded)

    def failed(self) -> np.ndarray:
        """Return the proportion of trials that released no estimate, (T,)."""
        return np.isnan(self.estimates).mean(axis=0)


def median_ranks(trials: int) -> tuple[float, float]:
    """Return percentiles between which the true median lies with 95% confidence.

    >>> median_ranks(100)
    (40.0, 61.0)
    """
    low, high = binom.ppf([0.025, 0.975], trials, 0.5).tolist()
    return 100 * max(low, 1) / trials, 100 * min(high + 1, trials) / trials
