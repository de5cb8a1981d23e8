"""Define coordinates in which products of rows are summed, and bound what one row adds to them."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from dpstats.numerics.rows import Rows
from dpstats.privacy import REPLACE_ONE


class GridRows(NamedTuple):
    """Hold m rows in coordinates, as whole numbers in units of 2^-20.

    Parameters
    ----------
    columns : numpy.ndarray, shape (k, m)
        The numbers u of each row and its response v, each column contiguous.
    parts : numpy.ndarray or None, shape (m,)
        What part of one row each row counts for, in [0, 1]; None where each counts as one.
    codes : list of numpy.ndarray of int64, shape (m,) each
        The code of each block whose indicators are coordinates too.
    """

    columns: np.ndarray
    parts: np.ndarray | None = None
    codes: list[np.ndarray] = []

    @property
    def weights(self) -> np.ndarray:
        """Return what part of one row each row counts for; all of it where they have no parts."""
        return np.ones(self.columns.shape[1]) if self.parts is None else self.parts


class Sensitivity(NamedTuple):
    """Bound how far one person moves the upper triangle of u'u, u'v and v'v, in L2 and in L1.

    ``l1`` is None where no such bound is derived.
    """

    l2: tuple[float, float, float]
    l1: tuple[float, float, float] | None = None

    @classmethod
    def of(cls, norm: float, columns: int, neighbors: str) -> "Sensitivity":
        """Bound them for rows of S (``columns``) numbers with ||u|| <= R (``norm``).

        All |u_j| <= 1 and |v| <= 1, and so ||u||_1 <= R sqrt(S).

        Add/remove: the change is the term of one row.
        - Upper triangle of u u': sum_{j<=k} u_j^2 u_k^2 = (||u||^4 + sum_j u_j^4) / 2
          <= (R^4 + min(R^2, R^4)) / 2, since u_j^4 <= u_j^2 and sum_j u_j^4 <= ||u||^4.
          In L1 it is (||u||_1^2 + ||u||^2) / 2 <= R^2 (S + 1) / 2.
        - u v: ||u|| |v| <= R, and ||u||_1 |v| <= R sqrt(S).
        - v^2 <= 1.

        Replace-one: the change is the difference of two such terms.
        - Upper triangles of u u' and w w' have inner product
          ((u.w)^2 + sum_j u_j^2 w_j^2) / 2 >= 0, so the squared norm of the difference is
          at most twice the add/remove bound. In L1 it is at most twice that bound.
        - u v - w t: at most 2 R (reached at w = u, t = -v), and 2 R sqrt(S).
        - v^2 - t^2 lies in [-1, 1].
        """
        times = 2 if neighbors == REPLACE_ONE else 1
        triangle = math.sqrt(times * ((norm**4 + min(norm**2, norm**4)) / 2))
        l1 = times * norm**2 * (columns + 1) / 2, times * norm * math.sqrt(columns), 1.0
        return cls((triangle, times * norm, 1.0), l1)


class Coordinates(Protocol):
    """Turn rows into coordinates (u, v), bound what a person adds to sums there, and turn back."""

    def blocks(self, rows: Rows) -> Iterator[GridRows]:
        """Yield rows in coordinates, so few at a time that their products add up exactly."""
        ...

    def sensitivity(self, neighbors: str) -> Sensitivity:
        """Bound how far one person moves u'u, u'v and v'v, with the derivation."""
        ...

    def back(self, theta: Any) -> np.ndarray:
        """Return the coefficients of the design for those, theta, of v on u."""
        ...
