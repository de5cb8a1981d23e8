"""Add up whole numbers of rows by keys that are not known before, as a summary that merges."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from dpstats.numerics.code_sums import CodeSums


@dataclass(frozen=True)
class KeySums:
    """Hold exact sums over the rows with each of G keys: one number a key and column.

    Parameters
    ----------
    keys : numpy.ndarray, shape (G,)
        One number for each key that has rows, ascending.
    sums : numpy.ndarray of int64, shape (G, k)

    Examples
    --------
    >>> one = KeySums.of(np.array([7.0, 3.0, 7.0]), [np.array([[1.0, 2.0, 4.0]])])
    >>> two = KeySums.of(np.array([5.0, 7.0]), [np.array([[8.0, 16.0]])])
    >>> (one + two).keys, (one + two).sums.ravel()
    (array([3., 5., 7.]), array([ 2,  8, 21]))
    """

    keys: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(cls, keys: np.ndarray, blocks: Iterable[np.ndarray], columns: int = 1) -> Self:
        """Add up blocks (columns, m) of rows, whole numbers of at most 2^20, in the keys' order."""
        present, places = np.unique(keys, return_inverse=True)
        sums, start = CodeSums(len(present), columns), 0
        for block in blocks:
            stop = start + block.shape[1]
            sums.add(places[start:stop], block.T)
            start = stop
        return cls(present, sums.total())

    def __add__(self, other: Self) -> Self:
        keys = np.union1d(self.keys, other.keys)
        sums = np.zeros((len(keys), self.sums.shape[1]), np.int64)
        for part in (self, other):
            sums[np.searchsorted(keys, part.keys)] += part.sums
        return type(self)(keys, sums)
