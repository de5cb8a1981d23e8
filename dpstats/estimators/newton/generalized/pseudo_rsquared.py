"""Compute McFadden's pseudo R-squared of a logistic regression from released sums.

At the maximum of the likelihood the scores add up to zero, so sum (y - mu) x'b = 0 and the
log-likelihood sum y x'b - log(1 + exp(x'b)) is that of outcomes whose shares are the fitted
probabilities: minus the sum of their entropies. These lie between 0 and log 2, whatever the rows
are. McFadden's (1974) is one less their ratio to the number of rows times the entropy of the share
of ones.
"""

import math
from typing import NamedTuple

import numpy as np

# R-squared with a larger standard error says nothing.
_LARGEST_ERROR = 0.25


class Released(NamedTuple):
    """Hold a released number and the standard deviation of its noise."""

    value: float
    noise: float


def mcfadden(
    entropy: Released, share: Released, rows: Released, predictor: np.ndarray,
    information: np.ndarray, moved: np.ndarray, cut: float,
) -> Released:  # fmt: skip
    """Return 1 - llf / llnull and its standard error, NaN where noise leaves it open.

    ``predictor`` (p,) is the linear predictor in whitened directions, ``information`` (p, p) the
    Hessian there and ``moved`` (p, p) the covariance of the error of the position. To first order
    an error e moves the sum of entropies by -predictor' information e, and to second order by half
    the trace of information times covariance, which is added. ``cut`` is the part of leverage that
    weights took: of these rows the scores do not add up to zero.

    Guarantee. Post-processing of what was released.
    """
    if not 0 < share.value < 1:
        return Released(math.nan, math.nan)
    odds = math.log(share.value / (1 - share.value))
    per_row = math.log1p(math.exp(-abs(odds))) + abs(odds) * min(share.value, 1 - share.value)
    null = rows.value * per_row
    null_error = math.hypot(per_row * rows.noise, rows.value * odds * share.noise)
    gradient = information @ predictor
    fit = entropy.value + float(np.trace(information @ moved)) / 2
    variance = entropy.noise**2 + float(gradient @ moved @ gradient)
    variance += cut**2 * float(predictor @ gradient)
    error = math.hypot(math.sqrt(variance), fit / null * null_error) / null
    if not error <= _LARGEST_ERROR:
        return Released(math.nan, math.nan)
    return Released(min(max(1 - fit / null, 0.0), 1.0), error)
