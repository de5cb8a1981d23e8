"""Show the contents of a ledger: tables, a summary, a plot and an export."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from dpstats.atomic_write import replacing
from dpstats.engines import Source
from dpstats.escaping import drawn
from dpstats.html_tables import html_table
from dpstats.ledger.accounts import Dataset, allocation, call_of, last_call
from dpstats.ledger.records import now, read_total
from dpstats.ledger.sources import bound, described
from dpstats.ledger.tables import COLUMNS, SPENT, STATES
from dpstats.option_checks import word
from dpstats.privacy import Composition, Total
from dpstats.results.show.plot import axes

_SHOWN = ("id", "analyst", "state", "epsilon", "delta", "method", "formula", "data", "created")
_FILES = "json_extract(facts, '$.data') AS data"
_POINTS = 200  # of a picture; each is a root of its own


def requests(connection: sqlite3.Connection, state: str | None) -> pd.DataFrame:
    """Return the requests, all or those of one state, as a table."""
    if state is not None:
        word("state", *STATES)(state)
    chosen, values = ("", ()) if state is None else (" WHERE state = ?", (state,))
    names = ", ".join(_FILES if name == "data" else name for name in _SHOWN)
    query = f"SELECT {names} FROM requests{chosen} ORDER BY id"
    rows = connection.execute(query, values).fetchall()
    columns = dict(
        zip(_SHOWN, zip(*rows, strict=True) if rows else [()] * len(_SHOWN), strict=True)
    )
    numbers = {name: [float(text) for text in columns[name]] for name in ("epsilon", "delta")}
    places = {text: _place(text) for text in set(columns["data"])}
    data = [places[text] for text in columns["data"]]
    return pd.DataFrame(columns | numbers | {"data": data}).astype({"id": "int64"})


def request(connection: sqlite3.Connection, number: int) -> dict | None:
    """Return a request with the arguments of its call, or None where there is none."""
    names = [name for name in _SHOWN if name != "data"]
    row = connection.execute(
        f"SELECT {', '.join(names)}, neighbors, facts FROM requests WHERE id = ?", (number,)
    ).fetchone()
    if row is None:
        return None
    shown = dict(zip([*names, "neighbors"], row, strict=False))
    facts = json.loads(row[-1])
    each = facts.pop("formulas", [])
    facts |= each[0][1] if len(each) == 1 else {"formulas": dict(each)}
    shown |= {name: float(shown[name]) for name in ("epsilon", "delta")}
    given = {name: value for name, value in facts.items() if value not in (None, [], {}, "")}
    return shown | {name: value for name, value in given.items() if name not in shown}


def _place(files: str | None) -> str:
    """Name the files that a request is about; format 1 did not record them."""
    return "not recorded" if files is None else Source(tuple(json.loads(files)), {}).place


def analysts(connection: sqlite3.Connection, rule: str) -> pd.DataFrame:
    """List the analysts' allocations, what they spent, and the largest call that is left."""
    names = [name for (name,) in connection.execute("SELECT name FROM analysts ORDER BY id")]
    found = [
        (name, allocation(connection, rule, name), read_total(connection, name)) for name in names
    ]
    rows = [
        (
            name,
            limit.epsilon,
            limit.delta,
            *limit.spent(total),
            *limit.remaining(total),
            total.calls,
        )
        for name, limit, total in found
        if limit is not None
    ]
    parts = [
        f"{part}{name}" for part in ("", "spent_", "remaining_") for name in ("epsilon", "delta")
    ]
    return pd.DataFrame(rows, columns=["analyst", *parts, "calls"])


def states(connection: sqlite3.Connection) -> dict[str, int]:
    """Count the requests in each state."""
    return dict(connection.execute("SELECT state, COUNT(*) FROM requests GROUP BY state"))


def head(connection: sqlite3.Connection) -> str:
    """Return the hash of the audit's last entry."""
    return connection.execute("SELECT hash FROM audit ORDER BY id DESC LIMIT 1").fetchone()[0]


