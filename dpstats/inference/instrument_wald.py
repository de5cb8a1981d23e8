"""Infer by t-ratios that hold with instruments that may be weak, by critical values of F."""

from dataclasses import dataclass

import numpy as np

from dpstats.inference.cluster_wald import ClusterWald


@dataclass(frozen=True, kw_only=True)
class InstrumentWald(ClusterWald):
    """Hold the estimates of G fits by two-stage least squares, whose t-ratios are not normal.

    As Lee, McCrary, Moreira and Porter (2022, American Economic Review 112) propose, the critical
    value depends on the released F statistic f^2 of the first stage. With one instrument, and with
    covariances as they were released, t^2 = a^2 / (1 - 2 r a / f + a^2 / f^2), where a is the
    statistic of Anderson and Rubin and f = f0 + v, and a and v are standard normal with the
    correlation r. Where r is 1, a = v and t = f v / (f - v) = (f - f0) f / f0, which increases in
    f > f0. With z the quantile of the standard normal for 1 - alpha, c(f) = z f / (f - z) is that t
    at v = z, so t > c(f) at some f > f0 has the probability alpha. The critical value is the larger
    of c(f) and the quantile for 1 - alpha / 2; they meet at an F of 104.7 at 5%. Rejections at f <
    f0, where |t| is at most f0 / 4, and at f < 0 add little where F is 10 or more, and other r
    reject less: by quadrature over r and f0 the t-ratio is rejected with a probability of at most
    0.0502 at 5%, and 0.0112 at 1% (``tests/inference/test_instrument_wald.py``). With clusters
    quantiles are those of Student's t.

    Parameters
    ----------
    strength : numpy.ndarray, shape (G,)
        The root f of the released F statistic of the first stage, noise included.
    """

    strength: np.ndarray

    def strengths(self) -> np.ndarray:
        """Return the roots of the F statistics of the first stage (G,)."""
        return self.strength

    def _critical(self, alpha: float) -> np.ndarray:
        return critical_values(self.strength, alpha, self.degrees())[:, None]

    def _beyond(self, t: np.ndarray) -> np.ndarray:
        t = np.abs(t)
        once = super()._beyond(t / (1 + t / self.strength[:, None])) / 2
        return np.maximum(super()._beyond(t), once)


def critical_values(
    strength: np.ndarray, alpha: float, degrees: np.ndarray | float = np.inf
) -> np.ndarray:
    """Return the critical values (G,) of t-ratios, by the roots f (G,) of first-stage F statistics.

    ``degrees`` (G,) of freedom are infinite without clusters.

    >>> critical_values(np.sqrt([10.0, 50.0, 105.0]), 0.05).round(2).tolist()
    [3.43, 2.14, 1.96]
    """
    from scipy.special import stdtrit

    low = stdtrit(degrees, alpha)
    with np.errstate(divide="ignore"):
        once = -low / np.maximum(1 + low / strength, 0.0)
    return np.maximum(once, -stdtrit(degrees, alpha / 2))
