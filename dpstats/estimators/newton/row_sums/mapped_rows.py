"""Hold rows in whitened directions, mapped once for sums at many positions."""

from dataclasses import dataclass, field

import numpy as np

from dpstats.numerics import Rows


@dataclass(frozen=True)
class MappedRows(Rows):
    """Hold rows in p directions, in place of their codes and numbers.

    Parameters
    ----------
    directions : numpy.ndarray, shape (p * m,)
        Blocks of rows one after another, each as contiguous columns (p, rows).
    squares : numpy.ndarray, shape (m,)
        Their squared norms.
    """

    directions: np.ndarray = field(kw_only=True)
    squares: np.ndarray = field(kw_only=True)

    def block(self, own: slice, p: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a block of rows as columns (p, rows), and their squared norms (rows,)."""
        columns = self.directions[p * own.start : p * own.stop]
        return columns.reshape(p, own.stop - own.start), self.squares[own]
