"""Read columns of Python objects: lists, object arrays, text that pandas keeps as objects."""

import datetime
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dpstats.engines.columns import cells
from dpstats.engines.columns.column import Column, Ticks

_EPOCH = datetime.date(1970, 1, 1).toordinal()


class PythonColumn(Column):
    """Convert Python objects one by one to the declared kind.

    Parameters
    ----------
    values : ndarray of object, shape (n,)
    kind : str
        ``"object"`` while nothing declares a kind.

    Examples
    --------
    >>> PythonColumn.of([1, "7", [2]]).typed("integer").ticks()
    Ticks(values=array([1, 7, 0]), missing=array([False, False,  True]))
    """

    dtype = "object"

    def __init__(self, values: np.ndarray, kind: str = "object"):
        self._values, self.kind = values, kind

    @classmethod
    def of(cls, values: Sequence) -> "PythonColumn":
        """Wrap a list; no type is looked for in it."""
        return cls(np.fromiter(values, dtype=object, count=len(values)))

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, rows: slice) -> "PythonColumn":
        return PythonColumn(self._values[rows], self.kind)

    @classmethod
    def joined(cls, parts: Sequence["PythonColumn"]) -> "PythonColumn":
        return cls(np.concatenate([part._values for part in parts]), parts[0].kind)

    def present(self) -> np.ndarray:
        held = (not cells.is_missing(cell) for cell in self._values)
        return np.fromiter(held, np.bool_, len(self))

    def typed(self, kind: str) -> "PythonColumn":
        return PythonColumn(self._values, kind)

    def floats(self) -> np.ndarray:
        if self.kind == "number":
            return np.fromiter(map(cells.number, self._values), np.float64, len(self))
        values, missing = self.ticks()
        return np.where(missing, np.nan, values)

    def ticks(self) -> Ticks:
        return as_ticks(map(cells.CONVERSIONS[self.kind], self._values), len(self))

    def located(self, position: dict) -> np.ndarray:
        convert = cells.label if self.kind == "object" else cells.string
        found = (position.get(convert(cell), -1) for cell in self._values)
        return np.fromiter(found, np.int64, len(self))

    def distinct(self) -> tuple[np.ndarray, list]:
        return self._numbered(cells.label if self.kind == "object" else cells.string)

    def identities(self) -> tuple[np.ndarray, list]:
        return self._numbered(cells.identity if self.kind == "object" else cells.text_identity)

    def _numbered(self, convert: Callable) -> tuple[np.ndarray, list]:
        """Number the different values of cells, -1 for None."""
        codes: dict[Any, int] = {None: -1}
        places = (codes.setdefault(convert(cell), len(codes) - 1) for cell in self._values)
        numbered = np.fromiter(places, np.int64, len(self))
        return numbered, list(codes)[1:]


def as_ticks(values: Iterable, count: int) -> Ticks:
    """Return integers, truth values or dates, each of which may be None, as whole numbers.

    Examples
    --------
    >>> as_ticks([datetime.date(1970, 1, 2), None], 2)
    Ticks(values=array([1, 0]), missing=array([False,  True]))
    """
    missing = np.zeros(count, dtype=bool)

    def whole():
        for i, value in enumerate(values):
            missing[i] = value is None
            dated = type(value) is datetime.date
            yield value.toordinal() - _EPOCH if dated else value or 0

    return Ticks(np.fromiter(whole(), np.int64, count), missing)
