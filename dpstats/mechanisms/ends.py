"""Private quantiles around a median, bought as the ends of confidence intervals."""

import math

import numpy as np

# Share of the cost of a fit that ci= spends on the ends of intervals.
CI_SHARE = 0.5
ENDS_ONLY = (
    "ci= buys the ends of intervals of one level, from which no standard error, no p-value and "
    "no interval of a higher level follows"
)


def rank_margin(level: float, count: int, m: int, epsilon: float, slack: float = 0) -> float | None:
    """How far from 1/2, in ranks, private quantiles enclose the true value at the level.

    m independent values fall below the centre of their law as m fair coins do, so the share
    below it is about N(1/2, 1/(4 m)). A quantile drawn by the exponential mechanism with
    epsilon misses its rank by about a Laplace variable of scale 2 / (epsilon m). ``slack`` is
    added in the same unit. All of ``count`` intervals together hold with the level (Bonferroni).

    Returns
    -------
    float or None
        In (0, 1/2); None when even the extremes do not enclose it.
    """
    from dpstats.inference.laws import critical_value  # compiled, so slow to import

    unit = 2 / (epsilon * m) if m > 0 else math.inf
    if unit >= 0.5:
        return None
    sampled = critical_value((1 - level) / count, 0.5 / math.sqrt(m), np.array([unit]))
    margin = sampled + slack * unit
    return margin if margin < 0.5 else None
