"""Release the share of rows that estimated ranges clip, and hide intervals where it matters."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpstats.estimators.contract import Problem, Release
from dpstats.estimators.least_squares.dense.gram import clipped_box
from dpstats.noise import Noise, Query
from dpstats.numerics import Moments, Rows
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


def clipped_moments(rows: Rows, problem: Problem) -> ClippedSums:
    """Sum the cross-products of rows clipped by ``clipped_box``, and count the clipped ones."""
    return ClippedSums(Moments.of(rows, clipped_box(problem)), rows_outside(rows, problem))


def rows_outside(rows: Rows, problem: Problem) -> int:
    """Count the rows with a number or a response outside its range, where ranges are estimated.

    NaN is outside. Rows of units count for their parts, in units of 2^-20.
    """
    if not problem.estimated:
        return 0
    inside = (rows.response >= problem.y_low) & (rows.response <= problem.y_high)
    low, high = problem.low, problem.high
    if rows.codes is not None and problem.layout is not None:
        low, high = low[problem.layout.numeric], high[problem.layout.numeric]
    if problem.row_norm is None:
        for column, least, most in zip(rows.numbers.T, low, high, strict=True):
            inside &= (column >= least) & (column <= most)
    if rows.units is None or rows.parts is None:
        return int(np.count_nonzero(~inside))
    return int(whole_weights(rows.parts)[~inside].sum())


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
