"""Describe the assumed persons who have several rows each."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dpstats.call import Request
from dpstats.errors import ArgumentError
from dpstats.estimators.contract import Problem
from dpstats.evaluate.references import ols
from dpstats.option_checks import number, whole
from dpstats.planning.panel_guess import PanelGuess, shares_within
from dpstats.schema import Numeric

_ICC = 0.5


@dataclass(frozen=True)
class PersonGuess(PanelGuess):
    """Hold persons with numbers of rows, and how alike the rows of a person are.

    Parameters
    ----------
    sizes : numpy.ndarray, shape (groups,)
        Rows of each person.
    icc : float
        Correlation of the residuals of two rows of a person.
    """

    sizes: np.ndarray
    icc: float

    @classmethod
    def of_persons(
        cls, request: Request, n: int, rows, icc, groups, within_share
    ) -> "PersonGuess | None":
        """Check the guesses; None for a call that protects single rows."""
        if request.unit is None:
            if rows is not None or icc is not None:
                raise ArgumentError(
                    "rows_per_person and icc describe the persons of unit=; add unit= or leave "
                    "them out"
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
        icc = number("icc", 0, 1)(_ICC if icc is None else icc)
        return cls(
            request.unit.column, len(sizes), shares_within(within_share, numeric), sizes, icc
        )

    @property
    def row_share(self) -> float:
        """Return the share of the residuals' variance that is each row's own."""
        return 1 - self.icc

    def observations(self, n: int) -> int:
        """Return the number of persons in n rows: t has one degree of freedom less."""
        return len(self._first(n))

    def _first(self, n: int) -> np.ndarray:
        """Return how many of the first n rows each person has that is in them."""
        ends = np.minimum(np.cumsum(self.sizes), n)
        return np.diff(ends[: int(np.searchsorted(ends, n)) + 1], prepend=0)

    def labels(self, n: int) -> np.ndarray:
        """Return the person (n,) of each row."""
        return np.repeat(np.arange(self.groups), self.sizes)

    def effects(self, response: str, sd: float, n: int, generator) -> np.ndarray:
        """Draw the part (n,) of the residuals that a person's rows share."""
        return math.sqrt(self.icc) * sd * generator.normal(size=self.groups)[self.labels(n)]

    def least_squares(self, problem: Problem, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Fit least squares with standard errors clustered by person: estimates and errors (T, 2).

        With statsmodels' factor for few clusters, G / (G - 1) (n - 1) / (n - S). A design without
        an intercept is that of absorbed effects of the persons, fitted by deviations from means.
        """
        if problem.intercept is None:
            X, y = self.deviations(X), self.deviations(y)
        fit, (n, columns), sizes = ols(X, y, problem=problem), X.shape, self._first(len(y))
        scores = X * (y - X @ fit[:columns, 0])[:, None]
        sums = np.add.reduceat(scores, np.cumsum(sizes) - sizes)
        rows = np.vstack([np.eye(columns), problem.x_new]) @ np.linalg.pinv(X.T @ X)
        few = len(sizes) / max(len(sizes) - 1, 1) * (n - 1) / max(n - columns, 1)
        return np.column_stack([fit[:, 0], np.sqrt(few * ((rows @ sums.T) ** 2).sum(axis=1))])

    @property
    def sentence(self) -> str:
        """Write the guess in words."""
        shares = ", ".join(f"{name} {share:.3g}" for name, share in self.within.items())
        few, many = self.sizes.min(), self.sizes.max()
        rows = f"{few} rows each" if few == many else f"{few} to {many} rows each"
        return (
            f"guessed {self.column}: {rows}; intra-class correlation of the residuals "
            f"{self.icc:.3g}; shares of variance within one of them: {shares or 'none'}"
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
            f"that are equally common, got {rows!r}"
        )
    persons = round(n / number("rows_per_person", 1, n)(rows))
    return np.diff(np.arange(persons + 1) * n // persons)
