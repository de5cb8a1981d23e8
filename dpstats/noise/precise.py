"""Ridge regression in 512-bit arithmetic, normal draws to match, and the public grid of results.

Why 512 bits: where a release is drawn around a private centre and with a private shape, the
trailing digits of doubles would tell tables apart. The matrices here are exact integers plus a
ridge, and their condition numbers stay below 2^140 for any table of up to 2^60 rows, so that
every number computed is right to 2^-250 of its size. Results are rounded to multiples of
2^-40. A number with a density is that close to the border of a cell with probability below
2^-200, so the law of a rounded result is that of exact arithmetic up to 2^-150 in total
variation, whatever the table: far below any delta a caller may ask for.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from mpmath import MPContext

MP = MPContext()
MP.prec = 512
_GRID_BITS = 40


@dataclass(frozen=True)
class Objective:
    """theta'H theta / 2 - w'theta for a positive definite H, shapes (S, S) and (S, 1)."""

    hessian: MP.matrix
    linear: MP.matrix

    @classmethod
    def least_squares(cls, cross: np.ndarray, unit: float, ridge: float) -> "Objective":
        """Half the residual sum of squares plus ridge ||theta||^2 / 2, up to a constant.

        ``cross`` holds the exact cross-products of the rows (u, v), integers in units.
        """
        hessian = MP.matrix(cross[:-1, :-1].tolist()) * MP.mpf(unit)
        linear = MP.matrix(cross[:-1, -1].tolist()) * MP.mpf(unit)
        return cls(hessian + MP.mpf(ridge) * MP.eye(len(linear)), linear)

    def factor(self) -> MP.matrix:
        """The lower triangular L with L L' = H."""
        return MP.cholesky(self.hessian)

    def minimiser(self) -> MP.matrix:
        """H^-1 w."""
        lower = self.factor()
        return MP.U_solve(lower.T, forward(lower, self.linear))


def forward(lower: MP.matrix, right: MP.matrix) -> MP.matrix:
    """The y with lower y = right."""
    found = []
    for i in range(lower.rows):
        known = MP.fdot((lower[i, j], found[j]) for j in range(i))
        found.append((right[i] - known) / lower[i, i])
    return MP.matrix(found)


def normals(count: int, randbelow: Callable[[int], int]) -> MP.matrix:
    """Independent standard normal variables, shape (count, 1) (Box and Muller 1958).

    A uniform variable is the middle of one of 2^512 cells of (0, 1). Unless it lies in the
    lowest 2^-200 its rounding moves a draw by less than 2^-250.
    """
    cells = 1 << MP.prec
    draws = []
    while len(draws) < count:
        u, angle = (MP.mpf(2 * randbelow(cells) + 1) / (2 * cells) for _ in range(2))
        radius = MP.sqrt(-2 * MP.log(u))
        draws += [radius * MP.cospi(2 * angle), radius * MP.sinpi(2 * angle)]
    return MP.matrix(draws[:count])


def on_grid(theta: MP.matrix) -> np.ndarray:
    """The nearest multiples of 2^-40, as doubles."""
    return np.array([float(MP.ldexp(MP.nint(MP.ldexp(t, _GRID_BITS)), -_GRID_BITS)) for t in theta])
