"""Stream text files; how a cell is read depends on that cell and public declarations alone."""

import csv
import gzip
import math
import zlib
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpstats.engines.columns import Column, Ticks
from dpstats.engines.columns.arrow_columns import ArrowColumn, decoded
from dpstats.engines.columns.cells import CONVERSIONS, date, number
from dpstats.engines.columns.python_columns import as_ticks
from dpstats.engines.files.damage import named
from dpstats.engines.files.text_records import BLOCK, cells, ends, pieces
from dpstats.engines.streams import Stream
from dpstats.engines.tables import Table
from dpstats.errors import ArgumentError

_SEPARATORS = {",": "commas", "\t": "tabs"}


def text_files(paths: Sequence[str], separator: str) -> Stream:
    """Open text files with one header, UTF-8, in which a missing value is nothing or NA.

    Nothing in a file says what its columns are: that is declared, see
    :func:`~dpstats.engines.columns.kinds.declared`, or follows from the use of a column. A cell
    that is not of its column's kind, or no UTF-8, is missing; a line with another number of cells
    than the header, or of more than four megabytes, is left out, whatever the other cells and lines
    are. Where lines begin and end is public: a quote that is not closed takes in the lines up to
    the next one.
    """
    header = _header(paths[0], separator)
    for path in paths:
        _check_whole(path)
    for path in paths[1:]:
        if _header(path, separator) != header:
            raise ArgumentError(
                f"the columns of {path} are not those of {paths[0]}; give all files one header"
            )

    def read(names):
        chosen = {name: header.index(name) for name in names}
        for piece in _rows_of(paths, separator):
            yield partial(_table_of, piece, separator, len(header), chosen)

    none = TextColumn(pa.array([], pa.large_string()))
    return Stream(Table.from_data(dict.fromkeys(header, none)), read)


def _opened(path: str):
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb")


def _check_whole(path: str) -> None:
    """Refuse a compressed file that is cut off or damaged, before a budget pays for its rows."""
    if not path.lower().endswith(".gz"):
        return
    with _opened(path) as file:
        try:
            while file.read(BLOCK):
                pass
        except (EOFError, OSError, zlib.error):
            raise ArgumentError(
                f"{path} is cut off or damaged, so its rows cannot all be read; copy it anew"
            ) from None


def _header(path: str, separator: str) -> list[str]:
    """Return the names in the first record of a file."""
    with _opened(path) as file:
        first = next(pieces(file, separator))
    end = ends(first, separator)[0] or len(first)
    names = next(csv.reader([first[:end].decode()], delimiter=separator, strict=True))
    _check_names(path, separator, names)
    return names


def _check_names(path: str, separator: str, names: Sequence[str]) -> None:
    """Refuse a first line that is separated by another sign, or that is a row without naming it.

    That a line of texts has names has to be believed, so errors do not show those either.
    """
    if len(names) == 1 and any(sign in names[0] for sign in {*",;|\t"} - {separator}):
        raise ArgumentError(
            f"the first line of {path} is not separated by {_SEPARATORS[separator]}; write the "
            "file with commas and the ending .csv, or with tabs and the ending .tsv"
        )
    if any(math.isfinite(number(name)) or date(name) for name in names):
        raise ArgumentError(
            f"the first line of {path} has numbers or dates where the names of the columns are "
            "expected; write a line of names above it, with y2019 for 2019 where these are years"
        )
    places = {name: i for i, name in reversed([*enumerate(names, 1)])}
    twice = next((i for i, name in enumerate(names, 1) if places[name] < i), None)
    if twice is not None:
        raise ArgumentError(
            f"columns {places[names[twice - 1]]} and {twice} of {path} have one name in its first "
            "line; give each column a name of its own there"
        )


def _rows_of(paths: Sequence[str], separator: str):
    """Yield pieces of the files without their headers."""
    for path in paths:
        with named(path), _opened(path) as file:
            header = True
            for piece in pieces(file, separator):
                rows = piece[ends(piece, separator)[0] or len(piece) :] if header else piece
                header = False
                if rows:
                    yield rows


