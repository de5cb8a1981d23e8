"""Encode columns of labels as codes, each cell by itself.

Public labels are put into the column's own form, whole numbers, doubles or text, and each cell is
looked up among them. Cells are never compared with one another, so the code of a row does not
depend on what other rows hold. The conversions are total: a value that is no label counts as
missing, because an exception would tell that it is there.
"""

import datetime
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from dpstats.engines.columns import Column, cells
from dpstats.engines.labels.label_types import text_kind

_EPOCH = datetime.date(1970, 1, 1).toordinal()
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def match(column: Column, labels: Sequence) -> np.ndarray:
    """Code a column by a public list of labels.

    Parameters
    ----------
    column : Column
        The column, (n,), of any kind.
    labels : sequence
        (L,) distinct hashable labels; 1, 1.0 and True are the same label, 1 and "1" are not.

    Returns
    -------
    ndarray
        int64 (n,), the position of each value in ``labels``; -1 for missing or not among them.

    Examples
    --------
    >>> from dpstats.engines.columns import columns_of
    >>> columns = columns_of({"g": pd.Series(["b", "c", None]), "n": np.array([2, 3, 1])})
    >>> match(columns["g"], ("a", "b")), match(columns["n"], (1, 2))
    (array([ 1, -1, -1]), array([ 1, -1,  0]))
    """
    position = {own: i for i, own in enumerate(map(cells.label, labels)) if own is not None}
    if column.kind != "category" and column.levels is not None and _any_text(position):
        return _among_categories(column, position)
    return _MATCHED.get(column.kind, _nowhere)(column, position)


def _any_text(position: Mapping) -> bool:
    return any(isinstance(label, str) for label in position)


def _nowhere(column: Column, position: Mapping) -> np.ndarray:
    return np.full(len(column), -1, dtype=np.int64)


def _among_texts(column: Column, position: Mapping) -> np.ndarray:
    texts = {label: i for label, i in position.items() if isinstance(label, str)}
    return column.located(texts) if texts else _nowhere(column, position)


def _among_objects(column: Column, position: dict) -> np.ndarray:
    return column.located(position)


def _among_cells_of_text(column: Column, position: Mapping) -> np.ndarray:
    kind = text_kind(list(position))
    if kind is None:
        return _nowhere(column, position)
    return _MATCHED[kind](column.typed(kind), position)


def _among_categories(column: Column, position: Mapping) -> np.ndarray:
    codes, categories = column.distinct()
    # the last entry is where the code -1 points
    places = [position.get(cells.label(category), -1) for category in categories]
    return np.array([*places, -1], dtype=np.int64)[codes]


def _among_floats(column: Column, position: Mapping) -> np.ndarray:
    near = {_as_stored(v, column): i for v, i in reversed([*position.items()]) if _is_double(v)}
    return _looked_up(column.floats(), None, near, np.float64)


def _as_stored(label, column: Column) -> float:
    """Return the number that stands for a label in a column, rounded where it has 32 or 16 bits.

    >>> from dpstats.engines.columns import columns_of
    >>> _as_stored(0.1, columns_of({"x": np.ones(1, np.float32)})["x"])
    0.10000000149011612
    """
    narrow = column.narrow
    if narrow is None or not isinstance(label, float) or abs(label) > float(np.finfo(narrow).max):
        return float(label)
    return float(narrow(label))


def _is_double(label) -> bool:
    """Tell whether some double stands for a label: a whole number must be equal to it."""
    if not isinstance(label, cells.NUMBERS):
        return False
    return not isinstance(label, int) or cells.number(label) == label


def _among_ticks(to_tick: Callable, column: Column, position: Mapping) -> np.ndarray:
    values, missing = column.ticks()
    if values.dtype != np.uint64:
        values = values.astype(np.int64, copy=False)
    limits = np.iinfo(values.dtype)
    ticks = {to_tick(label, column): i for label, i in position.items()}
    inside = {t: i for t, i in ticks.items() if t is not None and limits.min <= t <= limits.max}
    return _looked_up(values, missing, inside, values.dtype)


def _looked_up(values, missing, position: Mapping, dtype) -> np.ndarray:
    """Return the position of each number, int64 (n,); numbers are equal bit by bit or as 0, -0."""
    index = pd.Index(np.array(list(position), dtype=dtype))
    places = index.get_indexer(pd.Index(values, dtype=dtype))
    found = np.array([*position.values(), -1], dtype=np.int64)[places]
    return found if missing is None else np.where(missing, -1, found)


def _whole(label, column: Column) -> int | None:
    """Return the whole number that equals a label."""
    if not isinstance(label, cells.NUMBERS) or cells.number(label) in (np.inf, -np.inf):
        return None
    exact = Fraction(label)
    return exact.numerator if exact.denominator == 1 else None


