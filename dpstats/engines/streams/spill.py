"""Keep rows of words in a temporary file without a name, to be read a partition at a time."""

import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from threading import Lock

import numpy as np

from dpstats.errors import Defect

# Bytes of rows in memory before they are written, in the order of their partitions.
_BUFFER = 1 << 25


class Spill:
    """Hold rows of 64-bit words on disk, in the folder that :func:`tempfile.gettempdir` names.

    Nothing is left of the file when the process ends, even when it is killed: Linux makes a file
    that never has a name, macOS and other systems remove its name when it is made, and Windows
    deletes it with its last handle. It is as large as the rows and is not encrypted.

    Parameters
    ----------
    width : int
        Words a row.
    partitions : int

    Examples
    --------
    >>> spill = Spill(1, partitions=2)
    >>> spill.add(np.arange(5, dtype=np.uint64)[:, None], np.array([1, 0, 1, 0, 0]))
    >>> spill.finish()
    >>> [rows.ravel().tolist() for rows in spill.runs(size=1)]
    [[1, 3, 4], [0, 2]]
    """

    def __init__(self, width: int, partitions: int):
        self._width, self._partitions = width, partitions
        self._waiting: list[tuple[np.ndarray, np.ndarray]] = []
        self._edges: list[np.ndarray] = []  # of the partitions of each block, in rows of the file
        self._lock = Lock()
        self._file = _tried(lambda: tempfile.TemporaryFile(buffering=0))
        self._close = weakref.finalize(self, self._file.close)

    def add(self, rows: np.ndarray, partitions: np.ndarray) -> None:
        """Take in rows, uint64 (n, width), and the partition of each, int64 (n,)."""
        self._waiting.append((rows, partitions))
        if sum(rows.nbytes for rows, _ in self._waiting) >= _BUFFER:
            self.finish()

    def finish(self) -> None:
        """Write what is in memory, one partition behind another.

        Raises
        ------
        Defect
            If the disk is full; what has been written is given back.
        """
        if not self._waiting:
            return
        from dpstats.numerics.group_sort import by_group

        rows, partitions = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        self._waiting = []
        order, edges = by_group(partitions, self._partitions)
        start = self._edges[-1][-1] if self._edges else 0
        self._edges.append(start + edges)
        _tried(lambda: self._write(rows[order]))

    def runs(self, size: int) -> Iterator[np.ndarray]:
        """Yield the rows of consecutive partitions, at least ``size`` if there are as many."""
        sizes = sum((np.diff(edges) for edges in self._edges), np.zeros(self._partitions, int))
        first = held = 0
        for partition in range(self._partitions):
            held += sizes[partition]
            if held >= size or partition == self._partitions - 1:
                yield _tried(lambda run=(first, partition + 1): self._rows(*run))
                first, held = partition + 1, 0

    def _write(self, rows: np.ndarray) -> None:
        left = rows.reshape(-1).view(np.uint8).data
        while left:
            left = left[self._file.write(left) :]

    def _rows(self, first: int, stop: int) -> np.ndarray:
        """Read the rows of partitions ``first`` to ``stop - 1`` from all blocks."""
        places = [(edges[first], edges[stop]) for edges in self._edges]
        rows = np.empty((int(sum(end - begin for begin, end in places)), self._width), np.uint64)
        done = 0
        for begin, end in places:
            self._read(int(begin), rows[done : done + end - begin])
            done += end - begin
        return rows

    def _read(self, start: int, rows: np.ndarray) -> None:
        """Fill an array with the rows of the file from ``start`` on."""
        left = rows.reshape(-1).view(np.uint8).data
        with self._lock:
            self._file.seek(start * self._width * 8)
            while left:
                taken = self._file.readinto(left)
                if not taken:
                    raise OSError
                left = left[taken:]


def _tried(act: Callable):
    """Return ``act()``; what the system says of the file becomes a defect in public words."""
    try:
        return act()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the file is shorter than written"
    raise Defect(f"an error of a temporary file ({reason}; TMPDIR names its folder)")
