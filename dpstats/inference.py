"""Standard errors, tests and intervals: functions of a release, never of the data."""

import numpy as np
from scipy.stats import norm


def standard_errors(cov: np.ndarray) -> np.ndarray:
    """Square roots of the diagonal of a covariance matrix (S, S); NaN stays NaN."""
    return np.sqrt(np.diag(cov))


def p_values(params: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Two-sided p-values of coefficient = 0 under the normal approximation."""
    return 2 * norm.sf(np.abs(params / errors))


def intervals(params: np.ndarray, errors: np.ndarray, alpha: float) -> np.ndarray:
    """Intervals (S, 2) of level 1 - alpha under the normal approximation."""
    half = norm.isf(alpha / 2) * errors
    return np.column_stack([params - half, params + half])
