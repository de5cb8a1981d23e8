"""Hold rows as methods take them, each of their roles by its name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True)
class Rows:
    """Hold m rows of a design; what is None the rows do not have.

    Parameters
    ----------
    numbers : numpy.ndarray, shape (m, S)
        The columns of the design; beside codes the numeric ones alone, as its layout lists them.
    response : numpy.ndarray, shape (m,)
    codes : numpy.ndarray or None, shape (m, K)
        Whole numbers: the code of each block of the layout.
    parts : numpy.ndarray or None, shape (m,)
        What part of one row each row counts for, in [0, 1].
    units : numpy.ndarray or None, shape (m,)
        Numbers of privacy units, which increase; the parts of a unit add up to at most 1.
    keys : numpy.ndarray or None, shape (m,)
        The key of each row's label in the absorbed column.
    """

    numbers: np.ndarray
    response: np.ndarray
    codes: np.ndarray | None = None
    parts: np.ndarray | None = None
    units: np.ndarray | None = None
    keys: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.response)

    def __getitem__(self, chosen: slice | np.ndarray) -> "Rows":
        """Return the rows of a slice, a mask or positions."""
        return Rows(*(None if role is None else role[chosen] for role in self._roles))

    def __add__(self, other: "Rows") -> "Rows":
        return Rows.joined([self, other])

    @classmethod
    def joined(cls, parts: Sequence["Rows"]) -> "Rows":
        """Put rows of the same roles after one another."""
        roles = zip(*(part._roles for part in parts), strict=True)
        return cls(*(None if role[0] is None else np.concatenate(role) for role in roles))

    def blocks(self, size: int) -> Iterator["Rows"]:
        """Yield the rows in blocks of ``size``, in order; the last may have fewer."""
        for start in range(0, len(self), size):
            yield self[start : start + size]

    @property
    def _roles(self) -> tuple[np.ndarray | None, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def unit_starts(self) -> np.ndarray:
        """Return the positions of the first row of each unit."""
        assert self.units is not None, "rows of units have their numbers"
        return np.flatnonzero(np.diff(self.units, prepend=-1))

    @property
    def unit_order(self) -> np.ndarray | None:
        """Return the place of each row's unit among the units, 0, 1, ..., None without units."""
        if self.units is None:
            return None
        starts = self.unit_starts
        return np.repeat(np.arange(len(starts)), np.diff(starts, append=len(self)))

    @property
    def count(self) -> int:
        """Return the number of rows, with units that of the units."""
        return len(self) if self.units is None else len(self.unit_starts)
