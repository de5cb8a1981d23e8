"""Release cross-products of deviations from the means of privacy units, such as persons.

A regression with an effect for each person is least squares on deviations from the persons' means,
the within estimator of panel data (Wooldridge 2010, Econometric Analysis of Cross Section and Panel
Data, section 10.5). Where the persons are what is protected, neighbours differ in one person, and
what a person adds to the sums depends on no other person.
"""

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from dpstats.estimators.contract import Problem
from dpstats.estimators.least_squares.dense import NoisySums
from dpstats.estimators.least_squares.within.groups import (
    Deviations,
    release_deviations,
    squared_norm,
)
from dpstats.noise import Noise, Query
from dpstats.numerics import GridRows, Moments, Rows, Sensitivity
from dpstats.numerics.clipping import UNIT
from dpstats.numerics.cross_products import whole_weights
from dpstats.privacy import GDP

# Deviations are whole numbers of at most 2^21, of which so many add up exactly in doubles.
BLOCK = 1 << 11


class UnitDeviations(Deviations):
    """Define deviations from the means of units as coordinates, of all rows of whole units."""

    @cached_property
    def norm(self) -> float:
        """Bound the root of sum w |u - m|^2 over the rows of a unit with mean m.

        The parts w add up to P <= 1. Around its mean a sum of squares is smallest, so it is at most
        sum w |u|^2 <= R^2. It also is sum w_i w_j |u_i - u_j|^2 / (2 P) over pairs of rows, at most
        P D^2 / 2 where no two values are further apart than D. A block of columns that are
        functions of one code adds the smaller of both, so that dummies, where D^2 <= 8, count as
        four columns at most. One is the smallest norm that is returned.
        """
        return math.sqrt(max(squared_norm(self.problem, 1 / 2), 1.0))

    def blocks(self, rows: Rows) -> Iterator[GridRows]:
        """Yield rows on the grid, at most 2^21 in magnitude, :data:`BLOCK` at a time.

        Where there are none one block is empty, so that loops over blocks are compiled anyway.
        """
        z, k = self.scaled(rows)
        for i in range(0, max(len(k), 1), BLOCK):
            yield GridRows(np.ascontiguousarray(z[:, i : i + BLOCK]), k[i : i + BLOCK] * UNIT)

    def scaled(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Scale, clip and centre rows of whole units, (S + 1, m), and return their parts too.

        With whole numbers k for the parts, P = sum k <= 2^20 and s = sum k z of the rows of a unit
        are exact in doubles, in any order of the rows. The centre c is s / P, rounded to a whole
        number, so that deviations z - c are whole numbers too.
        """
        assert rows.parts is not None, "rows of units have parts"
        z = self.box.integers(rows.numbers, rows.response).T
        k, starts = whole_weights(rows.parts), rows.unit_starts
        if len(starts):
            totals = np.maximum(np.add.reduceat(k, starts), 1.0)
            centers = np.rint(np.add.reduceat(z * k, starts, axis=1) / totals)
            z = z - np.repeat(centers, np.diff(starts, append=len(k)), axis=1)
        return z, k

    def sensitivity(self, neighbors: str) -> Sensitivity:
        r"""Bound how far one unit moves the triangle of W_uu, W_uv and W_vv, in L2.

        W = sum over units and their rows of w (z - c)(z - c)', z = (u, v), |u_j| <= 1, |v| <= 1,
        the parts w of a unit's rows add up to P <= 1, c is its mean m rounded to multiples of
        2^-20, and sum w |u - m|^2 <= R^2 with R >= 1 (:attr:`norm`).

        One unit adds the positive semidefinite matrix

            V = sum w (z - m)(z - m)' + P (m - c)(m - c)',

        and changes nothing else, as its mean is of its own rows. An entry of m - c is at most 2^-21
        and a rounding of the division, so its square is less than 2^-41. With S columns

            tr V_uu <= R^2 + S 2^-41 <= R^2 (1 + S 2^-41),   V_jj <= sum w z_j^2 + 2^-41
                                                                  <= 1 + 2^-41.

        Add/remove, without these last terms:
        - Upper triangle of V_uu: (||V_uu||_F^2 + sum_j V_jj^2) / 2 <= (R^4 + min(R^2, R^4)) / 2,
          since ||V||_F <= tr V for such a matrix, and V_jj <= 1. One row u u' of length R has the
          same bound.
        - V_uv: for a unit vector a, (a'V_uv)^2 <= (a'V_uu a) V_vv <= R^2, so ||V_uv|| <= R.
        - V_vv <= 1.
        All three are those of :meth:`~dpstats.numerics.coordinates.Sensitivity.of`; with the
        rounding they are at most 1 + S 2^-41 times as large. The factor 4 of
        :class:`~dpstats.estimators.least_squares.within.groups.GroupDeviations` does not arise:
        there one row joins a mean of others.

        Replace-one: the difference V - V' of two units. The triangles have the inner product
        (tr(V_uu V'_uu) + sum_j V_jj V'_jj) / 2 >= 0, so sqrt 2 times the first bound, 2 R, and 1.
        """
        columns = len(self.box.center)
        rounding = 1 + columns * 2.0**-41
        uu, uv, vv = Sensitivity.of(self.norm, columns, neighbors).l2
        return Sensitivity((rounding * uu, rounding * uv, rounding * vv))


class UnitSums(Moments):
    """Hold the exact sum of w d d' over deviations d of rows, w their parts, and its degrees.

    These are ``extra``: the sum over units of the parts of all rows but one, in units of 2^-20, the
    expectation of sum w e^2 in variances of errors e that are independent, of one variance, and
    centred.
    """

    @classmethod
    def of(cls, rows: Rows, problem: Problem) -> "UnitSums":
        """Summarise rows of whole units."""
        assert rows.parts is not None, "rows of units have parts"
        k, starts = whole_weights(rows.parts), rows.unit_starts
        firsts = np.maximum.reduceat(k, starts).sum() if len(starts) else 0
        degrees = int(k.sum()) - int(firsts)
        blocks = UnitDeviations(problem).blocks(rows)
        return cls.summed(blocks, rows.numbers.shape[1] + 1, degrees)


def release_within_units(
    sums: UnitSums, coordinates: UnitDeviations, neighbors: str, cost: GDP, noise: Noise
) -> NoisySums:
    """Release W_uu (its triangle), W_uv, W_vv and the degrees of freedom.

    Guarantee. The cost, for the given relation between tables that differ in one unit: four
    Gaussian releases whose fractions add up to one. The first three have the sensitivities of the
    coordinates, and all sums are exact. A unit adds P less one row's part to the degrees of
    freedom, which is in [0, 1]: their sensitivity is 1 for either relation.
    """
    degrees = Query("degrees of freedom", [sums.extra], l2=1 / UNIT, unit=UNIT)
    return release_deviations(sums, coordinates.sensitivity(neighbors), degrees, cost, noise)


def clipped_scores(s: np.ndarray, norm: float) -> np.ndarray:
    """Clip scores (n, S), in units of 2^-20, to a norm and their entries to 1; whole numbers.

    A unit's score is s = sum w d_u f with |f| <= 1, and s_a^2 <= (a'V_uu a) sum w f^2 for a unit
    vector a (Cauchy and Schwarz), so that ||s|| <= R and |s_j| <= 1 but for rounding. This makes
    the bounds exact.
    """
    lengths = np.sqrt(sum(column**2 for column in s.T)) * UNIT
    bound = norm * (1 - 2.0**-30)
    shrunk = np.trunc(s * (bound / np.maximum(lengths, bound))[:, None])
    return np.clip(shrunk, -1 / UNIT, 1 / UNIT)
