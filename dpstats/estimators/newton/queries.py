"""Release the sums over rows of which noisy Newton steps are made."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dpstats.estimators.contract import Problem, Reference
from dpstats.estimators.newton.indicator_basis import IndicatorBasis, release_products
from dpstats.estimators.newton.sums import score_sums
from dpstats.noise import Noise, Query
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.privacy import REPLACE_ONE, Cost

_ONE = 1 << ENTRY_BITS
# Weight of the sum of squared scores beside the scores.
WEIGHT = 0.3


@dataclass(frozen=True)
class Queries:
    """Release sums of functions of one row each, or of all rows of a privacy unit.

    ``total`` adds a function up over the rows of a fit. The guarantee of each release is its cost,
    by the sensitivities that :mod:`dpstats.estimators.newton.noisy_newton` derives.
    """

    basis: IndicatorBasis
    total: Callable
    problem: Problem
    noise: Noise

    def with_problem(self, problem: Problem) -> "Queries":
        """Return the same rows with other public facts."""
        return replace(self, problem=problem)

    @property
    def reference(self) -> Reference:
        """Return the center and the scale of the rows as released."""
        assert self.problem.reference is not None, "the method works from marginals"
        return self.problem.reference

    @property
    def replaces(self) -> bool:
        """Tell whether neighbours differ in the values of one row, not in their number."""
        return self.problem.neighbors == REPLACE_ONE

    @property
    def one(self) -> int:
        """Return the count of a row, or the largest one of all rows of a unit."""
        return _ONE if self.problem.by_unit else 1

    @property
    def score_sensitivity(self) -> float:
        """Return how far a row may move a sum of scores, over the limit on one score."""
        return math.hypot(2.0 if self.replaces else 1.0, WEIGHT)

    def number(self, rows: int, cost: Cost) -> tuple[float, float]:
        """Release the number of rows where it is private, and return the noise on it too.

        With units it is the sum of the parts of all rows, which is not public under replace-one
        either.
        """
        if self.replaces and not self.problem.by_unit:
            return float(max(rows, 1)), 0.0
        counted = f"number of {self.problem.counted}"
        noisy = self.noise.add(
            Query(counted, [rows], l1=self.one, l2=self.one, unit=1 / self.one), cost
        )
        return max(float(noisy.values[0]), 1.0), noisy.deviation

    def counts(self, step: str, work: Callable, cost: Cost, one: int = 1):
        """Release counts in bins; one row, which counts for ``one``, is in one bin."""
        moved = 2 if self.replaces else 1
        l1, l2 = moved * one, math.sqrt(moved) * one
        query = Query(step, self.total(work).tolist(), l1=l1, l2=l2, unit=1 / one)
        return self.noise.add(query, cost)

    def products(
        self, step: str, work: Callable, bound: float, free: np.ndarray, cost: Cost
    ) -> tuple[np.ndarray, float]:
        """Release products of entries of rows of squared norms of at most ``bound``."""
        sums, neighbors = self.total(work), self.problem.neighbors
        return release_products(step, sums, bound, free, cost, self.noise, neighbors)

    def scores(
        self, step: str, map_: np.ndarray, eta: np.ndarray, limit: float, cut: float, cost: Cost
    ) -> tuple[np.ndarray, float, float, float]:
        """Release the sums of clipped scores (p,) and of clipped squares, with the noise of each.

        The squares are those of residuals cut at ``cut``, and of units those of the clipped scores.
        """
        work = partial(score_sums, self.basis, map_, self.reference, eta, limit, cut, WEIGHT)
        far = _ONE * self.score_sensitivity
        query = Query(step, self.total(work).tolist(), l2=far, unit=limit / _ONE)
        noisy, longest = self.noise.add(query, cost), limit if self.problem.by_unit else cut
        scale = longest**2 / (limit * WEIGHT)
        square = noisy.values[-1] * scale
        return noisy.values[:-1], square, noisy.deviation, noisy.deviation * scale
