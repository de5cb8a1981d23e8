"""What counts as a table: the libraries that are read, and what each of them calls its columns."""

from collections import Counter
from collections.abc import Mapping

import narwhals as nw
import numpy as np
import pandas as pd

from dpstats.engines.r_vectors import frame_columns, is_r
from dpstats.errors import ArgumentError

ACCEPTED = (
    "a data frame of pandas, polars, pyarrow, Spark or rpy2, a path, a polars LazyFrame, a pyarrow "
    "dataset, a duckdb relation, or a mapping of column names to arrays or lists of equal length"
)


def columns_of(data) -> dict[str, nw.Series]:
    """Take a table apart into its columns; no row is copied from a data frame.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, R data frame of rpy2, or mapping of columns

    Returns
    -------
    dict of str to narwhals.Series
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
    frame = nw.from_native(data, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise ArgumentError(f"data is a {_type_name(data)}; expected {ACCEPTED}")
    return {
        str(name): column for name, column in zip(frame.columns, frame.iter_columns(), strict=True)
    }


def _refuse_duplicates(names: list[str]) -> None:
    twice = sorted(name for name, uses in Counter(names).items() if uses > 1)
    if twice:
        raise ArgumentError(f"column names used more than once: {', '.join(twice)}; rename them")


def _from_mapping(data: Mapping) -> dict[str, nw.Series]:
    series = {str(name): _as_series(str(name), values) for name, values in data.items()}
    if len(series) < len(data):
        _refuse_duplicates([str(name) for name in data])
    if len({len(column) for column in series.values()}) > 1:
        raise ArgumentError(f"the columns {', '.join(series)} are not of equal length")
    return series


def _as_series(name: str, values) -> nw.Series:
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series
    if type(values).__module__.partition(".")[0] == "pyarrow":
        return _arrow_column(name, values)
    if isinstance(values, list | tuple | range):
        values = _inferred(list(values))
    accepted = np.ndarray | pd.api.extensions.ExtensionArray | pd.Index | pd.Series
    if not isinstance(values, accepted) or values.ndim != 1:
        raise ArgumentError(
            f"column {name!r} is a {_type_name(values)}; expected an array or list with one axis"
        )
    return nw.from_native(pd.Series(values), series_only=True)


def _arrow_column(name: str, values) -> nw.Series:
    """An array outside a table, which pandas would turn into floats if it holds a null."""
    import pyarrow

    if not isinstance(values, pyarrow.Array):
        raise ArgumentError(f"column {name!r} is a {_type_name(values)}; expected an array")
    return nw.from_native(pyarrow.chunked_array([values]), series_only=True)


def _inferred(values: list):
    """A list has no dtype: take the nullable one that holds it, else objects."""
    try:
        return pd.array(values)
    except Exception:  # what pandas cannot place is objects
        return pd.Series(values, dtype=object)


def _type_name(value) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
