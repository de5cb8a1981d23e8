"""Test linear hypotheses, one by one and jointly."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.inference.bootstrap import Sums

DRAWS = 4999


@dataclass(frozen=True, repr=False)
class TTest:
    """Test hypotheses c'beta = value, each on its own; the names are statsmodels'.

    Attributes
    ----------
    names : tuple of str
    effect, sd, tvalue, pvalue : numpy.ndarray, shape (q,)
        Estimates of c'beta, their standard errors, (effect - value) / sd, p-values.
    intervals : numpy.ndarray, shape (q, 2)
        Of c'beta, at the level 1 - ``alpha``.
    reasons : tuple of str
        Why something is NaN.
    by_t : bool
        Whether p-values and intervals are of Student's t, as with few clusters.
    """

    names: tuple[str, ...]
    effect: np.ndarray
    sd: np.ndarray
    tvalue: np.ndarray
    pvalue: np.ndarray
    intervals: np.ndarray
    alpha: float
    reasons: tuple[str, ...] = ()
    by_t: bool = False

    def conf_int(self) -> np.ndarray:
        """Return the intervals of c'beta, shape (q, 2)."""
        return self.intervals.copy()

    @property
    def _law(self) -> str:
        return "t" if self.by_t else "z"

    def summary_frame(self) -> pd.DataFrame:
        """Return the columns of statsmodels' ``summary_frame``, one row per hypothesis."""
        columns = {
            "coef": self.effect,
            "std err": self.sd,
            self._law: self.tvalue,
            f"P>|{self._law}|": self.pvalue,
            "Conf. Int. Low": self.intervals[:, 0],
            "Conf. Int. Upp.": self.intervals[:, 1],
        }
        return pd.DataFrame(columns, self.names)

    def summary(self):
        """Return a statsmodels table to print."""
        ends = f"[{self.alpha / 2:g}", f"{1 - self.alpha / 2:g}]"
        headers = ["", "coef", "std err", self._law, f"P>|{self._law}|", *ends]
        rows = [
            [name, f"{coef:.4f}", *(f"{value:.3f}" for value in rest)]
            for name, coef, *rest in self.summary_frame().itertuples()
        ]
        from statsmodels.iolib.table import SimpleTable
        from statsmodels.iolib.tableformatting import fmt_params

        return SimpleTable(rows, headers, title="Test for Constraints", txt_fmt=fmt_params)

    def __repr__(self) -> str:
        return "\n".join([str(self.summary()), *_notes(self.reasons)])


def _notes(reasons: tuple[str, ...]) -> list[str]:
    """List the reasons why something is NaN, one per line."""
    return [f"nan, inf: {reason}" for reason in reasons]


@dataclass(frozen=True, repr=False)
class FTest:
    """Hold a joint test of ``df_num`` linear hypotheses.

    Attributes
    ----------
    fvalue : float
        The Wald statistic over ``df_num``; NaN where the p-value does not come from one.
    pvalue : float
    df_num : int
    reasons : tuple of str
        Why something is NaN.
    """

    fvalue: float
    pvalue: float
    df_num: int
    reasons: tuple[str, ...] = ()

    def __repr__(self) -> str:
        text = f"<F test: F={self.fvalue:.6g}, p={self.pvalue:.4g}, df_num={self.df_num}>"
        return "\n".join([text, *_notes(self.reasons)])


def joint_test(sums: Sums, cov: np.ndarray, R: np.ndarray, r: np.ndarray) -> FTest:
    """Test R beta = r by Monte Carlo from released sums (Alabi and Vadhan 2022).

    The restricted fit and its residual variance are read off the released sums, releases
    are simulated under them, errors and privacy noise drawn anew, and the p-value is the
    share of their Wald statistics that are as large as the one at hand.
    """
    estimate = sums.transform @ sums.theta + sums.shift
    weight = np.linalg.inv(R @ cov @ R.T) / len(R)
    inner = R @ sums.transform
    target = r - R @ sums.shift
    spread = np.linalg.solve(sums.positive, inner.T)
    restricted = sums.theta - spread @ np.linalg.solve(inner @ spread, inner @ sums.theta - target)
    distance = sums.replicates(restricted, DRAWS, sampling=True) @ R.T - r
    simulated = np.einsum("iq,qp,ip->i", distance, weight, distance)
    value = (R @ estimate - r) @ weight @ (R @ estimate - r)
    larger = np.sum(~(simulated < value))  # a simulated failure counts as large
    return FTest(float(value), float((1 + larger) / (1 + DRAWS)), len(R))


def wald_test(
    estimate: np.ndarray,
    cov: np.ndarray,
    R: np.ndarray,
    r: np.ndarray,
    degrees: float = np.inf,
    strength: float = np.inf,
) -> FTest:
    """Test R beta = r by the normal law of the estimate, whose covariance includes the noise.

    Where that has finite ``degrees`` of freedom, as with few clusters, the law is F. With a first
    stage of the F statistic f^2, ``strength`` f, the root w of the statistic counts as w f / (f +
    w). As in :class:`InstrumentWald` one t-ratio among those it is made of may be t = v f / (f - v)
    where it should be the normal v, so |v| is at least t f / (f + t), and the others are normal.

    >>> wald_test(np.array([2.0, 0.0]), np.eye(2), np.eye(2), np.zeros(2))
    <F test: F=2, p=0.1353, df_num=2>
    >>> wald_test(np.array([2.0, 0.0]), np.eye(2), np.eye(2), np.zeros(2), degrees=9)
    <F test: F=2, p=0.1911, df_num=2>
    >>> wald_test(np.array([2.0, 0.0]), np.eye(2), np.eye(2), np.zeros(2), strength=6.0)
    <F test: F=2, p=0.3247, df_num=2>
    """
    from scipy.special import chdtrc, fdtrc

    distance = R @ estimate - r
    value = distance @ np.linalg.solve(R @ cov @ R.T, distance)
    counted = value / (1 + np.sqrt(value) / strength) ** 2
    finite = np.isfinite(degrees)
    p = fdtrc(len(R), degrees, counted / len(R)) if finite else chdtrc(len(R), counted)
    return FTest(float(value / len(R)), float(p), len(R))
