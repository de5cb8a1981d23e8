"""Write design rows as indicators of codes and standardised numbers, and sum their products."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpstats.mechanisms.shared.release import Problem
from dpstats.noise import Noise, Query
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import BLOCK, PRODUCT_UNIT, exact_sum
from dpstats.privacy import REPLACE_ONE, Cost

# Off the diagonal a symmetric matrix has every product twice: 99 / 70 stands for sqrt 2.
_DIAGONAL, _OFF = 70, 99
# Standardised numbers beyond it count as it, so that no square overflows.
FAR = 2.0**20
# A row is scaled to slightly less than its bound, by more than floating point can add.
_MARGIN = 1 - 2.0**-30


@dataclass(frozen=True)
class IndicatorBasis:
    """Define coordinates phi of a row: an indicator per code of each block, then numbers z.

    In each block a row has exactly one 1; without blocks there is one coordinate that is 1 in
    every row, unless the design goes through the origin. z = root^-1 (x - center) are the numeric
    columns on a scale that makes their covariance about the identity.

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
    """

    sizes: tuple[int, ...]
    center: np.ndarray
    root: np.ndarray
    to_design: np.ndarray
    has_constant: bool

    @classmethod
    def of(cls, problem: Problem) -> "IndicatorBasis":
        """Build the basis of a problem with a layout and a reference."""
        layout, reference = problem.layout, problem.reference
        assert layout is not None and reference is not None, "the method says needs_marginals"
        full = any(len(b.coding) == np.linalg.matrix_rank(b.coding) for b in layout.blocks)
        has_constant = layout.intercept is not None or full
        center = reference.center if has_constant else np.zeros_like(reference.center)
        sizes = tuple(len(block.coding) for block in layout.blocks)
        indicators = sum(sizes) if sizes else int(has_constant)
        to_design = np.zeros((indicators + len(center), len(problem.low)))
        # the codes of the first block, or the constant, add up to 1
        ones = slice(0, sizes[0] if sizes else int(has_constant))
        if layout.intercept is not None:
            to_design[ones, layout.intercept] = 1
        start = 0
        for block, size in zip(layout.blocks, sizes, strict=True):
            to_design[start : start + size, block.columns] = block.coding
            start += size
        to_design[ones, layout.numeric] = center
        to_design[indicators:, layout.numeric] = reference.root.T
        return cls(sizes, center, reference.root, to_design, has_constant)

    @property
    def size(self) -> int:
        """Return the number of coordinates m."""
        return len(self.to_design)

    @property
    def indicators(self) -> int:
        """Return the number of coordinates that are indicators, or the constant."""
        return self.size - len(self.center)

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
        """Tell which products are not always zero, bool (m, m): one row has one code per block."""
        mask = np.ones((self.size, self.size), dtype=bool)
        for start, size in zip(self.offsets, self.sizes, strict=True):
            block = slice(start, start + size)
            mask[block, block] = np.eye(size, dtype=bool)
        return mask

    @cached_property
    def span(self) -> np.ndarray:
        """Return an orthonormal basis (m, p) of the coordinates that the design can tell apart."""
        U, singular, _ = np.linalg.svd(self.to_design / self._column_sizes, full_matrices=False)
        return U[:, singular > 1e-9 * singular[0]]

    @cached_property
    def from_span(self) -> np.ndarray:
        """Return the map (S, m) to design coefficients from those of phi, if these are in the span.

        The coefficients of collinear columns are the smallest ones, in units of the columns.
        """
        return np.linalg.pinv(self.to_design / self._column_sizes) / self._column_sizes[:, None]

    @cached_property
    def _column_sizes(self) -> np.ndarray:
        """Return the size of each column, so that columns of 1 and 10^20 are told apart alike."""
        sizes = np.abs(self.to_design).max(axis=0)
        return np.where(sizes > 0, sizes, 1.0)

    def numbers(self, X: np.ndarray) -> np.ndarray:
        """Standardise the numbers z (m, d) of rows as codes and numbers, row by row."""
        from dpstats.numerics.whitening import standardised

        z = np.empty((len(X), len(self.center)))
        standardised(X, len(self.sizes), self.center, self.root, FAR, z)
        return z

    def rows(self, X: np.ndarray) -> np.ndarray:
        """Compute coordinates phi (n, m) of rows as codes and numbers."""
        phi = np.zeros((len(X), self.size))
        if not self.sizes:
            phi[:, : self.indicators] = 1
        for column, start in zip(X.T, self.offsets, strict=False):
            phi[np.arange(len(X)), start + column.astype(np.int64)] = 1
        phi[:, self.indicators :] = self.numbers(X)
        return phi

    def whitened(self, X: np.ndarray, map_: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute rows phi @ map_ (n, p), map_ (m, p), and their squared norms (n,), row by row."""
        from dpstats.numerics.whitening import whitened

        out = np.empty((len(X), map_.shape[1]))
        codes, numbers = map_[: self.indicators], map_[self.indicators :]
        if not self.indicators:
            codes = np.zeros((1, map_.shape[1]))
        squares = whitened(X, self.numbers(X), self.offsets, codes, numbers, out)
        return out, squares


