"""Many processes and threads on one ledger: totals are exact, and a fork's child is correct."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import dpstats as dp
from dpstats.errors import BudgetError
from dpstats.privacy import PureDP

CLIENTS = """
import os, sys
import dpstats as dp
from dpstats.engines import Source
from dpstats.privacy import PureDP

SOURCE = Source((), {"x": "number"})
gate, opened = os.pipe()

def client(name):
    ledger = dp.Ledger(sys.argv[1])
    granted = 0
    os.read(gate, 1)  # returns for all when the last process is there
    for i in range(8):
        call = {"name": f"{name} {i}"}
        facts = {"formula": name, "method": "any", "call": call, "source": SOURCE}
        try:
            ledger.reserve(0.01, 0.0, PureDP(0.01), "replace_one", lambda: facts)
            granted += 1
        except dp.BudgetError:
            pass
    os.write(1, f"{granted}\\n".encode())  # in one piece

for i in range(16):
    if os.fork() == 0:
        os.close(opened)
        client(f"client {i}")
        os._exit(0)
os.close(opened)
codes = [os.wait()[1] for i in range(16)]
sys.exit(max(codes) > 0)
"""


def test_sixteen_processes_spend_exactly_what_there_is(make, path):
    """16 processes ask for 128 times 0.01 of 1; they are forks, each with a ledger of its own."""
    ledger = make(delta=0.0)
    done = subprocess.run(
        [sys.executable, "-c", CLIENTS, str(path)], capture_output=True, text=True, check=True
    )
    granted = [int(line) for line in done.stdout.split()]
    assert len(granted) == 16
    assert sum(granted) == 100 == len(ledger.requests("reserved"))
    assert ledger.spent == (pytest.approx(1.0, rel=1e-12), 0.0) and ledger.verify().ok


def test_sixteen_threads_spend_exactly_what_there_is(make, reserve):
    ledger, start = make(delta=0.0), threading.Barrier(16)

    def work(i):
        start.wait()
        granted = 0
        for j in range(8):
            try:
                reserve(ledger, 0.01, f"{i} {j}")
                granted += 1
            except BudgetError:
                pass
        return granted

    with ThreadPoolExecutor(16) as pool:
        granted = list(pool.map(work, range(16)))
    assert sum(granted) == 100 == len(ledger.requests("reserved"))
    assert ledger.spent == (pytest.approx(1.0, rel=1e-12), 0.0) and ledger.verify().ok


FORK = """
import os, sys
import dpstats as dp
from dpstats.engines import Source
from dpstats.privacy import PureDP

SOURCE = Source((), {"x": "number"})
ledger = dp.Ledger(sys.argv[1])

def ask(name):
    facts = {"formula": name, "method": "any", "call": {"name": name}, "source": SOURCE}
    try:
        ledger.reserve(0.4, 0.0, PureDP(0.4), "replace_one", lambda: facts)
        print("granted", flush=True)
    except dp.BudgetError:
        print("refused", flush=True)

ask("parent")
before = ledger._store._connection()
if os.fork() == 0:
    ask("child")
    # SQLite forbids a connection that was opened before a fork
    print("own" if ledger._store._connection() is not before else "shared", flush=True)
    os._exit(0)
os.wait()
ask("parent again")
"""


def test_a_forked_process_spends_the_same_budget(make, path):
    ledger = make()
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["granted", "granted", "own", "refused"]
    assert ledger.spent == (0.8, 0.0) and ledger.verify().ok


def test_fits_of_many_threads_are_all_recorded(make, ols):
    ledger = make()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda i: ols(ledger, 0.125), range(8)))
    frame = ledger.requests()
    assert frame["state"].tolist() == ["released"] * 8 and ledger.spent == (1.0, 0.0)
    stored = [ledger.result(number).to_json() for number in frame["id"]]
    assert sorted(stored) == sorted(result.to_json() for result in results)
    assert ledger.verify().ok


def test_another_kind_of_object_is_no_budget(line):
    for budget in ("families.ledger", PureDP(1.0), 3):
        with pytest.raises(dp.ArgumentError, match=r"a dpstats\.Budget or a dpstats\.Ledger"):
            dp.dp_ols("y ~ x", line, epsilon=1, budget=budget)
