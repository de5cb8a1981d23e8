"""Records and cells of text files: where they end, and the bytes of the cells of some columns.

A newline ends a record and a separator a cell, unless the cell began with a quote; in such a cell
two quotes stand for one, and a single one closes it. Nothing here can fail, whatever the bytes are.
"""

from collections.abc import Iterator

import numba
import numpy as np

# Bytes that are read at a time, and the most that one record may have.
BLOCK = LONGEST = 1 << 22
_MARK = b"\xef\xbb\xbf"  # with which some programs begin a file in UTF-8
_NEWLINE, _RETURN, _QUOTE = ord("\n"), ord("\r"), ord('"')
# A cell has not begun; is open; is open after a quote; may have been closed by another quote.
_START, _PLAIN, _QUOTED, _CLOSED = 0, 1, 2, 3


@numba.njit(cache=True, nogil=True, inline="always")
def _next(state, byte, separator):
    """Return the state after a byte."""
    if state == _QUOTED:
        return _CLOSED if byte == _QUOTE else _QUOTED
    if byte == separator or byte == _NEWLINE:
        return _START
    if byte == _QUOTE and state != _PLAIN:
        return _QUOTED
    return _PLAIN


@numba.njit(cache=True, nogil=True)
def _scanned(data, separator, state):
    """Return where the first and the last whole record end, 0 for none, and the state after all."""
    first, last = 0, 0
    for i in range(len(data)):
        if data[i] == _NEWLINE and state != _QUOTED:
            last = i + 1
            first = first or last
        state = _next(state, data[i], separator)
    return first, last, state


def ends(data: bytes, separator: str, state: int = _START) -> tuple[int, int, int]:
    """Find the ends of records in bytes that follow others.

    Returns
    -------
    first, last : int
        The bytes up to the end of the first and of the last record that ends, 0 for none.
    state : int
        To be given with the bytes that follow.

    Examples
    --------
    >>> ends(b'a,"1\\n2"\\nb,3\\n"c', ",")
    (8, 12, 2)
    """
    if state != _QUOTED and b'"' not in data:  # which is most often so
        between = data[-1:] in (b"\n", separator.encode())
        return data.find(b"\n") + 1, data.rfind(b"\n") + 1, _START if between else _PLAIN
    return _scanned(np.frombuffer(data, np.uint8), ord(separator), state)


def pieces(file, separator: str, block: int = BLOCK) -> Iterator[bytes]:
    """Cut a binary file into pieces of whole records.

    A record of more than ``LONGEST`` bytes is left out, so that it cannot fill the memory; the
    records around it stay as they are.

    Parameters
    ----------
    file : binary file
    separator : str
        One character, which separates cells.
    block : int
        Bytes to read at a time, at most ``LONGEST``.

    Examples
    --------
    >>> import io
    >>> list(pieces(io.BytesIO(b'a,"1\\n2"\\nb,3'), ",", block=9))
    [b'a,"1\\n2"\\n', b'b,3']
    """
    rest, state, too_long = b"", _START, False
    data = file.read(block).removeprefix(_MARK)
    while data:
        first, last, state = ends(data, separator, state)
        too_long = too_long or len(rest) + (first or len(data)) > LONGEST
        if last:
            piece = data[first:last] if too_long else rest + data[:last]
            if piece:
                yield piece
            rest, too_long = data[last:], False
        else:
            rest = b"" if too_long else rest + data
        data = file.read(block)
    if rest:
        yield rest


@numba.njit(cache=True, nogil=True)
def _cells(data, separator, slots, starts, stops):
    """Note where chosen cells begin and end; return the number of records with all cells.

    A record with another number of cells than columns is left out.

    Parameters
    ----------
    data : numpy.ndarray of uint8
        Whole records.
    slots : numpy.ndarray of int64, shape (columns,)
        The row of ``starts`` for each column, or -1 for one that is not wanted.
    starts, stops : numpy.ndarray of int64, shape (wanted, records)
        Filled in.
    """
    rows, cell, start, state, columns = 0, 0, 0, _START, len(slots)
    for i in range(len(data) + 1):
        last = i == len(data)
        byte = _NEWLINE if last else data[i]
        if (byte == separator or byte == _NEWLINE) and (state != _QUOTED or last):
            if last and start == i and cell == 0:
                break
            stop = i - 1 if byte == _NEWLINE and i > start and data[i - 1] == _RETURN else i
            if cell < columns and slots[cell] >= 0:
                starts[slots[cell], rows], stops[slots[cell], rows] = start, stop
            cell, start = cell + 1, i + 1
            if byte == _NEWLINE:
                rows += cell == columns
                cell = 0
        state = _next(state, byte, separator)
    return rows


@numba.njit(cache=True, nogil=True)
def _unquoted(data, starts, stops, offsets, out):
    """Copy cells one after the other without their quotes; offsets (n + 1,) says where each is."""
    free = 0
    for i in range(len(starts)):
        state, quoted = _START, stops[i] > starts[i] and data[starts[i]] == _QUOTE
        for j in range(starts[i], stops[i]):
            before, state = state, _next(state, data[j], _NEWLINE)
            # a quote that opens, and one that may close, are no part of the cell
            if not (quoted and data[j] == _QUOTE and (before == _START or before == _QUOTED)):
                out[free] = data[j]
                free += 1
        offsets[i + 1] = free


def cells(piece: bytes, separator: str, columns: int, chosen: list[int]) -> list[tuple]:
    """Return the cells of chosen columns as offsets (n + 1,) and bytes, as arrow keeps text.

    Parameters
    ----------
    piece : bytes
        Whole records.
    columns : int
        Cells of a record; one with another number is left out.
    chosen : list of int
        Positions of columns.

    Examples
    --------
    >>> ((offsets, text),) = cells(b'1,"a ""b"" "\\n2,c\\n3\\n', ",", 2, [1])
    >>> offsets, bytes(text)
    (array([0, 6, 7]), b'a "b" c')
    """
    data = np.frombuffer(piece, np.uint8)
    slots = np.full(columns, -1)
    slots[chosen] = range(len(chosen))
    starts, stops = np.empty((2, len(chosen), piece.count(b"\n") + 1), np.int64)
    rows = _cells(data, ord(separator), slots, starts, stops)
    found = []
    for begin, end in zip(starts[:, :rows], stops[:, :rows], strict=True):
        offsets, text = np.zeros(rows + 1, np.int64), np.empty((end - begin).sum(), np.uint8)
        _unquoted(data, begin, end, offsets, text)
        found.append((offsets, text[: offsets[-1]]))
    return found
