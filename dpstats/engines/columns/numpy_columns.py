"""Read columns in arrays of NumPy and of pandas."""

from collections.abc import Sequence
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from dpstats.engines.columns.column import Column, Ticks
from dpstats.engines.columns.python_columns import PythonColumn

_KINDS = {"f": "number", "i": "integer", "u": "integer", "b": "boolean"}
_UNITS = ("s", "ms", "us", "ns")
_OFFSET = "UTC"  # how the names of fixed distances from UTC begin, as in "UTC+05:30"
_NOT_A_TIME = np.iinfo(np.int64).min


def array_column(values: np.ndarray) -> Column:
    """Wrap an array (n,) of any dtype; text of a fixed width is text.

    Examples
    --------
    >>> array_column(np.array([1.5])).kind, array_column(np.array(["a"])).kind
    ('number', 'string')
    """
    if not values.dtype.isnative:  # which neither pandas nor a view of bits can read
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype.kind == "O":
        return PythonColumn(values)
    if values.dtype.kind in "UT":
        return PythonColumn(values.astype(object), "string")
    return NumpyColumn(values)


@cache
def _name(dtype: np.dtype) -> str:
    """Return numpy's name of a type, once for all batches, as it takes as long as a small batch."""
    return str(dtype)


class NumpyColumn(Column):
    """Read an array of numbers, truth values, dates (unit D) or times, and its missing values.

    Parameters
    ----------
    values : ndarray, shape (n,)
    missing : ndarray of bool, shape (n,), optional
        Beside NaN and NaT.
    zone : optional
        The time zone of times, which are counted in UTC.
    """

    def __init__(self, values: np.ndarray, missing: np.ndarray | None = None, zone=None):
        self._values, self._missing, self.zone = values, missing, zone
        self.dtype = _name(values.dtype)
        self.kind = _KINDS.get(values.dtype.kind, "other")
        if values.dtype.kind == "M":
            unit, count = np.datetime_data(values.dtype)
            timed = unit in _UNITS and count == 1
            self.unit = unit if timed else None
            self.kind = "datetime" if timed else "date" if (unit, count) == ("D", 1) else "other"

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, rows: slice) -> "NumpyColumn":
        missing = None if self._missing is None else self._missing[rows]
        return NumpyColumn(self._values[rows], missing, self.zone)

    @classmethod
    def joined(cls, parts: Sequence["NumpyColumn"]) -> "NumpyColumn":
        masks = [part._missing for part in parts if part._missing is not None]
        missing = np.concatenate(masks) if masks else None
        return cls(np.concatenate([part._values for part in parts]), missing, parts[0].zone)

    def floats(self) -> np.ndarray:
        with np.errstate(over="ignore"):  # a number of more than 64 bits may be infinite
            values = self._values.astype(np.float64, copy=False)
        return values if self._missing is None else np.where(self._missing, np.nan, values)

    def ticks(self) -> Ticks:
        if self._values.dtype.kind != "M":
            return Ticks(self._values, self._missing)
        counted = self._values.astype(np.int64, copy=False)
        return Ticks(counted, counted == _NOT_A_TIME)


class PandasColumn(NumpyColumn):
    """Read a nullable column of pandas as values and a mask."""

    def __init__(self, values: Any):
        self._array, self.dtype = values, str(values.dtype)
        self.kind = _KINDS[values.dtype.kind]

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, rows: slice) -> "PandasColumn":
        return PandasColumn(self._array[rows])

    @classmethod
    def joined(cls, parts: Sequence["PandasColumn"]) -> "PandasColumn":
        return cls(pd.concat([pd.Series(part._array) for part in parts]).array)

    def floats(self) -> np.ndarray:
        return self._array.to_numpy(dtype=np.float64, na_value=np.nan)

    def ticks(self) -> Ticks:
        missing = self._array.isna()
        return Ticks(self._array.to_numpy(self._array.dtype.numpy_dtype, na_value=0), missing)


class CategoricalColumn(Column):
    """Read a Categorical of pandas: codes into categories, which the dtype declares."""

    kind, dtype = "category", "Categorical"

    def __init__(self, values: pd.Categorical):
        self._values, self.ordered = values, bool(values.ordered)

    @property
    def levels(self) -> tuple:
        return tuple(self._values.categories.tolist())

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, rows: slice) -> "CategoricalColumn":
        return CategoricalColumn(self._values[rows])

    @classmethod
    def joined(cls, parts: Sequence["CategoricalColumn"]) -> "CategoricalColumn":
        codes = np.concatenate([part._values.codes for part in parts])
        return cls(pd.Categorical.from_codes(codes, dtype=parts[0]._values.dtype))

    def distinct(self) -> tuple[np.ndarray, list]:
        return self._values.codes.astype(np.int64), list(self.levels)


def pandas_column(values: Any) -> Column:
    """Wrap an array of pandas (``series.array``) by its dtype; no value is read.

    Examples
    --------
    >>> pandas_column(pd.array([1, None], dtype="Int64")).kind
    'integer'
    """
    dtype = values.dtype
    if isinstance(dtype, pd.SparseDtype):
        return array_column(np.asarray(values, dtype=_dense(dtype)))
    if isinstance(dtype, pd.CategoricalDtype):
        return CategoricalColumn(values)
    if isinstance(dtype, pd.DatetimeTZDtype) and _has_name(dtype.tz):
        return NumpyColumn(values.asi8.view(f"M8[{dtype.unit}]"), None, dtype.tz)
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
        from dpstats.engines.columns.arrow_columns import ArrowColumn

        return ArrowColumn(values.__arrow_array__())
    if isinstance(dtype, pd.StringDtype):  # whose arrays may be of NumPy objects too
        return PythonColumn(values.to_numpy(dtype=object), "string")
    if isinstance(dtype, np.dtype) or isinstance(values, pd.arrays.NumpyExtensionArray):
        return array_column(np.asarray(values))
    if dtype.kind in _KINDS and hasattr(dtype, "numpy_dtype"):
        return PandasColumn(values)
    return OtherColumn(values, str(dtype))


def _has_name(zone) -> bool:
    """Tell whether a time zone can be found by its name, or is a fixed distance from UTC."""
    try:
        return str(zone).startswith(_OFFSET) or bool(ZoneInfo(str(zone)))
    except (KeyError, OSError, ValueError):
        return False


def _dense(dtype: pd.SparseDtype) -> np.dtype:
    """Return the type that holds the values and what fills the gaps, whether there are any."""
    try:
        return np.result_type(dtype.subtype, np.min_scalar_type(dtype.fill_value))
    except TypeError:
        return np.dtype(object)


class OtherColumn(Column):
    """Represent a column of a type without numbers or labels; all of it is missing."""

    kind = "other"

    def __init__(self, values, dtype: str):
        self._values, self.dtype = values, dtype

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, rows: slice) -> "OtherColumn":
        return OtherColumn(self._values[rows], self.dtype)

    @classmethod
    def joined(cls, parts: Sequence["OtherColumn"]) -> "OtherColumn":
        return cls(np.empty(sum(map(len, parts))), parts[0].dtype)
