"""One column of any data frame library, turned into the two arrays a batch is made of.

The kind of a column follows from its dtype alone. The conversions are total: a value that cannot
be converted counts as missing, because an exception would tell that it is there.
"""

import narwhals as nw
import numpy as np
import pandas as pd


def kind(series: nw.Series) -> str:
    """Say what a column is: numeric, bool, categorical, string or other, from its dtype alone.

    Parameters
    ----------
    series : narwhals.Series
        The column, (n,). No value of it is read.

    Returns
    -------
    str
        ``"numeric"`` (integers, floats, decimals), ``"bool"``, ``"categorical"``, ``"string"`` or
        ``"other"`` (objects, dates, lists and the rest).

    Examples
    --------
    >>> kind(nw.from_native(pd.Series([1.5, None]), series_only=True))
    'numeric'
    """
    # narwhals looks at the values of an object column to tell strings from the rest
    if _is_object(series):
        return "other"
    dtype = series.dtype
    if dtype.is_numeric():
        return "numeric"
    names = {
        nw.Boolean: "bool",
        nw.Categorical: "categorical",
        nw.Enum: "categorical",
        nw.String: "string",
    }
    return next((name for known, name in names.items() if dtype == known), "other")


def dtype_name(series: nw.Series) -> str:
    """Name the dtype of a column for an error message, without any of its categories.

    Examples
    --------
    >>> dtype_name(nw.from_native(pd.Series(["b", "a"], dtype="category"), series_only=True))
    'Categorical'
    """
    return "Object" if _is_object(series) else type(series.dtype).__name__


def levels(series: nw.Series) -> tuple | None:
    """Give the categories a column's dtype declares, in their order, or None.

    A polars Categorical declares none: its strings are those that happen to be in the data. A
    polars Enum, a pandas Categorical and an arrow dictionary carry a list of their own.

    Examples
    --------
    >>> levels(nw.from_native(pd.Series(pd.Categorical(["b"], ["a", "b"])), series_only=True))
    ('a', 'b')
    """
    native = series.to_native()
    if isinstance(getattr(native, "dtype", None), pd.CategoricalDtype):
        return tuple(native.dtype.categories.tolist())
    if is_arrow_dictionary(series):
        chunks = native.unify_dictionaries().chunks
        return tuple(chunks[0].dictionary.to_pylist()) if chunks else None
    if series.dtype == nw.Enum:
        return tuple(series.dtype.categories)
    return None


def ordered(series: nw.Series) -> bool:
    """Say whether a column's dtype puts its categories in an order that means something.

    Examples
    --------
    >>> ordered(nw.from_native(pd.Series(pd.Categorical(["b"], ordered=True)), series_only=True))
    True
    """
    return bool(getattr(getattr(series.to_native(), "dtype", None), "ordered", False))


def numbers(series: nw.Series) -> np.ndarray:
    """Convert a numeric, bool or string column to floats; what is not a number is missing.

    Parameters
    ----------
    series : narwhals.Series
        The column, (n,). Text is read as a number where it is a finite one.

    Returns
    -------
    ndarray
        float64 (n,), read-only, NaN for missing: the column's own memory where it can be.

    Examples
    --------
    >>> numbers(nw.from_native(pd.Series(["2.5", "n/a"], dtype="string"), series_only=True))
    array([2.5, nan])
    """
    values = _doubles(series).view()
    values.flags.writeable = False
    return values


def _doubles(series: nw.Series) -> np.ndarray:
    if kind(series) == "string":
        text = pd.Series(series.to_numpy(), dtype=object)
        values = np.array(pd.to_numeric(text, errors="coerce"), dtype=np.float64)
        # whether 1e400 is infinite or not a number depends on the version of pandas
        return np.where(np.isfinite(values), values, np.nan)
    native = series.to_native()
    if series.implementation.is_pandas():
        if native.dtype == np.float64:
            return native.to_numpy()
        return np.asarray(native.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)
    if series.implementation.is_pyarrow():
        # a safe cast raises on an integer beyond 2^53, which would reveal it
        real = native.cast("float64", safe=False)
        whole = real.chunk(0) if real.num_chunks == 1 else real.combine_chunks()
        return whole.to_numpy(zero_copy_only=False)
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _is_object(series: nw.Series) -> bool:
    return getattr(series.to_native(), "dtype", None) == np.dtype(object)


def is_arrow_dictionary(series: nw.Series) -> bool:
    return series.implementation.is_pyarrow() and series.dtype == nw.Categorical
