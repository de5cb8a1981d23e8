"""Write design rows as indicators of codes and standardised numbers; release their products."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from dpstats.estimators.contract import Problem
from dpstats.noise import Noise, Query
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.numerics.layout import free_products
from dpstats.privacy import REPLACE_ONE, Cost

# Off the diagonal a symmetric matrix has every product twice: 99 / 70 stands for sqrt 2.
_DIAGONAL, _OFF = 70, 99
# Numbers beyond so many units of their columns count as it. Roots have a condition of 10^6 at most,
# so that what they are mapped to is finite, and its square too.
FAR = 2.0**20
# Columns of a design through the origin are apart by this part of their length at least.
_LEAST_APART = 1e-5
# Less than this part of the longest combination of columns is rounding. A number whose deviation is
# a part e of its mean leaves about e^2 of its square: 1e-9 of a latitude of 64 +- .002 degrees.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class IndicatorBasis:
    """Define coordinates phi of a row: an indicator per code of each block, then numbers z.

    In each block a row has exactly one 1; without blocks there is one coordinate that is 1 in
    every row, unless the design goes through the origin. z = root^-1 (x - center) are the numeric
    columns on a scale that makes their covariance about the identity, through the origin their mean
    squares and products.

    Parameters
    ----------
    sizes : tuple of int
        Codes of each block.
    center : numpy.ndarray, shape (d,)
    root : numpy.ndarray, shape (d, d)
    to_design : numpy.ndarray, shape (m, S)
        Design rows are phi @ to_design.
    has_constant : bool
        Whether a constant is a combination of the columns.
    pair_levels : numpy.ndarray, shape (L, m), optional
        Without blocks, coefficients that give the indicator of each level, but for a constant, of
        factors whose columns are numbers.
    """

    sizes: tuple[int, ...]
    center: np.ndarray
    root: np.ndarray
    to_design: np.ndarray
    has_constant: bool
    pair_levels: np.ndarray | None = None

    @classmethod
    def of(cls, problem: Problem) -> "IndicatorBasis":
        """Build the basis of a problem with a layout and a reference."""
        layout, reference = problem.layout, problem.reference
        assert layout is not None and reference is not None, "the method works from marginals"
        full = any(len(b.coding) == np.linalg.matrix_rank(b.coding) for b in layout.blocks)
        has_constant = layout.intercept is not None or full
        center, root = reference.center, reference.root
        if not has_constant:  # squares are about the origin, so those of means are in the scale
            center, root = np.zeros_like(center), _about_origin(center, root)
        sizes, to_design = layout.sizes, layout.of_coordinates(has_constant)
        # the codes of the first block, or the constant, add up to 1
        to_design[: sizes[0] if sizes else int(has_constant), layout.numeric] = center
        to_design[len(to_design) - len(center) :, layout.numeric] = root.T
        return cls(sizes, center, root, to_design, has_constant)

    @classmethod
    def unscaled(cls, columns: int) -> "IndicatorBasis":
        """Build the basis of so many numeric columns, through the origin, as they are."""
        return cls((), np.zeros(columns), np.eye(columns), np.eye(columns), False)

    @property
    def size(self) -> int:
        """Return the number of coordinates m."""
        return len(self.to_design)

    @property
    def indicators(self) -> int:
        """Return the number of coordinates that are indicators, or the constant."""
        return self.size - len(self.center)

    def directions(self, map_: np.ndarray) -> np.ndarray:
        """Return where rows mapped by ``map_`` (m, p) move by one unit of each number, (d, p)."""
        return np.linalg.solve(self.root.T, map_[self.indicators :])

    @property
    def ones(self) -> int:
        """Count the indicators that are 1 in each row."""
        return len(self.sizes) or self.indicators

    @cached_property
    def offsets(self) -> np.ndarray:
        """Return the positions where the indicators of each block begin."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)[: len(self.sizes)]

    @cached_property
    def free(self) -> np.ndarray:
        """Tell which products (m, m) are not structurally zero: a row has one code per block."""
        return free_products(self.sizes, self.size)

    @cached_property
    def span(self) -> np.ndarray:
        """Return an orthonormal basis (m, p) of the coordinates that the design identifies."""
        U, singular, _ = np.linalg.svd(self.to_design / self._column_sizes, full_matrices=False)
        return U[:, singular > _ROUNDING * singular[0]]

    @cached_property
    def from_span(self) -> np.ndarray:
        """Return the map (S, m) to design coefficients from those of phi, if these are in the span.

        The coefficients of collinear columns are the smallest ones, in units of the columns.
        """
        return np.linalg.pinv(self.to_design / self._column_sizes) / self._column_sizes[:, None]

    @cached_property
    def unit(self) -> np.ndarray:
        """Return coefficients of phi (m,) that give the constant 1, zeros where columns do not."""
        unit = np.zeros(self.size)
        if self.has_constant:
            unit[: self.sizes[0] if self.sizes else 1] = 1.0
        return unit

    @cached_property
    def constant(self) -> np.ndarray:
        """Return the constant 1's coefficients (S,), zeros where columns do not give it."""
        return self.from_span @ self.unit

    @cached_property
    def levels(self) -> np.ndarray:
        """Return coefficients of phi (L, m), in the span, that give the indicator of each code.

        They are zeros where columns do not give it. The codes of each block add up to those of the
        first, so an indicator has several coefficients, of which one may be in the span: as that of
        the level that a coding leaves out, which is the constant less the other levels.
        """
        if not self.sizes:
            return np.zeros((0, self.size)) if self.pair_levels is None else self.pair_levels
        sums = np.zeros((len(self.sizes), self.size))
        for one, size, begin in zip(sums, self.sizes, self.offsets, strict=True):
            one[begin : begin + size] = 1.0
        alike = sums[1:] - sums[:1]
        of_rows = np.eye(self.size) - np.linalg.pinv(alike) @ alike
        found = self.span @ np.linalg.pinv(of_rows @ self.span, rcond=1e-9)
        found = (found @ of_rows)[:, : self.indicators]
        missed = np.abs(of_rows @ found - of_rows[:, : self.indicators]).max(axis=0)
        return np.where(missed < 1e-6, found, 0.0).T

    @cached_property
    def _column_sizes(self) -> np.ndarray:
        """Return the scale of each column, so that the rank does not depend on units."""
        sizes = np.abs(self.to_design).max(axis=0)
        return np.where(sizes > 0, sizes, 1.0)

    def row_map(self, map_: np.ndarray) -> "RowMap":
        """Build the map of rows to phi @ map_, for map_ (m, p)."""
        codes, numbers = map_[: self.indicators], map_[self.indicators :]
        constant = codes if self.indicators else np.zeros((1, map_.shape[1]))
        return self._row_map(self.offsets, constant, numbers)

    def narrowed(self, map_: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return fewer directions (m, q), and squares (m,), that tell the lengths of mapped rows.

        |phi @ map_|^2 is that of phi in these directions and phi @ squares. A row has one code of
        the largest block, and what this code adds at right angles to what all else may add, the
        squares, is known beforehand: q is at most the number of coordinates outside of that block.
        """
        squares = np.zeros(self.size)
        if not self.sizes:
            return map_, squares
        largest = int(np.argmax(self.sizes))
        block = slice(self.offsets[largest], self.offsets[largest] + self.sizes[largest])
        along = np.linalg.qr(np.delete(map_, block, axis=0).T)[0]
        if along.shape[1] >= map_.shape[1]:
            return map_, squares
        narrow = map_ @ along
        squares[block] = ((map_[block] - narrow[block] @ along.T) ** 2).sum(axis=1)
        return narrow, squares

    @cached_property
    def entries(self) -> "RowMap":
        """Return the map of rows to the value of a nonzero indicator, then z, (1 + d)."""
        one, numbers = np.zeros((1, 1 + len(self.center))), np.eye(len(self.center))
        one[0, 0] = self.ones > 0
        numbers = np.hstack([np.zeros((len(self.center), 1)), numbers])
        return self._row_map(self.offsets[:0], one, numbers)

    def _row_map(self, offsets: np.ndarray, codes: np.ndarray, numbers: np.ndarray) -> "RowMap":
        """Build the map from what codes (L, p) and numbers z (d, p) add: it takes x, not z."""
        from dpstats.numerics.whitening import times_inverse

        scale = np.abs(self.root).max(axis=1, initial=0.0)
        numbers_to = times_inverse(numbers.T.copy(), self.root / scale[:, None])
        return RowMap(offsets, self.center, scale, codes.T.copy(), numbers_to)


def _about_origin(center: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Return a root (d, d) of the mean of x x' of numbers with such a mean, and root of covariance.

    Columns that are nearly proportional keep a scale.
    """
    least = _LEAST_APART * np.hypot(np.linalg.norm(root, axis=1), center)
    _, upper = np.linalg.qr(np.vstack([root.T, center, np.diag(least)]))
    return upper.T


class RowMap(NamedTuple):
    """Map rows, codes and d numbers each, to p directions, which is a function of each row.

    A row is the sum of the columns of ``codes_to`` (p, L) that its codes name, block b from
    ``offsets[b]`` on, and of ``numbers_to`` (p, d) times its numbers about ``center`` in units of
    ``scale``, (d,) each. Without offsets it starts from the only column of ``codes_to``.
    """

    offsets: np.ndarray
    center: np.ndarray
    scale: np.ndarray
    codes_to: np.ndarray
    numbers_to: np.ndarray

    def of(
        self, codes: np.ndarray, numbers: np.ndarray, start: int, stop: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute directions (p, m), m = stop - start, of some rows, and squared norms (m,).

        ``codes`` (K, n) and ``numbers`` (d, n) are all rows; the result has a row in each column.
        """
        from dpstats.numerics.whitening import whitened

        out = np.empty((len(self.codes_to), stop - start))
        return out, whitened(codes, numbers, start, tuple(self), FAR, out)


def release_products(
    step: str,
    sums: np.ndarray,
    bound: float,
    free: np.ndarray,
    cost: Cost,
    noise: Noise,
    neighbors: str,
    moved: float | None = None,
    rounded: int = 0,
    entries: int | None = None,
) -> tuple[np.ndarray, float]:
    """Release the sum of u u' over rows with |u|^2 <= ``bound``, and its noise off the diagonal.

    ``sums`` are in units of bound 2^-40. Where ``free`` is False a product is zero in every row
    and gets no noise. Where u is not of one row ``moved`` times bound is how far a row moves the
    sum in the Frobenius norm. Of u at most ``entries`` are not 0, where that is given.

    Guarantee. The cost. The vector (diagonal, sqrt 2 x upper triangle) of u u' has the Frobenius
    norm of u u', which is |u|^2 <= bound: the sensitivity under add/remove. Under replace-one
    |u u' - w w'|^2 = |u|^4 + |w|^4 - 2 (u.w)^2 <= 2 bound^2. For rows of which no more is known
    :meth:`~dpstats.numerics.coordinates.Sensitivity.of` bounds the triangle itself by as much, so
    that sqrt 2 times the products halves the variance off the diagonal. Here 99 / 70 stands for
    sqrt 2, so squares are at most 9801 / 9800 times as large. Sums that are rounded move by up to
    ``rounded`` units more in each entry. In L1 (diagonal, f x upper triangle) of u u' is
    (1 - f / 2) |u|^2 + f / 2 |u|_1^2, at most bound (1 + f (entries - 1) / 2), as |u|_1^2 is at
    most entries |u|^2; under replace-one twice that, as one entry of u may be in the place of
    another, unless there is one product: squares up to bound differ by at most bound. Where
    ``entries`` are not given it is at most the root of the number of products times that in L2.

    Returns
    -------
    tuple
        The noisy sum (p, p), and the standard deviation of the noise off the diagonal; on the
        diagonal it is sqrt 2 times that.
    """
    rows, columns = _upper(len(free), free.tobytes())
    factors = np.where(rows == columns, _DIAGONAL, _OFF)
    values = (sums[rows, columns] * factors).tolist()
    frobenius = moved or math.sqrt(2 if neighbors == REPLACE_ONE else 1)
    # entries are whole numbers below 2^20 in norm, so products are below 2^40
    l2 = frobenius * _DIAGONAL * math.sqrt(9801 / 9800) / PRODUCT_UNIT
    l2 += rounded * _OFF * math.sqrt(len(values))
    l1 = math.sqrt(len(values)) * l2
    if entries is not None:
        times = 2 if neighbors == REPLACE_ONE and len(values) > 1 else 1
        l1 = times * (_DIAGONAL + _OFF * (entries - 1) / 2) / PRODUCT_UNIT
    unit = PRODUCT_UNIT * bound / _DIAGONAL
    noisy = noise.add(Query(step, values, l1, l2, unit, any_noise=True), cost)
    matrix = np.zeros(free.shape)
    matrix[rows, columns] = noisy.values * (_DIAGONAL / factors)
    matrix[columns, rows] = matrix[rows, columns]
    return matrix, noisy.deviation * _DIAGONAL / _OFF


@lru_cache(maxsize=64)
def _upper(size: int, free: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and columns of the products of the upper triangle that are free."""
    rows, columns = np.nonzero(np.triu(np.frombuffer(free, dtype=bool).reshape(size, size)))
    return rows, columns
