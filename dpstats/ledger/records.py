"""Write each row of a ledger with its entry in the audit, a chain of hashes."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction

from dpstats.ledger.tables import COLUMNS
from dpstats.privacy import Total

START = "0" * 64
_LARGE = ("facts", "result")  # the audit repeats their checksums


def now() -> str:
    """Return the time by this machine's clock; nothing but the display depends on it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def sha256(text: str) -> str:
    """Return the SHA-256 hash of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical(content: Mapping) -> str:
    """Write content as JSON that is the same for equal content."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def repeated(table: str, row: sqlite3.Row | tuple) -> dict:
    """Return the content of a row that the audit repeats."""
    content = dict(zip(COLUMNS[table], row, strict=True))
    for name in _LARGE:
        if isinstance(content.get(name), str):
            content[name] = "sha256 " + sha256(content[name])
    return content


def link(previous: str, entry: Sequence) -> str:
    """Hash an entry (id, at, actor, action, place, number, content) with the previous hash."""
    return sha256(json.dumps([previous, *entry]))


def insert(connection: sqlite3.Connection, table: str, actor: str, action: str, **values) -> int:
    """Add a row and its entry in the audit; return its number."""
    values |= {"created": now()}
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    done = connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", [*values.values()])
    number = int(done.lastrowid or 0)
    audit(connection, table, number, actor, action)
    return number


def update(connection: sqlite3.Connection, table: str, row: int, actor: str, action: str, **values):
    """Change a row and add its entry to the audit."""
    changes = ", ".join(f"{name} = ?" for name in values)
    connection.execute(f"UPDATE {table} SET {changes} WHERE id = ?", [*values.values(), row])
    audit(connection, table, row, actor, action)


def audit(connection: sqlite3.Connection, table: str, row: int, actor: str, action: str) -> None:
    """Add an entry to the audit that repeats the row as it is now."""
    columns = ", ".join(COLUMNS[table])
    (now_row,) = connection.execute(f"SELECT {columns} FROM {table} WHERE id = ?", (row,))
    last = connection.execute("SELECT id, hash FROM audit ORDER BY id DESC LIMIT 1").fetchone()
    number, previous = last or (0, START)
    entry = (number + 1, now(), actor, action, table, row, canonical(repeated(table, now_row)))
    values = (*entry, link(previous, entry))
    connection.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)


def read_total(connection: sqlite3.Connection, scope: str) -> Total:
    """Return the exact sums of one analyst's calls, or of all calls for the scope ""."""
    found = connection.execute("SELECT * FROM totals WHERE scope = ?", (scope,)).fetchone()
    if found is None:
        return Total()
    calls, gaussian, *sums = found[1:]
    return Total(int(calls), int(gaussian), *map(Fraction, sums))


def write_total(connection: sqlite3.Connection, scope: str, total: Total) -> None:
    """Store the sums of one scope."""
    values = (scope, *total_texts(total))
    connection.execute("INSERT OR REPLACE INTO totals VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def total_texts(total: Total) -> tuple[str, ...]:
    """Return the sums as texts, in the order of the columns."""
    sums = (total.epsilon, total.delta, total.mu_squared, total.failing)
    return str(total.calls), str(total.gaussian), *map(str, sums)
