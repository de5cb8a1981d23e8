"""State the joint query of a description: all sums and counts of all columns in one vector."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpstats.describe.cumulative import BITS, squared_length, transformed, whole_length
from dpstats.describe.limits import Limits
from dpstats.noise import Query
from dpstats.schema import Batch, Categorical

# Shares of a column's part of the squared length: its sum, its sum of squares and its counts.
_SUM, _SQUARES, _COUNTS = 0.50, 0.12, 0.38
# Share of the number of rows in the squared length of all.
_ROWS = 0.06


@dataclass(frozen=True)
class NumberPart:
    """Describe what the value of a numeric column adds to the joint vector.

    With t = (value - center) / half cut to [-1, 1] that is a t, b (2 t^2 - 1) and, for the bin of
    the value, a column of C; a missing value adds ``missing`` in a place of its own.

    Parameters
    ----------
    limits : Limits
    sums, squares, counts, missing : int
        Lengths in multiples of 2^-24.
    """

    limits: Limits
    sums: int
    squares: int
    counts: int
    missing: int

    @classmethod
    def of(cls, limits: Limits, share: float) -> "NumberPart":
        """Divide the share of a column in the squared length."""
        sums, squares = whole_length(share * _SUM), whole_length(share * _SQUARES)
        counts = whole_length(share * _COUNTS)
        present = sums**2 + squares**2 + squared_length(limits.size, counts)
        return cls(limits, sums, squares, counts, math.isqrt(present))

    @property
    def size(self) -> int:
        """Return the number of places in the vector."""
        return 3 + self.limits.size

    @property
    def squared(self) -> int:
        """Return the largest squared length of what a row adds, in squares of 2^-24."""
        cumulative = squared_length(self.limits.size, self.counts)
        return max(self.sums**2 + self.squares**2 + cumulative, self.missing**2)

    def total(self, values: np.ndarray, codes: np.ndarray, groups: int) -> np.ndarray:
        """Add up missing values, a t, b (2 t^2 - 1) and counts by group, int64 (groups, size).

        The counts are multiplied by C when all rows are added up.
        """
        present = ~np.isnan(values)
        absent = np.bincount(codes[~present], minlength=groups)
        values, codes = values[present], codes[present]
        limits = self.limits
        t = np.clip((values - limits.center) / limits.half, -1.0, 1.0)
        parts = np.trunc(t * self.sums), np.trunc((2 * t * t - 1) * self.squares)
        sums = [_by_group(part.astype(np.int64), codes, groups) for part in parts]
        places = codes * limits.size + limits.places(values)
        counts = np.bincount(places, minlength=groups * limits.size)
        head = np.stack([absent * self.missing, *sums], axis=1)
        return np.concatenate([head, counts.reshape(groups, -1)], axis=1).astype(np.int64)

    def exact(self, total: np.ndarray) -> np.ndarray:
        """Return the places of the vector for added up totals (groups, size)."""
        return np.concatenate([total[:, :3], transformed(total[:, 3:], self.counts)], axis=1)


@dataclass(frozen=True)
class FactorPart:
    """Describe what the level of a factor adds to the joint vector: ``length`` at its place.

    The first place is that of missing values and of those that are no level.
    """

    levels: tuple
    length: int

    @property
    def size(self) -> int:
        """Return the number of places in the vector."""
        return 1 + len(self.levels)

    @property
    def squared(self) -> int:
        """Return the squared length of what a row adds, in squares of 2^-24."""
        return self.length**2

    def total(self, values: np.ndarray, codes: np.ndarray, groups: int) -> np.ndarray:
        """Count levels by group, int64 (groups, size), times the length."""
        places = codes * self.size + values + 1
        counts = np.bincount(places, minlength=groups * self.size)
        return counts.reshape(groups, -1).astype(np.int64) * self.length

    def exact(self, total: np.ndarray) -> np.ndarray:
        """Return the places of the vector, which are the totals."""
        return total


Part = NumberPart | FactorPart


@dataclass(frozen=True)
class Joint:
    """Hold the parts of all columns, of which a row moves one vector.

    Parameters
    ----------
    parts : mapping of str to NumberPart or FactorPart
    rows : int
        Length of the place that counts rows, in multiples of 2^-24.
    groups : int
    """

    parts: Mapping[str, Part]
    rows: int
    groups: int

    @classmethod
    def of(cls, columns: Mapping[str, Limits | Categorical], groups: int) -> "Joint":
        """Divide the squared length, 1, over the number of rows and the columns."""
        share = (1 - _ROWS) / len(columns)
        parts: dict[str, Part] = {
            name: FactorPart(kind.levels, whole_length(share))
            if isinstance(kind, Categorical)
            else NumberPart.of(kind, share)
            for name, kind in columns.items()
        }
        return cls(parts, whole_length(_ROWS), groups)

    @property
    def l2(self) -> float:
        """Return the L2 sensitivity under add/remove, in multiples of 2^-24.

        A row adds, in the group it is in and in no other, ``rows`` to the count of rows and in each
        column a vector of squared length at most ``part.squared``. For a number that is present
        these are trunc(a t) and trunc(b (2 t^2 - 1)), of magnitude at most a and b as |t| <= 1, and
        one column of C, the longest of which is the first; where it is missing, one place. All are
        in different places, so the squares add up, and one row more or less moves the sum by at
        most the root. It is reached: by a row with t = -1 in the first bin of every column, for
        which t^2 = 1.
        """
        squared = self.rows**2 + sum(part.squared for part in self.parts.values())
        return math.sqrt(squared) * (1 + 2.0**-50)

    def total(self, columns: Mapping[str, np.ndarray], codes: np.ndarray) -> np.ndarray:
        """Add up what rows add, before counts are transformed, int64 (groups, m)."""
        head = np.bincount(codes, minlength=self.groups)[:, None].astype(np.int64) * self.rows
        each = [p.total(columns[name], codes, self.groups) for name, p in self.parts.items()]
        return np.concatenate([head, *each], axis=1)

    def query(self, total: np.ndarray) -> Query:
        """State the query about the totals of all rows."""
        each = [p.exact(total[:, self._places[name]]) for name, p in self.parts.items()]
        values = np.concatenate([total[:, :1], *each], axis=1)
        values = values[0] if self.groups == 1 else values
        return Query("joint sums and counts", values, l2=self.l2, unit=2.0**-BITS)

    def split(self, noisy: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return noisy numbers of rows (groups,) and the places of each column, (groups, size).

        Numbers of rows are in rows; places are in multiples of 2^-24.
        """
        table = noisy.reshape(self.groups, -1) * 2.0**BITS
        return table[:, 0] / self.rows, {n: table[:, p] for n, p in self._places.items()}

    @cached_property
    def _places(self) -> dict[str, slice]:
        """Return the places of each column in the vector."""
        starts = 1 + np.cumsum([0, *(part.size for part in self.parts.values())])
        spans: Sequence[int] = starts.tolist()
        return {n: slice(*spans[i : i + 2]) for i, n in enumerate(self.parts)}


def _by_group(values: np.ndarray, codes: np.ndarray, groups: int) -> np.ndarray:
    """Add up whole numbers by group, exactly."""
    if groups == 1:
        return values.sum(keepdims=True)
    sums = np.zeros(groups, np.int64)
    np.add.at(sums, codes, values)
    return sums


def codes_of(batch: Batch, by: str | None, rows: int) -> np.ndarray:
    """Return the group of each row of a batch, 0 for all without groups."""
    return np.zeros(rows, np.int64) if by is None else batch[by]
