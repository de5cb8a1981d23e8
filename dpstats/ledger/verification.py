"""Check a ledger: the chain of hashes, every row against it, and the totals."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from dpstats.errors import LedgerError
from dpstats.ledger.accounts import Dataset, allocation, call_of
from dpstats.ledger.records import START, link, read_total, repeated, total_texts
from dpstats.ledger.store import DAMAGED
from dpstats.ledger.tables import COLUMNS, SCHEMA, SPENT, TRIGGERS
from dpstats.privacy import Call, Total

# What a damaged cell may raise on its way from text to a number.
_DAMAGED = (AttributeError, KeyError, LedgerError, TypeError, ValueError, ZeroDivisionError)


@dataclass(frozen=True)
class Verification:
    """Hold the problems that a check of a ledger found.

    Attributes
    ----------
    entries : int
        How many entries the audit has.
    head : str
        The hash of the last one, which stands for the whole ledger. Kept elsewhere, it shows
        later that nothing before it was replaced.
    problems : tuple of str
        A sentence on each row that is not as the audit says; empty where all is well.
    """

    entries: int
    head: str
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Tell whether no problem was found."""
        return not self.problems

    def __str__(self) -> str:
        if self.ok:
            return f"{self.entries:,} audit entries, all rows and totals agree; head {self.head}"
        return "\n".join(self.problems)


def verify(connection: sqlite3.Connection, head: str | None) -> Verification:
    """Check everything that :class:`Verification` reports; nothing is written."""
    try:
        try:
            return _verified(connection, head)
        except sqlite3.OperationalError:  # a text is not UTF-8
            with _any_bytes(connection):
                return _verified(connection, head)
    except (sqlite3.DatabaseError, *DAMAGED) as error:
        return Verification(0, "", (f"the file is damaged: {type(error).__name__}",))


@contextmanager
def _any_bytes(connection: sqlite3.Connection) -> Iterator[None]:
    """Read texts whatever their bytes, which takes seconds more for 10^5 rows."""
    previous = connection.text_factory
    connection.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
    try:
        yield
    finally:
        connection.text_factory = previous


def _verified(connection: sqlite3.Connection, head: str | None) -> Verification:
    """Check the file, the chain, the rows and the totals."""
    problems = [f"the file: {text}" for (text,) in _integrity(connection)]
    problems += _rules(connection)
    rows: dict[tuple[str, int], str] = {}
    last, count, seen = START, 0, head is None
    for problem, last, place, content in _chain(connection):
        count += 1
        problems += problem
        rows[place] = content
        seen = seen or last == head
    if not seen:
        problems.append(f"audit: no entry has the hash {head}; the chain was replaced")
    problems += _differences(connection, rows)
    try:
        problems += _totals(connection)
    except _DAMAGED as error:
        problems.append(f"totals: they cannot be added up ({type(error).__name__})")
    return Verification(count, last, tuple(problems))


def _integrity(connection) -> Iterator[tuple[str]]:
    return (row for row in connection.execute("PRAGMA integrity_check") if row != ("ok",))


def _rules(connection) -> Iterator[str]:
    """Find tables and triggers that are missing, changed, or not of this package."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(SCHEMA + TRIGGERS)
        made = _statements(fresh)
    found = _statements(connection)
    for place in {**made, **found}:
        if made.get(place) != found.get(place):
            kind, name = place
            said = "not of dpstats" if place not in made else "missing or changed"
            yield f"{kind} {name}: it is {said}"


def _statements(connection) -> dict[tuple[str, str], str]:
    """Return the statements that made tables, indexes and triggers, by kind and name."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master")
    return {(kind, name): sql for kind, name, sql in rows}


def _chain(connection) -> Iterator[tuple]:
    """Yield each audit entry's problems, hash, (table, row) and content."""
    previous, expected = START, 1
    for *entry, found in connection.execute("SELECT * FROM audit ORDER BY id"):
        problems = []
        number, *_, place, row, content = entry
        if number != expected:
            problems.append(f"audit row {expected}: it is missing")
        if link(previous, tuple(entry)) != found:
            problems.append(f"audit row {number}: its hash does not fit its content")
        yield problems, found, (place, row), content
        previous, expected = found, number + 1


def _differences(connection, rows: dict[tuple[str, int], str]) -> Iterator[str]:
    """Find rows that differ from their last audit entry, are missing, or have none."""
    left = dict(rows)
    for table, columns in COLUMNS.items():
        for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY id"):
            content = left.pop((table, row[0]), None)
            if content is None:
                yield f"{table} row {row[0]}: the audit does not know it"
            elif (now := repeated(table, row)) != (then := _parsed(content)):
                names = [name for name in now if then and now[name] != then.get(name)]
                yield f"{table} row {row[0]}: {', '.join(names) or 'it'} is not as the audit says"
    yield from (f"{table} row {row}: it is missing" for table, row in left)


def _parsed(content: str) -> dict:
    """Parse a row as the audit repeats it; empty where it is damaged."""
    try:
        found = json.loads(content)
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _totals(connection) -> Iterator[str]:
    """Find totals that are not the sums over the requests, and those beyond their limits."""
    dataset = Dataset.read(connection)
    calls: dict[str, list[Call]] = {"": []}
    rows = connection.execute("SELECT id, analyst, state, epsilon, delta, cost FROM requests")
    released = {number for (number,) in connection.execute("SELECT id FROM releases")}
    for number, analyst, state, *numbers in rows:
        if (state == "released") != (number in released):
            yield f"requests row {number}: it is {state}, which does not fit the stored releases"
        if state in SPENT:
            call = call_of(*numbers)
            for scope in {"", analyst} - {None}:
                calls.setdefault(scope, []).append(call)
    sums = {scope: Total.of(listed) for scope, listed in calls.items()}
    for scope, total in sums.items():
        name = f"totals row {scope!r}" if scope else "totals of the data set"
        if total_texts(read_total(connection, scope)) != total_texts(total):
            yield f"{name}: not the sum over the requests"
    if not dataset.limit.admits(sums[""]):
        yield "totals of the data set: beyond its limit"
    names = {scope for (scope,) in connection.execute("SELECT scope FROM totals")}
    yield from (f"totals row {scope!r}: nothing was spent" for scope in names - set(sums))
    yield from (
        f"requests: {scope!r} has spent and has no allocation"
        for scope in set(sums) - {""}
        if allocation(connection, dataset.limit.rule, scope) is None
    )
