"""Release cross-products of deviations from group means, whose sensitivity ignores the groups.

A regression with an effect for each group is least squares on deviations from group means (Frisch
and Waugh 1933; Wooldridge 2010, Econometric Analysis of Cross Section and Panel Data, section
10.5). The effects themselves are not released.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpstats.estimators.contract import Problem
from dpstats.estimators.least_squares.dense import NoisySums
from dpstats.estimators.least_squares.dense.noisy_sums import release_triangle
from dpstats.noise import Noise, Query
from dpstats.numerics import Box, GridRows, GroupedMoments, Moments, Rows, Sensitivity
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.privacy import GDP, REPLACE_ONE

# Fractions of the cost for u'u, u'v, v'v and the degrees of freedom.
_FRACTIONS = (0.465, 0.465, 0.05, 0.02)
# Deviations from a mean in [-1, 1] lie in [-2, 2], and their products are four times as large.
_DOUBLED = 4


def within_box(problem: Problem) -> Box:
    """Return the scaled coordinates of the rows: the middles of the ranges are at zero.

    Deviations from group means do not depend on where zero is, so that no intercept is needed to
    centre. Rows beyond estimated ranges are norm-clipped as a whole, as
    :func:`~dpstats.estimators.least_squares.dense.gram.box_of` does, to a norm of sqrt(1 + 0.6 (S -
    1)).
    """
    low, high, columns = problem.low, problem.high, len(problem.low)
    if problem.row_norm is not None:
        return Box.ball(columns, problem.row_norm, problem.y_low, problem.y_high)
    if problem.basis is not None:
        low, high = problem.basis.low, problem.basis.high
    half, y_half = (high - low) / 2, (problem.y_high - problem.y_low) / 2
    return Box(
        center=(low + high) / 2,
        scale=np.where(half > 0, half, 1.0),
        y_center=(problem.y_low + problem.y_high) / 2,
        y_scale=y_half or 1.0,
        limit=1.0,
        norm=math.sqrt(1 + 0.6 * (columns - 1) if problem.estimated else columns),
        intercept=None,
        norm_clip=problem.estimated,
        basis=problem.basis,
    )


def squared_norm(problem: Problem, part: float) -> float:
    """Add up bounds on squared lengths in scaled units: 1 a column, or less of a block of columns.

    Of a block it is the number of its columns or ``part`` times the square of the largest distance
    of any two of its values, whichever is smaller. Rows that are norm-clipped have one bound.
    """
    box, layout = within_box(problem), problem.layout
    if box.norm_clip or problem.row_norm is not None or layout is None:
        return box.norm**2
    squared = float(len(problem.low))
    for block in layout.blocks:
        diameter = _diameter(block.coding / box.scale[block.columns])
        squared += min(part * diameter**2 - len(block.columns), 0.0)
    return squared


def _diameter(points: np.ndarray) -> float:
    """Bound the largest distance of any two points (L, k) once each is cut to the grid of rows.

    Cutting moves an entry of a point by less than 2^-20, and so a difference by less than 2^-19;
    the rest of the slack covers floating point.
    """
    squares = np.sum(points**2, axis=1)
    largest = np.max(squares[:, None] + squares - 2 * points @ points.T)
    return math.sqrt(max(largest, 0.0)) + math.sqrt(points.shape[1]) * 2.0**-18


@dataclass(frozen=True)
class Deviations:
    """Define deviations of rows, in the coordinates of :func:`within_box`, from means of rows."""

    problem: Problem

    @cached_property
    def box(self) -> Box:
        """Return the coordinates of the rows themselves."""
        return within_box(self.problem)

    def back(self, theta: np.ndarray) -> np.ndarray:
        """Return the coefficients of the design for those, theta, of v on u."""
        return self.box.back(theta)


class GroupDeviations(Deviations):
    """Define deviations from the means of groups as coordinates."""

    @cached_property
    def norm(self) -> float:
        """Bound half the length ||u - m|| of a row's deviation from a mean of others.

        In general ||u|| <= R gives ||u - m|| <= 2 R. Where columns are clipped one by one, a block
        of columns that are functions of one code (the dummies of a factor) can do better: u - m is
        there an average of differences C_l - C_l' of the block's values, so it is at most as long
        as the longest of them, D_b. For dummies D_b^2 <= 8 (two of them move by 2 each), however
        many levels there are. Together R^2 = (number of other columns) + sum_b min(columns_b,
        D_b^2 / 4).
        """
        return math.sqrt(squared_norm(self.problem, 1 / 4))

    def blocks(self, rows: Rows) -> Iterator[GridRows]:
        """Yield rows before means are taken off, which their sums allow where all are known."""
        return self.box.blocks(rows)

    def sensitivity(self, neighbors: str) -> Sensitivity:
        r"""Bound how far one row moves the triangle of W_uu, W_uv and W_vv, in L2.

        W = sum over groups g and rows i of (z_gi - m_g)(z_gi - m_g)', with z = (u, v), |u_j| <= 1,
        |v| <= 1, m_g the mean of group g, and ||u - m|| <= 2 R (:attr:`norm`) for any row u and any
        mean m of rows.

        One row. Add z to a group of n >= 1 rows with mean m, and let d = z - m. The mean moves by
        d / (n + 1), so the old rows' deviations add n d d' / (n + 1)^2 (their sum is zero), the new
        row's own deviation is n d / (n + 1) and adds n^2 d d' / (n + 1)^2. Together

            W(with z) - W(without z) = n / (n + 1) d d',

        and a row alone in its group changes nothing. The factor is below 1 and comes close to it in
        large groups. m is a mean of rows in the box, so |d_j| <= 2, and d is 2 w with ||w_u|| <= R
        and |w_j| <= 1. Other groups do not change.

        Add/remove: hence 4 c w w' with 0 <= c < 1, at most four times what a row of z z' is worth
        in :meth:`~dpstats.numerics.coordinates.Sensitivity.of`, whatever the number of groups and
        their sizes. The mean m is private, and the bound holds for each.

        Replace-one: a row a leaves and a row b joins, its own group or another. With respect to the
        table without both, the first adds c_a d_a d_a' and the second c_b d_b d_b', each with the n
        and m of its own group there. So the change is 4 (c_b w_b w_b' - c_a w_a w_a'), and
        ``Sensitivity.of`` bounds each of its parts for any two such rows: its argument for the
        triangle uses that inner products of triangles are not negative, that for u v the norms
        alone, and that for v^2 that both squares are in [0, 1]; factors in [0, 1] before the terms
        change none of it.

        Rounding. In each group s s' / n is rounded down to the grid
        (:meth:`~dpstats.numerics.grouped_moments.GroupedMoments.within`), all else is exact, and
        neighbours differ in one group (add/remove) or at most two (replace-one). So an entry is off
        by less than one unit of the grid, or two, and m entries by sqrt(m) times that in L2.
        """
        columns = len(self.box.center)
        uu, uv, vv = Sensitivity.of(self.norm, columns, neighbors).l2
        unit = (2 if neighbors == REPLACE_ONE else 1) * PRODUCT_UNIT
        triangle = _DOUBLED * uu + unit * math.sqrt(columns * (columns + 1) // 2)
        cross = _DOUBLED * uv + unit * math.sqrt(columns)
        return Sensitivity((triangle, cross, _DOUBLED * vv + unit))


def grouped_moments(rows: Rows, problem: Problem) -> GroupedMoments:
    """Summarise rows by their keys; the summary grows with the groups and not with their rows."""
    return GroupedMoments.of(rows, GroupDeviations(problem))


def release_within(
    moments: GroupedMoments, coordinates: GroupDeviations, neighbors: str, cost: GDP, noise: Noise
) -> NoisySums:
    """Release W_uu (its triangle), W_uv, W_vv and the degrees of freedom n - G.

    Guarantee. The cost, for the given relation: four Gaussian releases for fractions of mu^2 that
    add up to one. The first three have the sensitivities of the coordinates.

    n - G, with G the number of groups that have rows, grows by 1 with a row in a group that has
    others, and by 0 with a row alone: its sensitivity is 1 under add/remove. Under replace-one it
    moves by one of -1, 0 and 1: again 1.
    """
    degrees = Query("degrees of freedom", [moments.degrees], l2=1)
    sensitivity = coordinates.sensitivity(neighbors)
    return release_deviations(Moments(moments.within()), sensitivity, degrees, cost, noise)


def release_deviations(
    W: Moments, sensitivity: Sensitivity, count: Query, cost: GDP, noise: Noise
) -> NoisySums:
    """Release W_uu (its triangle), W_uv, W_vv and the degrees of freedom, in place of the rows.

    Guarantee. The cost, where ``sensitivity`` holds for the first three and ``count`` states its
    own.
    """
    sums = release_triangle(W, sensitivity, cost, noise, _FRACTIONS[:3], " within groups")
    degrees = noise.add(count, cost.part(_FRACTIONS[3]))
    deviation = degrees.deviation
    return replace(sums, rows=float(degrees.values[0]) - deviation, rows_deviation=deviation)
