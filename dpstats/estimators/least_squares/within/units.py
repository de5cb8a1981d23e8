"""Release cross-products of deviations from the means of privacy units, such as persons.

A regression with an effect for each person is least squares on deviations from the persons' means,
the within estimator of panel data (Wooldridge 2010, Econometric Analysis of Cross Section and Panel
Data, section 10.5). Where the persons are what is protected, neighbours differ in one person, and
what a person adds to the sums depends on no other person.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.contract import Problem
from dpstats.estimators.least_squares.dense.gram import sensitivities
from dpstats.estimators.least_squares.within.groups import (
    WithinSums,
    release_sums,
    squared_norm,
    within_box,
)
from dpstats.noise import Noise, Query
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS, UNIT
from dpstats.numerics.cross_products import exact_sum, weighted_products, whole_weights
from dpstats.privacy import GDP

# Deviations are whole numbers of at most 2^21, of which so many add up exactly in doubles.
BLOCK = 1 << 11


@dataclass(frozen=True)
class UnitDeviations:
    """Hold the deviations of rows z = (u, v) from the means of their units.

    Parameters
    ----------
    rows : numpy.ndarray, shape (m, S + 1)
        Whole numbers, in units of 2^-20, at most 2^21 in magnitude.
    parts : numpy.ndarray, shape (m,)
        What part of one row each row counts for, in [0, 1].
    units : numpy.ndarray, shape (m,)
        Numbers of units, equal ones beside one another.
    """

    rows: np.ndarray
    parts: np.ndarray
    units: np.ndarray

    @classmethod
    def of(cls, given: Rows, problem: Problem) -> "UnitDeviations":
        """Scale, clip and centre rows of whole units.

        With whole numbers k for the parts, P = sum k <= 2^20 and s = sum k z of the rows of a unit
        are exact in doubles, in any order of the rows. The centre c is s / P, rounded to a whole
        number, so that deviations z - c are whole numbers too.
        """
        assert given.parts is not None and given.units is not None, "rows of units have both"
        z, k = within_box(problem).integers(given.numbers, given.response), given.parts
        k, starts = whole_weights(k), given.unit_starts
        if len(starts):
            totals = np.maximum(np.add.reduceat(k, starts), 1.0)
            centers = np.rint(np.add.reduceat(z * k[:, None], starts) / totals[:, None])
            z = z - np.repeat(centers, np.diff(starts, append=len(k)), axis=0)
        return cls(z, k * UNIT, given.units)

    def blocks(self):
        """Yield (rows, parts) of :data:`BLOCK` rows at most."""
        for i in range(0, len(self.rows), BLOCK):
            yield self.rows[i : i + BLOCK], self.parts[i : i + BLOCK]


@dataclass(frozen=True)
class UnitSums:
    """Hold the exact sum of w d d' over deviations d of rows, w their parts, and its degrees.

    Parameters
    ----------
    cross : numpy.ndarray, shape (S + 1, S + 1)
        Python integers, in units of 2^-60.
    degrees : int
        Sum over units of the parts of all rows but one, in units of 2^-20: the expectation of
        sum w e^2 in variances of errors e that are independent, of one variance, and centred.
    """

    cross: np.ndarray
    degrees: int

    @classmethod
    def of(cls, rows: Rows, problem: Problem) -> "UnitSums":
        """Summarise rows of whole units."""
        deviations, columns = UnitDeviations.of(rows, problem), len(problem.low) + 1
        terms = (weighted_products(*block) for block in deviations.blocks())
        high, low = exact_sum(terms, (2, columns, columns))
        k, starts = deviations.parts / UNIT, rows.unit_starts
        firsts = np.maximum.reduceat(k, starts).sum() if len(starts) else 0
        return cls(high * 2**ENTRY_BITS + low, int(k.sum()) - int(firsts))

    def __add__(self, other: "UnitSums") -> "UnitSums":
        return UnitSums(self.cross + other.cross, self.degrees + other.degrees)


def unit_norm(problem: Problem) -> float:
    """Bound the root of sum w |u - m|^2 over the rows of a unit with mean m, in scaled units.

    The parts w add up to P <= 1. Around its mean a sum of squares is smallest, so it is at most
    sum w |u|^2 <= R^2. It also is sum w_i w_j |u_i - u_j|^2 / (2 P) over pairs of rows, at most
    P D^2 / 2 where no two values are further apart than D. A block of columns that are functions
    of one code adds the smaller of both, so that dummies, where D^2 <= 8, count as four columns at
    most. One is the smallest norm that is returned.
    """
    return math.sqrt(max(squared_norm(problem, 1 / 2), 1.0))


def unit_sensitivities(norm: float, columns: int, neighbors: str) -> tuple[float, float, float]:
    r"""Bound the L2 sensitivities of the triangle of W_uu, of W_uv and of W_vv.

    W = sum over units and their rows of w (z - c)(z - c)', z = (u, v), |u_j| <= 1, |v| <= 1, the
    parts w of a unit's rows add up to P <= 1, c is its mean m rounded to multiples of 2^-20, and
    sum w |u - m|^2 <= R^2 with R >= 1 (``norm``, see :func:`unit_norm`).

    One unit adds the positive semidefinite matrix

        V = sum w (z - m)(z - m)' + P (m - c)(m - c)',

    and changes nothing else, as its mean is of its own rows. An entry of m - c is at most 2^-21 and
    a rounding of the division, so its square is less than 2^-41. With S columns

        tr V_uu <= R^2 + S 2^-41 <= R^2 (1 + S 2^-41),    V_jj <= sum w z_j^2 + 2^-41 <= 1 + 2^-41.

    Add/remove, without these last terms:
    - Upper triangle of V_uu: (||V_uu||_F^2 + sum_j V_jj^2) / 2 <= (R^4 + min(R^2, R^4)) / 2, since
      ||V||_F <= tr V for such a matrix, and V_jj <= 1. One row u u' of length R has the same bound.
    - V_uv: for a unit vector a, (a'V_uv)^2 <= (a'V_uu a) V_vv <= R^2, so ||V_uv|| <= R.
    - V_vv <= 1.
    All three are those of :func:`~dpstats.estimators.least_squares.dense.gram.sensitivities`; with
    the rounding they are at most 1 + S 2^-41 times as large. The factor 4 of
    :func:`~dpstats.estimators.least_squares.within.groups.within_sensitivities` does not arise:
    there one row joins a mean of others.

    Replace-one: the difference V - V' of two units. The triangles have the inner product
    (tr(V_uu V'_uu) + sum_j V_jj V'_jj) / 2 >= 0, so sqrt 2 times the first bound, 2 R, and 1.
    """
    rounding = 1 + columns * 2.0**-41
    uu, uv, vv = sensitivities(norm, neighbors)
    return rounding * uu, rounding * uv, rounding * vv


def release_within_units(
    sums: UnitSums, norm: float, neighbors: str, cost: GDP, noise: Noise
) -> WithinSums:
    """Release W_uu (its triangle), W_uv, W_vv and the degrees of freedom.

    Guarantee. The cost, for the given relation between tables that differ in one unit: four
    Gaussian releases whose fractions add up to one. The first three have the sensitivities of
    :func:`unit_sensitivities`, and all sums are exact. A unit adds P less one row's part to the
    degrees of freedom, which is in [0, 1]: their sensitivity is 1 for either relation.
    """
    columns, unit = len(sums.cross) - 1, UNIT**3
    l2 = [bound / unit for bound in unit_sensitivities(norm, columns, neighbors)]
    degrees = Query("degrees of freedom", [sums.degrees], l2=1 / UNIT, unit=UNIT)
    return release_sums(sums.cross, l2, unit, degrees, cost, noise)


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
