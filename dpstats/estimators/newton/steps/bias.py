"""Bound the clipping bias of a noisy Newton position: how far it is from least squares."""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpstats.estimators.newton.steps.score_tails import Tail

# Parts of the square of a systematic cut: along the position, in the constant, and in other
# directions. On 65 tables and simulated cases (benchmarks/tails.py) the sum of what is cut off long
# scores is half in the constant, and the rest of it has a correlation of .9 and more with the
# coefficients where the response is skewed, as spread grows with the mean there.
_ALONG, _SHIFT, _ELSEWHERE = 0.7, 0.7, 0.3
# Fewer rows count as so many, whose square is a double: the bias is capped long before.
_LEAST_WHOLE = 1e-100


@dataclass(frozen=True)
class Bias:
    """Hold the clipping bias of a position in p whitened directions.

    ``even`` (p,) are variances, ``along`` (p,) and each of ``flat`` (k, p) are vectors of unknown
    sign, and ``shift`` is the standard deviation of the constant.
    """

    even: np.ndarray
    along: np.ndarray
    flat: np.ndarray
    shift: float = 0.0

    @classmethod
    def none(cls, directions: int) -> "Bias":
        """Return the bias of scores that were not cut."""
        return cls(np.zeros(directions), np.zeros(directions), np.zeros((1, directions)))

    @classmethod
    def of(
        cls, tail: Tail, limit: float, dimension: float, eta: np.ndarray, variance: np.ndarray,
        whole: float, flat: np.ndarray | None = None,
    ) -> "Bias":  # fmt: skip
        """Return the bias of a step by scores cut at ``limit``, over ``whole`` rows.

        The step is at ``eta`` (p,) with errors of ``variance`` (p,). What is cut off rows at random
        is spread evenly; what all of them lose points along the position, as well as it is known.
        ``flat`` (k, p) is what those lose that are far out in one column, or have a rare value.
        """
        square = float(eta @ eta + variance.sum())
        systematic = tail.systematic_square(limit)
        unsure = _ALONG * systematic * variance / square
        even = tail.excess(limit, 2) + _ELSEWHERE * systematic
        flat = np.zeros((1, len(eta))) if flat is None else flat
        unit = dimension / max(whole, _LEAST_WHOLE) ** 2
        return cls(
            unit * (even / len(eta) + unsure),
            math.sqrt(unit * _ALONG * systematic / square) * eta,
            math.sqrt(unit) * flat,
            math.sqrt(unit * _SHIFT * systematic),
        )

    @property
    def variance(self) -> np.ndarray:
        """Return the mean square of the error in each direction, (p,)."""
        return self.even + self.along**2 + (self.flat**2).sum(axis=0)

    def square_along(self, gradient: np.ndarray) -> float:
        """Return the mean square of the change that the bias makes along a gradient (p,).

        ``shift`` is left out, as what is explained about the mean does not change along it.
        """
        vectors = np.vstack([self.along, self.flat]) @ gradient
        return float(self.even @ gradient**2 + vectors @ vectors)

    def at_most(self, square: float) -> "Bias":
        """Return the bias with its mean square capped: of each vector, and in each direction.

        The position may be all wrong, and each of the others by an even part of that.
        """
        each = square / len(self.even)
        along, *flat = (_no_longer(one, math.sqrt(square)) for one in (self.along, *self.flat))
        return replace(
            self, even=np.minimum(self.even, each), along=along,
            flat=np.reshape(flat, self.flat.shape), shift=min(self.shift, math.sqrt(each)),
        )  # fmt: skip

    def at_least(self, other: "Bias", last: int) -> "Bias":
        """Return the bias whose ``last`` vectors of ``flat`` are as long as another's, or longer.

        Of rare values an earlier limit, as a rule a nearer one, cut no less than a later one, even
        where the histogram before it did not tell so.
        """
        if not last:
            return self
        flat, of_other = np.broadcast_to(self.flat, other.flat.shape).copy(), other.flat[-last:]
        flat[-last:] = np.where(np.abs(flat[-last:]) < np.abs(of_other), of_other, flat[-last:])
        return replace(self, flat=flat)

    def combined(self, new: "Bias", gain: np.ndarray) -> "Bias":
        """Return the bias after a step taken up by ``gain`` (p,); biases of steps add up."""
        part = float(gain.mean())
        return Bias(
            ((1 - gain) * np.sqrt(self.even) + gain * np.sqrt(new.even)) ** 2,
            (1 - gain) * self.along + gain * new.along,
            (1 - gain) * self.flat + gain * new.flat,
            (1 - part) * self.shift + part * new.shift,
        )

    def covariance(self, back: np.ndarray, tilt: np.ndarray, constant: np.ndarray) -> np.ndarray:
        """Return the covariance (S, S) of coefficients ``back`` (S, p) times the position.

        ``tilt`` (S,) stretches the even part, and ``constant`` (S,) is the constant's coefficients.
        """
        even = (back * self.even) @ back.T * np.outer(tilt, tilt)
        vectors = back @ np.vstack([self.along, self.flat]).T
        return even + vectors @ vectors.T + self.shift**2 * np.outer(constant, constant)


def _no_longer(vector: np.ndarray, most: float) -> np.ndarray:
    """Return a vector (p,), scaled down to a length of at most ``most``."""
    return vector * min(1.0, most / max(float(np.linalg.norm(vector)), _LEAST_WHOLE))
