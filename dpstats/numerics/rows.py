"""Hold rows as methods take them, each of their roles by its name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

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
    clusters : numpy.ndarray or None, shape (m,)
        The key of each row's label in the column that standard errors are clustered by.
    others : numpy.ndarray or None, shape (m, k)
        Responses beside the first: of other outcomes, or the endogenous regressor of instruments.
    offsets : numpy.ndarray or None, shape (m,)
        What is added to each row's linear predictor.
    """

    numbers: np.ndarray
    response: np.ndarray
    codes: np.ndarray | None = None
    parts: np.ndarray | None = None
    units: np.ndarray | None = None
    keys: np.ndarray | None = None
    clusters: np.ndarray | None = None
    others: np.ndarray | None = None
    offsets: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.response)

    def of_outcome(self, place: int) -> Self:
        """Return the rows with the response at a place: 0 is the first, the others follow."""
        if place == 0:
            return self
        assert self.others is not None, "the request reads them"
        return replace(self, response=self.others[:, place - 1])

    def __getitem__(self, chosen: slice | np.ndarray) -> "Rows":
        """Return the rows of a slice, a mask or positions."""
        more = {name: role[chosen] for name, role in self._more.items()}
        return Rows(self.numbers[chosen], self.response[chosen], **more)

    def __add__(self, other: "Rows") -> "Rows":
        return Rows.joined([self, other])

    @classmethod
    def joined(cls, parts: Sequence["Rows"]) -> "Rows":
        """Put rows of the same roles after one another."""
        more = {
            name: np.concatenate([part._more[name] for part in parts]) for name in parts[0]._more
        }
        numbers = np.concatenate([part.numbers for part in parts])
        return cls(numbers, np.concatenate([part.response for part in parts]), **more)

    def blocks(self, size: int) -> Iterator["Rows"]:
        """Yield the rows in blocks of ``size``, in order; the last may have fewer, or none."""
        for start in range(0, max(len(self), 1), size):
            yield self[start : start + size]

    @property
    def _more(self) -> dict[str, np.ndarray]:
        """Return the roles that only some rows have, by name."""
        roles = {
            "codes": self.codes, "parts": self.parts, "units": self.units, "keys": self.keys,
            "clusters": self.clusters, "others": self.others, "offsets": self.offsets,
        }  # fmt: skip
        return {name: role for name, role in roles.items() if role is not None}

    @property
    def weights(self) -> np.ndarray:
        """Return what part of one row each row counts for; all of it where they have no parts."""
        return np.ones(len(self)) if self.parts is None else self.parts

    @property
    def unit_starts(self) -> np.ndarray:
        """Return the positions of the first row of each unit."""
        assert self.units is not None, "rows of units have their numbers"
        return np.flatnonzero(np.diff(self.units, prepend=-1))

    @property
    def unit_order(self) -> np.ndarray:
        """Return the place of each row's unit among the units, 0, 1, ..."""
        starts = self.unit_starts
        return np.repeat(np.arange(len(starts)), np.diff(starts, append=len(self)))

    @property
    def count(self) -> int:
        """Return the number of rows, with units that of the units."""
        return len(self) if self.units is None else len(self.unit_starts)
