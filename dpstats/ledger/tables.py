"""Define the tables of a ledger's file, and the rules that SQLite itself enforces on them.

Numbers are stored as texts that restore them exactly. ``audit`` is only ever added to; every
row of the other tables, ``totals`` aside, is repeated there as it was after each change, and
``totals`` follows from ``requests``.
"""

# The file says what it is: PRAGMA application_id, "dpLe", and PRAGMA user_version.
APPLICATION = 0x64704C65
VERSION = 2
STATES = ("requested", "approved", "denied", "reserved", "released", "failed")
SPENT = ("reserved", "released", "failed")
COLUMNS = {
    "dataset": (
        "id", "name", "epsilon", "delta", "composition", "set_aside", "neighbors", "fingerprint",
        "approval", "version", "created",
    ),
    "analysts": ("id", "name", "epsilon", "delta", "set_aside", "created"),
    "requests": (
        "id", "analyst", "formula", "method", "epsilon", "delta", "cost", "neighbors", "key",
        "facts", "state", "version", "created",
    ),
    "releases": ("id", "result", "created"),
    "sources": ("id", "files", "columns", "created"),
}  # fmt: skip

# The data that the ledger is for, the last row being those of today. Format 1 had no such table.
SOURCES = """
CREATE TABLE sources (
    id INTEGER PRIMARY KEY, files TEXT NOT NULL, columns TEXT NOT NULL, created TEXT NOT NULL
);
"""
SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
CREATE TABLE dataset (
    id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL, epsilon TEXT NOT NULL,
    delta TEXT NOT NULL, composition TEXT NOT NULL, set_aside TEXT NOT NULL,
    neighbors TEXT NOT NULL, fingerprint TEXT, approval TEXT NOT NULL, version TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE analysts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, epsilon TEXT NOT NULL,
    delta TEXT NOT NULL, set_aside TEXT NOT NULL, created TEXT NOT NULL
);
CREATE TABLE requests (
    id INTEGER PRIMARY KEY, analyst TEXT, formula TEXT NOT NULL, method TEXT NOT NULL,
    epsilon TEXT NOT NULL, delta TEXT NOT NULL, cost TEXT NOT NULL, neighbors TEXT NOT NULL,
    key TEXT NOT NULL, facts TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN {STATES}),
    version TEXT NOT NULL, created TEXT NOT NULL
);
CREATE INDEX requests_by_key ON requests (key);
CREATE TABLE releases (
    id INTEGER PRIMARY KEY REFERENCES requests (id), result TEXT NOT NULL, created TEXT NOT NULL
);
CREATE TABLE totals (
    scope TEXT PRIMARY KEY, calls TEXT NOT NULL, gaussian TEXT NOT NULL, epsilon TEXT NOT NULL,
    delta TEXT NOT NULL, mu_squared TEXT NOT NULL, failing TEXT NOT NULL
);
CREATE TABLE audit (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
    place TEXT NOT NULL, number INTEGER NOT NULL, content TEXT NOT NULL, hash TEXT NOT NULL
);
{SOURCES}"""


def _forbidden(table: str, change: str, condition: str = "") -> str:
    return f"""
    CREATE TRIGGER {table}_{change.lower().split()[0]}_is_refused BEFORE {change} ON {table}
    {condition} BEGIN SELECT RAISE(ABORT, '{table} is only added to'); END;
    """


STEPS = {
    "requested": ("approved", "denied"),
    "denied": ("approved",),
    "approved": ("reserved", "denied"),
    "reserved": ("released", "failed"),
}
_ALLOWED = " OR ".join(
    f"(OLD.state = '{old}' AND NEW.state = '{new}')" for old in STEPS for new in STEPS[old]
)
_KEPT = ", ".join(name for name in COLUMNS["requests"] if name != "state")
TRIGGERS = "".join(
    [
        *(_forbidden(table, "DELETE") for table in (*COLUMNS, "audit")),
        *(_forbidden(table, "UPDATE") for table in ("dataset", "releases", "sources", "audit")),
        _forbidden("requests", f"UPDATE OF {_KEPT}").replace("update_is", "change_is"),
        _forbidden("requests", "UPDATE OF state", f"WHEN NOT ({_ALLOWED})"),
    ]
)
# What turns a file of an earlier format into one of the next.
UPGRADES = {
    1: (SOURCES, _forbidden("sources", "DELETE"), _forbidden("sources", "UPDATE")),
}
