"""Describe the assumed persons who have several rows each."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dpstats.call import Request
from dpstats.errors import ArgumentError, shown
from dpstats.option_checks import number, whole
from dpstats.planning.correlated_guess import CorrelatedGuess, checked_icc
from dpstats.planning.panel_guess import shares_within
from dpstats.schema import Numeric


@dataclass(frozen=True)
class PersonGuess(CorrelatedGuess):
    """Hold persons with numbers of rows, and how alike the rows of a person are.

    Parameters
    ----------
    sizes : numpy.ndarray, shape (groups,)
        Rows of each person.
    """

    sizes: np.ndarray

    @classmethod
    def of_persons(
        cls, request: Request, n: int, rows, icc, groups, within_share
    ) -> "PersonGuess | None":
        """Check the guesses; None for a call that protects single rows."""
        if request.unit is None:
            if rows is not None:
                raise ArgumentError(
                    "rows_per_person describes the persons of unit=; add unit= or leave it out"
                )
            return None
        if groups is not None:
            raise ArgumentError(
                "groups describes the column after | or those of by=; with unit= give "
                "rows_per_person="
            )
        schema = request.design.schema
        numeric = [v for v in request.formula.predictors if isinstance(schema[v], Numeric)]
        sizes = _sizes(rows, n)
        within = shares_within(within_share, numeric)
        return cls(request.unit.column, len(sizes), within, checked_icc(icc), sizes)

    def labels(self, n: int) -> np.ndarray:
        """Return the person (n,) of each row."""
        return np.repeat(np.arange(self.groups), self.sizes)[:n]

    @property
    def sentence(self) -> str:
        """Write the guess in words."""
        few, many = self.sizes.min(), self.sizes.max()
        rows = f"{few} rows each" if few == many else f"{few} to {many} rows each"
        return (
            f"guessed {self.column}: {rows}; intra-class correlation of the residuals "
            f"{self.icc:.3g}; shares of variance within one of them: {self.listed_shares}"
        )


def _sizes(rows, n: int) -> np.ndarray:
    """Return numbers of rows (G,) that add up to n: a mean number, or numbers that take turns."""
    if isinstance(rows, Iterable) and not isinstance(rows, str):
        turns = [whole("rows_per_person", 1, n)(value) for value in rows]
        if turns:
            sums = np.cumsum(np.resize(turns, math.ceil(n / sum(turns)) * len(turns)))
            ends = np.minimum(sums[: int(np.searchsorted(sums, n)) + 1], n)
            return np.diff(ends, prepend=0)
    if rows is None or isinstance(rows, Iterable):
        raise ArgumentError(
            "expected rows_per_person= with unit=: a mean number of rows, or a list of numbers "
            f"that are equally common, got {shown(rows)}"
        )
    persons = round(n / number("rows_per_person", 1, n)(rows))
    return np.diff(np.arange(persons + 1) * n // persons)
