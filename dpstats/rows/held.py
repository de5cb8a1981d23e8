"""Hold what the first pass over a table has read, so that others need not read it again."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

from dpstats.parallel_sum import Summary, total

# Bytes that are held at most; what needs more is read anew for every pass.
MOST = 1 << 29


class Held:
    """Add up over batches, which are held from the first pass on if all of them fit in memory.

    Nothing but the time taken depends on whether they do: their sums are the same.

    Parameters
    ----------
    read : callable
        ``read(each)`` adds up ``each(batch)`` over the batches of one pass, each a mapping of
        columns or an object whose attributes are columns.
    most : int
        Bytes that are held at most.

    Examples
    --------
    >>> import numpy as np
    >>> held = Held(lambda each: total(each, [{"x": np.ones(2)}, {"x": np.ones(3)}]))
    >>> held.sum(lambda batch: batch["x"].sum())
    np.float64(5.0)
    """

    def __init__(self, read: Callable[[Callable[[Any], Any]], Any], most: int = MOST):
        self._read, self._most = read, most
        self._batches: tuple | None = None

    def sum(self, summary: Callable[[Any], Summary]) -> Summary:
        """Add up ``summary(batch)`` over all batches."""
        if self._batches is not None:
            return total(summary, self._batches)
        if not self._most:
            return self._read(summary)
        room = _Room(self._most)
        found = self._read(partial(_kept, room, summary))
        if room.left < 0:
            self._most = 0
        else:
            self._batches = found.batches
        return found.summary

    def last_sum(self, summary: Callable[[Any], Summary]) -> Summary:
        """Add up ``summary(batch)`` once more, and let go of each batch; later sums read anew."""
        if self._batches is None:
            return self._read(summary)
        batches, self._batches = deque(self._batches), None
        return total(summary, (batches.popleft() for _ in range(len(batches))))


@dataclass(frozen=True)
class _Kept:
    """Hold a summary and the batches that it is of, while there is room for all."""

    summary: Any
    batches: tuple
    room: "_Room"

    def __add__(self, other: "_Kept") -> "_Kept":
        batches = () if self.room.left < 0 else self.batches + other.batches
        return _Kept(self.summary + other.summary, batches, self.room)


class _Room:
    """Count down the bytes that are left, on several threads."""

    def __init__(self, size: int):
        self.left, self._lock = size, Lock()

    def takes(self, size: int) -> bool:
        """Take so many bytes and tell whether they were left; once they were not none are."""
        with self._lock:
            self.left = self.left - size if self.left >= 0 else self.left
            return self.left >= 0


def _kept(room: _Room, each: Callable[[Any], Any], batch: Any) -> _Kept:
    columns = batch if isinstance(batch, dict) else vars(batch)
    size = sum(column.nbytes for column in columns.values() if column is not None)
    return _Kept(each(batch), (batch,) if room.takes(size) else (), room)
