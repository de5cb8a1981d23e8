"""Infer from private quantiles that were bought as ends of intervals."""

from dataclasses import dataclass

import numpy as np

from dpstats.inference.wald import deviations


@dataclass(frozen=True)
class Ends:
    """Hold simultaneous intervals of some linear combinations at a stated level.

    When combinations ``points`` P beta lie in a box, so does every c'beta = (c'P^+) P beta: its
    interval adds up the ends with the weights c'P^+. So all intervals hold together with the
    level of the box, and there is neither a standard error nor a p-value.

    Parameters
    ----------
    points : numpy.ndarray, shape (G, q, S)
    ends : numpy.ndarray, shape (G, q, 2)
        Infinite where the sample is too small for any bought end.
    level : numpy.ndarray, shape (G,)
    """

    points: np.ndarray
    ends: np.ndarray
    level: np.ndarray

    def intervals(self, rows: np.ndarray, alpha: float) -> np.ndarray:
        """Return intervals (G, m, 2) of ``rows`` (m, S); NaN for a level beyond the bought one."""
        weights = rows @ np.linalg.pinv(np.nan_to_num(self.points))
        weights = np.where(np.abs(weights) > 1e-12, weights, 0.0)
        known = np.abs(weights @ self.points - rows).max(axis=2) < 1e-6
        with np.errstate(invalid="ignore"):  # 0 times infinity
            parts = weights[..., None] * self.ends[:, None]
        parts = np.where(weights[..., None] == 0, 0.0, parts)
        intervals = np.stack([parts.min(axis=3).sum(axis=2), parts.max(axis=3).sum(axis=2)], -1)
        known &= (1 - alpha <= self.level + 1e-12)[:, None]
        return np.where(known[..., None], intervals, np.nan)

    def p_values(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return NaN: ends of one level determine no p-value."""
        return np.full((len(self.ends), len(rows)), np.nan)

    def errors(self, rows: np.ndarray) -> np.ndarray:
        """Return standard errors (G, q) of linear combinations of the coefficients."""
        return deviations(self.covariance(), rows)

    def covariance(self) -> np.ndarray:
        """Return NaN: ends of intervals determine no covariance."""
        columns = self.points.shape[2]
        return np.full((len(self.ends), columns, columns), np.nan)

    def unbounded_at(self, columns: np.ndarray) -> np.ndarray:
        """Tell the ``columns`` (k,) whose coefficients have no bounded interval, (G, k).

        That is all of them where no end could be bought.
        """
        flat = np.isinf(self.ends).reshape(len(self.ends), 2 * self.ends.shape[1])
        return np.repeat(np.any(flat, axis=1, keepdims=True), len(columns), axis=1)
