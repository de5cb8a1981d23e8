"""Describe how the columns of a design follow from codes of factors and from numeric columns."""

from dataclasses import dataclass

import numpy as np


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
class Layout:
    """Describe how the S columns of a design follow from codes and numeric columns.

    Parameters
    ----------
    blocks : tuple of Block
        One for each set of factors whose columns are functions of a common code.
    numeric : numpy.ndarray of int
        Positions of the other columns, without the intercept.
    intercept : int or None
    """

    blocks: tuple[Block, ...]
    numeric: np.ndarray
    intercept: int | None

    def compact(self, X: np.ndarray) -> np.ndarray:
        """Turn design rows (n, S) into rows (n, K + d): the code of each block, then numbers.

        Codes with equal columns cannot be told apart, and the first of them is taken.

        >>> block = Block(np.array([1, 2]), np.array([[0.0, 0], [1, 0], [0, 1]]))
        >>> Layout((block,), np.array([3]), 0).compact(np.array([[1.0, 0, 1, 7], [1, 0, 0, 5]]))
        array([[2., 7.],
               [0., 5.]])
        """
        codes = [_codes(block.coding, X[:, block.columns]) for block in self.blocks]
        return np.column_stack([*codes, X[:, self.numeric]])


def _codes(coding: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Find each row (n, k) among those of a coding (L, k)."""
    _, place = np.unique(np.vstack([coding, rows]), axis=0, return_inverse=True)
    known, found = np.unique(place[: len(coding)], return_index=True)
    return found[np.searchsorted(known, place[len(coding) :])].astype(np.float64)
