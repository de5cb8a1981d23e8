"""Read rows so that all rows of a privacy unit, such as a person, come in one batch."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dpstats.engines.units.unit_order import UNIT
from dpstats.errors import ArgumentError
from dpstats.parallel_sum import Summary, added, total
from dpstats.schema import Batch, Schema

# The column of a batch that says what part of one row each row counts for, in units of 2^-20: a
# unit's parts add up to at most 2^20.
PARTS = "\0parts"
# Rows a batch, if its last unit does not have more.
_ROWS = 1 << 16


class UnitTable:
    """Read the columns of a schema in whole units, each with its rows beside one another.

    Parameters
    ----------
    table : AnyTable
        Where names, types and levels come from.
    parts : callable
        ``parts(names, size)`` starts a pass: functions that return columns with these names and
        :data:`UNIT`, for about ``size`` rows or more. They are called where the rows are
        summarised. All rows of a unit are in one part, and numbers of units increase.
    move : callable or None
        Returns a column of the table in the order of this one, where both are in memory.
    """

    remote = False

    def __init__(
        self,
        table: Any,
        parts: Callable[[Sequence[str], int], Iterable[Callable[[], Batch]]],
        move: Callable[[np.ndarray], np.ndarray] | None = None,
    ):
        self.columns, self.move, self._parts = table.columns, move, parts
        self.source = table
        self.kind, self.check_labels = table.kind, table.check_labels
        self.levels, self.ordered, self.narrow = table.levels, table.ordered, table.narrow

    def __repr__(self) -> str:
        return f"UnitTable of {self.source!r}"

    def batches(self, schema: Schema, size: int = _ROWS) -> Iterator[Batch]:
        """Yield the columns of a schema and :data:`UNIT`, whole units at a time.

        Units have different numbers, which increase, in all batches of a pass.
        """
        for part in self._parts(list(schema), size):
            yield from _cut(part(), size)

    def total(self, schema: Schema, each: Callable[[Batch], Summary]) -> Summary:
        """Summarise every batch of whole units and add the summaries up."""
        return total(partial(part_total, each), self._parts(list(schema), _ROWS))

    def typed(self, types: Mapping[str, str]) -> "UnitTable":
        """Refuse, as types are declared before rows are ordered."""
        raise TypeError(f"types of {', '.join(types)} are declared before rows are ordered")

    def by_unit(self, schema: Schema, unit: str) -> "UnitTable":
        """Refuse, as the rows are in whole units already."""
        raise TypeError(f"rows are in whole units before {unit} is named")

    def gathered(self, names: Sequence[str]) -> Any:
        """Refuse, as the rows are read in whole units alone."""
        raise TypeError(f"{', '.join(names)} are read in whole units")


def check_unit(table: Any, unit: str) -> None:
    """Raise ArgumentError unless a column can say which unit a row is in; no row is read.

    Examples
    --------
    >>> from dpstats.engines.tables import Table
    >>> check_unit(Table.from_data({"z": np.array([1j])}), "z")
    Traceback (most recent call last):
    ...
    dpstats.errors.ArgumentError: unit='z' is a column of a type whose values ...
    """
    if table.kind(unit) == "other":
        raise ArgumentError(
            f"unit={unit!r} is a column of a type whose values cannot be compared; convert it to "
            "text, whole numbers or dates first"
        )


def part_total(each: Callable[[Batch], Summary], part: Callable[[], Batch]) -> Summary:
    """Add up ``each(batch)`` over batches of whole units of one part."""
    return added(map(each, _cut(part(), _ROWS)))


def parts_in_memory(
    columns: Batch, names: Sequence[str], size: int = _ROWS
) -> Iterator[Callable[[], Batch]]:
    """Start a pass over columns in memory that are ordered by unit."""
    chosen = {name: columns[name] for name in (*names, UNIT)}
    for batch in _cut(chosen, size):
        yield partial(dict, batch)


def _cut(part: Batch, size: int) -> Iterator[Batch]:
    """Cut a part into batches of whole units."""
    for start, stop in _slices(part[UNIT], size):
        yield {name: column[start:stop] for name, column in part.items()}


def _slices(numbers: np.ndarray, size: int) -> Iterator[tuple[int, int]]:
    """Yield slices of about ``size`` rows that end with a unit; one where there are no rows."""
    start = 0
    while start < len(numbers) or start == 0:
        stop = min(start + size, len(numbers))
        if stop < len(numbers):
            stop = int(np.searchsorted(numbers, numbers[stop - 1], side="right"))
        yield start, stop
        if stop == len(numbers):
            return
        start = stop
