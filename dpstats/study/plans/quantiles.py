"""Compute quantiles of ratios of widths, and the epsilon at which they are small enough."""

import math
from collections.abc import Iterable, Mapping

import numpy as np


def quantile(values: Iterable[float], fraction: float = 0.5) -> float:
    """Return the least value that at least this fraction of the others, without NaN, reach.

    >>> quantile([1.0, 3.0, math.inf]), quantile([1.0, math.nan, 3.0], 0.9)
    (3.0, 3.0)
    """
    known = sorted(value for value in values if not math.isnan(value))
    return known[math.ceil(fraction * len(known) - 1e-9) - 1] if known else math.nan


def crossing(ratios: Mapping[float, float], ratio: float) -> float:
    """Return the epsilon from which on ratios, by epsilon from the smallest, are at most this one.

    Between two of them log(ratio^2 - 1) is linear in log epsilon: noise adds to the variance in
    proportion to a power of epsilon. Infinite where the last is larger, NaN where all are NaN.

    >>> round(crossing({1.0: 5**0.5, 2.0: 2**0.5}, 3**0.5), 3)
    1.414
    """
    epsilons, values = list(ratios), list(ratios.values())
    if all(map(math.isnan, values)):
        return math.nan
    i = max((place + 1 for place, value in enumerate(values) if not value <= ratio), default=0)
    if i == len(values):
        return math.inf
    before, after = (values[i - 1], values[i]) if i else (math.nan, math.nan)
    if not (math.isfinite(before) and after > 1):
        return epsilons[i]
    high, low, middle = (math.log(value**2 - 1) for value in (before, after, ratio))
    part = (high - middle) / (high - low)
    return epsilons[i - 1] * (epsilons[i] / epsilons[i - 1]) ** part


def even_shares(shares: Iterable[float], ratios: Iterable[float]) -> np.ndarray:
    """Compute the shares, of the same sum, at which tables have the same ratio.

    With noise of variance in proportion to 1 / share beside sampling, share (ratio^2 - 1) does not
    depend on the share. NaN where a ratio is not finite.
    """
    given, found = np.array([*shares]), np.array([*ratios])
    if not np.isfinite(found).all():
        return np.full(len(given), math.nan)
    parts = given * np.maximum(found**2 - 1, 1e-6)
    return parts / parts.sum() * given.sum()
