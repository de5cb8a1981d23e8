"""Hold what the value of one column adds to the joint vector of a description."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.describe.cumulative import BITS, squared_length, transformed, whole_length
from dpstats.describe.limits import Limits

# Shares of a column's part of the squared length: its sum, its sum of squares and its counts.
_SUM, _SQUARES, _COUNTS = 0.50, 0.12, 0.38


@dataclass(frozen=True)
class NumberPart:
    """Describe what the value of a numeric column adds to the joint vector.

    Lengths are those of a row that counts once; one that counts for the part p adds p times as
    much. With t = (value - center) / half cut to [-1, 1] that is a t, b (2 t^2 - 1) and, for the
    bin of the value, a column of C; a missing value adds ``missing`` in a place of its own.

    Parameters
    ----------
    limits : Limits
    sums, squares, counts, missing : int
        Lengths in multiples of 2^-bits.
    """

    limits: Limits
    sums: int
    squares: int
    counts: int
    missing: int

    @classmethod
    def of(cls, limits: Limits, share: float, bits: int = BITS) -> "NumberPart":
        """Divide the share of a column in the squared length."""
        each = (_SUM, _SQUARES, _COUNTS)
        sums, squares, counts = (whole_length(share * own, bits) for own in each)
        present = sums**2 + squares**2 + squared_length(limits.size, counts)
        return cls(limits, sums, squares, counts, math.isqrt(present))

    @property
    def size(self) -> int:
        """Return the number of places in the vector."""
        return 3 + self.limits.size

    @property
    def squared(self) -> int:
        """Return the largest squared length of what a row adds, in squares of 2^-bits."""
        cumulative = squared_length(self.limits.size, self.counts)
        return max(self.sums**2 + self.squares**2 + cumulative, self.missing**2)

    def total(
        self, values: np.ndarray, codes: np.ndarray, groups: int, parts: np.ndarray | None = None
    ) -> np.ndarray:
        """Add up missing values, a t, b (2 t^2 - 1) and counts by group, int64 (groups, size).

        The counts are multiplied by C when all rows are added up. ``parts`` are what rows count
        for, as whole numbers; each sum is cut toward zero, row by row.
        """
        present = ~np.isnan(values)
        absent = counted(codes[~present], groups, None if parts is None else parts[~present])
        values, codes = values[present], codes[present]
        parts = None if parts is None else parts[present]
        one = 1 if parts is None else parts
        limits = self.limits
        t = np.clip((values - limits.center) / limits.half, -1.0, 1.0)
        each = np.trunc(t * (one * self.sums)), np.trunc((2 * t * t - 1) * (one * self.squares))
        sums = [_by_group(added.astype(np.int64), codes, groups) for added in each]
        places = codes * limits.size + limits.places(values)
        counts = counted(places, groups * limits.size, parts)
        head = np.stack([absent * self.missing, *sums], axis=1)
        return np.concatenate([head, counts.reshape(groups, -1)], axis=1)

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
        """Return the squared length of what a row adds, in squares of 2^-bits."""
        return self.length**2

    def total(
        self, values: np.ndarray, codes: np.ndarray, groups: int, parts: np.ndarray | None = None
    ) -> np.ndarray:
        """Count levels by group, int64 (groups, size), times the length."""
        counts = counted(codes * self.size + values + 1, groups * self.size, parts)
        return counts.reshape(groups, -1) * self.length

    def exact(self, total: np.ndarray) -> np.ndarray:
        """Return the places of the vector, which are the totals."""
        return total


Part = NumberPart | FactorPart


def counted(places: np.ndarray, size: int, parts: np.ndarray | None) -> np.ndarray:
    """Add up what rows count for by place, int64 (size,), exactly: doubles hold those numbers."""
    return np.bincount(places, parts, size).astype(np.int64)


def _by_group(values: np.ndarray, codes: np.ndarray, groups: int) -> np.ndarray:
    """Add up whole numbers by group, exactly."""
    if groups == 1:
        return values.sum(keepdims=True)
    sums = np.zeros(groups, np.int64)
    np.add.at(sums, codes, values)
    return sums
