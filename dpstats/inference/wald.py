"""Infer by a normal approximation whose covariance contains the privacy noise."""

from dataclasses import dataclass

import numpy as np

# With more coefficients matrix products are faster than one sum for each combination.
_MANY = 64
# A hidden variance of this or more says that nothing is known of a coefficient, in any units.
OVERFLOW = 1e300


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
    hidden_cov : numpy.ndarray, shape (G, S, S), or None
        The part of the covariance that comes from directions which noise could account for. What it
        holds half of the variance of has no interval.
    """

    params: np.ndarray
    cov: np.ndarray
    unbounded: np.ndarray
    hidden_cov: np.ndarray | None = None

    def intervals(self, rows: np.ndarray, alpha: float) -> np.ndarray:
        """Return intervals (G, q, 2) of the combinations ``rows`` (q, S) of the coefficients."""
        with np.errstate(invalid="ignore"):  # infinite times zero
            half = self._critical(alpha) * deviations(self.cov, rows)
        half = np.where(self.unbounded[:, None] | self._hidden(rows), np.inf, half)
        center = self.params @ rows.T
        return np.stack([center - half, center + half], axis=-1)

    def unbounded_at(self, columns: np.ndarray) -> np.ndarray:
        """Tell the ``columns`` (k,) whose coefficients have no bounded interval, (G, k)."""
        return self.unbounded[:, None] | self._hidden(np.eye(self.params.shape[1])[columns])

    def p_values(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return two-sided p-values (G, q) of rows @ coefficients = values (q,)."""
        return self._beyond((self.params @ rows.T - values) / self.errors(rows))

    def degrees(self) -> np.ndarray:
        """Return the degrees of freedom (G,): infinitely many."""
        return np.full(len(self.params), np.inf)

    def strengths(self) -> np.ndarray:
        """Return the roots of first-stage F statistics (G,): infinite, as there is none."""
        return np.full(len(self.params), np.inf)

    def _critical(self, alpha: float) -> np.ndarray | float:
        """Return half the length of intervals in standard errors."""
        from scipy.special import ndtri

        return -ndtri(alpha / 2)

    def _beyond(self, t: np.ndarray) -> np.ndarray:
        """Return the chance of values farther from zero than ``t`` (G, q) standard errors."""
        from scipy.special import ndtr

        return 2 * ndtr(-np.abs(t))

    def covariance(self) -> np.ndarray:
        """Return the covariance of the coefficients (G, S, S), NaN where one has no interval."""
        hidden = self._hidden(np.eye(self.params.shape[1]))
        return np.where(hidden[:, :, None] | hidden[:, None, :], np.nan, self.cov)

    def errors(self, rows: np.ndarray) -> np.ndarray:
        """Return standard errors (G, q) of linear combinations, NaN where there is no interval."""
        return np.where(self._hidden(rows), np.nan, deviations(self.cov, rows))

    def _hidden(self, rows: np.ndarray) -> np.ndarray:
        """Tell the combinations (G, q) with half their variance in hidden directions."""
        if self.hidden_cov is None:
            return np.zeros((len(self.params), len(rows)), dtype=bool)
        part = deviations(self.hidden_cov, rows) ** 2
        hidden = part >= 0.5 * deviations(self.cov, rows) ** 2
        return hidden | with_overflow(self.hidden_cov, rows)


def with_overflow(cov: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Tell the combinations (G, q) with a coefficient whose variance overflows."""
    return (np.diagonal(cov, axis1=-2, axis2=-1) >= OVERFLOW) @ (rows != 0).T


def deviations(cov: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return standard deviations (G, q) of rows @ coefficients for covariances (G, S, S)."""
    if rows.shape[1] > _MANY:
        alone = np.count_nonzero(rows, axis=1) == 1  # such as the coefficients themselves
        places, others = rows[alone].nonzero()[1], rows[~alone]
        variances = np.empty((len(cov), len(rows)))
        for one, found in zip(cov, variances, strict=True):
            found[alone] = one[places, places] * rows[alone, places] ** 2
            found[~alone] = ((others @ one) * others).sum(axis=1)
        return np.sqrt(np.maximum(variances, 0.0))
    # the variance of a combination that has none may be negative by a rounding
    return np.sqrt(np.maximum(np.einsum("qs,gst,qt->gq", rows, cov, rows), 0.0))
