"""Every label that can be fitted can be stored and is read back with its type."""

import datetime
import json
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from dateutil import tz

import dpstats as dp
from dpstats.engines.labels.stored_labels import can_be_stored, restored, stored
from dpstats.results.restored_calls import from_text
from dpstats.results.store.calls import to_text

Time, Span, Day = pd.Timestamp, pd.Timedelta, datetime.date
ROME, TIME = ZoneInfo("Europe/Rome"), datetime.datetime
INDIA = datetime.timezone(datetime.timedelta(hours=5.5))
STORED = {
    "text": ["a", "$date"],
    "int": [1, 2],
    "number and text": [1, "1"],
    "float": [0.1, -0.0],
    "infinity": [float("inf"), 1.5],
    "bool": [True, False],
    "beyond 64 bits": [2**70, 10**400],
    "decimal": [Decimal("1.10"), Decimal("Infinity")],
    "numpy": [np.int8(1), np.int8(2)],
    "numpy text": [np.str_("a"), np.str_("b")],
    "numpy wide": [np.longdouble("0.1"), np.longdouble("0.2")],
    "numpy time": [np.datetime64("2020-01-01T00"), np.datetime64("2020-01-02T00")],
    "date": [Day(2020, 1, 1), Day(1, 1, 1)],
    "datetime": [TIME(2020, 1, 1), TIME(2020, 1, 2, 3, 4, 5, 6)],
    "datetime in UTC": [TIME(2020, 1, day, tzinfo=datetime.UTC) for day in (1, 2)],
    "datetime in a zone": [TIME(2020, 1, 1, tzinfo=ROME),
                           TIME(2020, 10, 25, 2, fold=1, tzinfo=ROME)],
    "datetime by offset": [TIME(2020, 1, day, tzinfo=INDIA) for day in (1, 2)],
    "timestamp": [Time("2020-01-01"), Time("2020-01-01 00:00:00.000000001")],
    "timestamp in seconds": [Time("2020-01-01").as_unit("s"), Time("2021-01-01").as_unit("s")],
    "timestamp in a zone": [Time(day, tz="Europe/Rome") for day in ("2020-01-01", "2020-07-01")],
    "timestamp by offset": [Time("2020-01-01 00:00+05:30"), Time("2020-01-02 00:00+05:30")],
    "interval": [pd.Interval(0, 1), pd.Interval(1, 2)],
    "interval, closed left": [pd.Interval(0.0, 1.5, "left"), pd.Interval(1.5, np.inf, "left")],
    "interval of times": [pd.Interval(Time(str(year), tz="UTC"), Time(str(year + 1), tz="UTC"))
                          for year in (2020, 2021)],
    "interval of spans": [pd.Interval(Span(1), Span(2)), pd.Interval(Span(2), Span(3))],
    "period": [pd.Period("2020Q1"), pd.Period("2020-01", "M")],
    "tuple": [("IL", 1), ("WI", 2)],
    "tuple of dates": [(Day(2020, 1, 1), True), (Day(2020, 1, 2), False)],
}  # fmt: skip
REFUSED = {
    "no text": ["\ud800", "b"],
    "bytes": [b"a", b"b"],
    "None": [None, "a"],
    "NaN": [float("nan"), 1.0],
    "NaT": [pd.NaT, Time("2020")],
    "signalling NaN": [Decimal("sNaN"), Decimal(1)],
    "frozenset": [frozenset("a"), frozenset("b")],
    "complex": [1j, 2j],
    "more digits than Python writes": [10**5000, 1],
    "span": [Span(1), Span(2)],
    "numpy span": [np.timedelta64(1, "ns"), np.timedelta64(2, "ns")],
    "nested tuple": [(("a",), 1), (("b",), 2)],
    "tuple of a list": [([1], 2), ([2], 2)],
    "datetime in a zone without a name": [TIME(2020, 1, d, tzinfo=tz.tzlocal()) for d in (1, 2)],
    "timestamp in a zone of a file": [Time(f"2020-01-0{d}", tz="dateutil/Europe/Rome")
                                      for d in (1, 2)],
}  # fmt: skip
CALL = {"method": "adassp", "epsilon": 4, "bounds": {"x": (0, 1), "y": (0, 1)}}


