"""Describe tables to the rest of the package: names, types, and sums over the rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeGuard

from dpstats.engines.tables.source import Source
from dpstats.engines.tables.table import Table
from dpstats.parallel_sum import Summary
from dpstats.schema import Batch, Schema


class AnyTable(Protocol):
    """Represent a table wherever its rows are; :class:`Table` describes the members."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def source(self) -> Source: ...

    @property
    def remote(self) -> bool:
        """Tell whether the rows are elsewhere, so that only sums of them come here."""
        ...

    def kind(self, column: str, /) -> str: ...

    def typed(self, types: Mapping[str, str]) -> "AnyTable": ...

    def check_labels(self, column: str, labels: Sequence, argument: str, /) -> None: ...

    def levels(self, column: str, /) -> tuple | None: ...

    def ordered(self, column: str, /) -> bool: ...

    def narrow(self, column: str, /) -> type | None: ...

    def total(self, schema: Schema, each: Callable[[Batch], Summary]) -> Summary:
        """Summarise every batch of these columns and add the summaries up."""
        ...

    def batches(self, schema: Schema, size: int = ...) -> Iterator[Batch]:
        """Read the columns of a schema, some rows at a time."""
        ...

    def gathered(self, names: Sequence[str]) -> Table:
        """Hold these columns in memory, or raise ArgumentError where that is refused."""
        ...

    def by_unit(self, schema: Schema, unit: str) -> "AnyTable":
        """Read whole privacy units at a time, numbered in the column ``UNIT`` of batches."""
        ...


class RemoteTable(AnyTable, Protocol):
    """Represent a table whose rows stay with workers, which can fit groups."""

    @property
    def speculates(self) -> bool:
        """Tell whether a slow task may run twice."""
        ...

    def distinct(self, names: Sequence[str]) -> Table:
        """Read the combinations of values present in some columns, each once."""
        ...

    def by_label(self, column: str) -> AnyTable:
        """Read all rows of a label at a time, numbered as those of units are."""
        ...

    def of_groups(
        self, names: Sequence[str], by: Sequence[str], answer: Callable[[Table], list]
    ) -> list:
        """Collect the values in ``answer(table)`` for the table of each group, in any order."""
        ...


def is_remote(table: AnyTable) -> TypeGuard[RemoteTable]:
    """Tell whether the rows of a table stay with workers."""
    return table.remote
