"""Release the share of rows that estimated ranges clip, and hide intervals where it matters."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpstats.mechanisms.shared.gram import clipped_box, moments_in, split_weights
from dpstats.mechanisms.shared.release import Problem, Release
from dpstats.noise import Noise, Query
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import whole_weights
from dpstats.privacy import Cost

# Fraction of the cost of a fit that its number of clipped rows takes.
_FRACTION = 0.05
# Rows are seen beyond the ranges from so many deviations of the noise on their number on. A few
# are there by design, as ends are where about a tenth of a deviation is expected beyond each.
_SEEN = 3.5
_CLIPPED = (
    "clipped: {why}, which may bend the coefficients, so there are no standard errors; declare "
    'bounds=, or use method="noisy_newton", which needs none'
)
_BEYOND = "more rows lie beyond the estimated ranges than noise explains"
_UNSURE = "rows may lie far beyond the estimated range of {}"


@dataclass(frozen=True)
class ClippedSums:
    """Hold sums over rows, such as their cross-products, and how many of the rows were clipped.

    ``clipped`` stays 0 where ranges are declared, as it is not asked for.
    """

    sums: Any
    clipped: int = 0

    def __add__(self, other: "ClippedSums") -> "ClippedSums":
        return ClippedSums(self.sums + other.sums, self.clipped + other.clipped)


def clipped_moments(X: np.ndarray, y: np.ndarray, problem: Problem) -> ClippedSums:
    """Sum the cross-products of rows clipped by ``clipped_box``, and count the clipped ones."""
    moments = moments_in(clipped_box(problem), X, y, problem)
    X, parts = split_weights(X, problem)
    parts = whole_weights(parts) if problem.by_unit and parts is not None else None
    return ClippedSums(
        moments, rows_outside(X, y, problem, parts=parts) if problem.estimated else 0
    )


def rows_outside(
    X: np.ndarray,
    y: np.ndarray,
    problem: Problem,
    columns: np.ndarray | None = None,
    parts: np.ndarray | None = None,
) -> int:
    """Count the rows with a column or a response outside its range; NaN is outside.

    ``columns`` says which of the design's columns X has, by default all; ``parts`` (m,) are whole
    numbers that rows count for.
    """
    inside = (y >= problem.y_low) & (y <= problem.y_high)
    places = np.arange(len(problem.low)) if columns is None else columns
    if problem.row_norm is None:
        for column, low, high in zip(X.T, problem.low[places], problem.high[places], strict=True):
            inside &= (column >= low) & (column <= high)
    return int(np.count_nonzero(~inside)) if parts is None else int(parts[~inside].sum())


def cost_of_sums(problem: Problem, cost: Cost) -> Cost:
    """Return the cost that is left for the sums of a fit."""
    return cost.part(1 - _FRACTION) if problem.estimated else cost


def with_share(
    release: Release, clipped: int, rows: float, problem: Problem, cost: Cost, noise: Noise
) -> Release:
    """Release the share of clipped rows, and hide intervals that it may bend.

    ``rows`` is the released number of rows, 0 where it is not released. Declared ranges need none
    of it: there the intervals are about least squares of the variables as clipped.

    Guarantee. A twentieth of the cost, where ranges are estimated: one more row, or another in
    its place, changes the number of rows outside the ranges, which are released, by at most 1; so
    does a unit, whose rows count in parts of 2^-20 that add up to at most 1.
    """
    if not problem.estimated:
        return release
    one = 1 << ENTRY_BITS if problem.by_unit else 1
    query = Query("number of clipped rows", [clipped], l1=one, l2=one, unit=1 / one)
    noisy = noise.add(query, cost.part(_FRACTION))
    if problem.unsure:
        release = _hidden(release, _UNSURE.format(", ".join(problem.unsure)))
    elif noisy.values[0] > _SEEN * noisy.deviation:
        release = _hidden(release, _BEYOND)
    if rows <= 0:  # not released without an intercept, or hidden by the noise
        return release
    share = min(max(float(noisy.values[0]) / rows, 0.0), 1.0)
    error = min(noisy.deviation / rows, 1.0)
    evidence = replace(release.evidence, clipped_share=share, clipped_share_error=error)
    return replace(release, evidence=evidence)


def _hidden(release: Release, why: str) -> Release:
    """Return a release without intervals; a function of released values."""
    if release.cov is None and release.companion is None:
        return release
    reasons = {**release.reasons, "bse": _CLIPPED.format(why=why)}
    return replace(release, cov=None, companion=None, status="clipped", reasons=reasons)
