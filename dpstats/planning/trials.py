"""How well many fits of one method hit what was guessed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, t

from dpstats.evaluate.error_bounds import percentile_error
from dpstats.inference import UNBOUNDED, stacked, uncertainty
from dpstats.mechanisms.shared import Release


@dataclass(frozen=True)
class Trials:
    """R estimates of T quantities, coefficients and then predictions.

    Parameters
    ----------
    estimates : numpy.ndarray, shape (R, T)
        NaN where nothing was released.
    intervals : numpy.ndarray, shape (R, T, 2)
        Infinite where unbounded and NaN where there is none.
    truth : numpy.ndarray, shape (T,)
    reasons : tuple of str
        Why releases lack something.
    """

    estimates: np.ndarray
    intervals: np.ndarray
    truth: np.ndarray
    reasons: tuple[str, ...] = ()

    @classmethod
    def of_releases(cls, releases: Sequence[Release], rows, truth, alpha: float) -> "Trials":
        """Trials of the quantities ``rows`` (T, S) times coefficients, truly ``truth`` (T,)."""
        estimates = np.array([np.r_[r.params, r.predictions] for r in releases])
        known = uncertainty(stacked(releases, rows.shape[1]))
        reasons = [reason for release in releases for reason in release.reasons.values()]
        reasons += [UNBOUNDED] * bool(known.unbounded.any())
        return cls(estimates, known.intervals(rows, alpha), truth, tuple(dict.fromkeys(reasons)))

    @classmethod
    def of_ols(cls, fits: Sequence[np.ndarray], rows, truth, alpha: float, n: int) -> "Trials":
        """Trials of least squares without privacy: estimates and standard errors (T, 2)."""
        estimates, errors = np.moveaxis(np.array(fits), 2, 0)
        half = t.isf(alpha / 2, max(n - rows.shape[1], 1)) * errors
        return cls(estimates, np.stack([estimates - half, estimates + half], -1), truth)

    def numbers(self) -> np.ndarray:
        """The numbers of a :class:`~dpstats.planning.forecast.Forecast` in their order, (T, 7)."""
        errors, width = (self.error(50), self.error(90)), self.width()
        shares = self.coverage(), self.unbounded(), self.failed()
        return np.column_stack([self.truth, *errors, width, *shares])

    def error(self, q: float) -> np.ndarray:
        """The q-th percentile of |estimate - truth|, (T,); nothing released is infinitely off."""
        return percentile_error(self.estimates[None], self.truth[None], q)[0]

    def width(self, q: float = 50) -> np.ndarray:
        """The q-th percentile of the widths (T,): NaN where there never is an interval.

        Where there is one in some trials, it is infinitely wide in the others.
        """
        widths = self.intervals[..., 1] - self.intervals[..., 0]
        widest = percentile_error(widths[None], np.zeros((1, len(self.truth))), q)[0]
        return np.where(np.isnan(widths).all(axis=0), np.nan, widest)

    def coverage(self) -> np.ndarray:
        """Share of the intervals there are that hold the truth, (T,)."""
        low, high = np.moveaxis(self.intervals, 2, 0)
        given = ~np.isnan(low)
        covered = np.sum((low <= self.truth) & (self.truth <= high), axis=0)
        return np.where(given.any(axis=0), covered / np.maximum(given.sum(axis=0), 1), np.nan)

    def unbounded(self) -> np.ndarray:
        """Share of the trials without a bounded interval, (T,); NaN where none has any."""
        bounded = np.isfinite(self.intervals).all(axis=2).mean(axis=0)
        return np.where(np.isnan(self.intervals).all(axis=(0, 2)), np.nan, 1 - bounded)

    def failed(self) -> np.ndarray:
        """Share of the trials that released no estimate, (T,)."""
        return np.isnan(self.estimates).mean(axis=0)


def median_ranks(trials: int) -> tuple[float, float]:
    """Percentiles between which the true median lies with 95% confidence.

    >>> median_ranks(100)
    (40.0, 61.0)
    """
    low, high = binom.ppf([0.025, 0.975], trials, 0.5).tolist()
    return 100 * max(low, 1) / trials, 100 * min(high + 1, trials) / trials
