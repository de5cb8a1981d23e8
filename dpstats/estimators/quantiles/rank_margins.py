"""Choose private quantiles around a median as the ends of confidence intervals."""

import math

import numpy as np

# Fraction of the cost of a fit that ci= spends on the ends of intervals.
CI_FRACTION = 0.5
ENDS_ONLY = (
    "ci= buys the ends of intervals of one level, from which no standard error, no p-value and "
    "no interval of a higher level follows"
)


def rank_margin(level: float, count: int, m: int, epsilon: float) -> float | None:
    """Return how far from 1/2, in ranks, private quantiles enclose the true value at the level.

    m independent values fall below the centre of their distribution as m fair coins do, so the
    fraction below it is about N(1/2, 1/(4 m)). A quantile drawn by the exponential mechanism with
    epsilon misses its rank by about a Laplace variable of scale 2 / (epsilon m). All of
    ``count`` intervals together hold with the level (Bonferroni).

    Returns
    -------
    float or None
        In (0, 1/2); None when even the extremes do not enclose it.
    """
    from dpstats.numerics.normal_laplace import critical_value  # compiled, so slow to import

    unit = 2 / (epsilon * m) if m > 0 else math.inf
    if unit >= 0.5:
        return None
    margin = critical_value((1 - level) / count, 0.5 / math.sqrt(m), np.array([unit]))
    return margin if margin < 0.5 else None


def cell_margin(level: float, count: int, m: int, epsilon: float, cells: int) -> float | None:
    """Return the margin of ends drawn from ``cells`` cells, proven but for the normal distribution.

    The ends are those of :func:`~dpstats.estimators.quantiles.private_quantiles.private_end`. Let
    the share of the m values below the centre c be 1/2 - Z, Z about N(0, 1/(4 m)), and the lower
    end be drawn at the share 1/2 - q. The score of a cell is its distance from that rank: 0 for the
    cell it lies in, and at least 2 m (q - Z) for every cell above c. Weights fall by e^(-epsilon /
    4) with each unit of it, so given the values the end lies above c with probability at most cells
    exp(-epsilon m (q - Z) / 2). With u = 2 / (epsilon m) that is P(u (E + log cells) > q - Z) for E
    standard exponential, and q is such that Z + u (E + log cells) exceeds it with half of the
    probability that an interval may fail.
    """
    if m == 0:
        return None
    from scipy.optimize import brentq

    unit, sd, allowed = 2 / (epsilon * m), 0.5 / math.sqrt(m), (1 - level) / (2 * count)
    least = unit * math.log(cells)

    def excess(margin: float) -> float:
        return _beyond(margin - least, sd, unit) - allowed

    return brentq(excess, least, 0.5) if least < 0.5 and excess(0.5) < 0 else None


def _beyond(g: float, sd: float, unit: float) -> float:
    """Return P(sd Z + unit E > g) for g >= 0, Z standard normal and E standard exponential.

    The second term is exp(sd^2 / (2 unit^2) - g / unit) Phi(g / sd - sd / unit).
    """
    from scipy.special import erfcx, ndtr

    x = (sd / unit - g / sd) / math.sqrt(2)
    if x > 0:
        return ndtr(-g / sd) + math.exp(-((g / sd) ** 2) / 2) * erfcx(x) / 2
    return ndtr(-g / sd) + math.exp((sd / unit) ** 2 / 2 - g / unit) * ndtr(-math.sqrt(2) * x)