def facts(connection: sqlite3.Connection, dataset: Dataset) -> list[tuple[str, str]]:
    """List the data set's limit, what is spent and remains, and the requests by state."""
    limit, total, counts = dataset.limit, read_total(connection, ""), states(connection)
    known, last = bound(connection), last_call(connection, None)
    rule = "epsilons and deltas add up" if limit.rule == "sum" else "squared mu's add up"
    pairs = [
        ("data", described(known.now) if known else "those of the first call"),
        ("neighbours", dataset.neighbors),
        ("data as of", dataset.fingerprint or "not stated, so equal calls are released anew"),
        ("approval", "each call" if dataset.approval else "none needed"),
        ("composition", f"{limit.rule}: {rule}"),
        ("limit", _pair(limit.epsilon, limit.delta)),
        ("spent", _pair(*limit.spent(total))),
        ("remaining", f"{_pair(*limit.remaining(total))} in one call"),
    ]
    if last is not None:
        said = f"like the last (epsilon {last.epsilon:g}, delta {last.delta:g})"
        pairs.append(("another call", f"{said}: {limit.calls_left(total, last):,} more"))
    if limit.rule == "gdp" and total.gaussian:
        pairs.append(("mu squared", f"{float(total.mu_squared):.4g} of {limit.mu**2:.4g}"))
    if limit.rule == "gdp":
        aside = f"{float(total.failing):.3g} of {limit.set_aside:.3g} of delta"
        pairs.append(("set aside", aside))
    said = ", ".join(f"{counts[state]:,} {state}" for state in STATES if state in counts)
    return [*pairs, ("requests", said or "none"), ("audit head", head(connection))]


def summary(dataset: Dataset, pairs: Sequence[tuple[str, str]], people: pd.DataFrame) -> str:
    """Write the facts of a data set and the table of its analysts as text."""
    lines = [_title(dataset), *(f"{name + ':':<14}{fact}" for name, fact in pairs)]
    if len(people):
        lines += ["", people.to_string(index=False, float_format=_digits)]
    return "\n".join(lines)


def html(dataset: Dataset, pairs: Sequence[tuple[str, str]], people: pd.DataFrame) -> str:
    """Write the facts of a data set and its analysts as HTML; names are escaped."""
    tables = [html_table(pairs, title=_title(dataset))]
    if len(people):
        rows = [[name, *map(_digits, numbers)] for name, *numbers in people.itertuples(index=False)]
        tables.append(html_table(rows, list(people)))
    return "\n".join(tables)


def _title(dataset: Dataset) -> str:
    return f"Ledger of {dataset.name}, created {dataset.created}"


def _digits(value: float) -> str:
    return f"{value:.4g}"


def _pair(epsilon: float, delta: float) -> str:
    return f"epsilon {epsilon:.6g}, delta {delta:.3g}"


def plot(connection: sqlite3.Connection, dataset: Dataset, ax=None):
    """Draw the epsilon spent after each call against its time, until now."""
    ax = axes(ax, width=7, height=4)
    times, spent = _spending(connection, dataset.limit)
    times, spent = [*times, now()], [*spent, spent[-1]]
    ax.step(pd.to_datetime(times, utc=True), spent, where="post", label="spent")
    ax.axhline(dataset.limit.epsilon, linestyle="--", color="black", label="limit")
    ax.legend(loc="center left", frameon=False)
    top = dataset.limit.epsilon * 1.05
    ax.set(title=drawn(dataset.name), ylabel="epsilon spent", ylim=(0, top))
    return ax


def _spending(connection, limit: Composition) -> tuple[list[str], list[float]]:
    """Return times, and epsilon spent until then, of the creation and at most 200 calls."""
    ((created,),) = connection.execute("SELECT created FROM dataset")
    marks = ", ".join("?" * len(SPENT))
    rows = connection.execute(
        f"SELECT created, epsilon, delta, cost FROM requests WHERE state IN ({marks}) ORDER BY id",
        SPENT,
    ).fetchall()
    total, every = Total(), -(-len(rows) // _POINTS) or 1
    times, spent = [created], [0.0]
    for start in range(0, len(rows), every):
        part = rows[start : start + every]
        total += Total.of([call_of(*numbers) for _, *numbers in part])
        times.append(part[-1][0])
        spent.append(limit.spent(total)[0])
    return times, spent


def export(connection: sqlite3.Connection, path: Path) -> None:
    """Write every table as JSON: a list of rows, each with its columns' names."""
    names = COLUMNS | {
        "audit": ("id", "at", "actor", "action", "place", "number", "content", "hash")
    }
    content = {
        table: [
            dict(zip(columns, row, strict=True))
            for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY id")
        ]
        for table, columns in names.items()
    }
    with replacing(path) as beside:
        beside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