def _day(label, column: Column) -> int | None:
    """Return a date as days since 1970."""
    return label.toordinal() - _EPOCH if type(label) is datetime.date else None


def _instant(label, column: Column) -> int | None:
    """Return a time in the column's unit since 1970."""
    if not isinstance(label, datetime.datetime):
        return None
    stamp: Any = pd.Timestamp(label)
    if (stamp.tzinfo is None) != (column.zone is None):
        return None
    utc = stamp if stamp.tzinfo is None else stamp.tz_convert("UTC").tz_localize(None)
    days = utc.toordinal() - _EPOCH
    seconds = days * 86_400 + utc.hour * 3600 + utc.minute * 60 + utc.second
    nanoseconds = seconds * 10**9 + utc.microsecond * 1000 + utc.nanosecond
    whole, rest = divmod(nanoseconds, _NANOSECONDS[str(column.unit)])
    return None if rest else whole


def _ticked(to_tick: Callable) -> Callable:
    return lambda column, position: _among_ticks(to_tick, column, position)


_MATCHED = {
    "number": _among_floats,
    "integer": _ticked(_whole),
    "boolean": _ticked(_whole),
    "date": _ticked(_day),
    "datetime": _ticked(_instant),
    "string": _among_texts,
    "category": _among_categories,
    "object": _among_objects,
    "text": _among_cells_of_text,
}


def factorize(column: Column) -> tuple[np.ndarray, list]:
    """Number the distinct values of a column.

    Parameters
    ----------
    column : Column
        The column, (n,), of any kind; one without a type is taken for text.

    Returns
    -------
    codes : ndarray
        int64 (n,), -1 for missing and for what Python has no value for, such as the year 10000.
    values : list
        The distinct values as Python scalars; ``values[codes[i]]`` is the value of row i.

    Examples
    --------
    >>> from dpstats.engines.columns import columns_of
    >>> factorize(columns_of({"g": pd.Series(["b", None, "a", "b"])})["g"])
    (array([ 0, -1,  1,  0]), ['b', 'a'])
    """
    if column.kind in ("text", "object"):
        column = column.typed("string")
    if column.kind == "other":
        return _nowhere(column, {}), []
    if column.kind in ("string", "category") or column.levels is not None:
        codes, values = column.distinct()
        values = [cells.label(value) for value in values]
    else:
        codes, values = _numbered(column)
    present = np.bincount(codes[codes >= 0], minlength=len(values)) > 0
    known = [here and value is not None for here, value in zip(present, values, strict=True)]
    rank = np.where([*known, False], np.cumsum([*known, False]) - 1, -1)
    return rank[codes], [value for value, here in zip(values, known, strict=True) if here]


def in_order(column: Column) -> tuple[np.ndarray, tuple]:
    """Number the distinct values of a column as :func:`factorize` does, in their order.

    >>> from dpstats.engines.columns import columns_of
    >>> in_order(columns_of({"tract": np.array([7, 3, 7])})["tract"])
    (array([1, 0, 1]), (3, 7))
    """
    codes, values = factorize(column)
    order = _sorted_positions(values)
    rank = np.empty(len(values) + 1, dtype=np.int64)
    rank[order] = np.arange(len(values))
    rank[-1] = -1
    return rank[codes], tuple(values[i] for i in order)


def _sorted_positions(values: list) -> list[int]:
    positions = range(len(values))
    try:
        return sorted(positions, key=values.__getitem__)
    except TypeError:  # mixed types have no order of their own
        return sorted(positions, key=lambda i: (type(values[i]).__name__, repr(values[i])))


def _numbered(column: Column) -> tuple[np.ndarray, list]:
    """Number the distinct numbers, dates or times."""
    if column.kind == "number":
        codes, values = pd.factorize(column.floats())
        return codes.astype(np.int64), values.tolist()
    ticks, missing = column.ticks()
    codes, values = pd.factorize(ticks)
    codes = codes.astype(np.int64) if missing is None else np.where(missing, -1, codes)
    return codes, [_value(tick, column) for tick in values.tolist()]


def _value(tick, column: Column):
    """Return the value that a whole number stands for, None where Python has none."""
    if column.kind == "date":
        ordinal = tick + _EPOCH
        here = 1 <= ordinal <= datetime.date.max.toordinal()
        return datetime.date.fromordinal(ordinal) if here else None
    return _time(tick, column) if column.kind == "datetime" else tick


def _time(tick: int, column: Column) -> pd.Timestamp | None:
    unit: Any = column.unit
    moment = np.datetime64(tick, unit)
    try:
        if not isinstance(moment.astype("M8[s]").item(), datetime.datetime):
            return None  # not between the years 1 and 9999
        stamp: Any = pd.Timestamp(moment)
        return stamp.tz_localize("UTC").tz_convert(column.zone) if column.zone else stamp
    except Exception:  # a shift of hours out of these years
        return None
