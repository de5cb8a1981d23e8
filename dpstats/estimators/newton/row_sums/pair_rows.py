"""Hold rows that are taken in pairs, in batches of whole groups."""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from dpstats.estimators.contract import InBatches, InMemory, Mapped, Passes
from dpstats.estimators.newton.row_sums.indicator_basis import RowMap
from dpstats.numerics import PairGroups, Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import whole_weights

# Rows beyond so many units of a column count as it, however far from zero the column is: only
# differences matter, which doubles then have to 2^-12 of a unit.
FAR = 2.0**40
_ONE = 1 << ENTRY_BITS
# Rows of a batch, to the end of a group.
_ROWS = 1 << 16


@dataclass(frozen=True)
class PairRows(Rows):
    """Hold rows of whole groups, those of equal ``keys`` beside one another."""

    @cached_property
    def groups(self) -> tuple:
        """Return :class:`PairGroups`, as a plain tuple: numba's files on disk would name it."""
        assert self.keys is not None, "rows come with keys"
        first = np.ones(len(self), dtype=bool)
        first[1:] = self.keys[1:] != self.keys[:-1]
        starts = np.append(np.flatnonzero(first), len(self))
        if self.parts is None:
            return tuple(PairGroups.of(starts))
        return tuple(PairGroups.of(starts, whole_weights(self.parts) / _ONE, _ONE))

    def along(self, to: RowMap) -> np.ndarray:
        """Return the rows mapped as columns (p, m), each by itself; the last are kept."""
        if not self._last or not all(map(np.array_equal, self._last[0], to)):
            self._last[:] = to, self._mapped(to)
        return self._last[1]

    @cached_property
    def _last(self) -> list:
        return []

    def _mapped(self, to: RowMap) -> np.ndarray:
        from dpstats.numerics.whitening import whitened

        assert self.codes is not None, "the request reads codes"
        out = np.empty((len(to.codes_to), len(self)))
        codes, numbers = np.ascontiguousarray(self.codes.T), np.ascontiguousarray(self.numbers.T)
        whitened(codes, numbers, 0, tuple(to), FAR, out)
        return out


def as_pairs(passes: Passes) -> Passes:
    """Return passes over sorted rows of whole groups, whose numbers are ``units``, as pairs.

    Rows in memory are cut into batches.
    """
    return in_batches(passes.rows) if isinstance(passes, InMemory) else Mapped(passes, _paired)


def in_batches(rows: Rows) -> InBatches:
    """Cut sorted rows into batches of whole groups, whose numbers are ``units``."""
    starts = rows.unit_starts
    cuts = np.searchsorted(starts, np.arange(_ROWS, len(rows), _ROWS))
    edges = np.unique(np.append(np.append(starts, len(rows))[cuts], [0, len(rows)]))
    if not len(rows):
        edges = np.zeros(2, np.int64)
    pieces = (rows[a:b] for a, b in zip(edges[:-1], edges[1:], strict=True))
    return InBatches(tuple(_paired(piece) for piece in pieces))


def _paired(rows: Rows) -> PairRows:
    return PairRows(**{field.name: getattr(rows, field.name) for field in fields(Rows)})
