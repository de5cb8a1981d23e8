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


class Passes(Prepared):
    """Read the rows of a call whose terms and ranges are settled."""

    def total(self, each: Callable[[Rows], Any]) -> Counted:
        """Add up ``each(rows)`` over batches of the rows in use, and count these rows."""
        request = self.request
        count = partial(_counted, request.read_rows, each)
        return request.rows_in_use.total(request.table, count)

    def gathered(self, *others: str) -> "Passes":
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


def _counted(read: RowReader, each: Callable[[Rows], Any], batch: Batch) -> Counted:
    rows = read(batch)
    return Counted(each(rows), rows.count)
