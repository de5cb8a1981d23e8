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
