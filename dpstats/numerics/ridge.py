"""Solve least squares from noisy cross-products: symmetric matrices, the ridge, the inverse."""

import math

import numpy as np
from numpy.typing import ArrayLike

# Probability that the ridge is too small for the noise (Wang 2018, Algorithm 2).
_FAILURE = 0.05
# The logarithm of the chance that a normal variable exceeds its mean by one deviation.
_LOG_ONE_DEVIATION = -1.8410216450092636
_BISECTIONS, _LEAST_LOWERED = 60, 0.5


def symmetric(triangle: np.ndarray, columns: int) -> np.ndarray:
    """Build the symmetric matrix with this upper triangle, in ``numpy.triu_indices`` order.

    Here and below, arrays may have leading axes, for many matrices at once.
    """
    gram = np.zeros((*triangle.shape[:-1], columns, columns))
    rows, others = np.triu_indices(columns)
    gram[..., rows, others] = gram[..., others, rows] = triangle
    return gram


def least_eigenvalue(gram: np.ndarray, sigma: float) -> np.ndarray:
    """Bound the smallest eigenvalue of X'X from below, given X'X + E.

    By Weyl's inequality lambda_min(X'X) >= lambda_min(X'X + E) - ||E||, and ||E|| is about
    2 sigma sqrt(S) for noise of standard deviation sigma. A function of released values, so it
    costs nothing, and no error of an eigenvalue routine can enter a sensitivity.
    """
    return np.linalg.eigvalsh(gram)[..., 0] - 2 * sigma * math.sqrt(gram.shape[-1])


def lowered_eigenvalues(gram: np.ndarray, sigma: float) -> tuple[np.ndarray, np.ndarray]:
    """Correct eigenvalues of X'X for having been selected above the noise; return vectors too.

    Given X'X + E, whose eigenvalues all exceed 2 sigma sqrt(S): see :func:`lowered`. Along an
    eigenvector v the noise v'E v has the variance sigma^2 (2 - sum v_j^4).
    """
    values, vectors = np.linalg.eigh(gram)
    spread = sigma * np.sqrt(2 - (vectors**4).sum(axis=-2))
    return lowered(values, 2 * sigma * math.sqrt(gram.shape[-1]), spread), vectors


def lowered(values: np.ndarray, edge: ArrayLike, spread: np.ndarray) -> np.ndarray:
    """Correct noisy values for having been selected above ``edge``.

    ``values`` have normal noise of standard deviation ``spread`` and exceed ``edge``. Where the
    true number lies near the edge or below, only draws of the noise that raise it are seen. Each
    value is therefore replaced by the one from which a noisy number that exceeds the edge also
    exceeds what was seen with the chance that a normal variable exceeds its mean by one
    deviation: far from the edge that is ``spread`` less than was seen, near it much less. No number
    is lower than half of ``spread``.
    """
    from scipy.special import log_ndtr

    seen, at = values / spread, edge / spread
    low, high = np.zeros_like(seen), seen.copy()
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        too_high = log_ndtr(middle - seen) - log_ndtr(middle - at) > _LOG_ONE_DEVIATION
        low, high = np.where(too_high, low, middle), np.where(too_high, middle, high)
    return spread * np.maximum(low, _LEAST_LOWERED)


def ridge(gram: np.ndarray, sigma: float) -> np.ndarray:
    """Return the ridge of Wang (2018), Algorithm 2, for a noisy Gram matrix and its noise.

    lambda = max(0, sigma sqrt(S log(2 S^2 / 0.05)) - lambda_min~) with sigma the standard
    deviation of the noise on u'u. lambda_min is not released but bounded as in
    :func:`least_eigenvalue`.
    """
    columns = gram.shape[-1]
    needed = sigma * math.sqrt(columns * math.log(2 * columns**2 / _FAILURE))
    return np.maximum(0.0, needed - np.maximum(least_eigenvalue(gram, sigma), 0.0))


def inverse(gram: np.ndarray, penalty: ArrayLike, sigma: float) -> np.ndarray:
    """Return (gram + penalty I)^-1, its eigenvalues raised to the size of the noise at least."""
    values, vectors = np.linalg.eigh(gram)
    floor = sigma * math.sqrt(gram.shape[-1])
    raised = np.maximum(values + np.asarray(penalty)[..., None], floor)
    return (vectors / raised[..., None, :]) @ np.swapaxes(vectors, -1, -2)
