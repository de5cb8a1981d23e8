"""Describe assumed rows that share a part of their residuals: those of a person or a cluster."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.contract import Problem
from dpstats.evaluate.references import ols
from dpstats.option_checks import number
from dpstats.planning.panel_guess import PanelGuess

_ICC = 0.5


@dataclass(frozen=True)
class CorrelatedGuess(PanelGuess):
    """Hold groups of rows whose residuals are correlated, and how much they are.

    Parameters
    ----------
    icc : float
        Correlation of the residuals of two rows of a group.
    """

    icc: float

    @property
    def row_share(self) -> float:
        """Return the share of the residuals' variance that is each row's own."""
        return 1 - self.icc

    def freedom(self, n: int, columns: int) -> int:
        """Return the degrees of freedom of n rows: their groups, less one."""
        return len(np.unique(self.labels(n))) - 1

    def effects(self, response: str, sd: float, n: int, generator) -> np.ndarray:
        """Draw the part (n,) of the residuals that the rows of a group share."""
        return math.sqrt(self.icc) * sd * generator.normal(size=self.groups)[self.labels(n)]

    def least_squares(self, problem: Problem, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Fit least squares with clustered standard errors: estimates and errors (T, 2).

        With statsmodels' factor for few clusters, G / (G - 1) (n - 1) / (n - S). A design without
        an intercept is that of absorbed effects of the persons, fitted by deviations from means.
        """
        if problem.intercept is None:
            X, y = self.deviations(X), self.deviations(y)
        fit, (n, columns) = ols(X, y, problem=problem), X.shape
        scores = self.sums(X * (y - X @ fit[:columns, 0])[:, None])
        rows = np.vstack([np.eye(columns), problem.x_new]) @ np.linalg.pinv(X.T @ X)
        few = 1 + 1 / max(self.freedom(n, columns), 1)
        factor = few * (n - 1) / max(n - columns, 1)
        return np.column_stack([fit[:, 0], np.sqrt(factor * ((rows @ scores.T) ** 2).sum(axis=1))])


def checked_icc(icc) -> float:
    """Check the correlation of the residuals, by default 0.5."""
    return number("icc", 0, 1)(_ICC if icc is None else icc)
