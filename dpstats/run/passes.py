"""Read the rows of a prepared call, pass by pass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpstats.call import Prepared
from dpstats.engines import Table, UnitTable
from dpstats.numerics import Rows
from dpstats.rows import RowReader
from dpstats.schema import Batch


@dataclass(frozen=True)
class Counted:
    """Hold the summary of some rows and their number, with units that of the units."""

    summary: Any
    rows: int

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(self.summary + other.summary, self.rows + other.rows)


class TablePasses(Prepared):
    """Read the rows of a call whose terms and ranges are settled."""

    def sum(self, summary: Callable[[Rows], Any]) -> Any:
        """Add up ``summary(rows)`` over batches of the rows in use."""
        request = self.request
        return request.rows_in_use.total(request.table, partial(_read, request.read_rows, summary))

    def gathered(self, *others: str) -> "TablePasses":
        """Load the columns in use and some others into memory, and return a copy on that table.

        What is read in whole units already is in memory.
        """
        if self.request.unit is not None:
            return self
        table = self.request.table.gathered((*self.request.rows_in_use.columns, *others))
        return replace(self, request=replace(self.request, table=table))

    @property
    def table(self) -> Table:
        """Return the table in memory, after :meth:`gathered`."""
        table = self.request.table
        table = table.source if isinstance(table, UnitTable) else table
        assert isinstance(table, Table), "gathered() comes first"
        return table

    def in_order(self, groups: np.ndarray) -> np.ndarray:
        """Return groups, int64 (n,), of the rows of :attr:`table` in the order of reading."""
        table = self.request.table
        return table.move(groups) if isinstance(table, UnitTable) and table.move else groups

    def rows(self, groups: np.ndarray | None = None) -> Iterator[tuple[Rows, np.ndarray | None]]:
        """Yield batches of rows in use with their groups; ``groups`` has one per raw row."""
        request = self.request
        return request.rows_in_use.batches(request.table, request.read_rows, groups)


@dataclass
class CountedPasses:
    """Pass over the rows of a call, and count them on the way, with units the units."""

    passes: TablePasses
    rows: int | None = None

    def sum(self, summary: Callable[[Rows], Any]) -> Any:
        """Add up ``summary(rows)`` over batches of the rows in use."""
        counted = self.passes.sum(partial(_counted, summary))
        self.rows = counted.rows
        return counted.summary


def _read(read: RowReader, summary: Callable[[Rows], Any], batch: Batch) -> Any:
    return summary(read(batch))


def _counted(summary: Callable[[Rows], Any], rows: Rows) -> Counted:
    return Counted(summary(rows), rows.count)
