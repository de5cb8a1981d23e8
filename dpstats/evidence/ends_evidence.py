"""Infer from private quantiles that were bought as ends of intervals."""

from dataclasses import dataclass

import numpy as np

from dpstats.evidence.evidence import Evidence, Matrix, Number
from dpstats.inference import Ends, Uncertainty


@dataclass(frozen=True, kw_only=True, eq=False)
class EndsEvidence(Evidence):
    """Hold simultaneous intervals of some combinations of the coefficients.

    Parameters
    ----------
    level
    points, ends : (q, S), (q, 2)
        Combinations and the ends of their intervals, NaN for an end at infinity.
    """

    level: Number
    points: Matrix
    ends: Matrix

    def uncertainty(self, params: np.ndarray, cov: np.ndarray) -> Uncertainty:
        """Derive intervals of all combinations from those that were bought."""
        absent = np.isnan(self.ends) & ~np.isnan(self.level)[:, None, None]
        ends = np.where(absent, [-np.inf, np.inf], self.ends)
        return Ends(self.points, ends, self.level)
