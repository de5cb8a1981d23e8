"""Release the sums over rows of which noisy Newton steps are made."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from dpstats.estimators.contract import Problem, Reference
from dpstats.estimators.newton.row_sums import IndicatorBasis, Loss, Scores
from dpstats.estimators.newton.row_sums.indicator_basis import release_products
from dpstats.noise import Noise, Query, noise_deviation
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.privacy import REPLACE_ONE, Cost

_ONE = 1 << ENTRY_BITS
# Weight of the sum of squared scores beside the scores.
WEIGHT = 0.3
# Weights are even from this mean w on, in units of the largest. They lengthen no tail much then: as
# w^4 <= w^2, E w^4 / (E w^2)^2 is at most 1 / (E w)^2, 4 here, by which they multiply a kurtosis.
EVEN_WEIGHTS = 0.5


@dataclass(frozen=True)
class Counted:
    """Hold the released sum of what rows count for, its noise, and what one does on average.

    Units count for one there, and ``units`` is their number where it is released apart, with the
    same noise: units of few rows add less than one to the sum. Of units whose rows' scores are not
    alike, ``alike`` is what the mean square of their sums is of that of the rows' scores, at least.
    """

    total: float
    noise: float = 0.0
    part: float = 1.0
    alike: float = 1.0
    units: float | None = None

    @property
    def number(self) -> float:
        """Return the number of rows, or of units."""
        return self.total / self.part if self.units is None else self.units


@dataclass(frozen=True)
class RowQueries:
    """Release sums of functions of one row each, or of all rows of a privacy unit.

    ``total`` adds a function up over the rows of a fit. The guarantee of each release is its cost,
    by the sensitivities that :mod:`dpstats.estimators.newton.noisy_newton` derives.
    """

    basis: IndicatorBasis
    total: Callable
    problem: Problem
    noise: Noise

    def with_problem(self, problem: Problem) -> Self:
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
        """Return the count of a row, the largest one that a weighted row or a unit may have."""
        return _ONE if self.problem.in_parts else 1

    def number(self, rows: Sequence[int], cost: Cost) -> Counted:
        """Release the number of rows where it is private.

        With units and weights ``rows`` begins with the sum of the parts of all rows, which is not
        public under replace-one either. Beside it is the number of rows, or of units: one that is
        added moves both by 1 at most, so sqrt 2, and one that is replaced the first.
        """
        if self.replaces and not self.problem.in_parts:
            return Counted(float(max(rows[0], 1)))
        counted, far = f"number of {self.problem.counted}", self.one * len(rows)
        l1, l2 = (self.one, self.one) if self.replaces else (far, math.sqrt(len(rows)) * self.one)
        noisy = self.noise.add(Query(counted, list(rows), l1=l1, l2=l2, unit=1 / self.one), cost)
        total, number = (max(float(noisy.values[i]), 1.0) for i in (0, -1))
        if self.problem.weighted:
            return Counted(total, noisy.deviation, min(total / number, 1.0))
        return Counted(total, noisy.deviation, units=number if self.problem.by_unit else None)

    def counts(self, step: str, work: Callable, cost: Cost, one: int = 1):
        """Release counts in bins; one row, which counts for ``one``, is in one bin."""
        moved = 2 if self.replaces else 1
        l1, l2 = moved * one, math.sqrt(moved) * one
        query = Query(step, self.total(work).tolist(), l1=l1, l2=l2, unit=1 / one)
        return self.noise.add(query, cost)

    def product_deviation(self, entries: int, cost: Cost) -> float:
        """Return the noise on squares of rows of norm 1 with so many entries that are not 0."""
        moved = 2.0 if self.replaces else 1.0
        l1 = (moved if entries > 1 else 1.0) * (1 + (entries - 1) / math.sqrt(2))
        return noise_deviation(cost, l1, math.sqrt(moved), entries * (entries + 1) // 2)

    def products(
        self, step: str, work: Callable, bound: float, free: np.ndarray, cost: Cost,
        entries: int | None = None,
    ) -> tuple[np.ndarray, float]:  # fmt: skip
        """Release products of rows of squared norms of at most ``bound``, ``entries`` not 0."""
        sums, neighbors = self.total(work), self.problem.neighbors
        return release_products(
            step, sums, bound, free, cost, self.noise, neighbors, entries=entries
        )


@dataclass(frozen=True)
class Queries(RowQueries):
    """Release sums of scores too, which are those of ``loss``."""

    loss: Loss

    @property
    def score_sensitivity(self) -> float:
        """Return how far a row may move a sum of scores, over the limit on one score."""
        return math.hypot(2.0 if self.replaces else 1.0, WEIGHT)

    def score_l1(self, p: int) -> float:
        """Return how far a row may move sums of scores of p entries in L1, over the limit.

        Scores have sqrt p times their length in L2 there, and the square is one number more.
        """
        return (2.0 if self.replaces else 1.0) * math.sqrt(p) + WEIGHT

    def score_deviation(self, p: int, cost: Cost) -> float:
        """Return the noise on sums of scores of p entries, over the limit on one score."""
        return noise_deviation(cost, self.score_l1(p), self.score_sensitivity, p + 1)

    def at(self, map_: np.ndarray, eta: np.ndarray) -> Scores:
        """Return the scores at a position ``eta`` (p,) in the directions of ``map_`` (m, p)."""
        return Scores(self.loss, self.basis, map_, self.reference, eta)

    def scores(
        self, step: str, at: Scores, limit: float, cut: float, cost: Cost
    ) -> tuple[np.ndarray, float, float, float]:
        """Release the sums of clipped scores (p,) and of clipped squares, with the noise of each.

        The squares are those of residuals cut at ``cut``; where rows count for parts those of the
        clipped scores.
        """
        work = partial(at.sums, limit, cut, WEIGHT)
        far = _ONE * self.score_sensitivity
        l1 = _ONE * self.score_l1(len(at.eta))
        query = Query(step, self.total(work).tolist(), l1, far, limit / _ONE, any_noise=True)
        noisy, longest = self.noise.add(query, cost), limit if self.problem.in_parts else cut
        scale = longest**2 / (limit * WEIGHT)
        square = noisy.values[-1] * scale
        return noisy.values[:-1], square, noisy.deviation, noisy.deviation * scale
