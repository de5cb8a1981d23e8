"""Define what every selector is: a frozen description and a private choice of terms."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpstats.noise import Noise
from dpstats.privacy import Cost


@dataclass(frozen=True)
class Candidates:
    """Hold the rows a selector chooses from, intercept excluded; clipped but not scaled.

    Parameters
    ----------
    X : numpy.ndarray, shape (n, S)
        Design columns; finite.
    y : numpy.ndarray, shape (n,)
    terms : numpy.ndarray of int, shape (S,)
        Which of the T terms each column belongs to, 0..T-1, each at least once; public.
    neighbors : str
        The relation the choice must be private for.
    units : numpy.ndarray of int, shape (n,), or None
        The privacy unit of each row, 0, 1, ... in order; None where each row is one.
    """

    X: np.ndarray
    y: np.ndarray
    terms: np.ndarray
    neighbors: str
    units: np.ndarray | None = None

    @property
    def members(self) -> int:
        """Return the number of rows, with units that of the units."""
        if self.units is None:
            return len(self.y)
        return int(self.units[-1]) + 1 if len(self.units) else 0

    @property
    def count(self) -> int:
        """Return the number of terms T."""
        return int(self.terms.max()) + 1

    def columns(self, term: int) -> np.ndarray:
        """Return the indices of the columns of a term."""
        return np.flatnonzero(self.terms == term)


@dataclass(frozen=True)
class Selector:
    """Describe one way to choose terms and what is proven about it.

    Parameters
    ----------
    name, paper : str
    neighbors : tuple of str
        Proven relations.
    select : callable
        ``(candidates, k, cost, noise) -> terms``: k different terms in the order of their
        choice, at the given cost in all. Total for every table.
    takes_units : bool
        Whether it is proven for privacy units of several rows.
    """

    name: str
    paper: str
    neighbors: tuple[str, ...]
    select: Callable[[Candidates, int, Cost, Noise], list[int]]
    takes_units: bool = False
