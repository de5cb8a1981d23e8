"""Solve least squares from noisy cross-products: symmetric matrices, the ridge, the inverse."""

import math

import numpy as np
from numpy.typing import ArrayLike

# Probability that the ridge is too small for the noise (Wang 2018, Algorithm 2).
_FAILURE = 0.05


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
