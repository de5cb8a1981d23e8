"""Check group labels before a row is read, and find the group of each row."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpstats.engines import AnyTable, Table
from dpstats.errors import ArgumentError, shown
from dpstats.option_checks import is_word
from dpstats.schema import check_labels, plain_labels

# What groups= says to take the labels that occur, which are then treated as public.
PRESENT = "present"
# Columns of the tidy frame beside the group's own.
COLUMNS = ("term", "estimate", "std_error", "lower", "upper", "status")


class Grouping(NamedTuple):
    """Hold the group of each row, -1 for none, the labels, and whether these come from the rows."""

    codes: np.ndarray
    labels: tuple
    present: bool


def columns_of(by) -> tuple[str, ...]:
    """Return the group columns that by= names."""
    return (by,) if isinstance(by, str) else tuple(by)


def label_columns(by, labels: tuple) -> dict[str, pd.api.extensions.ExtensionArray]:
    """Return the labels of groups as columns, one for each name in by."""
    columns = [labels] if isinstance(by, str) else zip(*labels, strict=True)
    arrays = (pd.Series(list(own)).array for own in columns)
    return dict(zip(columns_of(by), arrays, strict=bool(labels)))


def check_names(by) -> None:
    """Raise ArgumentError unless by= names columns, none of them twice."""
    named = isinstance(by, Sequence) and all(isinstance(name, str) for name in by) and by
    if not named or len(set(columns_of(by))) < len(columns_of(by)):
        raise ArgumentError(f"expected by to name one column or a list of columns, got {shown(by)}")


def check_by(table: AnyTable, variables: Collection[str], by, groups) -> None:
    """Raise ArgumentError unless by= and groups= can be used beside the variables of a formula.

    No row is read.
    """
    if by is None:
        if groups is not None:
            raise ArgumentError("groups= lists the labels of a group column; name it with by=")
        return
    check_names(by)
    listed = None if _present(groups) else groups
    for name in columns_of(by):
        _check_column(table, variables, name, listed)
    if listed is not None:
        _check_groups(table, by, listed)
    elif groups is None and isinstance(by, str) and (levels := table.levels(by)):
        table.check_labels(by, levels, "the column type")


def declared_groups(by, groups, levels: Mapping[str, tuple]):
    """Return ``groups=``; where it is left out, the levels that are declared of a single column."""
    return levels.get(by) if groups is None and isinstance(by, str) else groups


def _present(groups) -> bool:
    """Tell whether groups= asks for the labels that occur, or is not given."""
    return groups is None or is_word(groups, PRESENT)


def _check_column(table: AnyTable, variables: Collection[str], name: str, listed) -> None:
    kind = table.kind(name)
    if name in COLUMNS:
        raise ArgumentError(f"by={name!r} is a column of the result; rename the group column")
    if name in variables:
        raise ArgumentError(f"by={name!r} is in the formula; its values would become public labels")
    if kind == "other":
        raise ArgumentError(f"by={name!r} is of a type without labels; convert the column first")
    if listed is None and kind == "number" and table.levels(name) is None:
        raise ArgumentError(
            f"by={name!r} holds real numbers, which would become public labels; list the labels in "
            "groups= or make it a column of integers or categories"
        )
    if listed is None and kind == "object":
        raise ArgumentError(
            f"nothing declares the type of by={name!r}, a list or an object column; list the "
            f'labels in groups=, or say types={{"{name}": "string"}} or "integer"'
        )


def _check_groups(table: AnyTable, by, groups) -> None:
    """Raise ArgumentError unless groups lists labels that the group columns can have."""
    check_labels(groups, "groups")
    if isinstance(by, str):
        table.check_labels(by, plain_labels(groups), "groups")
        return
    wrong = [label for label in groups if not _is_row(label, len(by))]
    if wrong:
        raise ArgumentError(
            f"expected each label in groups to be a tuple ({', '.join(by)}), got {shown(wrong[0])}"
        )
    for name, labels in zip(by, zip(*groups, strict=True), strict=True):
        table.check_labels(name, plain_labels(dict.fromkeys(labels)), "groups")


def _is_row(label, length: int) -> bool:
    return isinstance(label, tuple) and len(label) == length


def listed_labels(table: AnyTable, by, groups) -> tuple | None:
    """Return the public labels, as tuples for several columns, or None for those present.

    Without ``groups=`` a single column's type may declare one. Labels that are present are treated
    as public, and the report says so.
    """
    if _present(groups):
        return table.levels(by) if groups is None and isinstance(by, str) else None
    return plain_labels(groups) if isinstance(by, str) else tuple(map(plain_labels, groups))


def present_rows(table: Table, by) -> tuple[np.ndarray, tuple]:
    """Return the group of each row, -1 where a label is missing, and the labels present, sorted."""
    if isinstance(by, str):
        return table.labels(by)
    columns = [table.labels(name) for name in by]
    codes, rows = _combined([column for column, _ in columns])
    parts = ([labels[code] for code in column[rows].tolist()] for column, labels in columns)
    return codes, tuple(zip(*parts, strict=True))


def listed_rows(table: Table, by, labels: tuple) -> np.ndarray:
    """Return the group of each row by a public list of labels, -1 for a row in none.

    Each row is looked up by itself: by one column in the list, or by several in the combinations.
    """
    if isinstance(by, str):
        return table.codes(by, labels)
    parts = [tuple(dict.fromkeys(own)) for own in zip(*labels, strict=True)]
    sizes = [len(own) + 1 for own in parts]  # the last place of each is that of no label
    places = [{label: i for i, label in enumerate(own)} for own in parts]
    found = np.full(sizes, -1, np.int64)
    for i, label in enumerate(labels):
        found[tuple(place[part] for place, part in zip(places, label, strict=True))] = i
    codes = (table.codes(name, own) for name, own in zip(by, parts, strict=True))
    return found[tuple(codes)]


def group_rows(table: Table, by, groups) -> Grouping:
    """Group the rows by one column, or by the combinations of several."""
    labels = listed_labels(table, by, groups)
    if labels is None:
        return Grouping(*present_rows(table, by), True)
    return Grouping(listed_rows(table, by, labels), labels, False)


def _combined(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Number the combinations of codes in order, -1 where a code is; return also a row of each."""
    known = np.flatnonzero(np.logical_and.reduce([codes >= 0 for codes in columns]))
    number = np.zeros(len(known), np.int64)
    for codes in columns:
        present = codes[known]
        _, number = np.unique(number * (present.max(initial=0) + 1) + present, return_inverse=True)
    _, rows = np.unique(number, return_index=True)
    combined = np.full(len(columns[0]), -1)
    combined[known] = number
    return combined, known[rows]
