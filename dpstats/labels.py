"""Group labels: checks before a row is read, and the group of each row."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpstats.engines.frames import Table
from dpstats.errors import ArgumentError
from dpstats.request import Request
from dpstats.schema import check_labels, plain_labels

# Columns of the tidy frame beside the group's own.
COLUMNS = ("term", "estimate", "std_error", "lower", "upper", "status")


class Grouping(NamedTuple):
    """The group of each row, -1 for none; the labels; whether they were read off the rows."""

    codes: np.ndarray
    labels: tuple
    present: bool


def columns_of(by) -> tuple[str, ...]:
    """The group columns that by= names."""
    return (by,) if isinstance(by, str) else tuple(by)


def check_by(request: Request, by, groups) -> None:
    """Raise ArgumentError unless by= and groups= can be used; no row is read."""
    if by is None:
        if groups is not None:
            raise ArgumentError("groups= lists the labels of a group column; name it with by=")
        return
    listed = isinstance(by, Sequence) and all(isinstance(name, str) for name in by) and by
    if not listed or len(set(columns_of(by))) < len(columns_of(by)):
        raise ArgumentError(f"expected by to name one column or a list of columns, got {by!r}")
    for name in columns_of(by):
        _check_column(request, name, groups)
    if groups is not None:
        check_labels(groups, "groups")
    if groups is not None and not isinstance(by, str):
        wrong = [label for label in groups if not _is_row(label, len(by))]
        if wrong:
            raise ArgumentError(
                f"expected each label in groups to be a tuple ({', '.join(by)}), got {wrong[0]!r}"
            )


def _check_column(request: Request, name: str, groups) -> None:
    kind = request.table.kind(name)
    if name in COLUMNS:
        raise ArgumentError(f"by={name!r} is a column of the result; rename the group column")
    if name in request.formula.variables:
        raise ArgumentError(f"by={name!r} is in the formula; its values would become public labels")
    if groups is None and kind == "numeric" and not request.table.whole(name):
        raise ArgumentError(
            f"by={name!r} holds real numbers, which would become public labels; list the labels in "
            "groups= or make it a column of integers or categories"
        )


def _is_row(label, length: int) -> bool:
    return isinstance(label, tuple) and len(label) == length


def group_rows(table: Table, by, groups) -> Grouping:
    """Group the rows by one column, or by the combinations of several."""
    if isinstance(by, str):
        return _by_one(table, by, table.levels(by) if groups is None else groups)
    groups = None if groups is None else [plain_labels(label) for label in groups]
    listed = [None if groups is None else _distinct(groups, i) for i in range(len(by))]
    parts = [_by_one(table, *column) for column in zip(by, listed, strict=True)]
    codes, rows = _combined([part.codes for part in parts])
    columns = ([part.labels[code] for code in part.codes[rows].tolist()] for part in parts)
    present = list(zip(*columns, strict=True))
    labels = tuple(present if groups is None else groups)
    position = {label: i for i, label in enumerate(labels)}
    # the last entry is where the code -1 points
    place = np.array([position.get(label, -1) for label in present] + [-1], np.int64)
    return Grouping(place[codes], labels, groups is None)


def _combined(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the combinations of codes in their order, -1 where one is, and a row of each."""
    known = np.flatnonzero(np.logical_and.reduce([codes >= 0 for codes in columns]))
    number = np.zeros(len(known), np.int64)
    for codes in columns:
        own = codes[known]
        _, number = np.unique(number * (own.max(initial=0) + 1) + own, return_inverse=True)
    _, rows = np.unique(number, return_index=True)
    combined = np.full(len(columns[0]), -1)
    combined[known] = number
    return combined, known[rows]


def _distinct(groups, i: int) -> list:
    """The labels of column i, each once."""
    return list(dict.fromkeys(label[i] for label in groups))


def _by_one(table: Table, name: str, listed) -> Grouping:
    if listed is None:
        return Grouping(*table.labels(name), True)
    labels = plain_labels(listed)
    return Grouping(table.codes(name, labels), labels, False)
