"""Check the lengths of spherical noise."""

import numpy as np
from scipy import stats

from dpstats.noise import Noise, Query
from dpstats.privacy import PureDP

EPSILON, L2 = 0.5, 3.0


def drawn(size: int, times: int) -> np.ndarray:
    """Draw noise (times, size) for sums that move by 3 in the L2 norm, at epsilon .5."""
    cost = PureDP(EPSILON)
    query = Query("sums", [1 << 40] * size, None, L2 * 2.0**40, 2.0**-40, any_noise=True)
    return np.array([Noise(cost).add(query, cost).values for _ in range(times)]) - 1


def check_lengths(size: int) -> None:
    """|x| has density r^(m - 1) e^(-epsilon r / l2): Gamma(m). False alarm 2e-6.

    Real noise is drawn. Lengths a twentieth too small move the mean by 8 deviations.
    """
    lengths = np.linalg.norm(drawn(size, 9000), axis=1)
    law = stats.gamma(size, scale=L2 / EPSILON)
    assert stats.kstest(lengths, law.cdf).pvalue > 1e-6
    assert abs(lengths.mean() - law.mean()) < 4.9 * law.std() / len(lengths) ** 0.5
    wrong = stats.gamma(size + 1, scale=L2 / EPSILON)  # as uniform points in a ball would have
    assert stats.kstest(lengths, wrong.cdf).pvalue < 1e-6
    less = stats.gamma(size, scale=0.9 * L2 / EPSILON)  # a tenth too little noise
    assert stats.kstest(lengths, less.cdf).pvalue < 1e-6
