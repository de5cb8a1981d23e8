"""Serve to R what the steward of a data set does with its ledger."""

import inspect
import json

import pandas as pd

from dpstats.errors import ArgumentError
from dpstats.ledger import Ledger
from dpstats.r.inputs import rows
from dpstats.spelling import nearest


def create(path: str, data=None, **arguments) -> None:
    """Make a ledger in a new file, with the arguments of ``Ledger.create``."""
    known = [*inspect.signature(Ledger.create).parameters][1:]
    for name in arguments:
        if name not in known:
            near = nearest(name, known)
            there = f"did you mean {near}?" if near else f"it has {', '.join(known)}"
            raise ArgumentError(f"dp_ledger_create() has no argument {name}; {there}")
    Ledger.create(path, data=rows(data), **arguments)


def move(path: str, data) -> None:
    """Say where the data of a ledger are now: paths, or columns as R keeps them."""
    Ledger(path).move(rows(data))


def allocate(path: str, analyst: str, epsilon: float, delta: float | None = None) -> dict:
    """Set the limit of an analyst; returns the table of all analysts."""
    ledger = Ledger(path)
    ledger.allocate(analyst, epsilon, delta)
    return columns(ledger.analysts())


def analysts(path: str) -> dict:
    """List the analysts."""
    return columns(Ledger(path).analysts())


def requests(path: str, state: str | None = None) -> dict:
    """List the requests, all or those of one state."""
    return columns(Ledger(path).requests(state))


def request(path: str, request: int) -> dict:
    """Show what a request asks for in full: names, and values as texts or JSON."""
    found = Ledger(path).request(request)
    values = [value if isinstance(value, str) else json.dumps(value) for value in found.values()]
    return {"numbers": {}, "texts": {"entry": [*found], "value": values},
            "order": ["entry", "value"]}  # fmt: skip


def settle(path: str, request: int, state: str) -> dict:
    """Approve or deny a request; returns its row of the table of requests."""
    ledger = Ledger(path)
    {"approved": ledger.approve, "denied": ledger.deny}[state](request)
    return columns(ledger.requests().query("id == @request"))


def verify(path: str, head: str | None = None) -> dict:
    """Check a ledger against its audit."""
    found = Ledger(path).verify(head)
    problems = list(found.problems)
    return {
        "ok": found.ok,
        "entries": float(found.entries),
        "head": found.head,
        "problems": problems,
    }


def export(path: str, out: str) -> None:
    """Write everything in a ledger as one JSON file."""
    Ledger(path).export(out)


def columns(frame: pd.DataFrame) -> dict:
    """List a table by column: numbers as floats, texts with "" where there is none.

    >>> columns(pd.DataFrame({"id": [1], "analyst": [None]}))
    {'numbers': {'id': [1.0]}, 'texts': {'analyst': ['']}, 'order': ['id', 'analyst']}
    """
    numeric = frame.select_dtypes("number")
    texts = frame.drop(columns=list(numeric)).astype(object)
    texts = texts.where(texts.notna(), "")
    return {
        "numbers": {name: column.astype(float).tolist() for name, column in numeric.items()},
        "texts": {
            name: column.where(column.notna(), "").tolist() for name, column in texts.items()
        },
        "order": list(frame.columns),
    }