def rows(labels) -> pd.DataFrame:
    """Half of the rows have each of two labels."""
    data = dp.simulate.line(200, seed=1)
    data["g"] = pd.Series([labels[i % 2] for i in range(200)], dtype=object)
    return data.assign(h=["u", "v"] * 100)


def fitted(labels) -> dict:
    data, two = rows(labels), [(label, h) for label in labels for h in "uv"]
    return {
        "groups": dp.dp_ols("y ~ x", data, by="g", groups=labels, **CALL),
        "groups of two columns": dp.dp_ols("y ~ x", data, by=["g", "h"], groups=two, **CALL),
        "levels": dp.dp_ols("y ~ x + g", data, levels={"g": labels}, **CALL),
    }


def labels_of(result) -> tuple:
    return result.labels if isinstance(result, dp.DPGroupResults) else result.schema["g"].levels


def described(label) -> tuple:
    """Everything that tells one label from another."""
    if isinstance(label, tuple):
        return tuple(map(described, label))
    zone = getattr(label, "tzinfo", None)
    return type(label), label, repr(label), getattr(label, "unit", None), zone and str(zone)


@pytest.mark.parametrize("case", STORED)
def test_labels_are_read_back_with_their_types(case):
    for result in fitted(STORED[case]).values():
        texts = json.dumps(result.to_dict(), allow_nan=False), result.to_json(), to_text(result)
        again = [type(result).from_json(text) for text in texts[:2]] + [from_text(texts[2])]
        for each in again:
            assert each == result
            assert described(labels_of(each)) == described(labels_of(result))


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_stored_is_refused_before_rows_are_read(case, monkeypatch):
    monkeypatch.setattr("dpstats.run.charge._released", None)
    budget, labels = dp.Budget(10, 1e-3), REFUSED[case]
    data, two = rows(labels), [(label, h) for label in labels for h in "uv"]
    for more in (
        {"by": "g", "groups": labels},
        {"by": ["g", "h"], "groups": two},
        {"formula": "y ~ x + g", "levels": {"g": labels}},
    ):
        with pytest.raises(dp.ArgumentError, match=r"groups|levels\['g'\]"):
            dp.dp_ols(**{"formula": "y ~ x", "data": data, "budget": budget, **CALL, **more})
    assert budget.spent == (0.0, 0.0)


def times(zone) -> pd.DataFrame:
    """Rows with a column of times in a zone."""
    days = pd.to_datetime([f"2020-01-0{1 + i % 2}" for i in range(200)])
    return dp.simulate.line(200, seed=1).assign(g=days.tz_localize(zone))


def test_a_column_of_times_has_labels_where_its_zone_has_a_name():
    with pytest.raises(dp.ArgumentError, match="type without labels"):
        dp.dp_ols("y ~ x", times("dateutil/Europe/Rome"), by="g", **CALL)
    data = times("Europe/Rome")
    by = dp.dp_ols("y ~ x", data, by="g", **CALL)
    again = dp.DPGroupResults.from_json(by.to_json())
    assert described(again.labels) == described(by.labels) and len(by) == 2


def test_labels_are_read_back_from_the_text_that_is_stored():
    assert restored(["IL", {"$decimal": "1.10"}]) == ("IL", Decimal("1.10"))
    with pytest.raises(ValueError, match="unpack"):
        restored({"$datetime": "2020-01-01T00:00:00"})


def test_only_labels_are_written():
    assert not can_be_stored([1]) and not can_be_stored(object())
    with pytest.raises(TypeError, match="object is no label"):
        stored(object())
