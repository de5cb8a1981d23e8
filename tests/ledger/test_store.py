"""A call that is cut off anywhere: no overspend, no result without a record, no record lost.

A process is killed with signal 9 before and after each commit; files are copied in between, as
a machine that loses power would leave them; disks are full, files read-only or in use.
tests/suites/test_killed_commands.py kills commands at each file that they write, too.
"""

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import dpstats as dp
from dpstats.errors import LedgerError
from dpstats.ledger import store

CHILD = """
import json, os, signal, sys
import dpstats as dp
from dpstats.ledger import store

path, number, moment, call = sys.argv[1:]
commit, count = store.commit, 0

def killing(connection):
    global count
    count += connection.in_transaction and connection.total_changes > 0
    here = count == int(number)
    if here and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    commit(connection)
    if here and moment == "after":
        os.kill(os.getpid(), signal.SIGKILL)

ledger = dp.Ledger(path)
store.commit = killing
frame = dp.simulate.line(300, x_sd=0.2, noise_sd=0.02, seed=1)
frame = frame.assign(z=frame["x"].to_numpy(), area=["a", "b", "c"] * 100)
dp.dp_ols(data=frame, budget=ledger, **json.loads(call))
print("shown", flush=True)
"""


CALL = {"formula": ["y ~ x", "z ~ x"], "method": "noisy_stats", "epsilon": 0.6,
        "bounds": {column: (0, 1) for column in "xyz"}}  # fmt: skip


def run(path, number, moment):
    """Make the call in a process that is killed at its commit of this number."""
    command = [sys.executable, "-c", CHILD, str(path), str(number), moment, json.dumps(CALL)]
    return subprocess.run(command, capture_output=True, text=True)


# Commits of a call that write: the reservation and the release.
KILLS = [(1, "before"), (1, "after"), (2, "before"), (2, "after"), (3, "before")]
STATES = {(1, "before"): [], (1, "after"): ["reserved"], (2, "before"): ["reserved"],
          (2, "after"): ["released"], (3, "before"): ["released"]}  # fmt: skip


@pytest.mark.parametrize("kill", KILLS, ids=str)
def test_a_killed_call_leaves_its_record_and_spends_at_most_once(make, path, line, kill):
    ledger = make(fingerprint="2024")
    done = run(path, *kill)
    killed = kill != (3, "before")
    assert done.returncode == (-signal.SIGKILL if killed else 0), done.stderr
    assert ("shown" in done.stdout) is not killed
    assert ledger.requests()["state"].tolist() == STATES[kill] and ledger.verify().ok
    assert ledger.spent == ((0.6, 0.0) if STATES[kill] else (0, 0))
    # the next call: refused where the first counts as spent, answered where it was stored
    if STATES[kill] == ["reserved"]:
        with pytest.raises(dp.BudgetError, match=r"epsilon=0\.6 does not fit"):
            dp.dp_ols(data=line, budget=ledger, **CALL)
    else:
        dp.dp_ols(data=line, budget=ledger, **CALL)
        assert ledger.requests()["state"].tolist() == ["released"]
    assert ledger.spent == (0.6, 0.0) and ledger.verify().ok


def test_the_file_as_power_loss_leaves_it_has_every_commit(make, ols, path, tmp_path, monkeypatch):
    """Copy the data base and its log before and after each commit, and open the copies."""
    ledger, commit, copies = make(), store.commit, []

    def copying(connection):
        for moment in ("before", "after"):
            if moment == "after":
                commit(connection)
            if connection.total_changes == 0:
                continue
            folder = tmp_path / f"copy{len(copies)}"
            folder.mkdir()
            for end in ("", "-wal"):
                source = path.with_name(path.name + end)
                if source.exists():
                    shutil.copy(source, folder / source.name)
            copies.append((folder / path.name, moment))

    def states():
        found = []
        for copied, _ in copies:
            recovered = dp.Ledger(copied)
            assert recovered.verify().ok
            found.append(recovered.requests()["state"].tolist())
        return found

    monkeypatch.setattr(store, "commit", copying)
    ols(ledger)
    monkeypatch.setattr(store, "commit", commit)
    changes = [state for i, state in enumerate(states()) if i == 0 or state != states()[i - 1]]
    assert changes == [[], ["reserved"], ["released"]]


