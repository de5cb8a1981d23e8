"""Orthogonal bases broken on purpose: each defect must be caught by a check of the real tests."""

from dataclasses import replace

import numpy as np

from dpstats.numerics import Box, ColumnBasis, kernels
from tests.checks.adassp import (
    POWERS,
    check_powers,
    check_powers_of_neighbours,
    check_powers_row_by_row,
    check_worst_power,
)
from tests.checks.mutants import Mutant, both_tests, patched


def of_the_rows(column):
    """A column of the basis leans toward the mean of the rows, which are private."""

    def leaning(self, X, j):
        values = column(self, X, j)
        return 0.99 * values + 0.01 * np.mean(values) if j > 1 and len(values) else values

    return leaning


def without_limit(original):
    """Coordinates of the basis are not clipped."""

    def scaled(values, center, scale, limit, out):
        original(values, center, scale, 1e6, out)

    return scaled


def unmapped(original):
    """Coefficients of the basis are given out for those of the columns."""

    def linear_map(self):
        transform, shift = original(self)
        return np.linalg.solve(self.basis.matrix, transform), shift

    return linear_map


def of_fewer_columns(original):
    """The norm of a row counts the powers of one variable as one column."""
    return lambda box, relation: original(replace(box, norm=(box.norm**2 - 1) ** 0.5), relation)


def narrow(original):
    """A basis has half of its range, so that rows are clipped that lie in the declared ranges."""

    def spanning(cls, low, high, y_low, y_high, intercept, basis):
        middle, half = (basis.low + basis.high) / 2, (basis.high - basis.low) / 4
        fewer = ColumnBasis(basis.matrix, middle - half, middle + half)
        return original(low, high, y_low, y_high, intercept, fewer)

    return classmethod(spanning)


def limit():
    check_powers(POWERS)


MUTANTS = {
    "columns lean toward the mean of the rows": Mutant(
        patched(ColumnBasis, "column", of_the_rows), check_powers_row_by_row, error=AssertionError
    ),
    "coordinates are not clipped": Mutant(
        patched(kernels, "scaled", without_limit), check_powers_of_neighbours
    ),
    "powers of a variable count as one column": Mutant(
        patched(Box, "sensitivity", of_fewer_columns), check_worst_power
    ),
    "coefficients are not mapped back": Mutant(
        patched(Box, "linear_map", unmapped), limit, error=AssertionError
    ),
    "a range is half as wide": Mutant(
        patched(Box, "spanning", narrow), limit, error=AssertionError
    ),
}


test_every_mutant_is_caught, test_the_same_checks_pass_when_nothing_is_broken = both_tests(MUTANTS)
