"""Solve ridge regression and draw normal variables in 512-bit arithmetic; round to a grid.

Why 512 bits: where a release is drawn around a private centre and with a private shape, the
trailing digits of doubles would tell tables apart. The matrices here are exact integers plus a
ridge, and their condition numbers stay below 2^140 for any table of up to 2^60 rows, so that
every number computed is right to 2^-250 of its size. Results are rounded to multiples of
2^-40. A number with a density is that close to the border of a cell with probability below
2^-160, so the distribution of a rounded result is that of exact arithmetic up to 2^-150 in total
variation, whatever the table: far below any delta a caller may ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


class Numbers:
    """Provide mpmath with so many bits, loaded when its first number is needed."""

    def __init__(self, bits: int):
        self._bits = bits

    @cached_property
    def _context(self):
        from mpmath import MPContext

        context = MPContext()
        context.prec = self._bits
        return context

    def __getattr__(self, name: str):
        return getattr(self._context, name)


MP: Any = Numbers(512)
Matrix = Any  # of numbers of MP
_GRID_BITS = 40


@dataclass(frozen=True)
class Objective:
    """Hold theta'H theta / 2 - w'theta for a positive definite H, shapes (S, S) and (S, 1)."""

    hessian: Matrix
    linear: Matrix

    @classmethod
    def least_squares(cls, cross: np.ndarray, unit: float, ridge: float) -> Objective:
        """Return half the residual sum of squares plus ridge ||theta||^2 / 2, up to a constant.

        ``cross`` holds the exact cross-products of the rows (u, v), integers in units.
        """
        hessian = MP.matrix(cross[:-1, :-1].tolist()) * MP.mpf(unit)
        linear = MP.matrix(cross[:-1, -1].tolist()) * MP.mpf(unit)
        return cls(hessian + MP.mpf(ridge) * MP.eye(len(linear)), linear)

    def factor(self, multiplier=0) -> Matrix:
        """Return the lower triangular L with L L' = H + multiplier I."""
        return MP.cholesky(self.hessian + multiplier * MP.eye(len(self.linear)))

    def minimiser(self) -> Matrix:
        """Return H^-1 w, the unconstrained minimiser."""
        lower = self.factor()
        return MP.U_solve(lower.T, forward(lower, self.linear))

    def minimiser_in_ball(self, radius: float) -> tuple[Matrix, Any]:
        """Return the minimiser over ||theta|| <= radius, and its multiplier nu.

        theta = (H + nu I)^-1 w, where nu >= 0, and nu = 0 or ||theta|| = radius. 1 / ||theta|| is
        a concave increasing function of nu, so Newton's method for its crossing of 1 / radius
        climbs to the root from below (More and Sorensen 1983, section 3), doubling the right
        digits. It ends where 400 bits are right.
        """
        multiplier = MP.mpf(0)
        while True:
            lower = self.factor(multiplier)
            theta = MP.U_solve(lower.T, forward(lower, self.linear))
            length = MP.norm(theta)
            if length <= radius * (1 + MP.ldexp(1, -400)):
                return theta, multiplier
            slope = (MP.norm(forward(lower, theta)) / length) ** 2
            multiplier += (length / radius - 1) / slope


def forward(lower: Matrix, right: Matrix) -> Matrix:
    """Solve lower y = right by forward substitution."""
    solution = []
    for i in range(lower.rows):
        known = MP.fdot((lower[i, j], solution[j]) for j in range(i))
        solution.append((right[i] - known) / lower[i, i])
    return MP.matrix(solution)


def uniform(randbelow: Callable[[int], int]) -> Any:
    """Draw a uniform variable, rounded to the midpoint of one of 2^511 cells of (0, 1)."""
    return MP.ldexp(2 * randbelow(1 << (MP.prec - 1)) + 1, -MP.prec)


def normals(count: int, randbelow: Callable[[int], int]) -> Matrix:
    """Draw independent standard normal variables, shape (count, 1) (Box and Muller 1958).

    Unless the first uniform variable lies in the lowest 2^-200, the rounding of the two moves a
    draw by less than 2^-250.
    """
    draws = []
    while len(draws) < count:
        radius, angle = MP.sqrt(-2 * MP.log(uniform(randbelow))), 2 * uniform(randbelow)
        draws += [radius * MP.cospi(angle), radius * MP.sinpi(angle)]
    return MP.matrix(draws[:count])


def on_grid(theta: Matrix) -> np.ndarray:
    """Round to the nearest multiples of 2^-40, as doubles."""
    return np.array([float(MP.ldexp(MP.nint(MP.ldexp(t, _GRID_BITS)), -_GRID_BITS)) for t in theta])