def capped(rows: np.ndarray, squares: np.ndarray, bound: float) -> np.ndarray:
    """Scale rows (n, p) with these squared norms to a squared norm of at most ``bound``.

    They are returned in units of sqrt(bound) 2^-20, whole numbers cut toward zero.
    """
    length = np.sqrt(np.maximum(squares / bound, 1.0))
    scale = 2.0**ENTRY_BITS * _MARGIN / (math.sqrt(bound) * length)
    return np.trunc(rows * scale[:, None])


def products(rows: np.ndarray) -> np.ndarray:
    """Add up exactly the products of whole numbers (n, p), at most 2^20 in magnitude."""
    from dpstats.numerics.kernels import products

    blocks = (rows[i : i + BLOCK] for i in range(0, len(rows), BLOCK))
    columns = rows.shape[1]
    return exact_sum((products(np.ascontiguousarray(b.T)) for b in blocks), (columns, columns))


def release_products(
    step: str,
    sums: np.ndarray,
    bound: float,
    free: np.ndarray,
    cost: Cost,
    noise: Noise,
    neighbors: str,
) -> tuple[np.ndarray, float]:
    """Release the sum of u u' over rows with |u|^2 <= ``bound``, and its noise off the diagonal.

    ``sums`` are in units of bound 2^-40, as of :func:`capped` rows. Where ``free`` is False a
    product is zero in every row and gets no noise.

    Guarantee. The cost. The vector (diagonal, sqrt 2 x upper triangle) of u u' has the Frobenius
    norm of u u', which is |u|^2 <= bound: the sensitivity under add/remove. Under replace-one
    |u u' - w w'|^2 = |u|^4 + |w|^4 - 2 (u.w)^2 <= 2 bound^2. Here 99 / 70 stands for sqrt 2, so
    squares are at most 9801 / 9800 times as large.

    Returns
    -------
    tuple
        The noisy sum (p, p), and the standard deviation of the noise off the diagonal; on the
        diagonal it is sqrt 2 times that.
    """
    rows, columns = np.nonzero(np.triu(free))
    diagonal = rows == columns
    factors = np.where(diagonal, _DIAGONAL, _OFF)
    values = (sums[rows, columns] * factors).tolist()
    frobenius = math.sqrt(2 if neighbors == REPLACE_ONE else 1)
    # entries are whole numbers below 2^20 in norm, so products are below 2^40
    l2 = frobenius * _DIAGONAL * math.sqrt(9801 / 9800) / PRODUCT_UNIT
    noisy = noise.add(Query(step, values, l2=l2, unit=PRODUCT_UNIT * bound / _DIAGONAL), cost)
    matrix = np.zeros(free.shape)
    matrix[rows, columns] = noisy.values * (_DIAGONAL / factors)
    matrix[columns, rows] = matrix[rows, columns]
    return matrix, noisy.deviation * _DIAGONAL / _OFF
