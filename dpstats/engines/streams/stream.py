"""Read tables in batches: files and queries larger than memory."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from dpstats.engines.streams.unit_partitions import UnitPartitions
from dpstats.engines.tables import ROWS, Source, Table
from dpstats.engines.units import UnitTable
from dpstats.parallel_sum import Summary, added, total
from dpstats.schema import Batch, Schema


class Described:
    """Hold the names and types of a table; a subclass adds how its rows are reached."""

    def __init__(self, types: Table):
        self._types, self.columns = types, types.columns
        self.kind, self.check_labels = types.kind, types.check_labels
        self.levels, self.ordered, self.narrow = types.levels, types.ordered, types.narrow

    @property
    def source(self) -> Source:
        """Return where the rows are, as :attr:`~dpstats.engines.Table.source` does."""
        return self._types.source

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {self._types!r}"


class Stream(Described):
    """Read named columns anew for every pass; only their names and types are held.

    Parameters
    ----------
    types : Table
        The columns without rows.
    read : callable
        ``read(names)`` starts a pass: an iterator of data frames with those columns, or of
        functions that make them, which are called where the rows are summarised.

    Examples
    --------
    >>> import numpy as np
    >>> from dpstats.schema import Numeric
    >>> empty = Table.from_data({"x": np.empty(0)})
    >>> stream = Stream(empty, lambda names: iter([{"x": [1.0, 2.0]}, {"x": [3.0]}]))
    >>> stream.total({"x": Numeric(0, 5)}, lambda batch: batch["x"].sum())
    np.float64(6.0)
    """

    remote = False

    def __init__(self, types: Table, read: Callable[[Sequence[str]], Iterator]):
        super().__init__(types)
        self._read = read

    def batches(self, schema: Schema, size: int = ROWS) -> Iterator[Batch]:
        """Read as :meth:`~dpstats.engines.Table.batches`, the first batch without rows."""
        first = self._types.batches(schema, size)
        frames = map(_table_of, self._frames(schema))
        return chain(first, (batch for table in frames for batch in table.batches(schema, size)))

    def total(self, schema: Schema, each: Callable[[Batch], Summary]) -> Summary:
        """Add up as :meth:`~dpstats.engines.Table.total` does, in one pass over the rows."""
        return total(partial(frame_total, schema, each), chain([self._types], self._frames(schema)))

    def typed(self, types: Mapping[str, str]) -> "Stream":
        """Declare kinds as :meth:`~dpstats.engines.Table.typed` does, for every pass."""
        if not types:
            return self

        def read(names):
            used = {name: kind for name, kind in types.items() if name in names}
            return (partial(_typed, frame, used) for frame in self._read(names))

        return Stream(self._types.typed(types), read)

    def of_files(self, paths: Iterable[str]) -> "Stream":
        """Return the same rows as those of these files."""
        return Stream(self._types.of_files(paths), self._read)

    def gathered(self, names: Sequence[str]) -> Table:
        """Read these columns into a table in memory, in one pass so that its rows stay together."""
        tables = [_table_of(frame) for frame in self._read(list(dict.fromkeys(names)))]
        return Table.joined(tables) if tables else self._types

    def by_unit(self, schema: Schema, unit: str) -> UnitTable:
        """Read whole units as :meth:`~dpstats.engines.Table.by_unit`, by way of the disk.

        The first pass writes the rows to a temporary file, see
        :class:`~dpstats.engines.streams.UnitPartitions`; before it nothing is read.
        """

        def read():
            return (partial(_table_of, frame) for frame in self._frames({**schema, unit: None}))

        return UnitTable(self, UnitPartitions(read, self._types, schema, unit).parts)

    def _frames(self, names) -> Iterator:
        yield from self._read(list(names))


def frame_total(schema: Schema, each: Callable[[Batch], Summary], frame) -> Summary:
    """Add up ``each(batch)`` over a data frame; the same code wherever the frame lies."""
    return added(map(each, _table_of(frame).batches(schema)))


def _table_of(frame) -> Table:
    return Table.from_data(frame() if callable(frame) else frame)


def _typed(frame, types: Mapping[str, str]) -> Table:
    return _table_of(frame).typed(types)
