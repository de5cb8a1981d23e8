"""Columns of pyarrow, and of pandas where it keeps them in arrow's memory."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpstats.engines.columns import Column, Ticks

_MILLISECONDS = 86_400_000
_TEXT = (pa.string(), pa.large_string(), pa.string_view())


def _kind(dtype: pa.DataType) -> str:
    """Return the kind of a type of arrow."""
    if dtype in _TEXT:
        return "string"
    tests = {
        "integer": pa.types.is_integer,
        "number": lambda own: pa.types.is_floating(own) or pa.types.is_decimal(own),
        "boolean": pa.types.is_boolean,
        "date": pa.types.is_date,
        "datetime": pa.types.is_timestamp,
        "category": pa.types.is_dictionary,
        "object": pa.types.is_null,
    }
    return next((kind for kind, test in tests.items() if test(dtype)), "other")


class ArrowColumn(Column):
    """A column in arrow's memory.

    Examples
    --------
    >>> ArrowColumn(pa.chunked_array([[1, None]])).floats()
    array([ 1., nan])
    """

    def __init__(self, values: pa.ChunkedArray | pa.Array):
        self._values, dtype = values, values.type
        self.kind, self.dtype = _kind(dtype), dtype.__class__.__name__
        if self.kind == "datetime":
            self.unit, self.zone = dtype.unit, dtype.tz
        if self.kind == "category":
            self.ordered = dtype.ordered
            self.dtype = "DictionaryType"
        else:
            self.dtype = str(dtype)

    @property
    def levels(self) -> tuple | None:
        return _categories(self._values) if self.kind == "category" else None

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, rows: slice) -> "ArrowColumn":
        return type(self)(self._values[rows])

    @classmethod
    def joined(cls, parts: Sequence["ArrowColumn"]) -> "ArrowColumn":
        chunks = [chunk for part in parts for chunk in _chunks(part._values)]
        return cls(pa.chunked_array(chunks, parts[0]._values.type))

    def typed(self, kind: str) -> "Column":
        from dpstats.engines.python_columns import PythonColumn

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
        text = self._values
        if text.type == pa.string_view():  # views of text cannot be looked up
            text = text.cast(pa.large_string())
        places = pc.index_in(text, pa.array(list(position), text.type))
        table = np.array([*position.values(), -1], dtype=np.int64)
        return table[pc.fill_null(places, -1).to_numpy()]

    def distinct(self) -> tuple[np.ndarray, list]:
        values = _whole(self._values)
        if self.kind != "category":
            if values.type == pa.string_view():
                values = values.cast(pa.large_string())
            values = values.dictionary_encode()
        codes = pc.fill_null(values.indices.cast(pa.int64()), -1)
        return codes.to_numpy(), _plain(values.dictionary)


def _chunks(values) -> list:
    return values.chunks if isinstance(values, pa.ChunkedArray) else [values]


def _whole(values) -> pa.Array:
    """Return one array; chunks with dictionaries of their own get one for all."""
    if isinstance(values, pa.Array):
        return values
    if values.num_chunks == 1:
        return values.chunk(0)
    if pa.types.is_dictionary(values.type):
        values = values.unify_dictionaries()
    return values.combine_chunks() if values.num_chunks else pa.array([], values.type)


def _categories(values) -> tuple | None:
    """Return the values of a dictionary, None where there is no chunk to hold one."""
    if isinstance(values, pa.ChunkedArray) and not values.num_chunks:
        return None
    return tuple(_plain(_whole(values).dictionary))


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
