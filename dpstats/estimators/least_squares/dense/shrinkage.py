"""Shrink coefficients from noisy cross-products by a ridge that minimises estimated risk."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.least_squares.dense.noisy_sums import NoisySums
from dpstats.numerics import Box

# Standard deviations by which the estimated gain over a constant must exceed zero.
_MARGIN = 2.0
# The penalties tried, as powers of two times the norm of the noise on X'X.
_POWERS = range(-3, 14)
# Fraction of the variance that the fit in needed_rows explains.
_EXPLAINED = 0.1


@dataclass(frozen=True)
class NoisyMoments:
    """Hold released cross-products of scaled rows (u, v) and the size of their noise.

    Parameters
    ----------
    gram, cross, square : numpy.ndarray (S, S), numpy.ndarray (S,), float
        Noisy u'u, u'v and v'v.
    gram_sd, cross_sd : float
        Standard deviations of the noise on an entry of u'u and of u'v.
    intercept : int or None
        Index of the constant column.
    one : float
        What that column is after scaling.
    """

    gram: np.ndarray
    cross: np.ndarray
    square: float
    gram_sd: float
    cross_sd: float
    intercept: int | None
    one: float = 1.0

    @classmethod
    def of(cls, sums: NoisySums, box: Box, intercept: int | None) -> "NoisyMoments":
        """Read released sums of rows in the coordinates of a box."""
        one = 1.0 if intercept is None else 1 / float(box.scale[intercept])
        return cls(sums.gram, sums.cross, sums.square, *sums.deviations[:2], intercept, one)

    @property
    def rows(self) -> float:
        """Return the noisy row count, no smaller than its noise; 1 without an intercept."""
        if self.intercept is None:
            return 1.0
        counted = max(float(self.gram[self.intercept, self.intercept]), 2 * self.gram_sd)
        return counted / self.one**2

    @property
    def slopes(self) -> np.ndarray:
        """Return the indices of the other columns."""
        return np.flatnonzero(self._ones == 0)

    @property
    def mean(self) -> float:
        """Return the noisy mean of v, within [-1, 1]; zero for a model through the origin."""
        return float(np.clip(self.cross @ self._ones / self.rows, -1.0, 1.0))

    def response(self, box: Box) -> dict[str, float]:
        """Return the mean of the response with the error of the noise, in its own units, by name.

        Empty for a model through the origin, whose sums do not tell the mean.
        """
        if self.intercept is None:
            return {}
        noise = math.hypot(self.cross_sd, self.mean * self.gram_sd / self.one)
        return {
            "response_mean": float(box.y_center + box.y_scale * self.mean),
            "response_mean_error": float(box.y_scale * noise / (self.one * self.rows)),
        }

    @property
    def means(self) -> np.ndarray:
        """Return the noisy means of the other columns; zeros for a model through the origin."""
        return np.clip(self.gram[self.slopes] @ self._ones / self.rows, -1.0, 1.0)

    @property
    def _ones(self) -> np.ndarray:
        """Return the combination of columns that is 1 in every row; zeros where there is none."""
        return (np.arange(len(self.cross)) == self.intercept) / self.one

    def centred(self) -> tuple[np.ndarray, np.ndarray]:
        """Return u'u and u'v of the slopes, about the means."""
        inside = np.ix_(self.slopes, self.slopes)
        gram = self.gram[inside] - self.rows * np.outer(self.means, self.means)
        return gram, self.cross[self.slopes] - self.rows * self.means * self.mean

    def theta(self, slopes: np.ndarray) -> np.ndarray:
        """Return all coefficients of v on u: these slopes, and an intercept through the means."""
        theta = self._ones * (self.mean - self.means @ slopes)
        theta[self.slopes] = slopes
        return theta


def shrunken_slopes(moments: NoisyMoments) -> np.ndarray:
    r"""Fit ridge slopes with the penalty of least estimated risk; zeros if none beats a constant.

    A function of released values. Let A + E and c + w be the noisy cross-products about the
    means, with independent noise of variances s_A^2 and s_c^2, theta = M (c + w) and
    M = (A + E + lambda I)^-1. Against a constant, theta changes the sum of squared errors by
    theta'A theta - 2 theta'c. Since E theta'w = s_c^2 tr M and, as d theta = -M dE theta,
    E theta'E theta = -2 s_A^2 (||theta||^2 tr M + theta'M theta) to first order in the
    noise (up to the diagonal of E, which is counted as if it had twice the variance), that
    is estimated without bias, to first order, by

        theta'(A + E) theta - 2 theta'(c + w) + 2 tr M (s_c^2 + s_A^2 ||theta||^2)
            + 2 s_A^2 theta'M theta.

    This is Stein's estimate of risk for the noise that was added. To be taken, the gain must
    exceed two of its own standard deviations, and denominators are no smaller than
    2 s_A sqrt(S), which is about the norm of E: there the first order no longer holds.
    """
    gram, cross = moments.centred()
    values, vectors = np.linalg.eigh(gram)
    rotated = vectors.T @ cross
    floor = 2 * moments.gram_sd * math.sqrt(len(moments.cross))
    tried = (floor * 2.0**power for power in _POWERS)
    ridges = [1 / np.maximum(values + penalty, floor) for penalty in tried]
    risks = [_risk(values, rotated, ridge, moments) for ridge in ridges]
    slopes = vectors @ (ridges[int(np.argmin(risks))] * rotated)
    length = slopes @ slopes
    variance = 4 * moments.cross_sd**2 * length + 2 * moments.gram_sd**2 * length**2
    return slopes if -min(risks) > _MARGIN * math.sqrt(variance) else np.zeros_like(slopes)


def _risk(values, rotated, ridge, moments: NoisyMoments) -> float:
    """Estimate the risk of :func:`shrunken_slopes` in the coordinates of the eigenvectors."""
    theta = ridge * rotated
    noise = moments.cross_sd**2 + moments.gram_sd**2 * (theta @ theta)
    fit = theta * values @ theta - 2 * theta @ rotated
    return fit + 2 * ridge.sum() * noise + 2 * moments.gram_sd**2 * (theta * ridge @ theta)


def needed_rows(moments: NoisyMoments) -> float:
    """Estimate how many rows let a fit that explains a tenth of the variance beat a constant.

    With n rows, d slopes, a mean spread s^2 of the columns and a variance q of v a row, such
    a fit gains n q / 10, has theta'theta = q / (10 s^2), and pays 2 d t^2 / (n s^2) for the
    noise, t^2 = s_c^2 + s_A^2 theta'theta, and a margin of 4 t sqrt(theta'theta). They
    balance at n = t (2 + sqrt(4 + 2 d)) / sqrt(q s^2 / 10). NaN where the noise hides q or s.
    """
    gram, _ = moments.centred()
    spread = np.trace(gram) / max(len(gram), 1) / moments.rows
    variance = _EXPLAINED * (moments.square / moments.rows - moments.mean**2)
    if moments.intercept is None or not (spread > 0 and variance > 0):
        return math.nan
    noise = math.sqrt(moments.cross_sd**2 + moments.gram_sd**2 * variance / spread)
    return noise * (2 + math.sqrt(4 + 2 * len(gram))) / math.sqrt(variance * spread)
