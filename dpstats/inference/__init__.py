"""Compute standard errors, tests and intervals as functions of releases.

No row is seen and no noise for a release is drawn.
"""

from typing import Protocol

import numpy as np

from dpstats.inference.anderson_rubin import ConfidenceSet, anderson_rubin, first_stage_f
from dpstats.inference.bootstrap import Sums
from dpstats.inference.cluster_wald import ENOUGH_CLUSTERS, ClusterWald
from dpstats.inference.goodness_of_fit import Estimate, GoodnessOfFit
from dpstats.inference.hypothesis_tests import FTest, TTest
from dpstats.inference.instrument_wald import InstrumentWald, critical_values
from dpstats.inference.quantile_intervals import Ends
from dpstats.inference.statuses import PARTLY_UNBOUNDED, UNBOUNDED, slopes_of, statuses
from dpstats.inference.wald import Wald, deviations

__all__ = [
    "ClusterWald",
    "ConfidenceSet",
    "ENOUGH_CLUSTERS",
    "Ends",
    "Estimate",
    "FTest",
    "GoodnessOfFit",
    "InstrumentWald",
    "PARTLY_UNBOUNDED",
    "Sums",
    "TTest",
    "UNBOUNDED",
    "Uncertainty",
    "Wald",
    "anderson_rubin",
    "critical_values",
    "deviations",
    "first_stage_f",
    "slopes_of",
    "statuses",
]


class Uncertainty(Protocol):
    """Quantify how far G fits may be from the truth: Wald, Pivot or Ends."""

    def unbounded_at(self, columns: np.ndarray) -> np.ndarray: ...

    def intervals(self, rows: np.ndarray, alpha: float) -> np.ndarray: ...

    def p_values(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray: ...

    def covariance(self) -> np.ndarray: ...

    def errors(self, rows: np.ndarray) -> np.ndarray: ...
