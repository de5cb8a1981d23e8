"""Hold tables in memory: pandas, polars, pyarrow, or a mapping of columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.engines.columns import Column, columns_of, kinds
from dpstats.engines.labels import categories, label_keys
from dpstats.engines.labels.label_types import check_distinct, check_types
from dpstats.engines.tables.column_batches import ROWS, batches_of
from dpstats.engines.tables.source import Source
from dpstats.engines.units import UnitTable, ordered_by_unit, parts_in_memory
from dpstats.parallel_sum import Summary, total
from dpstats.schema import Batch, Schema
from dpstats.spelling import Unlisted, no_column


class Table:
    """Hold named columns of equal length; its text has their names and never a value.

    What is asked of a column raises ArgumentError where there is no column of that name.

    Examples
    --------
    >>> table = Table.from_data({"income": [20.0, None, 35.0], "urban": [True, False, True]})
    >>> table
    Table(income: object, urban: object)
    >>> table.columns, table.n_rows
    (('income', 'urban'), 3)
    """

    # Whether the rows are elsewhere, so that only sums of them come here.
    remote = False

    def __init__(self, columns: Mapping[str, Column], n_rows: int, source: Source | None = None):
        self._columns = dict(columns)
        self._source = source
        of_text = any(column.dtype == "text" for column in self._columns.values())
        self.columns = Unlisted(self._columns) if of_text else tuple(self._columns)
        self.n_rows = n_rows

    def __repr__(self) -> str:
        return f"Table({', '.join(f'{name}: {self.kind(name)}' for name in self.columns)})"

    @classmethod
    def from_data(cls, data) -> "Table":
        """Wrap a table of any kind the package reads; no row is copied.

        Parameters
        ----------
        data : pandas, polars or pyarrow table, R data frame of rpy2, mapping, or Table
            A mapping holds columns: arrays, lists, or Series, each (n,). Columns are matched by
            position; an index is ignored.

        Returns
        -------
        Table

        Raises
        ------
        ArgumentError
            For any other type, columns of different lengths, or a column name used twice.

        Examples
        --------
        >>> import pandas as pd
        >>> Table.from_data(pd.DataFrame({"x": [1, 2]})).kind("x")
        'integer'
        """
        if isinstance(data, Table):
            return data
        found = columns_of(data)
        return cls(found, len(next(iter(found.values()), ())))

    @classmethod
    def joined(cls, tables: Sequence["Table"]) -> "Table":
        """Put tables with the same columns, at least one, below one another.

        Examples
        --------
        >>> Table.joined([Table.from_data({"x": [1]}), Table.from_data({"x": [2]})]).n_rows
        2
        """
        parts = [table._columns for table in tables]
        whole = {
            name: type(first).joined([part[name] for part in parts])
            for name, first in parts[0].items()
        }
        return cls(whole, sum(table.n_rows for table in tables))

    def take(self, rows: np.ndarray) -> "Table":
        """Return the rows at these positions (n,), which may repeat.

        Examples
        --------
        >>> Table.from_data({"x": [1.0, 2.0]}).take(np.array([1, 1, 0])).n_rows
        3
        """
        taken = {name: column.take(rows) for name, column in self._columns.items()}
        return Table(taken, len(rows))

    def typed(self, types: Mapping[str, str]) -> "Table":
        """Declare the kinds of columns that have no type of their own.

        Parameters
        ----------
        types : mapping of str to str
            A kind in ``kinds.KINDS`` for some columns.

        Returns
        -------
        Table
            The same columns; no value is read.

        Raises
        ------
        ArgumentError
            For another word, or a column whose type says something else.

        Examples
        --------
        >>> Table.from_data({"x": ["1", "n/a"]}).typed({"x": "integer"})
        Table(x: integer)
        """
        known = {name: kinds.declared(name, self._column(name), k) for name, k in types.items()}
        return Table({**self._columns, **known}, self.n_rows, self.source) if known else self

    @property
    def source(self) -> Source:
        """Return where the rows are, and the kinds that the columns have without :meth:`typed`."""
        own = Source((), {name: column.kind for name, column in self._columns.items()})
        return self._source or own

    def of_files(self, paths: Iterable[str]) -> "Table":
        """Return the same columns as those of these files.

        Examples
        --------
        >>> Table.from_data({"x": [1]}).of_files(["/data/x.csv"]).source
        Source(files=('/data/x.csv',), columns={'x': 'object'})
        """
        return Table(self._columns, self.n_rows, replace(self.source, files=tuple(paths)))

    def kind(self, column: str) -> str:
        """Return the kind of a column, which follows from its declared type, never from values.

        Returns
        -------
        str
            ``"number"``, ``"integer"``, ``"boolean"``, ``"string"``, ``"date"``,
            ``"datetime"``, ``"category"`` or ``"other"``; ``"object"`` or ``"text"`` where
            nothing declares a type: lists and object columns, and text files.

        Examples
        --------
        >>> import pandas as pd
        >>> Table.from_data({"g": pd.Categorical(["a"])}).kind("g")
        'category'
        """
        return self._column(column).kind

    def check_labels(self, column: str, labels: Sequence, argument: str) -> None:
        """Raise ArgumentError for labels that are not of the column's type.

        Examples
        --------
        >>> Table.from_data({"x": np.array([8, 12])}).check_labels("x", ["8"], "levels")
        Traceback (most recent call last):
        ...
        dpstats.errors.ArgumentError: levels lists '8' for 'x', a column of type integer; ...
        """
        check_types(column, self._column(column), labels, argument)

    def levels(self, column: str) -> tuple | None:
        """Return the categories that the column's type declares; they count as public.

        Returns
        -------
        tuple or None
            The categories in their order; None if the dtype has no list of its own.

        Examples
        --------
        >>> import pandas as pd
        >>> Table.from_data({"g": pd.Categorical(["b"], categories=["a", "b"])}).levels("g")
        ('a', 'b')
        """
        return self._column(column).levels

    def ordered(self, column: str) -> bool:
        """Return whether the dtype of a column puts its categories in an order.

        Examples
        --------
        >>> import pandas as pd
        >>> Table.from_data({"g": pd.Categorical(["b"], ordered=True)}).ordered("g")
        True
        """
        return self._column(column).ordered

    def narrow(self, column: str) -> type | None:
        """Return NumPy's type of a column of numbers of 32 or 16 bits; None of any other."""
        return self._column(column).narrow

    def batches(self, schema: Schema, size: int = ROWS) -> Iterator[Batch]:
        """Read the columns of a schema, some rows at a time.

        Parameters
        ----------
        schema : mapping of str to Numeric, Categorical or Labels
            What each variable may be.
        size : int
            Rows a batch, at least 1.

        Returns
        -------
        iterator of mappings of str to ndarray (m,)
            float64 with NaN for missing where the schema says Numeric (bounds are not applied),
            int64 codes with -1 for missing or unknown where it says Categorical, and keys as
            float64 with NaN for missing where it says Labels. A table without rows gives one batch
            without rows.

        Raises
        ------
        ArgumentError
            At the call, before a value is read: a column declared Numeric whose dtype holds no
            numbers.

        Examples
        --------
        >>> from dpstats.schema import Categorical, Numeric
        >>> table = Table.from_data({"x": [1, None, "3"], "g": ["b", "a", "z"]})
        >>> for batch in table.batches({"x": Numeric(0, 5), "g": Categorical(("a", "b"))}, size=2):
        ...     print(batch["x"], batch["g"])
        [ 1. nan] [1 0]
        [3.] [-1]
        """
        chosen = {name: self._column(name) for name in schema}
        return batches_of(chosen, schema, self.n_rows, size)

    def total(self, schema: Schema, each: Callable[[Batch], Summary]) -> Summary:
        """Summarise every batch and add the summaries up.

        Parameters
        ----------
        schema : mapping of str to Numeric or Categorical
            What each variable may be.
        each : callable
            ``each(batch)`` is a summary; the sum of two is the summary of both batches.

        Returns
        -------
        summary
            That of all rows.

        Examples
        --------
        >>> from dpstats.schema import Numeric
        >>> table = Table.from_data({"x": [1, 2, 3]})
        >>> table.total({"x": Numeric(0, 5)}, lambda batch: batch["x"].sum())
        np.float64(6.0)
        """
        return total(each, self.batches(schema))

    def gathered(self, names: Sequence[str]) -> "Table":
        """Return the table itself, whose columns are in memory."""
        return self

    def unit_keys(self, column: str) -> np.ndarray:
        """Return the key of each row's privacy unit, uint64 (words, n)."""
        return label_keys.unit_keys(self._column(column))

    def key_words(self, column: str) -> np.ndarray:
        """Return the key of each row's label, uint64 (1, n)."""
        return label_keys.key_words(self._column(column))

    def by_unit(self, schema: Schema, unit: str) -> UnitTable:
        """Order the columns of a schema by the unit in a column, and read them in whole units.

        Parameters
        ----------
        schema : mapping of str to Numeric, Categorical or Labels
        unit : str
            A column of any kind but ``"other"``; a row without a value is a unit of its own.

        Examples
        --------
        >>> from dpstats.engines.units import UNIT
        >>> from dpstats.schema import Numeric
        >>> table = Table.from_data({"id": np.array([7, 3, 7]), "x": [1.0, 2.0, 3.0]})
        >>> (batch,) = table.by_unit({"x": Numeric(0, 5)}, "id").batches({"x": Numeric(0, 5)})
        >>> batch["x"], batch[UNIT]
        (array([1., 3., 2.]), array([0, 0, 1]))
        """
        (columns,) = self.batches(schema, max(self.n_rows, 1))
        ordered, move = ordered_by_unit(columns, self.unit_keys(unit))
        return UnitTable(self, partial(parts_in_memory, ordered), move)

    def labels(self, column: str) -> tuple[np.ndarray, tuple]:
        """Number the labels present in a column.

        Returns
        -------
        codes : ndarray
            int64 (n,), -1 for missing.
        labels : tuple
            The labels present, sorted; they are read off the data.

        Examples
        --------
        >>> Table.from_data({"tract": np.array([7, 3, 7])}).labels("tract")
        (array([1, 0, 1]), (3, 7))
        """
        return categories.in_order(self._column(column))

    def codes(self, column: str, labels: Sequence) -> np.ndarray:
        """Code a column by a public list of labels.

        Parameters
        ----------
        column : str
        labels : sequence
            (L,) distinct labels.

        Returns
        -------
        ndarray
            int64 (n,), the position of each value in ``labels``; -1 for missing or not listed.

        Raises
        ------
        ArgumentError
            If a label is there twice or cannot be compared.

        Examples
        --------
        >>> Table.from_data({"tract": [7, 3, 9]}).codes("tract", [3, 7])
        array([ 1,  0, -1])
        """
        found = self._column(column)
        check_distinct(column, labels)
        return categories.match(found, labels)

    def _column(self, name: str) -> Column:
        if name not in self._columns:
            raise no_column(name, self.columns)
        return self._columns[name]
