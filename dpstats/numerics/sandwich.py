"""Estimate the covariance of the scores, the sum of u e over rows: the meat of a sandwich."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

# What is cut off squared scores counts so many times, as far as it is seen: the longest residuals
# stand where scores are long, and more so than the others.
_CUT_OFF = 2.0


@dataclass(frozen=True)
class Meat:
    """Hold released sums of u u' min(e^2, c^2) over the rows; zero where there is no release.

    Parameters
    ----------
    products : numpy.ndarray, shape (..., S, S)
    deviation : numpy.ndarray, shape (...)
        Standard deviation of the noise on each entry on and above the diagonal of
        ``products / outer(unit, unit)``.
    unit : numpy.ndarray, shape (S,)
    kept : numpy.ndarray, shape (...), or None
        Where rows have weights w, the sum of w min(e^2, c^2); ``products`` then are those of
        w^2 u u' min(e^2, c^2).
    """

    products: np.ndarray
    deviation: np.ndarray
    unit: np.ndarray
    kept: np.ndarray | None = None

    def covariance(
        self, gram: np.ndarray, energy: ArrayLike, rows: ArrayLike, intercept: int = 0
    ) -> np.ndarray:
        """Estimate the covariance of the scores at a fit with residual sum of squares ``energy``.

        HC1 (MacKinnon and White 1985): n / (n - S) times the sum of u u' e^2. Of that
        the released products hold what lies within c. Their noise may leave them with
        negative eigenvalues, which are set to 0, and sqrt 2 times its standard deviation is
        added in all directions: for a'(sum)a the noise has a variance of
        2 ||a||^4 - sum a_j^4 times its square, at most that of 2 ||a||^4. For what the
        residuals beyond c have in excess of c^2, energy less the released sum of
        min(e^2, c^2), weighted where rows are, what lies within c is :func:`raised`. Without a
        release it is as for errors of one variance: energy / (n - S) times u'u.

        Parameters
        ----------
        gram : numpy.ndarray, shape (..., S, S)
        energy, rows : numpy.ndarray, shape (...)
        intercept : int
            Index of the constant column, whose entry need not be 1.
        """
        unit = np.outer(self.unit, self.unit)
        noise = math.sqrt(2) * self.deviation[..., None, None] * np.eye(len(unit))
        within = (positive_part(self.products / unit) + noise) * unit
        rows, energy, kept = np.asarray(rows), np.asarray(energy), self.kept
        if kept is None:
            one = ..., intercept, intercept
            kept = rows * self.products[one] / gram[one]
        sums = (rows * raised(energy, kept))[..., None, None] * within
        released = (self.products != 0).any(axis=(-2, -1), keepdims=True)
        sums = np.where(released, sums, energy[..., None, None] * gram)
        return sums / np.maximum(rows - len(unit), 1.0)[..., None, None]


def raised(energy: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return the factor that corrects squared scores for clipping: ``kept`` out of ``energy``.

    They kept more than half of it if they seem to have kept less.

    >>> raised(np.array([100.0, 100.0]), np.array([90.0, 105.0])).round(3)
    array([1.222, 1.   ])
    """
    lost = np.maximum(energy - kept, 0.0)
    kept = np.maximum(kept, np.maximum(energy / 2, np.finfo(float).tiny))
    return 1 + _CUT_OFF * np.minimum(lost, energy / 2) / kept


def positive_part(matrix: np.ndarray) -> np.ndarray:
    """Set the negative eigenvalues of a symmetric matrix to 0."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
