"""State the joint query of a description: all sums and counts of all columns in one vector."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpstats.describe.column_parts import SUM, FactorPart, NumberPart, Part, counted
from dpstats.describe.cumulative import BITS, BITS_OF_PARTS, whole_length
from dpstats.describe.limits import Limits
from dpstats.noise import Query
from dpstats.schema import Categorical

# Share of the number of rows in the squared length of all.
_ROWS = 0.07


@dataclass(frozen=True)
class Joint:
    """Hold the parts of all columns, of which a row moves one vector.

    Parameters
    ----------
    parts : mapping of str to NumberPart or FactorPart
    rows : int
        Length of the place that counts rows, in multiples of 2^-bits.
    groups : int
    one : int
        What a row counts for at most, or all rows of a privacy unit in a group together.
    in_groups : int
        In how many groups rows of a unit count at most.
    """

    parts: Mapping[str, Part]
    rows: int
    groups: int
    one: int = 1
    in_groups: int = 1

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Limits | Categorical],
        groups: int,
        one: int = 1,
        in_groups: int = 1,
    ) -> "Joint":
        """Divide the squared length, 1, over the number of rows and the columns."""
        share, bits = (1 - _ROWS) / len(columns), _bits(one)
        parts: dict[str, Part] = {
            name: FactorPart(kind.levels, whole_length(share, bits))
            if isinstance(kind, Categorical)
            else NumberPart.of(kind, share, bits)
            for name, kind in columns.items()
        }
        return cls(parts, whole_length(_ROWS, bits), groups, one, in_groups)

    @property
    def l2(self) -> float:
        """Return the L2 sensitivity under add/remove, in multiples of :attr:`unit`.

        A row adds, in the group it is in and in no other, ``rows`` to the count of rows and in each
        column a vector of squared length at most ``part.squared``. For a number in bin k these are
        trunc(a t), trunc(b (2 t^2 - 1)) and w_k C_k, with C_k a column of C. As t is cut to the
        ends of the bin, also where rounding puts a value beside them, and a^2 t^2 + b^2 (2 t^2 -
        1)^2 is convex in t^2, its largest over the bin is at one of the ends; adding w_k^2 |C_k|^2
        and taking the largest over bins gives the bound. Where a value is missing, one place has
        ``missing``; a level of a factor is one place. All are in different places, so the squares
        add up, and one row more or less moves the sum by at most the root L. It is reached: w_k is
        what the others leave of one length for all bins, so by a value at the end of any.

        A row that counts for the whole number p of ``one`` adds p times its places and trunc(p a t)
        and trunc(p b (2 t^2 - 1)), so no entry is larger than p times that of the vector above, and
        its length is at most p L. The p of the rows of a unit in a group add up to at most ``one``,
        so by the triangle inequality the unit moves the group's sum by at most ``one`` L, and as
        groups are in different places, that of ``in_groups`` of them by at most the root of their
        number times as much.
        """
        squared = self.rows**2 + sum(part.squared for part in self.parts.values())
        return math.sqrt(squared * self.in_groups) * self.one * (1 + 2.0**-40)

    @property
    def unit(self) -> float:
        """Return what the whole numbers of the query are multiples of."""
        return 2.0 ** -_bits(self.one) / self.one

    def total(
        self,
        columns: Mapping[str, np.ndarray],
        codes: np.ndarray,
        parts: np.ndarray | None = None,
    ) -> np.ndarray:
        """Add up what rows add, before counts are transformed, int64 (groups, m).

        ``parts`` are what rows count for, whole numbers of ``one``; None where each counts once.
        """
        head = counted(codes, self.groups, parts)[:, None] * self.rows
        each = [p.total(columns[name], codes, self.groups, parts) for name, p in self.parts.items()]
        return np.concatenate([head, *each], axis=1)

    def query(self, total: np.ndarray) -> Query:
        """State the query about the totals of all rows."""
        each = [p.exact(total[:, self._places[name]]) for name, p in self.parts.items()]
        values = np.concatenate([total[:, :1], *each], axis=1)
        values = values[0] if self.groups == 1 else values
        return Query("joint sums and counts", values, l2=self.l2, unit=self.unit)

    def split(self, noisy: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return noisy numbers of rows (groups,) and the places of each column, (groups, size).

        Numbers of rows are in rows that count once; places are in multiples of 2^-bits.
        """
        table = noisy.reshape(self.groups, -1) * self.scale
        return table[:, 0] / self.rows, {n: table[:, p] for n, p in self._places.items()}

    @property
    def scale(self) -> float:
        """Return how many multiples of 2^-bits are one."""
        return 2.0 ** _bits(self.one)

    @cached_property
    def _places(self) -> dict[str, slice]:
        """Return the places of each column in the vector."""
        starts = 1 + np.cumsum([0, *(part.size for part in self.parts.values())])
        spans: Sequence[int] = starts.tolist()
        return {n: slice(*spans[i : i + 2]) for i, n in enumerate(self.parts)}


def noise_on_sums(columns: int) -> float:
    """Return how many times the noise on a sum is that on one number released alone."""
    return math.sqrt(columns / ((1 - _ROWS) * SUM))


def _bits(one: int) -> int:
    """Return how fine lengths are, by whether rows count in parts."""
    return BITS if one == 1 else BITS_OF_PARTS
