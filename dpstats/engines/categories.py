"""Columns of labels turned into codes; what each value is called is found once a distinct value.

The conversions are total: a value that cannot be told apart counts as missing, because an
exception would tell that it is there.
"""

from collections.abc import Sequence

import narwhals as nw
import numpy as np
import pandas as pd

from dpstats.engines.columns import is_arrow_dictionary, kind


def factorize(series: nw.Series) -> tuple[np.ndarray, list]:
    """Number the distinct values of a column in order of appearance.

    Parameters
    ----------
    series : narwhals.Series
        The column, (n,), of any kind.

    Returns
    -------
    codes : ndarray
        int64 (n,), -1 for missing, and for a value that cannot be told apart (a list, say).
    values : list
        The distinct values as Python scalars; ``values[codes[i]]`` is the value of row i.

    Examples
    --------
    >>> factorize(nw.from_native(pd.Series(["b", None, "a", "b"]), series_only=True))
    (array([ 0, -1,  1,  0]), ['b', 'a'])
    """
    try:
        codes, values = pd.factorize(_hashable(series))
    except Exception:  # whatever a library raises here depends on the values
        codes, values = pd.factorize(_one_by_one(series))
    return codes.astype(np.int64), pd.Index(values).tolist()


def match(series: nw.Series, labels: Sequence) -> np.ndarray:
    """Code a column by a public list of labels.

    Parameters
    ----------
    series : narwhals.Series
        The column, (n,), of any kind.
    labels : sequence
        (L,) distinct hashable labels; 1, 1.0 and True are the same label, 1 and "1" are not.

    Returns
    -------
    ndarray
        int64 (n,), the position of each value in ``labels``; -1 for missing or not among them.

    Examples
    --------
    >>> match(nw.from_native(pd.Series(["b", "c", None]), series_only=True), ("a", "b"))
    array([ 1, -1, -1])
    """
    if series.implementation.is_polars() or series.implementation.is_pyarrow():
        series = _decoded(series)
        if kind(series) == "string":
            return _looked_up(series, {v: i for i, v in enumerate(labels) if _is_text(v)})
    codes, values = factorize(series)
    position = {label: i for i, label in enumerate(labels)}
    # the last entry is where the code -1 points
    table = np.array([position.get(value, -1) for value in values] + [-1], dtype=np.int64)
    return table[codes]


def _is_text(label) -> bool:
    """Whether a label is a string that a column of UTF-8 may hold."""
    return isinstance(label, str) and label == label.encode(errors="ignore").decode()


def _looked_up(series: nw.Series, position: dict[str, int]) -> np.ndarray:
    """The position of each value of polars or arrow, or -1, without a Python string a row."""
    native = series.to_native()
    if series.implementation.is_polars():
        import polars as pl

        old, new = pl.Series(list(position), dtype=pl.String), list(position.values())
        return native.replace_strict(old, new, default=-1, return_dtype=pl.Int64).to_numpy()
    import pyarrow as pa
    import pyarrow.compute as pc

    text = native.cast(pa.large_string())  # views of text cannot be looked up
    places = pc.index_in(text, pa.array(list(position), text.type))
    return np.array([*position.values(), -1], dtype=np.int64)[pc.fill_null(places, -1).to_numpy()]


def _decoded(series: nw.Series) -> nw.Series:
    """The values of a column, where it holds codes of them."""
    if is_arrow_dictionary(series):
        native = series.to_native()
        return nw.from_native(native.cast(native.type.value_type), series_only=True)
    return series.cast(nw.String) if kind(series) == "categorical" else series


def _hashable(series: nw.Series):
    """Give pandas something to factorise in which integers keep every digit beside a null."""
    if series.implementation.is_pandas():
        return series.to_native()
    series = _decoded(series)
    if series.dtype.is_integer():
        filled = pd.Series(series.fill_null(0).to_numpy())
        return filled.astype("UInt64" if filled.dtype.kind == "u" else "Int64").mask(
            series.is_null().to_numpy()
        )
    return series.to_numpy()


def _one_by_one(series: nw.Series) -> np.ndarray:
    values = np.empty(len(series), dtype=object)
    for i, value in enumerate(series.to_list()):
        try:
            hash(value)
        except TypeError:
            continue
        values[i] = value
    return values
