"""Decide on a call by the limits of a data set and of its analysts."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import NamedTuple

from dpstats.errors import ArgumentError, BudgetError, LedgerError, shown
from dpstats.ledger.records import (
    audit,
    canonical,
    insert,
    read_total,
    sha256,
    update,
    write_total,
)
from dpstats.ledger.sources import Bound, bind_first, bound, check_source, identity
from dpstats.ledger.tables import SPENT
from dpstats.privacy import Call, Composition, check_fits
from dpstats.results.record.acro import installed
from dpstats.results.store.single import cost_from_dict

_LONGEST_NAME = 200


@dataclass(frozen=True)
class Dataset:
    """Hold the facts with which a ledger was created."""

    name: str
    limit: Composition
    neighbors: str
    fingerprint: str | None
    approval: bool
    created: str

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> "Dataset":
        """Read the only row of its table; raise LedgerError where it is damaged."""
        rows = connection.execute(
            "SELECT name, epsilon, delta, composition, set_aside, neighbors, fingerprint, "
            "approval, created FROM dataset"
        ).fetchall()
        try:
            ((name, epsilon, delta, rule, aside, neighbors, fingerprint, approval, created),) = rows
            limit = Composition(float(epsilon), float(delta), rule, float(aside))
        except (TypeError, ValueError):
            raise LedgerError("the row of the data set is damaged; restore a backup") from None
        return cls(name, limit, neighbors, fingerprint, approval == "yes", created)


class Asked(NamedTuple):
    """Hold one call that asks for budget, with its public description."""

    call: Call
    neighbors: str
    facts: Mapping


class Found(NamedTuple):
    """Hold what a ledger knows of a call: its number, state, and stored result if there is one."""

    request: int | None
    state: str
    result: str | None = None

    @property
    def waits(self) -> str:
        """Say why the call may not run; empty where it may."""
        said = {"requested": "waits for approval by the steward", "denied": "was denied"}
        return f"request {self.request} {said[self.state]}" if self.state in said else ""


def allocation(connection: sqlite3.Connection, rule: str, analyst: str) -> Composition | None:
    """Return the limit of an analyst's own calls, None where nothing is allocated."""
    row = connection.execute(
        "SELECT epsilon, delta, set_aside FROM analysts WHERE name = ?", (analyst,)
    ).fetchone()
    if row is None:
        return None
    epsilon, delta, aside = map(float, row)
    return Composition(epsilon, delta, rule, aside)


def limit_texts(limit: Composition) -> dict[str, str]:
    """Return a limit as exact texts, by column."""
    return {name: repr(float(getattr(limit, name))) for name in ("epsilon", "delta", "set_aside")}


def limits(connection, dataset: Dataset, analyst: str | None) -> dict[str, tuple[str, Composition]]:
    """Return the limits on the analyst's calls by scope, each with its name for messages."""
    found = {"": (f"the budget of {dataset.name!r}", dataset.limit)}
    if analyst is not None:
        own = allocation(connection, dataset.limit.rule, analyst)
        if own is None:
            raise BudgetError(
                f"no budget is allocated to {analyst!r}; the steward can do so with "
                "`dpstats ledger allocate`"
            )
        found[analyst] = (f"the allocation of {analyst!r}", own)
    elif connection.execute("SELECT 1 FROM analysts").fetchone():
        raise BudgetError(
            "this ledger allocates budgets to analysts; say who you are with "
            'dpstats.Ledger(path, analyst="...") or --analyst'
        )
    return found


def _as_arguments(stated: str) -> str:
    """Write a relation as the arguments of a call that ask for it."""
    neighbors, _, unit = stated.partition(" of ")
    return f"neighbors={neighbors!r}" + (f", unit={unit!r}" if unit else "")


def _without_unit(stated: str, asked: str) -> str:
    """Say that a call names a unit where the ledger is for rows."""
    return "without unit= " if " of " in asked and " of " not in stated else ""


