"""Read columns of pyarrow, and those of pandas that are Arrow arrays."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpstats.engines.columns.column import Column, Ticks

_MILLISECONDS = 86_400_000
_TEXT = (pa.string(), pa.large_string(), pa.string_view())
# Kinds of the values of a dictionary that are labels.
_LABELS = ("string", "number", "integer", "boolean", "date", "datetime")


def _kind(dtype: pa.DataType) -> str:
    """Return the kind of a type of arrow."""
    if dtype in _TEXT:
        return "string"
    if pa.types.is_dictionary(dtype):
        return "category" if _kind(dtype.value_type) in _LABELS else "other"
    tests = {
        "integer": pa.types.is_integer,
        "number": lambda own: pa.types.is_floating(own) or pa.types.is_decimal(own),
        "boolean": pa.types.is_boolean,
        "date": pa.types.is_date,
        "datetime": pa.types.is_timestamp,
        "object": pa.types.is_null,
    }
    return next((kind for kind, test in tests.items() if test(dtype)), "other")


class ArrowColumn(Column):
    """Read a column of an Arrow array.

    Examples
    --------
    >>> ArrowColumn(pa.chunked_array([[1, None]])).floats()
    array([ 1., nan])
    """

    def __init__(self, values: pa.ChunkedArray | pa.Array):
        self._values, dtype = values, values.type
        self.kind, self.dtype = _kind(dtype), str(dtype)
        if self.kind == "datetime":
            self.unit, self.zone = dtype.unit, dtype.tz
        if self.kind == "category":
            self.ordered, self.dtype = dtype.ordered, "DictionaryType"

    @property
    def levels(self) -> tuple | None:
        if self.kind != "category" or not _chunks(self._values):  # no chunk holds a dictionary
            return None
        labels = (label for _, own in _own_labels(self._values) for label in own)
        return tuple(label for label in dict.fromkeys(labels) if label is not None)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, rows: slice) -> "ArrowColumn":
        return type(self)(self._values[rows])

    def take(self, rows: np.ndarray) -> "ArrowColumn":
        return type(self)(self._values.take(pa.array(rows)))

    @classmethod
    def joined(cls, parts: Sequence["ArrowColumn"]) -> "ArrowColumn":
        chunks = [chunk for part in parts for chunk in _chunks(part._values)]
        return cls(pa.chunked_array(chunks, parts[0]._values.type))

    def typed(self, kind: str) -> "Column":
        from dpstats.engines.columns.python_columns import PythonColumn

        return PythonColumn(np.full(len(self), None, dtype=object), kind)

    def floats(self) -> np.ndarray:
        # a safe cast raises on an integer beyond 2^53, which would reveal it
        return _whole(self._values.cast(pa.float64(), safe=False)).to_numpy(zero_copy_only=False)

    def ticks(self) -> Ticks:
        values, dtype = _whole(self._values), self._values.type
        missing = values.is_null().to_numpy(zero_copy_only=False)
        if self.kind == "boolean":
            return Ticks(values.fill_null(False).to_numpy(zero_copy_only=False), missing)
        if self.kind != "integer":
            values = values.view(pa.int32() if dtype == pa.date32() else pa.int64())
        counted = values.fill_null(0).to_numpy()
        return Ticks(counted // _MILLISECONDS if dtype == pa.date64() else counted, missing)

    def located(self, position: dict[str, int]) -> np.ndarray:
        if pa.types.is_null(self._values.type):  # no cell has a value, and none is compared
            return np.full(len(self), -1, dtype=np.int64)
        text = _large(self._values)
        places = pc.index_in(text, pa.array(list(position), text.type))
        table = np.array([*position.values(), -1], dtype=np.int64)
        return table[pc.fill_null(places, -1).to_numpy()]

    def distinct(self) -> tuple[np.ndarray, list]:
        if self.kind == "category":
            return _of_dictionaries(self._values)
        values = _whole(_large(self._values)).dictionary_encode()
        return _codes(values), _plain(values.dictionary)


def _chunks(values) -> list:
    return values.chunks if isinstance(values, pa.ChunkedArray) else [values]


def _large(values):
    """Return text with offsets of 64 bits, which no text overflows; views cannot be looked up."""
    return values.cast(pa.large_string()) if values.type in _TEXT else values


def _whole(values) -> pa.Array:
    """Return numbers, dates, times or large text as one array."""
    if isinstance(values, pa.Array):
        return values
    return values.combine_chunks() if values.num_chunks else pa.array([], values.type)


def _codes(values: pa.Array) -> np.ndarray:
    """Return the indices of an array with a dictionary, int64 (n,), -1 for missing."""
    return pc.fill_null(values.indices.cast(pa.int64()), -1).to_numpy()


def _own_labels(values) -> Iterator[tuple[pa.Array, list]]:
    """Yield each chunk with the labels of its dictionary."""
    known, labels = None, []
    for chunk in _chunks(values):
        if known is None or not chunk.dictionary.equals(known):
            known, labels = chunk.dictionary, _plain(chunk.dictionary)
        yield chunk, labels


def _of_dictionaries(values) -> tuple[np.ndarray, list]:
    """Number rows, int64 (n,), -1 for missing, by the labels of all dictionaries, each once.

    Chunks may have dictionaries of their own. Arrow puts them together in the type of an index,
    which the 128th label overflows, and not at all where one lists a missing value.
    """
    places: dict[Any, int] = {}
    codes, known, table = [np.empty(0, np.int64)], None, np.array([-1])
    for chunk, labels in _own_labels(values):
        if labels is not known:
            known = labels
            own = np.array([places.setdefault(label, len(places)) for label in labels], np.int64)
            there = chunk.dictionary.is_valid().to_numpy(zero_copy_only=False)
            table = np.append(np.where(there, own, -1), -1)  # where the code -1 points
        codes.append(table[_codes(chunk)])
    return np.concatenate(codes), list(places)


def _plain(values: pa.Array) -> list:
    """Return each value as Python's own, None where it has none."""
    if values.type not in _TEXT:
        return [_value(value) for value in values]
    return [decoded(raw) for raw in values.cast(pa.large_binary()).to_pylist()]


def _value(value: pa.Scalar):
    try:
        return value.as_py()
    except Exception:  # dates beyond the year 9999
        return None


def decoded(raw: bytes | None) -> str | None:
    """Return UTF-8 as text, None where it is not valid.

    Examples
    --------
    >>> decoded(b"a"), decoded(b"\\xff")
    ('a', None)
    """
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError:
        return None