def test_who_removes_the_log_undoes_no_spending(make, reserve, path, tmp_path):
    """What was granted stands in the file itself, while the ledger is still open."""
    ledger = make()
    reserve(ledger, 0.5)
    assert path.with_name(path.name + "-wal").exists()
    shutil.copy(path, tmp_path / "alone.ledger")
    alone = dp.Ledger(tmp_path / "alone.ledger")
    assert alone.spent == (0.5, 0.0) and alone.verify().head == ledger.verify().head


def test_a_ledger_whose_log_was_removed_is_not_opened(make, reserve, path):
    ledger = make()
    reserve(ledger, 0.5)
    log, index = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    kept = log.read_bytes()
    log.unlink()
    with pytest.raises(LedgerError, match=r"families\.ledger-wal was removed .* verify --head"):
        dp.Ledger(path)
    (problem,) = ledger.verify().problems  # of one that was opened before
    assert "families.ledger-wal was removed" in problem
    with ThreadPoolExecutor(1) as pool, pytest.raises(LedgerError, match="was removed"):
        pool.submit(reserve, ledger, 0.25).result()
    log.write_bytes(kept)
    assert dp.Ledger(path).spent == (0.5, 0.0)
    log.unlink()
    index.unlink()
    assert dp.Ledger(path).spent == (0.5, 0.0)


@pytest.mark.parametrize("change", ["removed", "renamed", "replaced"])
def test_a_ledger_whose_name_is_another_files_is_not_charged(make, ols, path, tmp_path, change):
    """The connection still writes to the file that it opened, where nobody else looks."""
    ledger = make()
    other = tmp_path / "other.ledger"
    shutil.copy(path, other)
    ols(ledger, 0.1)
    if change == "removed":
        path.unlink()
    else:
        os.replace(*((path, tmp_path / "old.ledger") if change == "renamed" else (other, path)))
    for use in (lambda: ols(ledger, 0.1), lambda: ledger.spent):
        with pytest.raises(LedgerError, match="moved, removed or replaced while .* anew$"):
            use()


@pytest.mark.parametrize("content", ["other", "earlier", "empty", "text"])
def test_a_ledger_that_is_overwritten_in_place_is_not_charged(make, ols, path, tmp_path, content):
    """SQLite goes on with the pages that it keeps in memory, of a file that is no more."""
    ledger, other = make(), tmp_path / "other.ledger"
    ols(ledger, 0.1)
    if content == "other":
        dp.Ledger.create(other, dataset="other", epsilon=9, neighbors="replace_one")
    elif content == "earlier":
        shutil.copy(path, other)
        ols(ledger, 0.1)
    else:
        other.write_bytes(b"" if content == "empty" else b"text\n" * 9000)
    shutil.copyfile(other, path)
    for use in (lambda: ols(ledger, 0.1), lambda: ledger.spent):
        with pytest.raises(LedgerError, match="was overwritten while this process used it"):
            use()
    assert "was overwritten" in ledger.verify().problems[0]


def test_totals_of_an_earlier_copy_are_noticed_though_newer_entries_are_in_the_log(
    make, ols, path, tmp_path
):
    """A stored result is in the log and holds the audit, where totals are in the file itself."""
    ledger, other = make(), tmp_path / "earlier.ledger"
    shutil.copy(path, other)
    ols(ledger, 0.1)
    with sqlite3.connect(other) as earlier:
        earlier.execute("ATTACH DATABASE ? AS now", (str(path),))
        for table in ("sources", "requests", "releases", "audit"):
            earlier.execute(f"INSERT OR IGNORE INTO {table} SELECT * FROM now.{table}")
    earlier.close()
    shutil.copyfile(other, path)
    with pytest.raises(LedgerError, match="was overwritten while this process used it"):
        ols(ledger, 0.1)


def test_entries_of_other_processes_are_no_overwriting(make, reserve, path):
    ledger, other = make(), dp.Ledger(path)
    reserve(ledger, 0.1)
    reserve(other, 0.2)
    assert ledger.spent == other.spent == pytest.approx((0.3, 0.0))
    other.allocate("anna", 0.1)
    assert len(ledger.analysts()) == 1 and ledger.verify().ok


