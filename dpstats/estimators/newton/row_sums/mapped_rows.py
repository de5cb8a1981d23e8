"""Hold rows in whitened directions, which many sums at different positions are of."""

from dataclasses import dataclass, field

import numpy as np

from dpstats.numerics import Rows


@dataclass(frozen=True)
class MappedRows(Rows):
    """Hold rows in p directions, and their codes and numbers no more.

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
