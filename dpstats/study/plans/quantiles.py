"""Compute quantiles of ratios of widths, and the epsilon at which they are small enough."""

import math

import numpy as np
import pandas as pd


def quantile(values: pd.Series, fraction: float = 0.5) -> float:
    """Return the least value that at least this fraction of the others, without NaN, reach.

    >>> quantile(pd.Series([1.0, 3.0, float("inf")])), quantile(pd.Series([1.0, 3.0]), 0.9)
    (3.0, 3.0)
    """
    known = np.sort(values.dropna().to_numpy())
    return float(known[math.ceil(fraction * len(known) - 1e-9) - 1]) if len(known) else math.nan


def crossing(found: pd.Series, ratio: float) -> float:
    """Return the epsilon from which on ratios (n,), with epsilons as index, are at most this one.

    Between two of them log(ratio^2 - 1) is linear in log epsilon: noise adds to the variance in
    proportion to a power of epsilon. Infinite where the last is larger.

    >>> round(crossing(pd.Series([5**0.5, 2**0.5], index=[1.0, 2.0]), 3**0.5), 3)
    1.414
    """
    epsilons, values = found.index.to_numpy(float), found.to_numpy()
    over = np.flatnonzero(~(values <= ratio))
    i = over[-1] + 1 if len(over) else 0
    if i == len(values):
        return math.inf
    before, after = (values[i - 1], values[i]) if i else (math.nan, math.nan)
    if not (math.isfinite(before) and after > 1):
        return float(epsilons[i])
    high, low, middle = (math.log(value**2 - 1) for value in (before, after, ratio))
    part = (high - middle) / (high - low)
    return float(epsilons[i - 1] * (epsilons[i] / epsilons[i - 1]) ** part)


def even_shares(shares: pd.Series, ratios: pd.DataFrame, epsilon: float) -> pd.Series:
    """Compute the shares, of the same sum, at which tables have the same ratio.

    With noise of variance in proportion to 1 / share beside sampling, share (ratio^2 - 1) does not
    depend on the share. ``ratios`` has a column for each epsilon, of which the first from
    ``epsilon`` on is used where all are finite; NaN where there is none.
    """
    for each in (each for each in ratios if each >= epsilon):
        if np.isfinite(ratios[each]).all():
            parts = shares * np.maximum(ratios[each] ** 2 - 1, 1e-6)
            return parts / parts.sum() * shares.sum()
    return shares * np.nan
