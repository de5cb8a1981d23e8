"""Rank the rows of variables and measure how far two orders agree."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Ranked:
    """Hold a variable by the order of its rows.

    Parameters
    ----------
    order : numpy.ndarray of int, shape (n,)
        Rows, ascending in the variable.
    ranks : numpy.ndarray of int, shape (n,)
        0 for the least value, equal for tied rows, without gaps.
    ascending : numpy.ndarray of int, shape (n,)
        The ranks in order.
    """

    order: np.ndarray
    ranks: np.ndarray
    ascending: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> "Ranked":
        """Rank the values (n,); only comparisons of two rows matter."""
        kind = np.int32 if len(values) < 2**31 else np.int64
        order = np.argsort(values).astype(kind)
        values = values[order]
        ascending, ranks = np.zeros(len(order), kind), np.empty(len(order), kind)
        np.cumsum(values[1:] != values[:-1], out=ascending[1:])
        ranks[order] = ascending
        return cls(order, ranks, ascending)

    @cached_property
    def starts(self) -> np.ndarray:
        """Return the index at which each run of tied rows begins in the order."""
        starts = np.flatnonzero(np.diff(self.ascending, prepend=-1))
        return starts.astype(self.order.dtype)

    @cached_property
    def tied_pairs(self) -> int:
        """Count pairs of rows with equal values."""
        lengths = np.diff(self.starts.astype(np.int64), append=len(self.order))
        return int(np.sum(lengths * (lengths - 1) // 2))


def association(one: Ranked, other: Ranked) -> int:
    """Return |S|, S the number of concordant minus discordant pairs; ties count zero."""
    from dpstats.numerics.concordance import concordance, in_order_of  # compiled, so slow to import

    values = in_order_of(one.order, other.starts, other.ranks, one.ascending)
    return abs(int(concordance(values, other.starts, other.tied_pairs)))
