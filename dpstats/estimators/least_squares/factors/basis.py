"""Write designs with factors as indicators of codes and numbers, and map coefficients back."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpstats.estimators.contract import Problem
from dpstats.numerics import Block, Box, ColumnBasis, GridRows, Layout, Rows, Sensitivity, Slopes
from dpstats.numerics.clipping import BLOCK
from dpstats.numerics.layout import free_products

# A direction of codings shorter than this, beside the longest, is none.
_RANK = 1e-9


@dataclass(frozen=True)
class BlockBasis:
    """Define coordinates of a row: an indicator per code of each block, then scaled numbers z.

    One block may be ``saturated``: its columns, with the intercept, can give each of its codes any
    effect. The largest such block keeps an effect for each code. The others, and the numbers, are
    written as ``rest`` @ gamma with orthonormal columns, in which the constant is left out where
    there is a saturated block.

    Parameters
    ----------
    layout : Layout
    box : Box
        Scaled coordinates of (1, numbers), or of the numbers where no constant is in the design.
    centers : numpy.ndarray, shape (d,)
        Centres subtracted from x:g: the mid-range of x if the main effects of g are present, else
        0.
    slopes : tuple of Slopes
        Those of the layout. In x*g, x has a slope at each code of g, and x itself stands for that
        at the code without a column, so that no two of them overlap.
    """

    layout: Layout
    box: Box
    centers: np.ndarray
    slopes: tuple[Slopes, ...]

    @classmethod
    def of(cls, problem: Problem) -> "BlockBasis":
        """Build the basis of a problem whose rows are codes and numbers."""
        assert problem.layout is not None, "rows are codes and numbers"
        ends = problem.low, problem.high, problem.y_low, problem.y_high
        return cls.spanning(problem.layout, *ends, problem.basis)

    @classmethod
    def spanning(
        cls, layout: Layout, low, high, y_low, y_high, basis: ColumnBasis | None
    ) -> "BlockBasis":
        """Build the basis of a design with these bounds of its columns (S,) and response."""
        numeric = layout.numeric
        low, high = np.r_[1.0, low[numeric]], np.r_[1.0, high[numeric]]
        basis = None if basis is None else basis.of_numbers(numeric)
        constant = layout.intercept is not None or any(map(_has_every_code, layout.blocks))
        ends = (low, high) if basis is None else (basis.low.copy(), basis.high.copy())
        centers, sets = np.zeros(len(numeric)), []
        for slopes in layout.slopes:
            combined = set() if basis is None else basis.combined
            if not combined.isdisjoint(1 + slopes.places):
                continue  # as those of a comparison of x with x itself
            alone = slopes.main is None or 1 + slopes.main not in combined
            slopes = slopes.with_main() if alone else replace(slopes, main=None)
            sets.append(slopes)
            if _within_effects(slopes, layout):
                centers[slopes.places] = (slopes.low + slopes.high) / 2
            least, most = (end - centers[slopes.places] for end in (slopes.low, slopes.high))
            half = np.maximum(np.abs(least), np.abs(most))
            ends[0][1 + slopes.places], ends[1][1 + slopes.places] = -half, half
        basis = None if basis is None else replace(basis, low=ends[0], high=ends[1])
        # no coordinate is centred without a constant
        intercept = 0 if constant else None
        box = Box.spanning(*ends, y_low, y_high, intercept, basis)
        return cls(layout, box, centers, tuple(sets))

    def blocks(self, rows: Rows) -> Iterator[GridRows]:
        """Yield rows in these coordinates: codes, and (z, v) on the grid, row by row."""
        for part in rows.blocks(BLOCK):
            assert part.codes is not None, "the request reads codes"
            codes = [column.astype(np.int64) for column in part.codes.T]
            yield GridRows(self.scaled(codes, part.numbers, part.response).T, part.parts, codes)

    def sensitivity(self, neighbors: str) -> Sensitivity:
        """Bound how far a row moves phi phi', phi v and v^2, for any number of codes.

        A row is phi = (e_1, ..., e_K, z) with an indicator e_k for each of K blocks. Every entry of
        phi and v is at most 1 in magnitude and |phi|^2 <= R^2 = K + d (:attr:`norm`), where a set
        of columns of which a row has one at most, as x:g, counts as one of d (:meth:`scaled` sees
        to that). So :meth:`Sensitivity.of` bounds the triangle of phi phi' by
        (|phi|^4 + sum phi_j^4) / 2 <= (R^4 + R^2) / 2 under add/remove, which a row at a corner
        reaches, since each of its K + d entries is 1 in magnitude: K counts, a cell for each pair
        of blocks, d sums in each of its codes and the triangle of z z'. Under replace-one two
        corners with other codes and, for even d, orthogonal z miss the bound by d / 2 of
        (R^4 + R^2) / 2 in squares.

        In L1 |phi|_1 <= K + d = R^2, so that the bounds are those of K + d columns:
        (|phi|_1^2 + |phi|^2) / 2 <= R^2 (K + d + 1) / 2 for phi phi', K + d for phi v and 1
        for v^2 under add/remove, which the same corner reaches, and twice the first two under
        replace-one.
        """
        return Sensitivity.of(self.norm, self.entries, neighbors)

    def back(self, theta: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """Return the coefficients of the design for those of the saturated codes and the rest."""
        (alpha, gamma), (to_alpha, to_gamma, shift) = theta, self.to_design
        return to_alpha @ alpha + to_gamma @ gamma + shift

    def scaled(self, codes: list[np.ndarray], numbers: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Scale and clip (z, v), (m, d + 1), to whole numbers of units of 2^-20, row by row.

        Of columns that are zero at all codes but one no other has an entry, whatever the numbers.
        """
        with_one = np.column_stack([np.ones(len(numbers)), numbers - self.centers])
        rows = self.box.integers(with_one, y)[:, 1:]
        for slopes in self.slopes:
            owner = slopes.owner[codes[slopes.block]]
            for i, place in enumerate(slopes.places):
                rows[owner != i, place] = 0.0
        return rows

    @property
    def entries(self) -> int:
        """Count the coordinates of a row that are not always zero: one of each set of slopes."""
        spare = sum(len(slopes.places) - 1 for slopes in self.slopes)
        return len(self.sizes) + self.numbers - spare

    @property
    def norm(self) -> float:
        """Bound the norm of a row by its entries: K indicators, and numbers in [-1, 1]."""
        return math.sqrt(self.entries)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of codes of each block."""
        return self.layout.sizes

    @property
    def numbers(self) -> int:
        """Return the number of numeric columns."""
        return len(self.layout.numeric)

    @property
    def columns(self) -> int:
        """Return the number of columns of the design."""
        return self.layout.columns

    @cached_property
    def saturated(self) -> int | None:
        """Return the index of the largest saturated block, None where no block is."""
        intercept = self.layout.intercept is not None
        largest = sorted(range(len(self.sizes)), key=lambda k: -self.sizes[k])
        return next((k for k in largest if _saturates(self.layout.blocks[k], intercept)), None)

    @cached_property
    def others(self) -> tuple[int, ...]:
        """Return the indices of the blocks that are part of the rest."""
        return tuple(k for k in range(len(self.sizes)) if k != self.saturated)

    @cached_property
    def rest(self) -> np.ndarray:
        """Return orthonormal columns (m, p) of the coordinates outside the saturated block.

        Rows are the codes of the other blocks, in order, and the numbers.
        """
        if self.saturated is None:
            return _orthonormal(self._whole)
        parts = [_orthonormal(_centred(self.layout.blocks[k].coding)) for k in self.others]
        return _diagonal([*parts, np.eye(self.numbers)])

    @cached_property
    def free(self) -> np.ndarray:
        """Tell which products (m, m) of the rest's coordinates are not structurally zero."""
        return free_products([self.sizes[k] for k in self.others], len(self.rest))

    @cached_property
    def _whole(self) -> np.ndarray:
        """Return the design's columns (m, S) in all coordinates, for designs without saturation."""
        return self.layout.of_coordinates()

    @cached_property
    def to_design(self):
        """Return the maps (S, L) and (S, p) and the shift (S,) to coefficients of the design.

        The first is sparse. L is the number of codes of the saturated block, 0 without one.
        """
        from scipy import sparse

        layout, box = self.layout, self.box
        scale, center = box.y_scale / box.scale[1:], box.center[1:]
        to_columns = np.eye(self.numbers) if box.basis is None else box.basis.matrix[1:, 1:]
        size = self.columns
        gamma, shift = np.zeros((size, self.rest.shape[1])), np.zeros(size)
        numbers = self.rest[len(self.rest) - self.numbers :]
        slopes = scale[:, None] * numbers
        if self.saturated is None:
            back = np.linalg.pinv(self._whole) @ self.rest
            gamma[:] = box.y_scale * back
            gamma[layout.numeric] = to_columns @ slopes
            self._uncentre(gamma)
            return self._recentred(sparse.csr_matrix((size, 0)), gamma, shift, slopes)
        gamma[layout.numeric] = to_columns @ slopes
        constant = -(center * scale) @ numbers  # what each gamma adds to every code's effect
        start = 0
        for k in self.others:
            block, codes = layout.blocks[k], self.sizes[k]
            rows = self.rest[start : start + codes]
            start += codes
            gamma[block.columns] = box.y_scale * np.linalg.pinv(_centred(block.coding)) @ rows
            constant -= block.coding.mean(axis=0) @ gamma[block.columns]
        self._uncentre(gamma)
        block = layout.blocks[self.saturated]
        inverse = _inverse(block, layout.intercept is not None)
        places = block.columns if layout.intercept is None else [layout.intercept, *block.columns]
        spread = sparse.csr_matrix(
            (np.ones(len(places)), (places, np.arange(len(places)))), (size, len(places))
        )
        alpha = sparse.csr_matrix(spread @ inverse)
        ones = np.asarray(alpha.sum(axis=1)).ravel()
        return box.y_scale * alpha, gamma + np.outer(ones, constant), box.y_center * ones

    def _uncentre(self, gamma: np.ndarray) -> None:
        """Turn the coefficients (S, p) of slopes into those of the columns.

        What their centres take is added to the effects of codes.
        """
        for slopes in self.slopes:
            columns = self.layout.numeric[slopes.places]
            taken = slopes.indicators @ (self.centers[slopes.places][:, None] * gamma[columns])
            places, effects = _effects(self.layout, slopes.block)
            gamma[places] -= np.linalg.pinv(effects) @ taken
            if slopes.main is not None:
                gamma[columns[:-1]] -= gamma[columns[-1]]

    def _recentred(self, alpha, gamma: np.ndarray, shift: np.ndarray, slopes: np.ndarray):
        """Undo the centring of numbers and response in designs with a constant, not saturated."""
        box = self.box
        if not box.center.any() and box.y_center == 0:
            return alpha, gamma, shift
        ones = np.zeros(len(self.rest))
        ones[: self.sizes[0]] = 1.0
        constant = np.linalg.pinv(self._whole) @ ones
        moved = -(box.center[1:] @ slopes)
        return alpha, gamma + np.outer(constant, moved), box.y_center * constant


