"""Read columns of any library through one interface; the kind follows from the declared type."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

# Types of fewer bits than a double, by the names that libraries have for them.
_NARROW = {
    "float32": np.float32, "float": np.float32, "float16": np.float16, "halffloat": np.float16,
}  # fmt: skip


class Ticks(NamedTuple):
    """Hold whole numbers (n,), integers, truth values, days or times, and which are missing."""

    values: np.ndarray
    missing: Any = None  # numpy.ndarray of bool, or None


class Column(ABC):
    """Represent one column, (n,), of which no value is read before a method is called.

    Attributes
    ----------
    kind : str
        One of ``KINDS``, ``"datetime"``, ``"category"``, ``"other"`` (a type without numbers or
        labels) or one of ``UNTYPED``, which are in ``kinds``.
    dtype : str
        The library's name of the type, without any category.
    ordered : bool
        Whether that order means something.
    unit, zone : str or None
        Unit (``"s"`` to ``"ns"``) and time zone of a datetime.
    """

    kind: str
    dtype: str
    ordered: bool = False
    unit: str | None = None
    zone: Any = None

    @property
    def levels(self) -> tuple | None:
        """Return the categories or value labels that the type declares, in their order."""
        return None

    @property
    def narrow(self) -> type[np.floating] | None:
        """Return the type of numbers of 32 or 16 bits, in which 0.1 is no double; None of others.

        >>> from dpstats.engines.columns import columns_of
        >>> columns_of({"x": np.ones(1, np.float32)})["x"].narrow
        <class 'numpy.float32'>
        """
        return _NARROW.get(self.dtype.lower())

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, rows: slice) -> "Column": ...

    def take(self, rows: np.ndarray) -> "Column":
        """Return the cells at these positions (n,), which may repeat."""
        places: Any = rows  # numpy, pandas and polars index by arrays as by slices
        return self[places]

    @classmethod
    @abstractmethod
    def joined(cls, parts: Sequence[Self]) -> "Column":
        """Return the columns of consecutive rows as one."""

    def floats(self) -> np.ndarray:
        """Return float64 (n,) with NaN for missing; for the kinds in ``NUMERIC``."""
        raise self._misread("numbers")

    def ticks(self) -> Ticks:
        """Return integers, truth values, days since 1970, or times in ``unit`` since 1970."""
        raise self._misread("whole numbers")

    def located(self, position: dict) -> np.ndarray:
        """Return the position of each text, int64 (n,), -1 where it has none."""
        raise self._misread("texts")

    def distinct(self) -> tuple[np.ndarray, list]:
        """Return numbers (n,) of texts or plain values, -1 for missing, and what they number."""
        raise self._misread("labels")

    def identities(self) -> tuple[np.ndarray, list]:
        """Number rows as :meth:`distinct` does, by all that a cell holds; -1 for missing alone."""
        return self.distinct()

    def present(self) -> np.ndarray | None:
        """Tell which cells (n,) are not empty, of the kind or not; None where all are of it.

        A type of its own holds nothing else.
        """
        return None

    def typed(self, kind: str) -> "Column":
        """Return this untyped column as one of a kind in ``KINDS``, converted cell by cell."""
        raise self._misread("an untyped column")

    def _misread(self, how: str) -> TypeError:
        """Build the error of code that reads a column as what its kind is not."""
        return TypeError(f"a column of kind {self.kind!r} is not read as {how}")
