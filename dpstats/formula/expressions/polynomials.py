"""Evaluate polynomials of a column that learn nothing but its public range."""

from collections.abc import Iterable

import numpy as np
from numpy.polynomial import Legendre, Polynomial
from patsy.design_info import DesignInfo, FactorInfo

from dpstats.errors import ArgumentError
from dpstats.formula.expressions.allow_list import read
from dpstats.formula.expressions.intervals import Interval


class Polynomials:
    """Compute poly(x, degree): Legendre polynomials on the range of x, or with raw its powers.

    Legendre's are orthonormal for a column that is uniform on its range: sqrt(2 j + 1) P_j(t)
    for j = 1 to ``degree``, where t is x mapped from its range to [-1, 1].
    """

    def __init__(self):
        self.low, self.high, self.degree, self.raw = 0.0, 1.0, 1, False

    def memorize_chunk(self, x, degree, raw=False):
        """Learn the range from the public grid, which holds both of its ends."""
        self.low, self.high = float(np.min(x)), float(np.max(x))
        self.degree, self.raw = degree, raw

    def memorize_finish(self):
        """Do nothing: one chunk holds the grid."""

    def transform(self, x, degree, raw=False) -> np.ndarray:
        """Compute the columns (m, degree) row by row."""
        x = np.asarray(x, dtype=np.float64)
        t = x if raw else (x - self.low) / (self.high - self.low) * 2 - 1
        before, now, columns = np.ones_like(t), t, []
        for j in range(1, degree + 1):
            columns.append(now if raw else np.sqrt(2 * j + 1) * now)
            following = t * now if raw else ((2 * j + 1) * t * now - j * before) / (j + 1)
            before, now = now, following
        return np.stack(columns, axis=-1)

    def image(self, low, high, degree, raw=False) -> Interval:
        """Compute the range of each column, (degree,) and (degree,)."""
        places = range(1, degree + 1)
        if raw:
            ends = [_extremes(Polynomial.basis(j), low, high) for j in places]
        else:
            ends = [np.sqrt(2 * j + 1) * _extremes(Legendre.basis(j), -1.0, 1.0) for j in places]
        lows, highs = np.array(ends).T
        return lows, highs

    def basis(self, j: int) -> Polynomial:
        """Return the j-th column as a polynomial in x."""
        if self.raw:
            return Polynomial.basis(j)
        legendre = Legendre.basis(j, domain=[self.low, self.high])
        return np.sqrt(2 * j + 1) * legendre.convert(kind=Polynomial)


def _extremes(polynomial, low: float, high: float) -> np.ndarray:
    """Return the least and the largest value of a polynomial on [low, high], (2,)."""
    turns = polynomial.deriv().roots()
    inside = turns.real[(turns.real > low) & (turns.real < high)]
    values = polynomial(np.concatenate([[low, high], inside]))
    return np.array([values.min(), values.max()])


def raw_powers(info: DesignInfo, variable: str) -> tuple[list[str], np.ndarray]:
    """Map the coefficients of poly(variable, k) to those of the constant and of raw powers.

    Returns
    -------
    tuple
        The powers as "x", "I(x**2)" and so on, and weights (k + 1, S) of the coefficients, the
        first row for the constant.
    """
    terms = [
        term
        for term in info.term_slices
        if any(name == variable for name, _ in _polynomials(info, term.factors))
    ]
    if len(terms) != 1 or len(terms[0].factors) != 1:
        raise ArgumentError(
            f"expected one term poly({variable}, k) outside of products, which has raw powers; "
            f"the terms are {', '.join(term.name() for term in info.term_slices)}"
        )
    ((_, polynomials),) = _polynomials(info, terms[0].factors)
    weights = np.zeros((polynomials.degree + 1, len(info.column_names)))
    columns = range(weights.shape[1])[info.term_slices[terms[0]]]
    for j, column in enumerate(columns, start=1):
        coefficients = polynomials.basis(j).coef
        weights[: len(coefficients), column] = coefficients
    powers = [f"I({variable}**{j})" for j in range(2, polynomials.degree + 1)]
    return [variable, *powers], weights


def polynomial_suffixes(info: FactorInfo) -> list[str]:
    """List what R's names of a number's columns end with: nothing for one column.

    Legendre polynomials end with P1, P2 and so on, for the 1, 2 of R's poly(), which is
    orthogonal over the rows, are other columns; raw powers are those of R.
    """
    if info.num_columns == 1:
        return [""]
    learned = info.state.get("transforms", {}).values()
    letter = "" if all(found.raw for found in learned) else "P"
    return [f"{letter}{j}" for j in range(1, info.num_columns + 1)]


def polynomial_ranges(info: DesignInfo, raw: bool = True) -> dict[str, tuple[float, float]]:
    """Return the range that the polynomials of each variable learned, with those of raw powers."""
    return {
        name: (found.low, found.high)
        for name, found in _polynomials(info, info.factor_infos)
        if raw or not found.raw
    }


def _polynomials(info: DesignInfo, factors: Iterable) -> list[tuple[str, Polynomials]]:
    """List the factors that are polynomials, as a variable with what was learned of it."""
    return [
        (next(iter(read(factor.code).variables)), transform)
        for factor in factors
        for transform in info.factor_infos[factor].state.get("transforms", {}).values()
        if isinstance(transform, Polynomials)
    ]