def _effects(layout: Layout, block: int) -> tuple[list[int], np.ndarray]:
    """Return the columns of the intercept and a block, and their values at each code."""
    own = layout.blocks[block]
    if layout.intercept is None:
        return list(own.columns), own.coding
    ones = np.ones(len(own.coding))
    return [layout.intercept, *own.columns], np.column_stack([ones, own.coding])


def _within_effects(slopes: Slopes, layout: Layout) -> bool:
    """Tell whether the indicators of slopes are combinations of the intercept and their block."""
    _, effects = _effects(layout, slopes.block)
    if _saturates(layout.blocks[slopes.block], layout.intercept is not None):
        return True
    indicators = slopes.indicators
    found = effects @ np.linalg.lstsq(effects, indicators, rcond=None)[0]
    return bool(np.abs(found - indicators).max() < _RANK)


def _has_every_code(block: Block) -> bool:
    """Tell whether the columns of a block alone can give each code any effect."""
    return _saturates(block, intercept=False)


def _saturates(block: Block, intercept: bool) -> bool:
    """Tell whether the columns, with an intercept or without, can give each code any effect."""
    codes, columns = block.coding.shape
    if columns + intercept < codes:
        return False
    if _is_treatment(block.coding):
        return columns + intercept == codes
    full = np.column_stack([np.ones(codes), block.coding]) if intercept else block.coding
    return columns + intercept == codes and np.linalg.cond(full) < 1 / _RANK


