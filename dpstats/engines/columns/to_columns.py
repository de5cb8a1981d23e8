"""Recognise tables of the supported libraries, and convert each of them to columns."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpstats.engines.columns.column import Column
from dpstats.engines.columns.numpy_columns import array_column, pandas_column
from dpstats.engines.columns.python_columns import PythonColumn
from dpstats.engines.columns.r_vectors import frame_columns, is_r
from dpstats.errors import ArgumentError, with_article

if TYPE_CHECKING:
    import narwhals as nw

ACCEPTED = (
    "a data frame of pandas, polars, pyarrow, Spark or rpy2, a path, a polars LazyFrame, a pyarrow "
    "dataset, a duckdb relation, or a mapping of column names to arrays or lists of equal length"
)


def columns_of(data) -> dict[str, Column]:
    """Take a table apart into its columns; no row is copied from a data frame.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, R data frame of rpy2, or mapping of columns

    Returns
    -------
    dict of str to Column
        Columns (n,) of equal length, by name.

    Raises
    ------
    ArgumentError
        For any other type, columns of different lengths, or a column name used twice; the
        message holds names and types only.

    Examples
    --------
    >>> sorted(columns_of({"x": [1, 2], "g": ["a", None]}))
    ['g', 'x']
    """
    if is_r(data):
        data = frame_columns(data)
    if isinstance(data, Mapping):
        return _from_mapping(data)
    # of the libraries, pandas and arrow alone allow a name twice
    names = data.columns if isinstance(data, pd.DataFrame) else getattr(data, "column_names", [])
    _refuse_duplicates([str(name) for name in names])
    if isinstance(data, pd.DataFrame):
        return {str(name): pandas_column(column.array) for name, column in data.items()}
    import narwhals as nw  # for other libraries: it takes as long to load as a fit

    frame = nw.from_native(data, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise ArgumentError(f"data is {_type_name(data)}; expected {ACCEPTED}")
    return {
        str(name): _of_series(column)
        for name, column in zip(frame.columns, frame.iter_columns(), strict=True)
    }


def _refuse_duplicates(names: list[str]) -> None:
    twice = sorted(name for name, uses in Counter(names).items() if uses > 1)
    if twice:
        raise ArgumentError(f"column names used more than once: {', '.join(twice)}; rename them")


def _from_mapping(data: Mapping) -> dict[str, Column]:
    columns = {str(name): _as_column(str(name), values) for name, values in data.items()}
    if len(columns) < len(data):
        _refuse_duplicates([str(name) for name in data])
    if len({len(column) for column in columns.values()}) > 1:
        raise ArgumentError(f"the columns {', '.join(columns)} are not of equal length")
    return columns


def _as_column(name: str, values) -> Column:
    if isinstance(values, Column):
        return values
    if isinstance(values, list | tuple | range):
        return PythonColumn.of(values)
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return array_column(values)
    if isinstance(values, pd.api.extensions.ExtensionArray) and values.ndim == 1:
        return pandas_column(values)
    if isinstance(values, pd.Series):
        return pandas_column(values.array)
    if isinstance(values, pd.Index) and not isinstance(values, pd.MultiIndex):
        return pandas_column(values.array)
    if type(values).__module__.partition(".")[0] == "pyarrow":
        return _arrow_column(name, values)
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _of_series(series)
    raise ArgumentError(
        f"column {name!r} is {_type_name(values)}; expected an array or list with one axis"
    )


def _of_series(series: "nw.Series") -> Column:
    """Wrap a column of a data frame by the library it is from."""
    if series.implementation.is_polars():
        from dpstats.engines.columns.polars_columns import polars_column

        return polars_column(series.to_native())
    if series.implementation.is_pyarrow():
        from dpstats.engines.columns.arrow_columns import ArrowColumn

        return ArrowColumn(series.to_native())
    native = series.to_native()
    return pandas_column((native if isinstance(native, pd.Series) else series.to_pandas()).array)


def _arrow_column(name: str, values) -> Column:
    import pyarrow

    from dpstats.engines.columns.arrow_columns import ArrowColumn

    if not isinstance(values, pyarrow.Array | pyarrow.ChunkedArray):
        raise ArgumentError(f"column {name!r} is {_type_name(values)}; expected an array")
    return ArrowColumn(values)


def _type_name(value) -> str:
    """Name the type of a value, its library and its article."""
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    return with_article(name.removeprefix("builtins."))
