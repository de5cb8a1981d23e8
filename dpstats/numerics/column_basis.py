"""Replace columns of a design by public combinations of them with the same span."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ColumnBasis:
    """Define columns q = x @ matrix of design rows x, and the ranges of q.

    Parameters
    ----------
    matrix : numpy.ndarray, shape (S, S)
        Invertible and public. The intercept's column stays as it is.
    low, high : numpy.ndarray, shape (S,)
        Public bounds of the columns q.
    """

    matrix: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def column(self, X: np.ndarray, j: int) -> np.ndarray:
        """Compute one column q (m,) of rows X (m, S), entry by entry.

        No matrix product: its last bits may depend on how many rows there are.
        """
        (places,) = np.nonzero(self.matrix[:, j])
        if len(places) == 1 and self.matrix[places[0], j] == 1:
            return X[:, places[0]]
        total = np.zeros(len(X))
        with np.errstate(all="ignore"):  # no warning depends on a row
            for i in places:
                total += X[:, i] * self.matrix[i, j]
        return total

    @property
    def combined(self) -> set[int]:
        """Return the positions of columns that are part of a combination with others."""
        parts = self.matrix != 0
        alone = (parts.sum(axis=0) == 1) & (parts.sum(axis=1) == 1) & np.diag(parts)
        return set(np.flatnonzero(~alone).tolist())

    def coefficients(self, params: np.ndarray) -> np.ndarray:
        """Turn coefficients (..., S) of the design into those of q."""
        return np.linalg.solve(self.matrix, params[..., None])[..., 0]

    def of_numbers(self, places: np.ndarray) -> "ColumnBasis":
        """Return the basis of a constant and of the columns at ``places``, which map to themselves.

        No other column is combined with these.
        """
        matrix = np.eye(len(places) + 1)
        matrix[1:, 1:] = self.matrix[np.ix_(places, places)]
        ends = (np.r_[1.0, end[places]] for end in (self.low, self.high))
        return ColumnBasis(matrix, *ends)
