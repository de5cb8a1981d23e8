"""Convert one cell of a column that declares no type, by itself.

Every function takes any Python object and returns a plain value, or None (NaN for a number) where
the object is no such value. None raises, and none calls a method of a class that is not in Python,
numpy or pandas: what a table holds can neither stop a call nor run code in it.
"""

import datetime
import math
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.A | re.I)
_INTEGER = re.compile(r"[+-]?\d{1,19}", re.A)
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.A)
_TRUTH = {"true": True, "false": False, "1": True, "0": False}
_NUMPY = {*np.sctypeDict.values()}
NUMBERS = (bool, int, float, Decimal)
_PLAIN = (*NUMBERS, str, datetime.date, datetime.datetime, pd.Timestamp, pd.Interval, pd.Period)
# Whole numbers that fit into 64 bits.
_LEAST, _MOST = -(2**63), 2**63 - 1


def plain(cell) -> Any:
    """Return a number, text, truth value, date or time as Python's own type, else None.

    Examples
    --------
    >>> plain(np.float32(0.5)), plain(["a"]), plain(np.datetime64("2020-01-02"))
    (0.5, None, datetime.date(2020, 1, 2))
    """
    if type(cell) in _NUMPY:
        if type(cell) is np.datetime64 and np.datetime_data(cell)[0] != "D":
            cell = _guarded(pd.Timestamp, cell)
        else:
            cell = float(cell) if type(cell) is np.longdouble else cell.item()
    return cell if type(cell) in _PLAIN else None


def _guarded(convert, *arguments):
    """Return what a library makes of a cell, None where it raises."""
    try:
        return convert(*arguments)
    except Exception:  # whatever is raised here depends on the cell
        return None


def number(cell) -> float:
    """Return a cell as a double: a number, a truth value or the text of a number.

    Examples
    --------
    >>> number(True), number(" 2.5 "), number("n/a"), number(10**400)
    (1.0, 2.5, nan, inf)
    """
    if type(cell) is float:  # most often so
        return cell
    cell = plain(cell)
    if type(cell) is str:
        cell = cell.strip()
        return float(cell) if _NUMBER.fullmatch(cell) else math.nan
    if type(cell) not in NUMBERS:
        return math.nan
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf
    except ValueError:  # a signalling NaN
        return math.nan


def integer(cell) -> int | None:
    """Return a cell as a whole number of 64 bits.

    Examples
    --------
    >>> integer("007"), integer(3.0), integer("2.5"), integer(2**70)
    (7, 3, None, None)
    """
    cell = plain(cell)
    text = cell.strip() if type(cell) is str else None
    if type(cell) is int or text and _INTEGER.fullmatch(text):
        whole = int(cell)
    else:
        value = number(cell)
        whole = int(value) if abs(value) < 2.0**53 and value.is_integer() else None
    return whole if whole is not None and _LEAST <= whole <= _MOST else None


def boolean(cell) -> bool | None:
    """Return a cell as a truth value: true, false, 1 or 0, as a value or as text.

    Examples
    --------
    >>> boolean("TRUE"), boolean(0.0), boolean("yes")
    (True, False, None)
    """
    cell = plain(cell)
    if type(cell) is str:
        return _TRUTH.get(cell.strip().lower())
    return {1.0: True, 0.0: False}.get(number(cell))


def string(cell) -> str | None:
    """Return a cell that is text and can be written as UTF-8.

    Examples
    --------
    >>> string("a"), string("\\ud800"), string(1)
    ('a', None, None)
    """
    cell = plain(cell)
    return cell if type(cell) is str and is_utf8(cell) else None


def is_utf8(text: str) -> bool:
    """Tell whether text has no half of a surrogate pair, which UTF-8 cannot write."""
    return text.isascii() or text == text.encode(errors="ignore").decode()


def date(cell) -> datetime.date | None:
    """Return a cell that is a date, or text such as 2020-12-31.

    Examples
    --------
    >>> date("2020-12-31"), date("31.12.2020"), date(datetime.datetime(2020, 1, 1))
    (datetime.date(2020, 12, 31), None, None)
    """
    cell = plain(cell)
    if type(cell) is str:
        parts = _DATE.fullmatch(cell.strip())
        return _guarded(datetime.date, *map(int, parts.groups())) if parts else None
    return cell if type(cell) is datetime.date else None


def label(cell):
    """Return a cell as a label to look up, or None: a plain value, or a tuple of such values.

    Labels that are equal are one label: 1, 1.0 and True are, 1 and "1" are not.

    Examples
    --------
    >>> label(np.int8(3)), label(float("nan")), label(("IL", 1)), label({})
    (3, None, ('IL', 1), None)
    """
    if type(cell) is tuple:
        parts = tuple(_guarded(_scalar, part) for part in cell)
        return None if None in parts else parts
    return _guarded(_scalar, cell)


def identity(cell):
    """Return a hashable identifier of the person in a cell; None for missing.

    It is the cell's label, or for bytes and for text that is no UTF-8 what they hold. All other
    cells, such as lists, are one and the same: rows of one person never count as several persons.

    Examples
    --------
    >>> identity(7), identity(None), identity(b"a"), identity([1]) == identity({})
    (7, None, ('bytes', '61'), True)
    """
    known = label(cell)
    if known is not None or is_missing(cell):
        return known
    if type(cell) is bytes:
        return "bytes", cell.hex()
    if type(cell) is str:
        return "text", cell.encode("utf-8", "surrogatepass").hex()
    return ("unreadable",)


def text_identity(cell):
    """Return a text as it is, and the :func:`identity` of any other cell.

    Examples
    --------
    >>> text_identity("7"), text_identity(7), text_identity(None)
    ('7', 7, None)
    """
    text = string(cell)
    return identity(cell) if text is None else text


def is_missing(cell) -> bool:
    """Tell whether a cell is one of the marks of a missing value."""
    if cell is None or cell is pd.NaT or cell is pd.NA:
        return True
    if type(cell) is np.datetime64:
        return bool(np.isnat(cell))
    value = plain(cell)
    if type(value) is Decimal:  # a signalling NaN cannot be compared
        return value.is_nan()
    return value is not None and bool(value != value)


def _scalar(cell):
    cell = plain(cell)
    if cell is None or cell is pd.NaT or cell != cell:
        return None
    if type(cell) is str:
        return cell if is_utf8(cell) else None
    hash(cell)  # a time with a zone may have none
    return cell


CONVERSIONS = {
    "number": number,
    "integer": integer,
    "boolean": boolean,
    "string": string,
    "date": date,
}
