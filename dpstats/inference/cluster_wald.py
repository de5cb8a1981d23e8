"""Infer from standard errors of few clusters, by Student's t."""

from dataclasses import dataclass

import numpy as np

from dpstats.inference.wald import Wald

# With fewer clusters intervals cover less than they say (Cameron and Miller 2015).
ENOUGH_CLUSTERS = 20


@dataclass(frozen=True, kw_only=True)
class ClusterWald(Wald):
    """Hold the estimates of G fits whose standard errors are clustered.

    A sum of c squares of normal scores has the relative variance 2 / c, and their mean is taken
    off: c - 1 degrees of freedom, as in Stata and statsmodels.

    Parameters
    ----------
    clusters : numpy.ndarray, shape (G,)
        The effective number c of clusters; NaN for a fit whose errors are not clustered.
    """

    clusters: np.ndarray

    def degrees(self) -> np.ndarray:
        """Return the degrees of freedom (G,), at least 1, and infinite where none are clustered."""
        return np.where(np.isnan(self.clusters), np.inf, np.maximum(self.clusters - 1, 1.0))

    def _critical(self, alpha: float) -> np.ndarray:
        from scipy.special import stdtrit

        return -stdtrit(self.degrees(), alpha / 2)[:, None]

    def _beyond(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import stdtr

        return 2 * stdtr(self.degrees()[:, None], -np.abs(t))
