"""Tables in memory: pandas, polars, pyarrow, or a mapping of columns."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import narwhals as nw
import numpy as np

from dpstats.engines import categories as codes
from dpstats.engines import columns
from dpstats.engines.parallel_sum import Summary, total
from dpstats.engines.to_columns import columns_of
from dpstats.errors import ArgumentError
from dpstats.schema import Batch, Categorical, Schema

# Rows a batch: enough to outweigh its overhead, few enough for its columns to stay in a cache.
ROWS = 1 << 16


class Table:
    """Named columns of equal length; it shows their names and never a value.

    Examples
    --------
    >>> table = Table.from_data({"income": [20.0, None, 35.0], "urban": [True, False, True]})
    >>> table
    Table(income: numeric, urban: bool)
    >>> table.columns, table.n_rows
    (('income', 'urban'), 3)
    """

    # Whether the rows are elsewhere, so that only sums of them come here.
    remote = False

    def __init__(self, series: Mapping[str, nw.Series], n_rows: int):
        self._series = dict(series)
        self.columns = tuple(self._series)
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
        'numeric'
        """
        if isinstance(data, Table):
            return data
        series = columns_of(data)
        return cls(series, len(next(iter(series.values()), ())))

    def kind(self, column: str) -> str:
        """Say what a column is, from its dtype alone, never from its values.

        Parameters
        ----------
        column : str
            A column name.

        Returns
        -------
        str
            ``"numeric"``, ``"bool"``, ``"categorical"``, ``"string"`` or ``"other"``.

        Raises
        ------
        ArgumentError
            If there is no such column.

        Examples
        --------
        >>> import pandas as pd
        >>> Table.from_data({"g": pd.Categorical(["a"])}).kind("g")
        'categorical'
        """
        return columns.kind(self._column(column))

    def whole(self, column: str) -> bool:
        """Say whether the dtype of a numeric column holds whole numbers only.

        Examples
        --------
        >>> Table.from_data({"x": [1.5], "n": [1]}).whole("n")
        True
        """
        return self._column(column).dtype.is_integer()

    def levels(self, column: str) -> tuple | None:
        """Give the categories that the column's dtype declares; they count as public.

        Parameters
        ----------
        column : str
            A column name.

        Returns
        -------
        tuple or None
            The categories in their order; None if the dtype has no list of its own.

        Raises
        ------
        ArgumentError
            If there is no such column.

        Examples
        --------
        >>> import pandas as pd
        >>> Table.from_data({"g": pd.Categorical(["b"], categories=["a", "b"])}).levels("g")
        ('a', 'b')
        """
        return columns.levels(self._column(column))

    def ordered(self, column: str) -> bool:
        """Say whether the dtype of a column puts its categories in an order.

        Examples
        --------
        >>> import pandas as pd
        >>> Table.from_data({"g": pd.Categorical(["b"], ordered=True)}).ordered("g")
        True
        """
        return columns.ordered(self._column(column))

    def batches(self, schema: Schema, size: int = ROWS) -> Iterator[Batch]:
        """Read the columns of a schema, some rows at a time.

        Parameters
        ----------
        schema : mapping of str to Numeric or Categorical
            What each variable may be.
        size : int
            Rows a batch, at least 1.

        Returns
        -------
        iterator of mappings of str to ndarray (m,)
            float64 with NaN for missing where the schema says Numeric (bounds are not applied),
            int64 codes with -1 for missing or unknown where it says Categorical. A table without
            rows gives one batch without rows.

        Raises
        ------
        ArgumentError
            At the call, before a value is read: a column that is not there, or one whose dtype
            holds no numbers declared Numeric.

        Examples
        --------
        >>> from dpstats.schema import Numeric
        >>> table = Table.from_data({"x": [1, None, 3], "g": ["b", "a", "z"]})
        >>> for batch in table.batches({"x": Numeric(0, 5), "g": Categorical(("a", "b"))}, size=2):
        ...     print(batch["x"], batch["g"])
        [ 1. nan] [1 0]
        [3.] [-1]
        """
        if size < 1:
            raise ArgumentError(f"expected size >= 1 row a batch, got {size}")
        for name, declared in schema.items():
            if not isinstance(declared, Categorical):
                self._check_numeric(name)
        chosen = {name: self._column(name) for name in schema}
        return _batches(chosen, schema, range(0, max(self.n_rows, 1), size), size)

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
        """The table itself, whose columns are in memory."""
        return self

    def labels(self, column: str) -> tuple[np.ndarray, tuple]:
        """Number the labels present in a column.

        Parameters
        ----------
        column : str
            A column name.

        Returns
        -------
        codes : ndarray
            int64 (n,), -1 for missing.
        labels : tuple
            The labels present, sorted; they are read off the data.

        Raises
        ------
        ArgumentError
            If there is no such column.

        Examples
        --------
        >>> Table.from_data({"tract": [7, 3, 7]}).labels("tract")
        (array([1, 0, 1]), (3, 7))
        """
        places, values = codes.factorize(self._column(column))
        order = _sorted_positions(values)
        rank = np.empty(len(values) + 1, dtype=np.int64)
        rank[order] = np.arange(len(values))
        rank[-1] = -1
        return rank[places], tuple(values[i] for i in order)

    def codes(self, column: str, labels: Sequence) -> np.ndarray:
        """Code a column by a public list of labels.

        Parameters
        ----------
        column : str
            A column name.
        labels : sequence
            (L,) distinct labels.

        Returns
        -------
        ndarray
            int64 (n,), the position of each value in ``labels``; -1 for missing or not listed.

        Raises
        ------
        ArgumentError
            If there is no such column, or a label is there twice or cannot be compared.

        Examples
        --------
        >>> Table.from_data({"tract": [7, 3, 9]}).codes("tract", [3, 7])
        array([ 1,  0, -1])
        """
        series = self._column(column)
        try:
            distinct = len(set(labels)) == len(labels)
        except TypeError:
            raise ArgumentError(
                f"expected labels of {column!r} that are numbers, strings or bools"
            ) from None
        if not distinct:
            raise ArgumentError(f"expected no label of {column!r} twice")
        return codes.match(series, labels)

    def _column(self, name: str) -> nw.Series:
        if name not in self._series:
            raise ArgumentError(f"no column {name!r}; the columns are {', '.join(self.columns)}")
        return self._series[name]

    def _check_numeric(self, name: str) -> None:
        series = self._column(name)
        if columns.kind(series) in ("categorical", "other"):
            raise ArgumentError(
                f"column {name!r} is declared numeric and its dtype is "
                f"{columns.dtype_name(series)}; convert it to numbers first, e.g. "
                f"data[{name!r}] = pandas.to_numeric(data[{name!r}], errors='coerce')"
            )


def _batches(chosen, schema, starts, size) -> Iterator[Batch]:
    for start in starts:
        rows = chosen
        if len(starts) > 1:  # to slice columns that are one batch costs more than to read them
            rows = {name: series[start : start + size] for name, series in chosen.items()}
        yield {
            name: codes.match(rows[name], declared.levels)
            if isinstance(declared, Categorical)
            else columns.numbers(rows[name])
            for name, declared in schema.items()
        }


def _sorted_positions(values: list) -> list[int]:
    positions = range(len(values))
    try:
        return sorted(positions, key=values.__getitem__)
    except TypeError:  # mixed types have no order of their own
        return sorted(positions, key=lambda i: (type(values[i]).__name__, repr(values[i])))
