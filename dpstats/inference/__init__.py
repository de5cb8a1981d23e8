"""Compute standard errors, tests and intervals as functions of releases, never of the data."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from dpstats.inference.bootstrap import Sums
from dpstats.inference.goodness_of_fit import Estimate, GoodnessOfFit
from dpstats.inference.hypothesis_tests import FTest, TTest
from dpstats.inference.quantile_intervals import Ends
from dpstats.inference.statuses import PARTLY_UNBOUNDED, UNBOUNDED, slopes_of, statuses
from dpstats.inference.wald import Wald, deviations

__all__ = [
    "Estimate",
    "FTest",
    "GoodnessOfFit",
    "PARTLY_UNBOUNDED",
    "Sums",
    "TTest",
    "UNBOUNDED",
    "Uncertainty",
    "deviations",
    "slopes_of",
    "stacked",
    "statuses",
    "uncertainty",
]


class Uncertainty(Protocol):
    """Quantify how far G fits may be from the truth: Wald, Pivot or Ends."""

    def unbounded_at(self, columns: np.ndarray) -> np.ndarray: ...

    def intervals(self, rows: np.ndarray, alpha: float) -> np.ndarray: ...

    def p_values(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray: ...

    def covariance(self) -> np.ndarray: ...

    def errors(self, rows: np.ndarray) -> np.ndarray: ...


def stacked(releases: Sequence, size: int) -> dict[str, np.ndarray]:
    """Stack what G releases of ``size`` coefficients hold for inference, by name, (G, ...) each.

    NaN stands where a release lacks a number. A companion takes the place of its release.
    """
    basis = [release.companion or release for release in releases]
    none = np.full((size, size), np.nan)
    stack = {
        "params": np.array([r.params for r in basis]).reshape(-1, size),
        "cov": np.array([none if r.cov is None else r.cov for r in basis]).reshape(-1, size, size),
    }
    if any(release.companion for release in releases):
        stack["companion"] = np.ones(len(basis))
    names = dict.fromkeys(name for r in basis for name in r.statistics)
    return stack | {name: _column([r.statistics.get(name) for r in basis]) for name in names}


def _column(values: Sequence) -> np.ndarray:
    """Stack one statistic of all releases, NaN where it is None."""
    shape = next(np.shape(value) for value in values if value is not None)
    return np.array([np.full(shape, np.nan) if v is None else v for v in values], dtype=float)


def uncertainty(stack: Mapping[str, np.ndarray]) -> Uncertainty:
    """Choose the inference that a stack of releases allows."""
    if "scale" in stack:
        from dpstats.inference.pivot import Pivot  # compiled, so slow to import

        return Pivot.of(stack)
    if "ends" in stack:
        return Ends.of(stack)
    none = np.zeros(len(stack["params"]))
    # results of earlier versions tell it by their ridge alone
    unbounded = stack.get("unbounded", stack.get("ridge", none)) > 0
    return Wald(stack["params"], stack["cov"], unbounded, stack.get("hidden_cov"))
