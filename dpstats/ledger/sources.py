"""Bind a ledger to the data that it is for: their files, and what their columns are."""

import json
import sqlite3
from typing import NamedTuple

from dpstats.engines import Source
from dpstats.errors import BudgetError, LedgerError
from dpstats.ledger.records import insert

_SHOWN = 6  # columns in a sentence


class Bound(NamedTuple):
    """Hold the data of a ledger as they are now, and the files of the first that it was for."""

    now: Source
    first: tuple[str, ...]


def bound(connection: sqlite3.Connection) -> Bound | None:
    """Read what the ledger is bound to, None before its first call."""
    rows = connection.execute("SELECT files, columns FROM sources ORDER BY id").fetchall()
    if not rows:
        return None
    try:
        (first, _), (files, columns) = (map(json.loads, row) for row in (rows[0], rows[-1]))
        return Bound(Source(tuple(files), dict(columns)), tuple(first))
    except (TypeError, ValueError):
        raise LedgerError("a row of the data's place is damaged; restore a backup") from None


def bind(connection: sqlite3.Connection, source: Source, actor: str, action: str) -> None:
    """Bind the ledger to these data from now on."""
    texts = {"files": json.dumps(source.files), "columns": json.dumps(dict(source.columns))}
    insert(connection, "sources", actor, action, **texts)


def check_source(known: Bound | None, asked: Source) -> None:
    """Raise BudgetError for data that are not the ledger's."""
    if known is not None and (why := _difference(known.now, asked)):
        raise BudgetError(
            f"this ledger is for other data: {why}; where its own data moved or were given other "
            "columns, the steward says so with `dpstats ledger move`"
        )


def bind_first(connection, known: Bound | None, asked: Source, actor: str) -> None:
    """Bind a ledger to the data of its first call, and one of no files to further columns."""
    check_source(known, asked)
    if known is None:
        bind(connection, asked, actor, "bound")
    elif not asked.files and not asked.columns.keys() <= known.now.columns.keys():
        bind(connection, Source((), {**known.now.columns, **asked.columns}), actor, "bound")


def identity(known: Bound | None, asked: Source) -> list[str]:
    """Return the identifier of the data in the key of equal calls.

    It is the place where they first were, so that the store answers after they moved too.
    """
    return list(asked.files if known is None else known.first)


def described(source: Source) -> str:
    """Write where data are and what their columns are, in one line."""
    names = [
        f"{name if name.isprintable() else ascii(name)} ({kind})"
        for name, kind in source.columns.items()
    ]
    more = [f"{len(names) - _SHOWN:,} more"] if len(names) > _SHOWN else []
    return f"{source.place}, columns {', '.join([*names[:_SHOWN], *more])}"


def _difference(known: Source, asked: Source) -> str:
    """Say in what two descriptions of data differ; empty where they may be the same data."""
    before, now = {*known.files}, {*asked.files}
    if before == now:
        return _other_columns(known, asked)
    if before.isdisjoint(now):
        return f"{known.place}, not {asked.place}"
    odd = min(before ^ now)
    return f"their file {Source((odd,), {}).place} is {'new' if odd in now else 'missing'}"


def _other_columns(known: Source, asked: Source) -> str:
    """Say which column differs; empty where none does.

    Data without files come as a call needs them, with more columns or fewer, so those that both
    have are compared.
    """
    for name in {**known.columns, **asked.columns}:
        before, now = known.columns.get(name), asked.columns.get(name)
        if before != now and (asked.files or None not in (before, now)):
            said = "missing" if now is None else "new" if before is None else f"{now}, not {before}"
            return f"their column {name!r} is {said}"
    return ""
