"""Read Stata files whole."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpstats.engines.columns import Column, NumpyColumn, PythonColumn
from dpstats.engines.tables import Table
from dpstats.errors import ArgumentError

_DAY_0 = np.datetime64("1960-01-01")
_BYTES = "latin-1"  # in which every byte is a character
_FAR = 2.0**46  # milliseconds or days beyond all years


def stata_file(paths: list[str]) -> Table:
    """Return the table of one Stata file, whose variables are what its header says.

    The storage type says whether a variable holds whole numbers, numbers or text, the display
    format %td or %tc whether these are dates or times, and its value labels what its levels are. A
    variable with value labels is a number, as in Stata, and a factor in ``C()``, ``by=`` or under
    ``levels=``, whichever values occur. Whether the file can be read to its end is public.
    """
    if len(paths) > 1:
        raise ArgumentError(
            f"expected one .dta file, got {len(paths)}; save them as Parquet to read many"
        )
    with warnings.catch_warnings():
        # a parser's warning quotes what is in the file
        warnings.simplefilter("ignore")
        return Table.from_data(_columns(paths[0]))


def _columns(path: str) -> dict[str, Column]:
    settings: dict[str, Any] = {"convert_categoricals": False, "convert_dates": False}
    opened: Any = pd.read_stata(path, iterator=True, **settings)
    with opened as reader:
        # pandas has no public way to these parts of the header, and its own conversions make a
        # type of the values that occur, and stop at a long text that is no UTF-8
        _ = reader.data_label  # which reads the header
        encoding, reader._encoding = reader._encoding, _BYTES
        frame = reader.read()
        reader._encoding = encoding
        codebooks = reader.value_labels()
        parts = zip(reader._typlist, reader._fmtlist, reader._lbllist, strict=True)
        return {
            name: _texts(frame[name], encoding)
            if storage == "Q" or isinstance(storage, int)  # text, long or of so many bytes
            else _column(frame[name], storage, style, codebooks.get(labels, {}))
            for name, (storage, style, labels) in zip(frame.columns, parts, strict=True)
        }


def _texts(values: pd.Series, encoding: str) -> Column:
    """Return a variable of texts, each read by itself; none, or what is no text, is missing."""
    texts = [_text(value, encoding) for value in values.to_numpy(dtype=object)]
    return PythonColumn.of(texts).typed("string")


def _text(value, encoding: str) -> str | None:
    """Return a text that was read byte by byte."""
    try:
        return value.encode(_BYTES).decode(encoding) or None
    except (AttributeError, UnicodeError):
        return None


def _column(values: pd.Series, storage, style: str, codebook: dict) -> Column:
    """Return a variable of numbers as its storage type, format and value labels say."""
    numbers = values.to_numpy(dtype=np.float64)
    missing = np.isnan(numbers)
    if style.startswith(("%td", "%d", "%-td", "%-d")):
        return NumpyColumn(_since_1960(numbers, missing, "D"))
    if style.startswith(("%tc", "%-tc")):
        return NumpyColumn(_since_1960(numbers, missing, "ms"))
    if storage in ("b", "h", "l"):
        numbers = np.where(missing, 0, numbers).astype(np.int64)
    return LabelledColumn(numbers, missing, codebook) if codebook else NumpyColumn(numbers, missing)


def _since_1960(counts: np.ndarray, missing: np.ndarray, unit: str) -> np.ndarray:
    """Return days or milliseconds since 1960 as dates or times; what is out of all years is NaT."""
    outside = missing | (np.abs(counts) >= _FAR)
    times = np.where(outside, 0, counts).astype(np.int64).astype(f"m8[{unit}]") + _DAY_0
    return np.where(outside, np.datetime64("NaT"), times)


class LabelledColumn(NumpyColumn):
    """Read numbers with value labels, which are levels where a factor is asked for.

    Examples
    --------
    >>> column = LabelledColumn(np.array([2, 1, 9]), np.zeros(3, bool), {1: "no", 2: "yes"})
    >>> column.kind, column.levels, column.distinct()
    ('integer', ('no', 'yes'), (array([ 1,  0, -1]), ['no', 'yes']))
    """

    _missing: np.ndarray

    def __init__(self, values: np.ndarray, missing: np.ndarray, codebook: dict):
        super().__init__(values, missing)
        self._codebook = codebook

    @property
    def levels(self) -> tuple:
        return tuple(dict.fromkeys(self._codebook.values()))

    def __getitem__(self, rows: slice) -> "LabelledColumn":
        return LabelledColumn(self._values[rows], self._missing[rows], self._codebook)

    @classmethod
    def joined(cls, parts: Sequence["LabelledColumn"]) -> "LabelledColumn":
        values = np.concatenate([part._values for part in parts])
        return cls(values, np.concatenate([part._missing for part in parts]), parts[0]._codebook)

    def distinct(self) -> tuple[np.ndarray, list]:
        codes = pd.Index(np.array(list(self._codebook), dtype=np.float64))
        place = {level: i for i, level in enumerate(self.levels)}
        places = np.array([*map(place.get, self._codebook.values()), -1], dtype=np.int64)
        return places[codes.get_indexer(pd.Index(self.floats()))], list(place)
