"""Decide which rows a call uses, each by itself, and read them from batches of raw columns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dpstats.engines import AnyTable
from dpstats.engines.units import PARTS, UNIT
from dpstats.formula import Design
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.parallel_sum import Summary
from dpstats.rows.cluster import cluster_schema
from dpstats.rows.offset import Offset
from dpstats.rows.privacy_unit import PrivacyUnit
from dpstats.rows.subset import Subset
from dpstats.rows.weights import Weights
from dpstats.schema import Batch, Schema, complete_rows


@dataclass(frozen=True)
class RowsInUse:
    """Describe the rows in use: complete, of the subset, with a weight above zero and an offset.

    At each of them the terms of the designs ``terms`` have a value; what these clip is declared.
    Variables in ``free`` have no declared bounds. With ``counts`` its response is not negative.

    Each row decides for itself, so tables that differ in one row have rows in use that are equal
    or differ in one row: see :func:`~dpstats.schema.complete_rows`. With a ``unit`` the table reads
    whole units, and the parts that their rows count for follow from the rows in use of each.
    """

    schema: Schema
    weights: Weights | None = None
    subset: Subset | None = None
    unit: PrivacyUnit | None = None
    cluster: str | None = None
    offset: Offset | None = None
    terms: tuple[Design, ...] = ()
    free: tuple[str, ...] = ()
    counts: Design | None = None

    @property
    def columns(self) -> Schema:
        """Describe all columns that are read."""
        return {**({} if self.subset is None else self.subset.schema), **self._needed}

    @property
    def _needed(self) -> Schema:
        """Describe the columns in which a missing value leaves a row out."""
        subset = {} if self.subset is None else self.subset.needed
        weights = {} if self.weights is None else {self.weights.column: self.weights.kind}
        offset = {} if self.offset is None else self.offset.schema
        of_clusters = cluster_schema(self.cluster, self.schema)
        return {**subset, **weights, **offset, **of_clusters, **self.schema}

    @property
    def left_out(self) -> str:
        """Say for which reasons a row is not in use."""
        reasons = ["with a missing value", "with a value outside the declared levels"]
        if self.terms:
            reasons.append("at which a term has no finite value")
        if self.counts is not None:
            reasons.append("with a negative response")
        if self.weights is not None:
            reasons.append("without a positive, finite weight")
        if self.offset is not None:
            reasons.append("without a finite offset")
        if self.subset is not None:
            reasons.append("outside subset=")
        return f"rows {', '.join(reasons[:-1])} or {reasons[-1]} are left out"

    def mask(self, batch: Batch) -> np.ndarray:
        """Tell which rows are in use, bool (m,)."""
        mask = complete_rows(batch, self._needed, self.free)
        if self.subset is not None:
            mask &= self.subset.holds(batch)
        if self.weights is not None:
            mask &= self.weights.usable(batch[self.weights.column])
        if self.offset is not None:
            mask &= self.offset.usable(batch)
        for design in self.terms:
            mask[mask] = design.has_values(only(batch, mask))
        if self.counts is not None:
            mask[mask] = self.counts.responses(only(batch, mask)) >= 0
        return mask

    def of(self, batch: Batch) -> Batch:
        """Return the rows in use of a batch; where all are they are not copied."""
        used = only(batch, self.mask(batch))
        return used if self.unit is None else self.unit.with_parts(used)

    def total(self, table: AnyTable, each: Callable[[Batch], Summary]) -> Summary:
        """Add up ``each(batch)`` over batches of the raw columns of the rows in use."""
        return table.total(self.columns, partial(_of_used, self, each))

    def batches(
        self,
        table: AnyTable,
        read: Callable[[Batch], Rows],
        groups: np.ndarray | None = None,
    ) -> Iterator[tuple[Rows, np.ndarray | None]]:
        """Yield batches of rows in use with their groups; ``groups`` has one per raw row."""
        start = 0
        for batch in table.batches(self.columns):
            mask = self.mask(batch)
            stop = start + len(mask)
            of_rows = None if groups is None else groups[start:stop][mask]
            used = only(batch, mask)
            if self.unit is not None and of_rows is None:
                used = self.unit.with_parts(used)
            elif self.unit is not None and of_rows is not None:
                parts, of_rows = self.unit.in_groups(used[UNIT], of_rows)
                used = {**used, PARTS: parts}
            yield read(used), of_rows
            start = stop


@dataclass(frozen=True)
class RowReader:
    """Read the rows of a design from batches of raw columns.

    Parameters
    ----------
    design : Design
    coded : bool
        Whether rows are codes of the blocks of its layout and numbers.
    weights : Weights or None
    by_unit : bool
        Whether batches have whole privacy units and what their rows count for.
    absorbed : str or None
        The column whose labels are the keys of rows.
    cluster : str or None
        The column whose values are the clusters of rows.
    others : tuple of Design
        The designs of other responses.
    offset : Offset or None
    """

    design: Design
    coded: bool = False
    weights: Weights | None = None
    by_unit: bool = False
    absorbed: str | None = None
    cluster: str | None = None
    others: tuple[Design, ...] = ()
    offset: Offset | None = None

    def __call__(self, batch: Batch) -> Rows:
        """Return the rows of a batch of complete ones, each by itself."""
        rows = (self.design.compact_rows if self.coded else self.design.rows)(batch)
        parts = None if self.weights is None else self.weights.parts(batch[self.weights.column])
        if self.by_unit:
            share = batch[PARTS] * 2.0**-ENTRY_BITS
            parts = share if parts is None else parts * share
        return replace(
            rows,
            parts=parts,
            units=batch[UNIT] if self.by_unit else None,
            keys=None if self.absorbed is None else batch[self.absorbed],
            clusters=None if self.cluster is None else batch[self.cluster],
            others=self._other_responses(batch),
            offsets=None if self.offset is None else self.offset.values(batch),
        )

    def _other_responses(self, batch: Batch) -> np.ndarray | None:
        """Return the responses of other designs as columns (m, k), if there are any."""
        if not self.others:
            return None
        return np.stack([design.responses(batch) for design in self.others], axis=1)


def only(batch: Batch, chosen: np.ndarray) -> Batch:
    """Return the chosen rows of a batch; where all are chosen they are not copied.

    A copy may be written to where the column may. So whether it is one, which a single row may
    decide, does not decide for which arrays loops over rows are compiled.
    """
    if chosen.all():
        return batch
    return {name: _chosen(column, chosen) for name, column in batch.items()}


def _chosen(column: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    found = column[chosen]
    found.flags.writeable = column.flags.writeable
    return found


def _of_used(rows: RowsInUse, each: Callable[[Batch], Summary], batch: Batch) -> Summary:
    return each(rows.of(batch))
