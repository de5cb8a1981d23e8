"""Infer by a normal approximation whose covariance contains the privacy noise."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Wald:
    """Hold the estimates of G fits with a covariance.

    Parameters
    ----------
    params : numpy.ndarray, shape (G, S)
    cov : numpy.ndarray, shape (G, S, S)
        NaN where there is none.
    unbounded : numpy.ndarray of bool, shape (G,)
        Where the noise could account for an eigenvalue of X'X, so that any coefficients are
        compatible with the release.
    """

    params: np.ndarray
    cov: np.ndarray
    unbounded: np.ndarray

    def intervals(self, rows: np.ndarray, alpha: float) -> np.ndarray:
        """Return intervals (G, q, 2) of the combinations ``rows`` (q, S) of the coefficients."""
        from scipy.special import ndtri

        half = -ndtri(alpha / 2) * deviations(self.cov, rows)
        half = np.where(self.unbounded[:, None], np.inf, half)
        center = self.params @ rows.T
        return np.stack([center - half, center + half], axis=-1)

    def p_values(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return two-sided p-values (G, q) of rows @ coefficients = values (q,)."""
        from scipy.special import ndtr

        return 2 * ndtr(-np.abs(self.params @ rows.T - values) / deviations(self.cov, rows))

    def covariance(self) -> np.ndarray:
        """Return the covariance of the coefficients (G, S, S)."""
        return self.cov


def deviations(cov: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return standard deviations (G, q) of rows @ coefficients for covariances (G, S, S)."""
    return np.sqrt(np.einsum("qs,gst,qt->gq", rows, cov, rows))
