"""A changed byte anywhere in a ledger is found, and the row is named."""

import random
import shutil
import sqlite3

import pytest

import dpstats as dp
from dpstats.ledger import store
from dpstats.ledger.records import link
from dpstats.ledger.tables import COLUMNS, TRIGGERS


@pytest.fixture
def used(make, ols, path):
    """A ledger with two analysts, a released, a failed, a reserved and a denied request."""
    steward = make(epsilon=2.0, delta=1e-5, fingerprint="2024")
    for name in ("anna", "ben"):
        steward.allocate(name, 1.5)
    ols(dp.Ledger(path, "anna"))
    ols(dp.Ledger(path, "ben"), 0.25)
    return steward


def rewrite(path, statement, values=()):
    """Change the file as somebody would who may write to it and knows SQLite."""
    connection = store.connect(path)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    for (name,) in triggers.fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(statement, values)
    connection.executescript(TRIGGERS)
    connection.close()


def cells():
    """Every column of every table, and the rows that a test changes."""
    others = {
        "totals": ("calls", "gaussian", "epsilon", "delta", "mu_squared", "failing"),
        "audit": ("id", "at", "actor", "action", "place", "number", "content", "hash"),
    }
    return [(table, column) for table, names in (COLUMNS | others).items() for column in names]


def one_bit_off(text):
    return chr(ord(text[0]) ^ 1) + text[1:]


@pytest.mark.parametrize(("table", "column"), cells())
def test_a_changed_byte_is_found_and_its_row_named(used, path, table, column):
    connection = store.connect(path)
    key = "scope" if table == "totals" else "id"
    order = f"ORDER BY {key} DESC LIMIT 1"
    ((row, value),) = connection.execute(f"SELECT {key}, {column} FROM {table} {order}")
    connection.close()
    changed = (
        value + 50
        if isinstance(value, int)
        else chr(ord((value or "0")[0]) ^ 1) + (value or "0")[1:]
    )
    statement = f"UPDATE {table} SET {column} = ? WHERE {key} = ?"
    rewrite(path, statement, (changed, row))
    found = used.verify()
    assert not found.ok
    row = f"{row!r}" if table == "totals" else f"{changed if column == 'id' else row}"
    named = [text for text in found.problems if text.startswith(f"{table} row {row}:")]
    assert named, found.problems


@pytest.mark.parametrize("table", [*COLUMNS, "audit", "totals"])
def test_a_removed_row_is_found(used, path, table):
    rewrite(path, f"DELETE FROM {table} WHERE rowid = (SELECT MIN(rowid) FROM {table})")
    found = used.verify()
    assert any(text.startswith(table) for text in found.problems), found.problems


def test_an_added_row_is_found(used, path):
    rewrite(
        path,
        "INSERT INTO analysts (name, epsilon, delta, set_aside, created) "
        "VALUES ('eve', '9.0', '0.0', '0.0', '')",
    )
    assert used.verify().problems == ("analysts row 3: the audit does not know it",)


def test_an_entry_with_a_hash_of_its_own_does_not_fit_the_next(used, path):
    """Who knows the rule of the hashes has to write all later entries anew."""
    connection = store.connect(path)
    rows = connection.execute("SELECT * FROM audit WHERE id IN (1, 2) ORDER BY id").fetchall()
    connection.close()
    (*_, first), (*entry, _) = rows
    entry[2] = "somebody else"
    values = (entry[2], link(first, tuple(entry)))
    rewrite(path, "UPDATE audit SET actor = ?, hash = ? WHERE id = 2", values)
    assert used.verify().problems == ("audit row 3: its hash does not fit its content",)


def test_a_chain_that_was_replaced_is_found_by_its_former_head(used, path, make, ols):
    head = used.verify().head
    ols(dp.Ledger(path, "anna"), 0.125)
    assert used.verify(head).ok and used.verify().head != head
    path.unlink()
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    other = make(epsilon=2.0, delta=1e-5, fingerprint="2024")
    assert other.verify().ok
    assert "the chain was replaced" in other.verify(head).problems[0]


def test_spending_beyond_the_limit_is_found(used, path, reserve):
    for name, cost in (("ben", 1.25), ("anna", 1.0)):
        rewrite(path, "UPDATE totals SET epsilon = '0', mu_squared = '0' WHERE scope = ''")
        reserve(dp.Ledger(path, name), cost)
    problems = used.verify().problems
    assert "totals of the data set: beyond its limit" in problems
    assert any("not the sum over the requests" in text for text in problems)


def test_flipped_bits_in_the_file_are_found_wherever_rows_are_stored(used, path, tmp_path):
    """About a quarter of the file holds rows: that 10 of 100 bits do not has probability 1e-4."""
    with store.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = [connection.execute(f"SELECT * FROM {t}").fetchall() for t in (*COLUMNS, "audit")]
    content, draw, changed = path.read_bytes(), random.Random(1), 0
    for trial in range(100):
        place = draw.randrange(len(content))
        spoilt = bytearray(content)
        spoilt[place] ^= 1 << draw.randrange(8)
        other = tmp_path / f"spoilt{trial}.ledger"
        other.write_bytes(spoilt)
        if unchanged(other, before):
            continue
        changed += 1
        try:
            assert not dp.Ledger(other).verify().ok, place
        except dp.LedgerError:
            continue
    assert changed >= 10


def unchanged(path, before):
    """Whether all rows are still read as they were."""
    connection = sqlite3.connect(path)
    try:
        tables = (*COLUMNS, "audit")
        return before == [connection.execute(f"SELECT * FROM {t}").fetchall() for t in tables]
    except (sqlite3.Error, UnicodeDecodeError):
        return False
    finally:
        connection.close()


def test_a_trigger_that_is_missing_or_changed_is_found(used, path):
    connection = store.connect(path)
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    for name, sql in (rows := triggers.fetchall()):
        connection.execute(f"DROP TRIGGER {name}")
        assert used.verify().problems == (f"trigger {name}: it is missing or changed",)
        connection.execute(f"CREATE TRIGGER {name} BEFORE DELETE ON audit BEGIN SELECT 1; END")
        assert used.verify().problems == (f"trigger {name}: it is missing or changed",)
        connection.execute(f"DROP TRIGGER {name}")
        connection.execute(sql)
    connection.close()
    assert len(rows) == 12 and used.verify().ok


def test_a_trigger_or_table_of_others_is_found(used, path):
    connection = store.connect(path)
    connection.execute("CREATE TRIGGER mine AFTER INSERT ON requests BEGIN DELETE FROM totals; END")
    connection.execute("CREATE TABLE notes (text)")
    connection.close()
    assert used.verify().problems == (
        "trigger mine: it is not of dpstats", "table notes: it is not of dpstats",
    )  # fmt: skip


def test_a_copy_of_the_file_opens(used, path, tmp_path):
    with store.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(path, tmp_path / "copy.ledger")
    copied = dp.Ledger(tmp_path / "copy.ledger")
    assert copied.verify() == used.verify() and copied.spent == used.spent


@pytest.mark.parametrize("head", [3, "", ["a"], "two\nlines"])
def test_a_head_that_is_no_text_is_refused_and_not_told_for_a_replaced_chain(used, head):
    with pytest.raises(dp.ArgumentError, match="expected head to be a text of one line, got"):
        used.verify(head)
