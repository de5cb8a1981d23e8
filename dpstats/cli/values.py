"""Convert texts from the command line to the values that verbs take."""

import csv
import inspect
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import pandas as pd

from dpstats.engines import AnyTable
from dpstats.engines.columns import UNTYPED
from dpstats.engines.columns.cells import date
from dpstats.errors import ArgumentError
from dpstats.formula import Formula
from dpstats.verbs.ols import dp_ols


def pairs(texts: list[str], option: str, form: str) -> dict[str, list[str]]:
    """Parse ``name=a,b`` as name to values at the last =, since a term may hold others."""
    pairs: dict[str, list[str]] = {}
    for text in texts:
        name, _, values = text.rpartition("=")
        if not name or "" in (parts := [part.strip() for part in values.split(",")]):
            raise ArgumentError(f"expected {option} {form}, got {text!r}")
        if name in pairs:
            raise ArgumentError(f"{option} names {name} twice")
        pairs[name] = parts
    return pairs


def bounds(texts: list[str]) -> dict[str, tuple[float, float]]:
    """Parse ``column=low,high``."""
    return numbers(texts, "--bounds", "column=low,high", 2)


def numbers(texts: list[str], option: str, form: str, count: int) -> dict[str, tuple]:
    """Parse ``name=1,2`` as name to ``count`` numbers."""
    parsed = {}
    for name, values in pairs(texts, option, form).items():
        numbers = _as_numbers(values)
        if len(numbers) != count or isinstance(numbers[0], str):
            text = f"{name}={','.join(values)}"
            raise ArgumentError(f"expected {option} {form}, got {text!r}")
        parsed[name] = tuple(numbers)
    return parsed


def listed_numbers(text: str, option: str) -> list[float]:
    """Parse ``1,2`` as numbers."""
    numbers = _as_numbers([part.strip() for part in text.split(",")])
    if isinstance(numbers[0], str):
        raise ArgumentError(f"expected {option} to list numbers, got {text!r}")
    return numbers


def _as_numbers(texts: list[str]) -> list:
    """Convert texts to numbers if all of them are."""
    numbers = [_number(text) for text in texts]
    return texts if None in numbers else numbers


def _number(text: str) -> int | float | None:
    """Convert a text to a number, or return None."""
    for convert in (int, float):
        with suppress(ValueError):
            return convert(text)
    return None


def types(texts: list[str]) -> dict[str, str]:
    """Parse ``column=kind`` into a mapping of columns to kinds."""
    given = pairs(texts, "--types", "column=kind")
    wrong = [f"{name}={','.join(kinds)}" for name, kinds in given.items() if len(kinds) > 1]
    if wrong:
        raise ArgumentError(f"expected --types column=kind, got {wrong[0]!r}")
    return {name: kind for name, (kind,) in given.items()}


_TRUTH = {"true": True, "false": False}


def typed(table: AnyTable, column: str, texts: list[str]) -> list:
    """Convert texts to values of a column as its type says; text stays as it is."""
    kind, declared = table.kind(column), table.levels(column)
    if declared:
        kind = "string" if any(isinstance(level, str) for level in declared) else "number"
    if kind == "boolean":
        values = [_TRUTH.get(text.lower(), _number(text)) for text in texts]
    elif kind in ("number", "integer"):
        values = [_number(text) for text in texts]
    elif kind == "date":
        values = [date(text) for text in texts]
    else:
        return texts
    if None in values:
        held = {"boolean": "true and false", "date": "dates such as 2020-12-31"}
        raise ArgumentError(
            f"column {column} holds {held.get(kind, 'numbers')}, got {texts[values.index(None)]!r}"
        )
    return values


def levels(texts: list[str]) -> dict[str, list]:
    """Parse public levels without a table: numbers if all of them look like numbers."""
    texts_by_name = pairs(texts, "--levels", "column=a,b,...")
    return {name: _as_numbers(values) for name, values in texts_by_name.items()}


def points(
    texts: list[str], formula: str, table: AnyTable, factors: Collection[str] = ()
) -> pd.DataFrame | None:
    """Parse prediction points, labelled by their values as typed.

    A column of text is a number unless it is one of the ``factors``, whose levels are declared.
    """
    if not texts:
        return None
    predictors = Formula.parse(formula).predictors
    if len(texts) == 1 and "=" not in texts[0]:
        if len(predictors) != 1:
            names = ", ".join(predictors)
            raise ArgumentError(f"expected --x-new column=value for each of {names}")
        texts = [f"{predictors[0]}={texts[0]}"]
    typed_values = pairs(texts, "--x-new", "column=value,value")
    if len({len(values) for values in typed_values.values()}) > 1:
        raise ArgumentError("expected --x-new to give every column as many values")
    points = zip(*typed_values.values(), strict=True)
    labels = [" ".join(map("=".join, zip(typed_values, point, strict=True))) for point in points]
    untyped = [n for n in typed_values if table.kind(n) in UNTYPED and n not in factors]
    table = table.typed(dict.fromkeys(untyped, "number"))
    columns = {name: typed(table, name, values) for name, values in typed_values.items()}
    return pd.DataFrame(columns, index=labels)


def options(texts: list[str]) -> dict:
    """Parse options of the method as numbers, ranges of numbers or truth values, else as texts."""
    options, truth = {}, {"true": True, "false": False}
    for name, values in pairs(texts, "--option", "name=value").items():
        if name != "k" and name in inspect.signature(dp_ols).parameters:
            raise ArgumentError(f"{name} is no --option of a method; see dpstats fit --help")
        parsed = [truth.get(value, value) for value in _as_numbers(values)]
        options[name] = tuple(parsed) if len(parsed) > 1 else parsed[0]
    return options


def group_columns(texts: list[str], table: AnyTable) -> str | list[str]:
    """List the columns of --by; a comma separates two unless it is in a column's name."""
    columns: list[str] = []
    for text in texts:
        columns += [text] if text in table.columns else map(str.strip, text.split(","))
    return columns[0] if len(columns) == 1 else columns


def groups(arguments, by: str | list[str], table: AnyTable) -> list | None:
    """Parse the public list of labels by the types of the columns; tuples for several columns."""
    if arguments.groups is not None:
        if not isinstance(by, str):
            raise ArgumentError(
                "--groups lists labels of one column; list the combinations of "
                f"{', '.join(by)} in --groups-file, one per line"
            )
        return typed(table, by, _stripped(arguments.groups.split(",")))
    if arguments.groups_file is None:
        return None
    lines = _stripped(_lines(arguments.groups_file))
    if isinstance(by, str):
        return typed(table, by, lines)
    return _combinations(lines, by, table)


def _combinations(lines: list[str], by: list[str], table: AnyTable) -> list[tuple]:
    """Parse lines of labels separated by commas to tuples, a label for each column."""
    rows = [_stripped(next(csv.reader([line]))) for line in lines]
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(by):
            columns = ",".join(by)
            raise ArgumentError(f"expected {columns} on each line of --groups-file, got {line!r}")
    columns = zip(by, zip(*rows, strict=True), strict=bool(rows))
    return list(zip(*(typed(table, name, list(labels)) for name, labels in columns), strict=True))


def _lines(path: str) -> list[str]:
    """Read the lines of a text file."""
    try:
        return Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        raise ArgumentError(f"cannot read {path}") from None


def _stripped(texts: list[str]) -> list[str]:
    """Strip blanks around texts, and drop empty ones."""
    return [text.strip() for text in texts if text.strip()]
