"""Hold where noisy Newton steps of a logistic regression are, and combine it with the next step."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpstats.estimators.newton.steps.state import prior_variance

# The prior of a position, in log odds, has so many times the variance that it has for a response of
# variance one.
_PRIOR = 6.0
# A step is no longer than this, in log odds of a row of ordinary leverage: beyond, curvature at its
# start says nothing.
_LONGEST = 2.0
# The Hessian changes by this part of itself for a step of length one, and more for rare outcomes,
# whose probabilities change by factors.
_CHANGE, _CHANGE_RARE = 0.15, 0.3
# The noise on a squared length is exceeded from so many of its standard deviations on.
_CLEAR = 2.5
# Eigenvalues of a Hessian are no smaller: where offsets leave no slope a guessed one is zero, and a
# position that is no number has sums of scores without bounds.
_LEAST = 1e-9
# Nodes and weights of an expectation over a standard normal distribution.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True)
class Hessian:
    """Hold the eigenvalues (p,) and eigenvectors (p, p) of a noisy sum of mu' a a' over rows.

    ``deviation`` is that of the noise off its diagonal, and ``unsure`` its relative error. Of one
    that was not released ``errors`` (p, p) times the squares of a step are the variances of what it
    leaves of the way besides, as directions are whitened by a noisy X'X.
    """

    values: np.ndarray
    vectors: np.ndarray
    deviation: float
    unsure: float
    errors: np.ndarray

    @classmethod
    def guessed(cls, matrix: np.ndarray, unsure: float, errors: np.ndarray) -> "Hessian":
        """Return one that follows from earlier releases."""
        return cls(*np.linalg.eigh(matrix), 0.0, unsure, errors)

    @classmethod
    def released(cls, matrix: np.ndarray, deviation: float) -> "Hessian":
        """Return one as released."""
        found = cls(*np.linalg.eigh(matrix), deviation, 0.0, np.zeros_like(matrix))
        unsure = math.sqrt(2 * len(matrix)) * deviation / float(found.raised.mean())
        return replace(found, unsure=unsure)

    @property
    def raised(self) -> np.ndarray:
        """Return eigenvalues no smaller than half the norm of the noise, and above zero."""
        least = max(self.deviation * math.sqrt(len(self.values)), _LEAST)
        return np.maximum(self.values, least)

    @property
    def inverse(self) -> np.ndarray:
        """Return the inverse by raised eigenvalues."""
        return (self.vectors / self.raised) @ self.vectors.T

    @property
    def sampling(self) -> np.ndarray:
        """Return the inverse by eigenvalues less a deviation of their noise, at most half of each.

        Where the noise made an eigenvalue large a standard error would be too small.
        """
        raised = self.raised
        low = np.maximum(raised - self.deviation, raised / 2)
        return (self.vectors / low) @ self.vectors.T


@dataclass(frozen=True)
class Position:
    """Hold a position eta (p,) in whitened directions and the covariance (p, p) of its error.

    The error is that beside the sampling of rows. ``rare`` is how far the share of ones is from
    1/2, from 0 to 1. The last step had the squared length ``moved``, of which ``noise`` was
    expected of noise alone, and ``left`` (p, p) is what it left of the way, by what was seen of
    it; the squared length ``beyond`` stood clear of noise. ``prior`` is the variance of a direction
    before all steps, and none is longer than ``longest``.
    """

    eta: np.ndarray
    cov: np.ndarray
    rare: float
    left: np.ndarray
    moved: float = 0.0
    noise: float = 0.0
    beyond: float = 0.0
    prior: float = math.inf
    longest: float = _LONGEST

    @classmethod
    def start(
        cls, directions: int, rare: float, times: float = _PRIOR, longest: float = _LONGEST
    ) -> "Position":
        """Return zero, with the prior's covariance, ``times`` that of a response of variance 1."""
        prior = times * prior_variance(directions)
        none = np.zeros((directions, directions))
        cov = prior * np.eye(directions)
        return cls(np.zeros(directions), cov, rare, none, prior=prior, longest=longest)

    def stepped(self, hessian: Hessian, sums: np.ndarray, deviation: float) -> "Position":
        """Step by noisy sums of scores (p,), combined with what was known as a Kalman filter.

        Scores at the position tell the way to the optimum with noise of their own, so steps are
        independent estimates of it. The Hessian is off by what it changes along the step, or by
        what the step shows that the last one left over of the way; one that was not released is off
        by the noise in X'X, too.
        """
        p, inverse = len(self.eta), hessian.inverse
        step, noise = inverse @ sums, deviation**2 * inverse @ inverse
        length, expected = float(step @ step), float(np.trace(noise))
        variance, most = float(np.trace(self.cov)), p * self.prior
        inflation = min(max(1.0, (length - expected) / variance), max(1.0, most / variance))
        known = inflation * self.cov
        gain = known @ np.linalg.inv(known + noise)
        way = gain @ step
        way *= min(1.0, self.longest / max(math.sqrt(float(way @ way)), 1e-12))
        moved, kept = float(way @ way), np.eye(p) - gain
        taken = gain @ noise @ gain.T
        clear = 1 + _CLEAR * math.sqrt(2 / p)
        changed = min((_CHANGE + _CHANGE_RARE * self.rare) * math.sqrt(moved), 1.0)
        over = (
            max(length - clear * (expected + self.noise), 0.0) / self.moved if self.moved else 0.0
        )
        unsure = max(hessian.unsure**2 + changed**2, min(over, 1.0))
        left = unsure * (np.outer(way, way) + moved / p * np.eye(p)) / 2
        left += np.diag(hessian.errors @ way**2)
        cov = kept @ known @ kept.T + taken + left
        beyond = max(length - clear * (expected + variance), 0.0)
        rest = float(np.trace(cov - left))
        return replace(
            self, eta=self.eta + way, cov=cov, left=left, moved=moved, noise=rest, beyond=beyond
        )


def logistic_slope(predictor: np.ndarray) -> np.ndarray:
    """Return mu (1 - mu)."""
    with np.errstate(over="ignore"):
        return 1 / (4 * np.cosh(predictor / 2) ** 2)


def normal_curvature(
    center: float, eta: np.ndarray, constant: np.ndarray, slope_at: Callable = logistic_slope
) -> np.ndarray:
    """Return the mean of mu' a a' (p, p) at eta (p,) for directions a that are normal.

    ``slope_at`` gives mu' at values of the predictor.
    ``constant`` (p,) are the coefficients of the constant 1, or zeros. With u the part of eta
    across it and z = a'u / |u|, the mean differs from that of mu' in these two directions alone.
    """
    size = float(np.linalg.norm(constant))
    constant = constant / size if size else constant
    shift = float(constant @ eta)
    across = eta - shift * constant
    spread = float(np.linalg.norm(across))
    across = across / spread if spread else across
    slope = WEIGHTS * slope_at(center + shift + spread * NODES)
    mean, first, second = (float(slope @ NODES**power) for power in (0, 1, 2))
    both = np.outer(constant, across)
    return (
        mean * np.eye(len(eta))
        + first * (both + both.T)
        + (second - mean) * np.outer(across, across)
    )
