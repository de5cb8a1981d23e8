"""Mark coefficients whose variance overflows, so that all released numbers are finite."""

import numpy as np

from dpstats.inference.wald import OVERFLOW

REASON = (
    "the variance of some coefficients is larger than numbers go, so their intervals are "
    "unbounded; write their columns in units in which values are not as small"
)


def overflows(*covs: np.ndarray) -> np.ndarray:
    """Tell the coefficients (S,) of which one of the covariances (S, S) is too large or NaN."""
    return ~np.all([abs(np.diag(cov)) < OVERFLOW for cov in covs], axis=0)


def marked(cov: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """Return a covariance in which the variance of ``lost`` coefficients says that it is."""
    return np.where(lost[:, None] | lost, OVERFLOW * np.eye(len(lost)), cov) if lost.any() else cov
