"""Put rows that do not fit in memory into partitions on disk, each of whole privacy units."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from threading import Lock

import numpy as np

from dpstats.engines.labels.label_keys import NO_UNIT
from dpstats.engines.streams.spill import Spill
from dpstats.engines.tables import Table
from dpstats.engines.units import UNIT, ordered_by_unit
from dpstats.parallel_sum import on_all_cores
from dpstats.schema import Batch, Schema

# Whatever the rows are. A partition of a billion rows has four million.
_BITS = 8
PARTITIONS = 1 << _BITS


class UnitPartitions:
    """Read the rows of a stream once, write them to partitions by unit, and read these in passes.

    A row is its values as the schema reads them, 64 bits each, behind the key of its unit. The
    first pass writes; nothing is read before. A unit is in one partition, which a hash of its key
    says; the rows without a unit are spread over all.

    Parameters
    ----------
    read : callable
        ``read()`` starts the pass over the rows: functions that return tables.
    types : Table
        The columns without rows.
    schema : mapping of str to Numeric, Categorical or Labels
    unit : str
    """

    def __init__(
        self, read: Callable[[], Iterable[Callable[[], Table]]], types: Table, schema: Schema,
        unit: str,
    ):  # fmt: skip
        self._read, self._schema, self._unit = read, schema, unit
        (none,) = types.batches(schema)
        self._dtypes = {name: column.dtype for name, column in none.items()}
        self._words = len(types.unit_keys(unit))
        self._spill: Spill | None = None
        self._lock = Lock()

    def parts(self, names: Sequence[str], size: int) -> Iterator[Callable[[], Batch]]:
        """Start a pass, as :class:`~dpstats.engines.UnitTable` says."""
        places = {name: self._words + [*self._dtypes].index(name) for name in names}
        chosen = {name: (place, self._dtypes[name]) for name, place in places.items()}
        first = 0
        for rows in self._written().runs(size):
            yield partial(_in_units, rows, self._words, chosen, first)
            first += len(rows)

    def _written(self) -> Spill:
        """Write the rows to partitions, if that has not been done."""
        with self._lock:
            if self._spill is None:
                spill = Spill(self._words + len(self._dtypes), PARTITIONS)
                words = partial(_words, self._schema, self._unit)
                for rows, partitions in on_all_cores(words, self._read()):
                    spill.add(rows, partitions)
                spill.finish()
                self._spill = spill
            return self._spill


def partition_of(keys: np.ndarray) -> np.ndarray:
    """Return the partition, int64 (n,), of rows with these unit keys (words, n).

    A row without a unit has that of its position.
    """
    from dpstats.numerics.group_sort import partitions

    return partitions(keys[0], NO_UNIT, _BITS).astype(np.int64)


def _words(schema: Schema, unit: str, read: Callable[[], Table]) -> tuple[np.ndarray, np.ndarray]:
    """Return rows as words, uint64 (n, words + columns), the key first, and their partitions."""
    table = read()
    keys = table.unit_keys(unit)
    (columns,) = table.batches(schema, max(table.n_rows, 1))
    words = [*keys, *(np.ascontiguousarray(column).view(np.uint64) for column in columns.values())]
    return np.stack(words, axis=1), partition_of(keys)


def _in_units(
    rows: np.ndarray, words: int, chosen: Mapping[str, tuple[int, np.dtype]], first: int
) -> Batch:
    """Return the chosen columns of words, ordered by unit, with numbers of units from ``first``."""
    columns = {name: rows[:, place].view(dtype) for name, (place, dtype) in chosen.items()}
    columns, _ = ordered_by_unit(columns, np.ascontiguousarray(rows[:, :words].T))
    return {**columns, UNIT: columns[UNIT] + first}