def test_a_relative_path_is_of_the_folder_it_was_opened_in(make, reserve, path, monkeypatch):
    make()
    monkeypatch.chdir(path.parent)
    ledger = dp.Ledger(path.name)
    monkeypatch.chdir("/")
    with ThreadPoolExecutor(1) as threads:  # a connection for each
        threads.submit(reserve, ledger, 0.1).result()
    assert ledger.spent == (0.1, 0.0) and os.fspath(ledger.path) == path.name


def test_opening_and_closing_at_once_is_not_taken_for_a_removed_log(make, path):
    """Eight threads open the file and close it, whose last one removes index and log."""
    make()

    def work(_):
        for _ in range(40):
            dp.Ledger(path)._store._connection().close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [True] * 8


@pytest.fixture
def no_space(path):
    """Let no file grow beyond the ledger's log, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_on_a_full_disk_a_call_is_refused_before_a_row_is_read(
    make, ols, path, no_space, monkeypatch
):
    ledger = make()
    read = []
    monkeypatch.setattr("dpstats.run.charge.prepare", lambda *arguments: read.append(1))
    no_space(8192)
    with pytest.raises(LedgerError, match="the disk is full"):
        ols(ledger)
    no_space(resource.RLIM_INFINITY)
    monkeypatch.undo()
    assert not read and ledger.spent == (0, 0) and ledger.verify().ok
    ols(ledger)
    assert ledger.spent == (0.5, 0.0)


def test_a_result_that_cannot_be_stored_is_not_shown(make, ols, path, no_space, monkeypatch):
    ledger = make()
    real = dp.run.charge.fit_single

    def fill(*arguments):
        no_space(4096)
        return real(*arguments)

    monkeypatch.setattr("dpstats.run.charge.fit_single", fill)
    with pytest.raises(LedgerError, match="request 1 could not be stored, so it is not shown"):
        ols(ledger)
    no_space(resource.RLIM_INFINITY)
    assert ledger.requests()["state"].tolist() == ["reserved"] and ledger.spent == (0.5, 0.0)
    assert ledger.verify().ok


def test_creating_on_a_full_disk_leaves_nothing(make, path, no_space):
    no_space(4096)
    with pytest.raises(LedgerError, match="cannot write"):
        make()
    no_space(resource.RLIM_INFINITY)
    assert [*path.parent.iterdir()] == []
    make()


READ_ONLY = """
import os, sys
import dpstats as dp

open_ledger = dp.Ledger  # what Python loads when first needed lies where this user may not look
dp.dp_ols("y ~ x", dp.simulate.line(100, seed=1), method="noisy_stats", epsilon=0.5,
          bounds={"x": (0, 1), "y": (0, 1)}, budget=dp.Budget(1.0))
os.setuid(65534)
try:
    ledger = open_ledger(sys.argv[1])
    dp.dp_ols("y ~ x", dp.simulate.line(100, seed=1), method="noisy_stats", epsilon=0.5,
              bounds={"x": (0, 1), "y": (0, 1)}, budget=ledger)
    print("released")
except dp.LedgerError as error:
    print(error)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs a second user")
def test_a_file_that_may_not_be_written_is_refused(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    path = folder / "families.ledger"
    ledger = dp.Ledger.create(path, dataset="d", epsilon=1.0, neighbors="replace_one")
    for parent in (folder, *folder.parents[:3]):
        parent.chmod(0o755)
    path.chmod(0o444)
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, str(path)], capture_output=True, text=True
    )
    assert "may not be" in done.stdout, done
    assert ledger.spent == (0, 0) and ledger.verify().ok


def test_a_ledger_in_use_is_waited_for_and_then_refused(make, ols, path, monkeypatch):
    ledger = make()
    monkeypatch.setattr(store, "WAIT", 0.2)
    ledger = dp.Ledger(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    start = time.monotonic()
    with pytest.raises(LedgerError, match="another process has been using it"):
        ols(ledger)
    assert time.monotonic() - start >= 0.2
    other.execute("ROLLBACK")
    ols(ledger)
    assert ledger.spent == (0.5, 0.0)
