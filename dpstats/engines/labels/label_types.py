"""Check that public labels are of the type of a column; types are public, so others are refused."""

import datetime
from collections.abc import Sequence
from decimal import Decimal

from dpstats.engines.columns import Column, cells
from dpstats.engines.labels.stored_labels import can_be_stored
from dpstats.errors import ArgumentError, shown

_TYPES = (
    (bool, "boolean"),
    (int, "integer"),
    ((float, Decimal), "number"),
    (str, "string"),
    (datetime.datetime, "datetime"),
    (datetime.date, "date"),
    (tuple, "tuple"),
)
# What stands for a missing value in text files.
_MISSING = ("", "NA")
_NUMBERS = {"boolean", "integer", "number"}
_ALLOWED = {
    "number": _NUMBERS,
    "integer": _NUMBERS,
    "boolean": _NUMBERS,
    "string": {"string"},
    "date": {"date"},
    "datetime": {"datetime"},
    "text": {*_NUMBERS, "string", "date"},
}


def label_type(label) -> str:
    """Return the type of a label, in the words of the kinds of columns.

    Examples
    --------
    >>> label_type(True), label_type("a"), label_type(datetime.date(2020, 1, 1)), label_type([])
    ('boolean', 'string', 'date', 'list')
    """
    return next((name for own, name in _TYPES if isinstance(label, own)), type(label).__name__)


def text_kind(labels: Sequence) -> str | None:
    """Return the one kind as which cells of text are read to be compared with labels, or None.

    Examples
    --------
    >>> text_kind(["8", "12"]), text_kind([8, 12]), text_kind([8, 1.5]), text_kind(["8", 12])
    ('string', 'integer', 'number', None)
    """
    types = {label_type(label) for label in labels}
    if types <= {"integer", "number"} and types:
        return "integer" if types == {"integer"} else "number"
    return types.pop() if len(types) == 1 else None


def check_types(name: str, column: Column, labels: Sequence, argument: str) -> None:
    """Raise ArgumentError for labels that no value of a column of this type can equal.

    Parameters
    ----------
    name, argument : str
        The column, and the argument that lists its labels, for the message.

    Examples
    --------
    >>> from dpstats.engines.columns import PythonColumn
    >>> check_types("g", PythonColumn.of(["a"]).typed("string"), [1], "levels")
    Traceback (most recent call last):
    ...
    dpstats.errors.ArgumentError: levels lists 1 for 'g', a column of type string; ...
    """
    if column.kind == "other":
        raise ArgumentError(
            f"the column {name!r} is of type {column.dtype}, which has no labels; convert it to "
            "text, whole numbers or dates first"
        )
    for label in labels:
        if cells.label(label) is not None and not can_be_stored(label):
            raise ArgumentError(
                f"{argument} lists a label of type {type(label).__name__} for {name!r} that cannot "
                "be stored and read back, such as a time in a zone without a name; convert the "
                "column and its labels to text"
            )
    levels = column.levels
    valued = column.kind in _NUMBERS and levels is not None
    texts = {isinstance(level, str) for level in levels or ()}
    wrong = [label for label in labels if not _fits(label, column, valued, texts)]
    if wrong:
        raise ArgumentError(
            f"{argument} lists {shown(wrong[0])} for {name!r}, a column of type {_said(column)}; "
            "list labels of that type, or convert the column"
        )
    if column.kind == "category" and labels and levels and {*labels}.isdisjoint(levels):
        raise ArgumentError(
            f"{argument} lists {shown(labels[0])} for {name!r} and none of its levels, such as "
            f"{shown(levels[0])}"
        )
    missing = [label for label in labels if isinstance(label, str) and label in _MISSING]
    if column.dtype == "text" and missing:
        raise ArgumentError(
            f"{argument} lists {missing[0]!r} for {name!r}, a column of a text file, in which it "
            "stands for a missing value; write another code for it in the file"
        )
    if column.kind == "text" and text_kind(labels) is None:
        raise ArgumentError(
            f"{argument} lists labels of several types for {name!r}, a column of text; list "
            "numbers only or strings only"
        )


def _said(column: Column) -> str:
    """Return the type of a column in words, with its time zone."""
    zone = f" with the time zone {column.zone}" if column.zone else ""
    return column.kind + zone


def _fits(label, column: Column, valued: bool, texts: set[bool]) -> bool:
    """Tell whether a label is of a column's type, or the text of one of its value labels.

    ``texts`` says for the categories of a column whether there are texts among them, and others.
    """
    if cells.label(label) is None:
        return False
    if valued and isinstance(label, str):
        return True
    if column.kind == "object":
        return True
    if column.kind == "category":
        return not texts or isinstance(label, str) in texts
    if label_type(label) not in _ALLOWED[column.kind]:
        return False
    if column.kind == "integer":
        return label == label // 1
    if column.kind == "boolean":
        return label in (0, 1)
    if column.kind != "datetime":
        return True
    return (getattr(label, "tzinfo", None) is None) == (column.zone is None)


def check_distinct(name: str, labels: Sequence) -> None:
    """Raise ArgumentError for labels of a column that are there twice or cannot be compared."""
    try:
        distinct = len(set(labels)) == len(labels)
    except TypeError:
        raise ArgumentError(
            f"expected labels of {name!r} that are numbers, strings or bools"
        ) from None
    if not distinct:
        raise ArgumentError(f"expected no label of {name!r} twice")
