"""Describe how the columns of a design follow from codes of factors and from numeric columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpstats.numerics.rows import Rows

# Columns of a coding are collinear to this part of the largest, and give an indicator but for it.
_COLLINEAR, _MISSED = 1e-9, 1e-6


@dataclass(frozen=True)
class Block:
    """Describe the columns that depend on one code alone.

    Parameters
    ----------
    columns : numpy.ndarray of int, shape (k,)
        Their positions in the design.
    coding : numpy.ndarray, shape (L, k)
        Their values for each of the L codes.
    """

    columns: np.ndarray
    coding: np.ndarray


@dataclass(frozen=True)
class Slopes:
    """Describe an interaction such as x:g: each column is x at one code of g, zero at the others.

    Parameters
    ----------
    places : numpy.ndarray of int, shape (k,)
        Their positions among the numeric columns.
    block : int
        Index of the block whose code decides.
    owner : numpy.ndarray of int, shape (L,)
        Which of the k is not zero at each of its codes; -1 where none is.
    low, high : float
        Bounds of the number.
    main : int or None
        Position of the number itself among the numeric columns, as of x in x*g.
    """

    places: np.ndarray
    block: int
    owner: np.ndarray
    low: float
    high: float
    main: int | None = None

    def with_main(self) -> "Slopes":
        """Return the set in which the number itself stands for it at the codes without a column."""
        if self.main is None:
            return self
        owner = np.where(self.owner < 0, len(self.places), self.owner)
        return replace(self, places=np.append(self.places, self.main), owner=owner)

    @property
    def indicators(self) -> np.ndarray:
        """Return 1 where a column (L, k) is not zero at a code, else 0."""
        return (self.owner[:, None] == np.arange(len(self.places))).astype(float)


@dataclass(frozen=True)
class Layout:
    """Describe how the S columns of a design follow from codes and numeric columns.

    Parameters
    ----------
    blocks : tuple of Block
        One for each set of factors whose columns are functions of a common code.
    numeric : numpy.ndarray of int
        Positions of the other columns, without the intercept.
    intercept : int or None
    slopes : tuple of Slopes
        Sets of numeric columns of which a row has at most one.
    """

    blocks: tuple[Block, ...]
    numeric: np.ndarray
    intercept: int | None
    slopes: tuple[Slopes, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of codes of each block."""
        return tuple(len(block.coding) for block in self.blocks)

    @property
    def columns(self) -> int:
        """Return the number of columns S of the design."""
        coded = sum(len(block.columns) for block in self.blocks)
        return coded + len(self.numeric) + (self.intercept is not None)

    def as_numbers(self) -> "Layout":
        """Return the layout of the same columns, all of them numeric, with the same slopes."""
        slopes = tuple(
            replace(one, places=self.numeric[one.places],
                    main=None if one.main is None else int(self.numeric[one.main]))
            for one in self.slopes
        )  # fmt: skip
        return Layout((), np.arange(self.columns), None, slopes)

    def level_coefficients(self) -> np.ndarray:
        """Return coefficients (L, S) of columns that give the indicator of each code of a block.

        They do but for a constant, and are zeros where columns do not give it.
        """
        whole, start = np.zeros((sum(self.sizes), self.columns)), 0
        for block, size in zip(self.blocks, self.sizes, strict=True):
            coding, wanted = block.coding - block.coding.mean(axis=0), np.eye(size) - 1 / size
            found = np.linalg.pinv(coding, rcond=_COLLINEAR) @ wanted
            missed = np.abs(coding @ found - wanted).max(axis=0)
            whole[start : start + size, block.columns] = np.where(missed < _MISSED, found, 0.0).T
            start += size
        return whole

    def of_coordinates(self, constant: bool = True) -> np.ndarray:
        """Return the columns (m, S) at each coordinate of a row: its codes, then its numbers.

        A row has one code in each block; without blocks a ``constant`` stands before the numbers.
        """
        sizes, start = self.sizes, 0
        indicators = sum(sizes) if sizes else int(constant)
        whole = np.zeros((indicators + len(self.numeric), self.columns))
        for block, size in zip(self.blocks, sizes, strict=True):
            whole[start : start + size, block.columns] = block.coding
            start += size
        if self.intercept is not None:
            whole[: sizes[0] if sizes else 1, self.intercept] = 1.0
        whole[np.arange(indicators, len(whole)), self.numeric] = 1.0
        return whole

    def compact(self, rows: Rows) -> Rows:
        """Turn design rows into the code of each block, and the numeric columns.

        Codes with equal columns cannot be told apart, and the first of them is taken.

        >>> block = Block(np.array([1, 2]), np.array([[0.0, 0], [1, 0], [0, 1]]))
        >>> rows = Rows(np.array([[1.0, 0, 1, 7], [1, 0, 0, 5]]), np.zeros(2))
        >>> found = Layout((block,), np.array([3]), 0).compact(rows)
        >>> found.codes.tolist(), found.numbers.tolist()
        ([[2.0], [0.0]], [[7.0], [5.0]])
        """
        X, none = rows.numbers, np.empty((len(rows), 0))
        codes = [_codes(block.coding, X[:, block.columns])[:, None] for block in self.blocks]
        return replace(rows, numbers=X[:, self.numeric], codes=np.hstack([none, *codes]))


def free_products(sizes: Sequence[int], size: int) -> np.ndarray:
    """Tell which products of ``size`` coordinates are not structurally zero.

    The first are indicators of the codes of blocks of these sizes, of which a row has one each.

    >>> free_products([2], 3).astype(int).tolist()
    [[1, 0, 1], [0, 1, 1], [1, 1, 1]]
    """
    free, ends = np.ones((size, size), dtype=bool), np.cumsum([0, *sizes])
    for start, end in zip(ends[:-1], ends[1:], strict=True):
        free[start:end, start:end] = np.eye(end - start, dtype=bool)
    return free


def _codes(coding: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Find each row (n, k) among those of a coding (L, k).

    Column by column: what is known of a row before it, and its value, are a pair of the coding.
    """
    known, place = np.zeros(len(coding), dtype=np.intp), np.zeros(len(rows), dtype=np.intp)
    for column, values in zip(coding.T, rows.T, strict=True):
        levels = np.unique(column)
        pairs, known = np.unique(
            known * len(levels) + np.searchsorted(levels, column), return_inverse=True
        )
        number = np.empty(pairs[-1] + 1, dtype=np.intp)
        number[pairs] = np.arange(len(pairs))
        place = number[place * len(levels) + np.searchsorted(levels, values)]
    return np.unique(known, return_index=True)[1][place].astype(np.float64)
