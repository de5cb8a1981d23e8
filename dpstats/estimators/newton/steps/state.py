"""Hold where noisy Newton steps are, and what is known of the error."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.newton.steps.bias import Bias
from dpstats.estimators.newton.steps.goodness import Squares
from dpstats.estimators.newton.steps.queries import Counted
from dpstats.estimators.newton.steps.whitening import Whitening

# In each of p whitened directions a coefficient is shrunk by a prior of variance 2 / p; how much of
# it may be an error is taken from one of at least this variance.
PRIOR, _LEAST_PRIOR = 2.0, 0.15
# With fewer clusters no interval is shown.
_FEWEST = 6


@dataclass(frozen=True)
class Clusters:
    """Hold the effective number of clusters as released, and the noise in it.

    That is the number n^2 / |n|^2 of clusters of equal sizes, n rows in all and n_g in each.
    """

    number: float
    error: float

    @classmethod
    def of(cls, counted: Counted, norm: float, noise: float) -> "Clusters":
        """Read the number off the norm of the sizes as released, with its noise.

        n rows, each of at most 1, have a norm from that of as many clusters to that of one.
        """
        least = counted.total / math.sqrt(max(counted.number, 1.0))
        norm = min(max(norm, least), counted.total)
        number = (counted.total / norm) ** 2
        return cls(number, 2 * number * math.hypot(noise / norm, counted.noise / counted.total))

    def divided(self, labels: int, rows: float) -> "Clusters":
        """Return the number of parts that ``rows`` divide into by drawing one of so many labels.

        The expected sum of their squared sizes is |n|^2 / labels + (1 - 1 / labels) n.
        """
        shared = 1 / (self.number * labels)
        number = 1 / (shared + (1 - 1 / labels) / rows)
        return Clusters(number, self.error / self.number * number * shared * number)

    @property
    def correction(self) -> float:
        """Return the factor of statsmodels and Stata for few clusters."""
        return self.number / max(self.number - 1, 1.0)

    @property
    def are_few(self) -> bool:
        """Tell whether there are too few for the products of their scores to tell a variance."""
        return self.number < _FEWEST


@dataclass(frozen=True)
class NewtonState:
    """Hold the position eta (p,) in whitened directions and the variance (p,) of its error.

    ``bias`` is what clipped scores add to it, ``square`` the mean square of residuals,
    ``slope`` the part of the rows whose scores were not cut, ``hessian`` the Hessian over X'X, and
    ``sigma`` the unit of scores' sizes.
    ``squares`` are the mean squares of residuals without what makes ``square`` conservative. For
    robust or clustered errors ``products`` (p, p) estimate the sum of products of scores, or of
    those of sums by ``clusters``. ``hidden`` is the share of the rows that the noise on the last
    histogram of scores could hide. The last step ``moved`` the position by this squared length, of
    which noise is ``moved_noise``. The steps have ``left`` these parts (p, m) of the distance from
    zero to least squares, by quantiles of what X'X may be.
    """

    eta: np.ndarray
    variance: np.ndarray
    bias: Bias
    sigma: float = 1.0
    square: float = 1.0
    slope: float = 1.0
    hessian: float = 1.0
    squares: Squares = Squares()
    products: np.ndarray | None = None
    moved: float = 0.0
    moved_noise: float = 0.0
    hidden: float = 1.0
    clusters: Clusters | None = None
    left: np.ndarray | float = 0.0

    def left_over(self, step: np.ndarray, step_variance: float) -> float:
        """Estimate from the next step what part of its squared length the last one left over.

        That is the squared length of the next ``step`` (p,) less the noise in both, over that of
        the last one, at most 1. Steps stop short or go too far where few rows have much of X'X and
        their scores or leverages are cut; the next step is taken to leave as much of itself. The
        squared length of noise in p directions has a deviation of root(2 / p) of its mean; what
        that may account for is no sign of it.
        """
        if not self.moved > 0:
            return 0.0
        directions = len(step)
        noise = directions * step_variance + self.moved_noise
        beyond = float(step @ step) - noise * (1 + math.sqrt(2 / directions))
        return min(max(beyond, 0.0) / self.moved, 1.0)

    def sampling(self, whitening: Whitening, rows: float) -> np.ndarray:
        """Return the covariance (p, p) of the position from the sampling of rows, or of units."""
        if self.products is None:
            return np.diag(self.square * whitening.kept / (rows * self.hessian**2))
        return self.products / (rows * self.hessian) ** 2


def prior_variance(directions: int) -> float:
    """Return the prior variance of the position in each of so many directions.

    Its squares add up to R-squared, so it is 2 over their number, which a signal in few of them may
    exceed: at least 0.15, of which two standard deviations hold 60% of the response's variance.
    """
    return min(max(PRIOR / directions, _LEAST_PRIOR), 1.0)
