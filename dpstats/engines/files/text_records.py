"""Find records and cells of text files, and the bytes of the cells of some columns.

A newline ends a record and a separator a cell, unless the cell began with a quote; in such a cell
two quotes stand for one, and a single one closes it. Nothing here can fail, whatever the bytes are.
"""

from collections.abc import Iterator

import numba
import numpy as np

# Bytes that are read at a time, and the most that one record may have.
BLOCK, LONGEST = 1 << 20, 1 << 22
_MARK = b"\xef\xbb\xbf"  # with which some programs begin a file in UTF-8
_NEWLINE, _RETURN, _QUOTE, _NA = ord("\n"), ord("\r"), ord('"'), (ord("N"), ord("A"))
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
    rows, cell, start, size = 0, 0, 0, len(data)
    empty_follows = False
    while start < size or empty_follows:
        stop = start
        if start < size and data[start] == _QUOTE:
            stop = _quoted_end(data, start, separator)
        while stop < size and data[stop] != separator and data[stop] != _NEWLINE:
            stop += 1
        last = stop >= size or data[stop] == _NEWLINE
        if cell < len(slots) and slots[cell] >= 0:
            returned = last and stop > start and data[stop - 1] == _RETURN
            starts[slots[cell], rows] = start
            stops[slots[cell], rows] = stop - 1 if returned else stop
        empty_follows = not last and stop == size - 1  # the last byte is a separator
        cell, start = cell + 1, stop + 1
        if last:
            rows += cell == len(slots)
            cell = 0
    return rows


@numba.njit(cache=True, nogil=True)
def _quoted_end(data, start, separator):
    """Return where a cell that begins with a quote ends."""
    state, stop = _START, start
    while stop < len(data):
        if state != _QUOTED and (data[stop] == separator or data[stop] == _NEWLINE):
            break
        state = _next(state, data[stop], separator)
        stop += 1
    return stop


@numba.njit(cache=True, nogil=True)
def _unquoted(data, starts, stops, offsets, present, out):
    """Copy cells one after the other without their quotes, and note which are not missing.

    Parameters
    ----------
    offsets : numpy.ndarray of int64, shape (n + 1,)
        Where each cell is in ``out``; filled in.
    present : numpy.ndarray of bool, shape (n,)
        False where a cell is empty or NA; filled in.
    """
    free = 0
    for i in range(len(starts)):
        first = free
        state, quoted = _START, stops[i] > starts[i] and data[starts[i]] == _QUOTE
        for j in range(starts[i], stops[i]):
            before = state
            if quoted:
                state = _next(state, data[j], _NEWLINE)
            # a quote that opens, and one that may close, are no part of the cell
            if not (quoted and data[j] == _QUOTE and (before == _START or before == _QUOTED)):
                out[free] = data[j]
                free += 1
        size = free - first
        marked = size == 2 and out[first] == _NA[0] and out[first + 1] == _NA[1]
        offsets[i + 1], present[i] = free, size > 0 and not marked


def cells(piece: bytes, separator: str, columns: int, chosen: list[int]) -> list[tuple]:
    """Return of chosen columns offsets (n + 1,), which cells are present (n,), and their bytes.

    A cell that is empty or NA is missing.

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
    >>> ((offsets, present, text),) = cells(b'1,"a ""b"" "\\n2,\\n3\\n', ",", 2, [1])
    >>> offsets, present, bytes(text)
    (array([0, 6, 6]), array([ True, False]), b'a "b" ')
    """
    data = np.frombuffer(piece, np.uint8)
    slots = np.full(columns, -1)
    slots[chosen] = range(len(chosen))
    starts, stops = np.empty((2, len(chosen), piece.count(b"\n") + 1), np.int64)
    rows = _cells(data, ord(separator), slots, starts, stops)
    found = []
    for begin, end in zip(starts[:, :rows], stops[:, :rows], strict=True):
        offsets, present = np.zeros(rows + 1, np.int64), np.empty(rows, bool)
        text = np.empty((end - begin).sum(), np.uint8)
        _unquoted(data, begin, end, offsets, present, text)
        found.append((offsets, present, text[: offsets[-1]]))
    return found
