"""Derive where a fit with offsets starts from their released distribution.

All of it is post-processing. Rows' own offsets enter nothing but the means of scores and Hessians.
"""

import math

import numpy as np

from dpstats.estimators.contract import Offsets


def log_odds(share: float, offsets: Offsets | None) -> float:
    """Return the intercept c with which the mean probability, of log odds c + o, is a share."""
    alone = math.log(share / (1 - share))
    if offsets is None:
        return alone
    from scipy.optimize import brentq  # imported where used: these are slow to import
    from scipy.special import expit

    ends = alone - offsets.points.max() - 1, alone - offsets.points.min() + 1
    return float(brentq(lambda at: float(offsets.mean(expit, at)) - share, *ends))


def log_mean(offsets: Offsets | None) -> float:
    """Return the logarithm of the mean of e^o."""
    return 0.0 if offsets is None else _log_mean_exp(offsets.points, offsets)


def mean_square(offsets: Offsets | None) -> float:
    """Return the mean square of e^o, whose unit is its mean; it is 1 where all are equal."""
    if offsets is None:
        return 1.0
    twice = _log_mean_exp(2 * offsets.points, offsets)
    return math.exp(min(twice - 2 * log_mean(offsets), _MOST))


def _log_mean_exp(points: np.ndarray, offsets: Offsets) -> float:
    """Return the logarithm of the mean of e^points, however far out they are."""
    highest = points[offsets.weights > 0].max()
    return float(highest + np.log(np.exp(np.minimum(points - highest, 0)) @ offsets.weights))


# The logarithm of the largest mean square that is told from a larger one.
_MOST = 40.0