def _table_of(piece: bytes, separator: str, columns: int, chosen: Mapping[str, int]) -> Table:
    """Read the chosen columns of whole records; ``chosen`` has the position of each."""
    found = cells(piece, separator, columns, list(chosen.values()))
    texts = (_text_column(*parts) for parts in found)
    return Table.from_data(dict(zip(chosen, texts, strict=True)))


def _text_column(offsets: np.ndarray, present: np.ndarray, text: np.ndarray) -> "TextColumn":
    mask = np.packbits(present, bitorder="little")
    buffers = [pa.py_buffer(mask), pa.py_buffer(offsets), pa.py_buffer(text)]
    return TextColumn(pa.Array.from_buffers(pa.large_string(), len(present), buffers))


class TextColumn(Column):
    """Convert cells of text one by one to the declared kind.

    Parameters
    ----------
    values : pyarrow large_string, shape (n,)
        Bytes that need not be UTF-8, null for missing.
    kind : str
        ``"text"`` while nothing declares a kind.

    Examples
    --------
    >>> TextColumn(pa.array(["1.5", "n/a", None, " 2"], pa.large_string()), "number").floats()
    array([1.5, nan, nan, 2. ])
    """

    dtype = "text"

    def __init__(self, values: pa.Array, kind: str = "text"):
        self._values, self.kind = values, kind

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, rows: slice) -> "TextColumn":
        return TextColumn(self._values[rows], self.kind)

    def take(self, rows: np.ndarray) -> "TextColumn":
        return TextColumn(self._values.take(pa.array(rows)), self.kind)

    @classmethod
    def joined(cls, parts: Sequence["TextColumn"]) -> "TextColumn":
        return cls(pa.concat_arrays([part._values for part in parts]), parts[0].kind)

    def present(self) -> np.ndarray:
        return self._values.is_valid().to_numpy(zero_copy_only=False)

    def typed(self, kind: str) -> "TextColumn":
        return TextColumn(self._values, kind)

    def floats(self) -> np.ndarray:
        if self.kind == "number":
            return _doubles(self._values)
        values, missing = self.ticks()
        return np.where(missing, np.nan, values)

    def ticks(self) -> Ticks:
        codes, texts = self.distinct()
        values, missing = as_ticks([*map(CONVERSIONS[self.kind], texts), None], len(texts) + 1)
        return Ticks(values[codes], missing[codes])

    def located(self, position: dict[str, int]) -> np.ndarray:
        return ArrowColumn(self._values).located(position)

    def distinct(self) -> tuple[np.ndarray, list]:
        return ArrowColumn(self._values).distinct()


def _doubles(text: pa.Array) -> np.ndarray:
    """Read each cell as arrow reads it alone, or as :func:`number` does where arrow does not."""
    try:
        values = text.cast(pa.float64())
    except pa.ArrowInvalid:  # a cell that is no number; each distinct one is then read once
        distinct = pc.unique(text)
        read = parsed(distinct).to_numpy(zero_copy_only=False).copy()
        for i in np.flatnonzero(np.isnan(read)):
            read[i] = number(decoded(distinct[i].cast(pa.large_binary()).as_py()))
        return read[pc.index_in(text, distinct).to_numpy()]
    return values.to_numpy(zero_copy_only=False)


def parsed(text: pa.Array) -> pa.Array:
    """Read each cell by itself as a number, or missing; one that is none harms no other.

    Examples
    --------
    >>> parsed(pa.array(["1.5", "n/a", None])).to_pylist()
    [1.5, None, None]
    """
    try:
        return text.cast(pa.float64())
    except pa.ArrowInvalid:
        if len(text) == 1:
            return pa.nulls(1, pa.float64())
        half = len(text) // 2
        return pa.concat_arrays([parsed(text[:half]), parsed(text[half:])])
