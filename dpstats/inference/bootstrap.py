"""Simulate, from released sums, other releases that could have been drawn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dpstats.numerics import Meat
from dpstats.numerics.ridge import inverse, ridge, symmetric

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
        Of v, in units of the response; NaN in results of earlier versions.
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

    @classmethod
    def of(cls, stack: Mapping[str, np.ndarray], g: int = 0) -> "Sums | None":
        """Read the g-th release of a stack; None for other methods and failed releases."""
        statistics = {name: values[g] for name, values in stack.items()}
        if "Suu" in statistics and "scale" in statistics:
            return None if np.isnan(statistics.get("sigma2", np.nan)) else _of_a_line(statistics)
        return _of_a_design(statistics) if "gram" in statistics else None

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


def _of_a_line(statistics: Mapping) -> Sums:
    """Read the sums of noisy_moments: u = (1, x), Laplace noise."""
    column, scale = int(statistics["column"]), float(statistics["scale"])
    scales = np.array([statistics["n_scale"], scale, scale, scale, scale])

    def draw(generator, draws):
        n, su, suu, sv, suv = scales[:, None] * generator.laplace(size=(5, draws))
        return symmetric(np.stack([n, su, suu], axis=-1), 2), np.stack([sv, suv], axis=-1)

    def solve(gram, cross):
        n, su, suu = gram[..., 0, 0], gram[..., 0, 1], gram[..., 1, 1]
        determinant = n * suu - su * su
        determinant = np.where((n > 0) & (determinant > 0), determinant, np.nan)
        sv, suv = cross[..., 0], cross[..., 1]
        fits = np.stack([suu * sv - su * suv, n * suv - su * sv], axis=-1)
        return fits / determinant[..., None]

    slope = statistics["y_width"] / statistics["x_width"]
    transform, shift = np.zeros((2, 2)), np.zeros(2)
    transform[column, 1] = slope
    transform[1 - column] = statistics["y_width"], -statistics["x_middle"] * slope
    shift[1 - column] = statistics["y_middle"]
    gram = np.array([[statistics["n"], statistics["Su"]], [statistics["Su"], statistics["Suu"]]])
    cross = np.array([statistics["Sv"], statistics["Suv"]])
    square, n = float(statistics["Svv"]), float(statistics["n"])
    meat = Meat.of_line(statistics)
    unit = float(statistics["y_width"])
    fit = gram, cross, square, n, scale, meat, solve, draw, transform, shift
    return Sums(*fit, unit, lambda generator, draws: scale * generator.laplace(size=draws))


def _of_a_design(statistics: Mapping) -> Sums:
    """Read the sums of adassp or ssp: Gaussian noise on the upper triangle, and a ridge or none."""
    columns = len(statistics["cross"])
    of_gram, of_cross, of_square = statistics["scales"]
    size = columns * (columns + 1) // 2

    def draw(generator, draws):
        triangles = of_gram * generator.normal(size=(draws, size))
        return symmetric(triangles, columns), of_cross * generator.normal(size=(draws, columns))

    def solve(gram, cross):
        penalty = ridge(gram, of_gram) if "ridge" in statistics else 0.0
        return np.einsum("...st,...t->...s", inverse(gram, penalty, of_gram), cross)

    rows = float(statistics.get("rows", np.nan))
    gram, cross, square = statistics["gram"], statistics["cross"], float(statistics["square"])
    parts = gram, cross, square, rows, float(of_square), Meat.of(statistics)
    unit = float(statistics.get("y_scale", np.nan))

    def draw_square(generator, draws):
        return float(of_square) * generator.normal(size=draws)

    maps = statistics["transform"], statistics["shift"]
    return Sums(*parts, solve, draw, *maps, unit, draw_square, float(statistics.get("ridge", 0.0)))