def _is_treatment(coding: np.ndarray) -> bool:
    """Tell whether each column is the indicator of another code."""
    place = coding.argmax(axis=0)
    one_each = np.count_nonzero(coding) == coding.shape[1]
    apart = len(np.unique(place)) == len(place)
    return bool(one_each and apart and (coding[place, np.arange(len(place))] == 1).all())


def _inverse(block: Block, intercept: bool):
    """Return the sparse inverse of (1, coding), or of the coding without an intercept."""
    from scipy import sparse

    coding = block.coding
    codes, columns = coding.shape
    if not _is_treatment(coding):
        full = np.column_stack([np.ones(codes), coding]) if intercept else coding
        return sparse.csr_matrix(np.linalg.inv(full))
    place = coding.argmax(axis=0)
    if not intercept:
        return sparse.csr_matrix((np.ones(codes), (np.arange(codes), place)), (codes, codes))
    base = int(np.setdiff1d(np.arange(codes), place)[0])
    rows = np.r_[0, np.arange(1, codes), np.arange(1, codes)]
    columns_of = np.r_[base, place, np.full(codes - 1, base)]
    values = np.r_[1.0, np.ones(codes - 1), -np.ones(codes - 1)]
    return sparse.csr_matrix((values, (rows, columns_of)), (codes, codes))


def _centred(coding: np.ndarray) -> np.ndarray:
    """Return the columns of a coding less their means over the codes."""
    return coding - coding.mean(axis=0)


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """Return orthonormal columns that span the same, (m, rank)."""
    U, singular, _ = np.linalg.svd(columns, full_matrices=False)
    return U[:, singular > _RANK * max(singular.max(initial=0.0), 1e-300)]


def _diagonal(blocks: list[np.ndarray]) -> np.ndarray:
    """Return the matrix with these blocks on its diagonal, and zeros."""
    out = np.zeros(np.sum([b.shape for b in blocks], axis=0))
    row = column = 0
    for block in blocks:
        out[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return out