def find(
    connection: sqlite3.Connection, dataset: Dataset, analyst: str | None, actor: str, asked: Asked
) -> Found:
    """Find an equal call that was released or waits for approval; enter one that has to wait."""
    if asked.neighbors != dataset.neighbors:
        raise BudgetError(
            f"this ledger is for neighbors={dataset.neighbors!r}, and a release under "
            f"{asked.neighbors!r} cannot be added to it; pass {_as_arguments(dataset.neighbors)} "
            f"{_without_unit(dataset.neighbors, asked.neighbors)}and a method that is proven for it"
        )
    known = bound(connection)
    check_source(known, asked.facts["source"])
    key = request_key(asked, dataset.fingerprint, known)
    stored = dataset.fingerprint is not None and _stored(connection, key)
    if stored:
        audit(connection, "releases", stored[0], actor, "repeated")
        return Found(stored[0], "released", stored[1])
    if not dataset.approval:
        return Found(None, "new")
    row = connection.execute(
        "SELECT id, state FROM requests WHERE key = ? AND analyst IS ? AND state IN "
        "('requested', 'approved', 'denied') ORDER BY id DESC LIMIT 1",
        (key, analyst),
    ).fetchone()
    if row is not None:
        return Found(*row)
    values = _row(asked, analyst, key, "requested")
    return Found(insert(connection, "requests", actor, "requested", **values), "requested")


def reserve(
    connection, dataset: Dataset, analyst: str | None, actor: str, asked: Asked, found: Found
) -> int:
    """Charge a call to the data set and the analyst; raise BudgetError where it does not fit."""
    if found.state == "released" and found.request is not None:
        return found.request
    charge(connection, dataset, analyst, asked)
    known = bound(connection)
    bind_first(connection, known, asked.facts["source"], actor)
    if found.request is not None:
        update(connection, "requests", found.request, actor, "reserved", state="reserved")
        return found.request
    values = _row(asked, analyst, request_key(asked, dataset.fingerprint, known), "reserved")
    return insert(connection, "requests", actor, "reserved", **values)


def charge(connection, dataset: Dataset, analyst: str | None, asked: Asked) -> None:
    """Add a call to the totals it counts in; raise BudgetError where it does not fit."""
    for scope, (owner, limit) in limits(connection, dataset, analyst).items():
        total = check_fits(limit, read_total(connection, scope), asked.call, owner)
        write_total(connection, scope, total)


def request_key(asked: Asked, fingerprint: str | None, known: Bound | None) -> str:
    """Return the hash that equal calls about equal data share."""
    data = identity(known, asked.facts["source"])
    return sha256(
        canonical({"call": asked.facts["call"], "fingerprint": fingerprint, "data": data})
    )


def _stored(connection, key: str) -> tuple[int, str] | None:
    return connection.execute(
        "SELECT requests.id, result FROM requests JOIN releases USING (id) WHERE key = ? LIMIT 1",
        (key,),
    ).fetchone()


def _row(asked: Asked, analyst: str | None, key: str, state: str) -> dict:
    """Return the columns of a request's row, without number and time."""
    call, facts = asked.call, asked.facts
    return {
        "analyst": analyst,
        "formula": printable(facts["formula"]),
        "method": facts["method"],
        "epsilon": repr(call.epsilon),
        "delta": repr(call.delta),
        "cost": canonical(asdict(call.cost)),
        "neighbors": asked.neighbors,
        "key": key,
        "facts": canonical({**facts["call"], "data": facts["source"].files}),
        "state": state,
        "version": installed("dpstats"),
    }


def last_call(connection: sqlite3.Connection, analyst: str | None) -> Call | None:
    """Return the last call that was charged, of an analyst or of all; None before the first."""
    marks = ", ".join("?" * len(SPENT))
    row = connection.execute(
        f"SELECT epsilon, delta, cost FROM requests WHERE state IN ({marks}) AND "
        "(? IS NULL OR analyst = ?) ORDER BY id DESC LIMIT 1",
        (*SPENT, analyst, analyst),
    ).fetchone()
    return None if row is None else call_of(*row)


def call_of(epsilon: str, delta: str, cost: str) -> Call:
    """Return the call that a row describes."""
    return Call(float(epsilon), float(delta), cost_from_dict(json.loads(cost)))


def printable(text: str) -> str:
    """Escape the characters of a text that UTF-8 cannot encode."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def checked_name(argument: str, name) -> str:
    """Check that a name is a text of one line, or raise ArgumentError."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise ArgumentError(f"expected {argument} to be a text of one line, got {shown(name)}")
    if len(name) > _LONGEST_NAME:
        raise ArgumentError(
            f"expected {argument} to have at most {_LONGEST_NAME} characters, got {len(name)}"
        )
    return name.strip()
