"""Simulate, from released sums, other releases that could have been drawn."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpstats.numerics import Meat

# Public: the same release gives the same simulated numbers in every session.
SEED = 20_220


@dataclass(frozen=True)
class Sums:
    """Hold a least-squares fit from noisy sums, and the noise they carry.

    Parameters
    ----------
    gram, cross, square
        Released u'u (S, S), u'v (S,) and v'v.
    rows : float
        Released number of rows; NaN where it was not released.
    minimum : float
        Scale of the noise on v'v.
    meat : Meat
        Squared scores, where they were released.
    solve : callable
        ``(gram, cross) -> theta``, as the mechanism does it, for one or many; NaN where it
        would fail.
    draw : callable
        ``(generator, M) -> (E, w)``: noise on M grams and crosses as the mechanism adds it.
    transform, shift : numpy.ndarray, shapes (S, S) and (S,)
        Coefficients in the user's units are transform @ theta + shift.
    unit : float
        Of v, in units of the response; NaN where it is not known.
    draw_square : callable
        ``(generator, M)`` -> noise (M,) on v'v as the mechanism adds it.
    penalty : float
        The ridge of the fit.
    """

    gram: np.ndarray
    cross: np.ndarray
    square: float
    rows: float
    minimum: float
    meat: Meat
    solve: Callable
    draw: Callable
    transform: np.ndarray
    shift: np.ndarray
    unit: float
    draw_square: Callable
    penalty: float = 0.0

    @property
    def theta(self) -> np.ndarray:
        """Return the fit that was released."""
        return self.solve(self.gram, self.cross)

    def replicates(self, theta: np.ndarray, draws: int, sampling: bool) -> np.ndarray:
        """Simulate coefficients (draws, S) in the user's units that could have been released.

        From u'v = u'u theta, with u'u as released; ``sampling`` adds normal errors of the
        released variance, so that a replicate stands for other rows too.
        """
        generator, gram = np.random.default_rng(SEED), self.positive
        root = np.linalg.cholesky(self.spread(theta)) if sampling else 0 * gram
        noise, w = self.draw(generator, draws)
        errors = generator.normal(size=(draws, len(theta))) @ root.T
        fits = self.solve(gram + noise, gram @ theta + errors + w)
        return fits @ self.transform.T + self.shift

    def noise(self, draws: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Simulate noise on u'u (draws, S, S), on u'v (draws, S) and on v'v (draws,)."""
        generator = np.random.default_rng(SEED)
        return *self.draw(generator, draws), self.draw_square(generator, draws)

    @property
    def positive(self) -> np.ndarray:
        """Return the released u'u with its eigenvalues raised to those of a few rows at least."""
        values, vectors = np.linalg.eigh(self.gram)
        return (vectors * np.maximum(values, 1.0)) @ vectors.T

    def spread(self, theta: np.ndarray) -> np.ndarray:
        """Estimate the covariance of u'e at theta; the residual variance is at least its noise."""
        rss = self.square - 2 * theta @ self.cross + theta @ self.gram @ theta
        return self.meat.covariance(self.positive, max(rss, self.minimum), max(self.rows, 1.0))
