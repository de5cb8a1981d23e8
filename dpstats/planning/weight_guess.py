"""Describe the assumed weights of a forecast."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.errors import ArgumentError
from dpstats.option_checks import number
from dpstats.rows import Weights

# Standard deviations of log weights at which the largest weight lies: one row in a thousand.
_FAR = 3.09


@dataclass(frozen=True)
class WeightGuess:
    """Hold the weights that are assumed: lognormal with a mean, and clipped to their bounds.

    Their spread puts one row in a thousand beyond the largest weight, if that is less than
    118 times the mean; else it is the widest of this kind.
    """

    weights: Weights
    mean: float

    @classmethod
    def of(cls, weights: Weights | None, mean) -> "WeightGuess | None":
        """Check the guessed mean, by default halfway between the bounds."""
        if weights is None:
            if mean is not None:
                raise ArgumentError("weights_mean is for weights; add weights=")
            return None
        low, high = weights.low, weights.high
        middle = (low + high) / 2
        return cls(
            weights, number("weights_mean", low, high, "()")(middle if mean is None else mean)
        )

    @property
    def spread(self) -> float:
        """Return the standard deviation of the logarithms."""
        ratio = math.log(self.weights.high / self.mean)
        return _FAR - math.sqrt(max(_FAR**2 - 2 * ratio, 0.0))

    def draw(self, n: int, generator: np.random.Generator) -> np.ndarray:
        """Draw weights (n,)."""
        logs = math.log(self.mean) - self.spread**2 / 2 + self.spread * generator.normal(size=n)
        return np.clip(np.exp(logs), self.weights.low, self.weights.high)

    @property
    def sentence(self) -> str:
        """Write the guess in words, and what the largest weight costs."""
        largest = self.weights.largest
        times = largest / min(self.mean, largest)
        return (
            f"guessed weights {self.weights.column}: lognormal with mean {self.mean:.4g} within "
            f"[{self.weights.low:g}, {self.weights.high:g}]; each row counts for its weight over "
            f"{largest:g}, so noise is {times:.3g} times that of rows that all weigh the mean; "
            "residuals do not depend on the weights, as in a survey, where intervals cover with "
            'cov_type="HC1"'
        )
