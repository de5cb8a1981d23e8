"""The rows themselves, for methods that have no smaller summary."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Rows:
    """Rows (x, y), shape (n, S + 1); rows of disjoint batches add up."""

    values: np.ndarray

    def __add__(self, other: "Rows") -> "Rows":
        return Rows(np.concatenate([self.values, other.values]))

    @property
    def X(self) -> np.ndarray:
        return self.values[:, :-1]

    @property
    def y(self) -> np.ndarray:
        return self.values[:, -1]
