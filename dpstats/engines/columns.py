"""Read columns of any library through one interface, and convert a column to numbers.

The kind of a column follows from its declared type alone. The conversions are total: each cell is
converted by itself, and a value that cannot be converted counts as missing, because an exception
would tell that it is there.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from dpstats.errors import ArgumentError

KINDS = ("number", "integer", "boolean", "string", "date")
"""Kinds that ``types=`` may declare."""
UNTYPED = {"text": "a text file", "object": "a list or an object column"}
"""Kinds of columns that declare no type, and what they come from."""
NUMERIC = ("number", "integer", "boolean")


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
        labels) or one of ``UNTYPED``.
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


def declared(name: str, column: Column, kind: str) -> Column:
    """Return a column as the kind that ``types=`` declares.

    Raises
    ------
    ArgumentError
        For another word, or a column whose own type says something else.
    """
    if kind not in KINDS:
        raise ArgumentError(
            f"expected types[{name!r}] to be one of {', '.join(KINDS)}, got {kind!r}"
        )
    if column.kind in UNTYPED:
        return column.typed(kind)
    if column.kind != kind and not (kind == "number" and column.kind in NUMERIC):
        raise ArgumentError(
            f"types declares {name!r} {kind} and its type is {column.dtype}; types= is for text "
            "files, lists and object columns, so convert the column before the call"
        )
    return column


def no_levels(name: str, more: str = "") -> ArgumentError:
    """Build the error for a factor whose levels neither its type nor ``levels=`` declares."""
    return ArgumentError(
        f"the levels of {name} must be declared, because those present in the data are "
        f'private: levels={{"{name}": [...]}} or a Categorical column (in polars an Enum){more}'
    )


def no_number(name: str, kind: str) -> ArgumentError:
    """Build the error for a column that is neither a number nor a factor.

    >>> print(no_number("born", "datetime"))
    born holds dates or times; make a column of days, or a factor, before the call
    """
    if kind in ("date", "datetime"):
        said = "holds dates or times; make a column of days, or a factor,"
    else:
        said = "is neither numeric nor categorical; make a number or a factor of it"
    return ArgumentError(f"{name} {said} before the call")


def numbers(column: Column) -> np.ndarray:
    """Convert a numeric or untyped column to floats; what is not a number is missing.

    Parameters
    ----------
    column : Column
        The column, (n,). In one without a type, text is read as a number where it is one.

    Returns
    -------
    ndarray
        float64 (n,), NaN for missing: the column's own memory where it is one piece. It is always
        contiguous, aligned and read-only, as loops are compiled for each kind of array, and
        functions of numpy differ by it in their last bit.

    Examples
    --------
    >>> from dpstats.engines.python_columns import PythonColumn
    >>> numbers(PythonColumn.of(["2.5", "n/a"]))
    array([2.5, nan])
    """
    if column.kind in UNTYPED:
        column = column.typed("number")
    values = column.floats()
    in_one_piece = values.strides == (values.itemsize,) and values.flags.aligned
    values = values.view() if in_one_piece else values.copy()
    values.flags.writeable = False
    return values
