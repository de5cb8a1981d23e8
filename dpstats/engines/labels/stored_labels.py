"""Write labels as values that JSON knows, and read them back with their types."""

import datetime
import json
import math
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

_PLAIN = (str, bool, int, float)
_WHOLE = 2**63


def stored(label) -> Any:
    """Write a label as a text, number or truth value, a list of them, or {"$type": ...}.

    Raises
    ------
    TypeError
        For what is no label.

    Examples
    --------
    >>> stored(("IL", 1)), stored(datetime.date(2020, 1, 2)), stored(pd.Period("2020Q1"))
    (['IL', 1], {'$date': '2020-01-02'}, {'$period': [200, 'Q-DEC']})
    """
    if type(label) is tuple:
        return [stored(part) for part in label]
    if type(label) is float and not math.isfinite(label):
        return {"$number": repr(label)}
    if type(label) in _PLAIN:
        return label
    for tag, (kind, write, _) in _KINDS.items():
        if type(label) is kind:
            return {tag: write(label)}
    raise TypeError(f"a {type(label).__name__} is no label")


def restored(content) -> Any:
    """Read what :func:`stored` wrote; what it did not write raises some error or other.

    Examples
    --------
    >>> restored({"$date": "2020-01-02"}), restored(["IL", 1])
    (datetime.date(2020, 1, 2), ('IL', 1))
    """
    if type(content) is list:
        return tuple(restored(part) for part in content)
    if type(content) is dict:
        ((tag, value),) = content.items()
        return _KINDS[tag][2](value)
    if type(content) not in _PLAIN:
        raise TypeError(f"{content!r} is no label")
    return content


def can_be_stored(label) -> bool:
    """Tell whether a label is the same, of the same type, when it is read back.

    Examples
    --------
    >>> can_be_stored(pd.Timestamp("2020-01-01", tz="Europe/Rome")), can_be_stored(10**5000)
    (True, False)
    """
    if type(label) in (str, bool, float) or type(label) is int and -_WHOLE < label < _WHOLE:
        return True  # which there may be a hundred thousand of
    try:
        text = json.dumps(stored(label))
        again = restored(json.loads(text))
        return again == label and json.dumps(stored(again)) == text
    except Exception:  # each type has errors of its own
        return False


def _zone_of(moment) -> str | None:
    return None if moment.tzinfo is None else str(moment.tzinfo)


def _timestamp(content) -> pd.Timestamp:
    """Restore a time of pandas from its text, unit and time zone."""
    text, unit, zone = content
    moment: Any = pd.Timestamp(text)
    if zone not in (None, _zone_of(moment)):
        moment = moment.tz_convert(ZoneInfo(zone))
    return moment.as_unit(unit)


def _datetime(content) -> datetime.datetime:
    text, zone = content
    moment = datetime.datetime.fromisoformat(text)
    return moment if zone in (None, _zone_of(moment)) else moment.astimezone(ZoneInfo(zone))


def _end(value):
    """Return the end of an interval as Python's own number where it is one of NumPy."""
    return value.item() if isinstance(value, np.generic) else value


_KINDS: dict[str, tuple] = {
    "$timestamp": (
        pd.Timestamp, lambda label: [label.isoformat(), label.unit, _zone_of(label)], _timestamp,
    ),
    "$datetime": (
        datetime.datetime, lambda label: [label.isoformat(), _zone_of(label)], _datetime,
    ),
    "$date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "$decimal": (Decimal, str, Decimal),
    "$number": (None, None, float),
    "$interval": (
        pd.Interval,
        lambda label: [stored(_end(label.left)), stored(_end(label.right)), label.closed],
        lambda content: pd.Interval(*map(restored, content)),
    ),
    "$period": (
        pd.Period,
        lambda label: [label.ordinal, label.freqstr],
        lambda content: pd.Period(ordinal=content[0], freq=content[1]),
    ),
    "$timedelta": (
        pd.Timedelta,
        lambda label: [label.isoformat(), label.unit],
        lambda content: pd.Timedelta(content[0]).as_unit(content[1]),
    ),
}  # fmt: skip
