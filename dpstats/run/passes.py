"""Read the rows of a prepared call, pass by pass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpstats.call import Prepared, Request
from dpstats.engines import Table, UnitTable
from dpstats.estimators.contract import Mapped, Passes
from dpstats.numerics import Rows
from dpstats.rows import Held, RowReader
from dpstats.schema import Batch


@dataclass(frozen=True)
class Counted:
    """Hold the summary of some rows and their number, with units that of the units."""

    summary: Any
    rows: int

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(self.summary + other.summary, self.rows + other.rows)


@dataclass(frozen=True)
class TablePasses(Prepared):
    """Read the rows of a call whose terms and ranges are settled.

    Batches of the rows in use that are held since ranges were estimated are read once more from
    there, and let go.
    """

    held: Held | None = None

    def sum(self, summary: Callable[[Rows], Any]) -> Any:
        """Add up ``summary(rows)`` over batches of the rows in use."""
        work = partial(_read, self.request.read_rows, summary)
        return in_use(self.request, work) if self.held is None else self.held.last_sum(work)

    def gathered(self, *others: str) -> "TablePasses":
        """Load the columns in use and some others into memory, and return a copy on that table.

        What is read in whole units already is in memory.
        """
        if self.request.unit is not None:
            return self
        table = self.request.table.gathered((*self.request.rows_in_use.columns, *others))
        return replace(self, request=replace(self.request, table=table), held=None)

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


class CountedPasses:
    """Pass over the rows of a call, and count them on the way, with units the units.

    Of a method that passes over them many times they are held where they fit. ``whole_keys`` says
    that those of a key come together.
    """

    def __init__(self, passes: TablePasses):
        self.rows: int | None = None
        self.whole_keys = in_whole_groups(passes.request)
        self._sum, self._holds = passes.sum, may_hold(passes.request)
        if self._holds:
            self._sum = Held(passes.sum).sum

    def sum(self, summary: Callable[[Rows], Any]) -> Any:
        """Add up ``summary(rows)`` over batches of the rows in use."""
        counted = self._sum(partial(_counted, summary))
        self.rows = counted.rows
        return counted.summary

    def mapped(self, to: Callable[[Rows], Rows]) -> Passes:
        """Return passes over ``to(rows)``, held where rows are and as many bytes more fit."""
        each = Mapped(self, to)
        return Held(each.sum) if self._holds else each


def in_use(request: Request, each: Callable[[Batch], Any]) -> Any:
    """Add up ``each(batch)`` over batches of the rows in use."""
    return request.rows_in_use.total(request.table, each)


def may_hold(request: Request) -> bool:
    """Tell whether rows are read many times by a method, and where it runs."""
    return request.method.ranges.marginals and not request.table.remote


def in_whole_groups(request: Request) -> bool:
    """Tell whether workers put rows of each absorbed label together, for pairs of them."""
    pairs = request.formula.absorbed is not None and not request.method.fixed_size_summary
    return request.table.remote and pairs and request.unit is None


def _read(read: RowReader, summary: Callable[[Rows], Any], batch: Batch) -> Any:
    return summary(read(batch))


def _counted(summary: Callable[[Rows], Any], rows: Rows) -> Counted:
    return Counted(summary(rows), rows.count)
