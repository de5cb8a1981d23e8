"""Group labels: checks before a row is read, and the group of each row."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpstats.engines import Described, Table
from dpstats.errors import ArgumentError
from dpstats.request.request import Request
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


def label_columns(by, labels: tuple) -> dict[str, pd.api.extensions.ExtensionArray]:
    """The labels of groups as columns, one for each name in by."""
    columns = [labels] if isinstance(by, str) else zip(*labels, strict=True)
    arrays = (pd.Series(list(own)).array for own in columns)
    return dict(zip(columns_of(by), arrays, strict=bool(labels)))


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


def listed_labels(table: Table | Described, by, groups) -> tuple | None:
    """The public list of labels, tuples for several columns; None: those present count as public.

    Without ``groups=`` a single column's type may declare one.
    """
    if isinstance(by, str):
        listed = table.levels(by) if groups is None else groups
        return None if listed is None else plain_labels(listed)
    return None if groups is None else tuple(plain_labels(label) for label in groups)


def present_rows(table: Table, by) -> tuple[np.ndarray, tuple]:
    """The group of each row, -1 where a label is missing, and the labels present, in order."""
    if isinstance(by, str):
        return table.labels(by)
    columns = [table.labels(name) for name in by]
    codes, rows = _combined([own for own, _ in columns])
    parts = ([labels[code] for code in own[rows].tolist()] for own, labels in columns)
    return codes, tuple(zip(*parts, strict=True))


def group_rows(table: Table, by, groups) -> Grouping:
    """Group the rows by one column, or by the combinations of several."""
    labels = listed_labels(table, by, groups)
    if isinstance(by, str) and labels is not None:
        return Grouping(table.codes(by, labels), labels, False)
    codes, present = present_rows(table, by)
    if labels is None:
        return Grouping(codes, present, True)
    position = {label: i for i, label in enumerate(labels)}
    # the last entry is where the code -1 points
    place = np.array([position.get(label, -1) for label in present] + [-1], np.int64)
    return Grouping(place[codes], labels, False)


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
