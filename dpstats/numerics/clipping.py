"""Clip design rows to public bounds and map them to scaled coordinates."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dpstats.numerics.column_basis import ColumnBasis
from dpstats.numerics.coordinates import GridRows, Sensitivity
from dpstats.numerics.rows import Rows

# Entries of scaled rows are cut toward zero to multiples of 2^-20, so that products
# and their sums are exact integers and no row's norm can grow.
ENTRY_BITS = 20
UNIT = 2.0**-ENTRY_BITS
# 2^13 products of at most 2^40 add up to at most 2^53: exact in float64 in any order.
BLOCK = 1 << 13
# A row is scaled to slightly less than its bound, by more than floating point can add.
_NORM_MARGIN = 1 - 2.0**-30
# A finite limit so large that no real row reaches it and changes its direction.
_FAR = 2.0**40


@dataclass(frozen=True)
class Box:
    """Hold public bounds of a design row (x, y) and the map to scaled coordinates.

    Scaled coordinates are u = (x - center) / scale and v = (y - y_center) / y_scale,
    clipped to [-limit, limit] and [-1, 1]; rows with ||u|| > norm are then multiplied,
    together with v, by norm / ||u||, which keeps a linear relation between them. So
    every |u_j| and |v| is at most 1. Where ``norm_clip`` is set, the first step too
    multiplies whole rows: those outside the box are shrunk until they lie on its edge.
    Where there is a ``basis``, x @ basis.matrix is in the place of x.

    Parameters
    ----------
    center, scale : numpy.ndarray, shape (S,)
    y_center, y_scale : float
    limit : float
        Bound on each |u_j| before rows are norm-clipped.
    norm : float
        Bound on the Euclidean norm of u.
    intercept : int or None
        Index of the constant column, where u = 1 before rows are norm-clipped.
    norm_clip : bool
        Whether rows outside [-1, 1]^S x [-1, 1] are norm-clipped rather than clipped.
    basis : ColumnBasis or None
        Public combinations of the columns that take their place.
    """

    center: np.ndarray
    scale: np.ndarray
    y_center: float
    y_scale: float
    limit: float
    norm: float
    intercept: int | None
    norm_clip: bool = False
    basis: ColumnBasis | None = None

    @classmethod
    def spanning(cls, low, high, y_low, y_high, intercept, basis: ColumnBasis | None) -> "Box":
        """Return the symmetric box of columns with these bounds, or of a basis of their span.

        Sums of cross-products in a basis have the sensitivities of any columns in [-1, 1], as each
        coordinate is clipped; coefficients go back by a linear map.
        """
        if basis is None:
            return cls.symmetric(low, high, y_low, y_high, intercept)
        box = cls.symmetric(basis.low, basis.high, y_low, y_high, intercept)
        return replace(box, basis=basis)

    @classmethod
    def symmetric(cls, low, high, y_low, y_high, intercept, norm=None, norm_clip=False) -> "Box":
        """Return the box [-1, 1]^S x [-1, 1], centred where an intercept can absorb the shift."""
        if intercept is None:
            center, y_center = np.zeros(len(low)), 0.0
        else:
            center, y_center = (low + high) / 2, (y_low + y_high) / 2
            center[intercept] = 0.0
        half = np.maximum(np.abs(low - center), np.abs(high - center))
        y_half = max(abs(y_low - y_center), abs(y_high - y_center))
        scale = np.where(half > 0, half, 1.0)
        norm = math.sqrt(len(low)) if norm is None else min(norm, math.sqrt(len(low)))
        return cls(center, scale, y_center, y_half or 1.0, 1.0, norm, intercept, norm_clip)

    @classmethod
    def ball(cls, columns: int, row_norm: float, y_low, y_high) -> "Box":
        """Return the box of rows of norm at most ``row_norm``, in the design's own units."""
        y_scale = max(abs(y_low), abs(y_high)) or 1.0
        return cls(np.zeros(columns), np.full(columns, row_norm), 0.0, y_scale, _FAR, 1.0, None)

    def integers(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Scale and clip rows to (u, v) in units of 2^-20, shape (m, S + 1), float64 integers.

        Row-local: row i of the result depends on row i of (X, y) only. Columns are contiguous.
        """
        from dpstats.numerics.kernels import cut, scaled

        columns = np.empty((len(self.center) + 1, len(y)))
        limits = (_FAR, _FAR) if self.norm_clip else (self.limit, 1.0)
        for j, (center, scale) in enumerate(zip(self.center, self.scale, strict=True)):
            column = X[:, j] if self.basis is None else self.basis.column(X, j)
            scaled(column, center, scale, limits[0], columns[j])
        scaled(y, self.y_center, self.y_scale, limits[1], columns[-1])
        if self.norm_clip:
            # Dividing by a number at least as large never gives more than 1, even rounded.
            columns /= np.maximum(np.abs(columns).max(axis=0), 1.0)
        if self.norm < self.limit * math.sqrt(len(self.center)):
            bound = self.norm * _NORM_MARGIN
            # One column at a time, so that the length of a row does not depend on its position.
            length = np.sqrt(sum(column**2 for column in columns[:-1]))
            columns *= bound / np.maximum(length, bound)
        cut(columns, 2.0**ENTRY_BITS)
        return columns.T

    def blocks(self, rows: Rows) -> Iterator[GridRows]:
        """Yield rows in these coordinates, :data:`BLOCK` at a time."""
        for part in rows.blocks(BLOCK):
            yield GridRows(self.integers(part.numbers, part.response).T, part.parts)

    def sensitivity(self, neighbors: str) -> Sensitivity:
        """Bound how far a row moves u'u, u'v and v'v, by its norm in these coordinates."""
        return Sensitivity.of(self.norm, len(self.center), neighbors)

    def back(self, theta: np.ndarray) -> np.ndarray:
        """Return the coefficients of the design for those, theta, of v on u."""
        transform, shift = self.linear_map()
        return transform @ theta + shift

    def linear_map(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (T, t) with beta = T theta + t for coefficients theta of v on u."""
        transform = np.diag(self.y_scale / self.scale)
        shift = np.zeros(len(self.center))
        if self.intercept is not None:
            transform[self.intercept] -= self.y_scale * self.center / self.scale
            shift[self.intercept] = self.y_center
        if self.basis is not None:
            transform = self.basis.matrix @ transform
        return transform, shift

    def reference(self, params: np.ndarray) -> np.ndarray:
        """Return the coefficients theta (..., S) of v on u for coefficients beta (..., S)."""
        if self.basis is not None:
            params = self.basis.coefficients(params)
        theta = params * self.scale / self.y_scale
        if self.intercept is not None:
            theta[..., self.intercept] += (params @ self.center - self.y_center) / self.y_scale
        return theta
