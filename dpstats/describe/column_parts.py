"""Hold what the value of one column adds to the joint vector of a description."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpstats.describe.cumulative import BITS, spread, squared_lengths, transformed, whole_length
from dpstats.describe.limits import Limits

# Shares of a column's part of the squared length: its sum and its sum of squares where |t| = 1. Its
# counts have what these leave, so more where t is nearer to 0.
SUM, _SQUARES = 0.88, 0.05


@dataclass(frozen=True)
class NumberPart:
    """Describe what the value of a numeric column adds to the joint vector.

    Lengths are those of a row that counts once; one that counts for the part p adds p times as
    much. With t = (value - center) / half, cut to the ends of the bin of the value and to [-1, 1],
    that is a t, b (2 t^2 - 1) and, for bin k, w_k times a column of C; a missing value adds
    ``missing`` in a place of its own. The w_k are such that all bins add vectors of one length:
    where values are far from the limits their counts have what the sum does not need.

    Parameters
    ----------
    limits : Limits
    sums, squares, missing : int
        Lengths in multiples of 2^-bits.
    weights : numpy.ndarray, shape (size,)
        The w_k, in multiples of 2^-bits, such that 2^(24 - bits) times them are whole.
    """

    limits: Limits
    sums: int
    squares: int
    missing: int
    weights: np.ndarray

    @classmethod
    def of(cls, limits: Limits, share: float, bits: int = BITS) -> "NumberPart":
        """Divide the share of a column in the squared length."""
        sums, squares, present = (whole_length(share * own, bits) for own in (SUM, _SQUARES, 1.0))
        left = present**2 - _farthest(limits.ends, sums, squares)
        fine = 2.0 ** (BITS - bits)
        weights = np.floor(np.sqrt(left / squared_lengths(limits.size)) * fine) / fine
        return cls(limits, sums, squares, present, weights)

    @property
    def size(self) -> int:
        """Return the number of places in the vector."""
        return 3 + self.limits.size

    @property
    def squared(self) -> float:
        """Return the largest squared length of what a row adds, in squares of 2^-bits.

        It is the largest over bins of a^2 t^2 + b^2 (2 t^2 - 1)^2 + w_k^2 |C_k|^2, or that of a
        missing value.
        """
        counts = self.weights**2 * squared_lengths(self.limits.size)
        present = _farthest(self.limits.ends, self.sums, self.squares) + counts
        return max(float(present.max()), float(self.missing**2))

    @cached_property
    def spread(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the deviations of cumulative counts, and their covariances with the last."""
        return spread(self.weights)

    def total(
        self, values: np.ndarray, codes: np.ndarray, groups: int, parts: np.ndarray | None = None
    ) -> np.ndarray:
        """Add up missing values, a t, b (2 t^2 - 1) and weighted counts, int64 (groups, size).

        Counts are multiplied by C when all rows are added up. ``parts`` are what rows count
        for, as whole numbers; each number is cut toward zero, row by row.
        """
        from dpstats.numerics.column_sums import column_sums

        limits, none = self.limits, np.zeros(0)
        sums = np.zeros((groups, 3), np.int64)
        counts = np.zeros((groups, limits.size), np.int64)
        column_sums(
            np.asarray(values, np.float64),
            np.zeros(0, np.int64) if groups == 1 else np.asarray(codes, np.int64),
            none if parts is None else np.asarray(parts, np.float64),
            (limits.center, limits.half, float(limits.first), limits.width),
            limits.ends,
            (float(self.sums), float(self.squares)),
            self.weights,
            sums,
            counts,
        )
        sums[:, 0] *= self.missing
        return np.concatenate([sums, counts], axis=1)

    def exact(self, total: np.ndarray) -> np.ndarray:
        """Return the places of the vector for added up totals (groups, size)."""
        return np.concatenate([total[:, :3], transformed(total[:, 3:])], axis=1)


def _farthest(ends: np.ndarray, sums: int, squares: int) -> np.ndarray:
    """Return the largest a^2 t^2 + b^2 (2 t^2 - 1)^2 between the ends (size, 2) of each bin.

    It is convex in t^2, and so largest where that is largest or smallest.
    """
    least, most = (ends**2).min(axis=1), (ends**2).max(axis=1)
    least[ends[:, 0] * ends[:, 1] <= 0] = 0.0
    each = (sums**2 * u + squares**2 * (2 * u - 1) ** 2 for u in (least, most))
    return np.maximum(*each)


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
