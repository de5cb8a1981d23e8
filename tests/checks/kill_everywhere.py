"""Run a dpstats command again and again, each time killed one step later, and say what is left.

A step is a commit of the ledger, before and after it, or a file or folder that is opened for
writing, made, renamed, linked or removed. ``python kill_everywhere.py FOLDER COMMAND...`` runs the
command in a copy of the folder for each step, where ``families.ledger`` is the ledger, until one
run reaches its end. Where that left something new, the command is repeated. A line of JSON is
printed for each step.
"""

import contextlib
import itertools
import json
import os
import shutil
import signal
import sys
from pathlib import Path

import matplotlib.figure  # noqa: F401  # what a run would load, loaded once
import opendp.prelude  # noqa: F401

import dpstats as dp
from dpstats import cli
from dpstats.ledger import store
from dpstats.results.record.record import verify_record

LEDGER = "families.ledger"
_CHANGES = {"os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.link"}


def steps_of(folder: Path, killed_at: int) -> None:
    """Count steps in the folder from here on, and die with signal 9 at one of them."""
    count, commit = 0, store.commit

    def step(what: str) -> None:
        nonlocal count
        count += 1
        if count == killed_at:
            Path(folder, "killed.txt").write_text(what)
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(event: str, arguments: tuple) -> None:
        writes = event == "open" and (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if not (writes or event in _CHANGES) or isinstance(arguments[0], int):
            return
        path = Path(os.fsdecode(arguments[0])).absolute()
        if path.is_relative_to(folder) and path.name != "killed.txt":
            step(f"{event} {path.name}")

    def committing(connection) -> None:
        changes = connection.total_changes > 0
        if changes:
            step("before commit")
        commit(connection)
        if changes:
            step("after commit")

    store.commit = committing
    sys.addaudithook(audit)


def answer(folder: Path, command: list[str], killed_at: int = 0) -> int:
    """Run the command here, in the folder; return its exit code."""
    os.chdir(folder)
    with open("shown.txt", "a") as shown, contextlib.redirect_stdout(shown):
        with contextlib.redirect_stderr(shown):
            if killed_at:
                steps_of(folder, killed_at)
            return cli.main(command)


def run(folder: Path, command: list[str], killed_at: int = 0) -> int:
    """Run the command in a fork; return its exit code, or minus the signal that killed it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 70
    with contextlib.suppress(BaseException):
        code = answer(folder, command, killed_at)
    os._exit(code)


def found(folder: Path) -> dict:
    """Collect the ledger's states and sum, what was shown, which outputs are there, and damage."""
    ledger, record = dp.Ledger(folder / LEDGER), folder / "out"
    damaged = verify_record(record) if record.is_dir() else ()
    return {
        "states": ledger.requests()["state"].tolist(),
        "spent": ledger.spent[0],
        "problems": [*ledger.verify().problems, *damaged],
        "shown": (folder / "shown.txt").read_text(),
        "out": sorted(path.name for path in folder.glob("out*")),
    }


def main(folder: Path, command: list[str]) -> None:
    """Kill the command at its first step, at its second, and so on, and repeat it each time.

    It runs here once before, so that no fork has to load and compile what it needs.
    """
    before, again = None, {}
    loaded = shutil.copytree(folder, folder.parent / f"{folder.name}-0")
    answer(loaded, command)
    os.chdir(folder)
    shutil.rmtree(loaded)
    for killed_at in itertools.count(1):
        copy = folder.parent / f"{folder.name}-{killed_at}"
        shutil.copytree(folder, copy)
        code = run(copy, command, killed_at)
        what = (copy / "killed.txt").read_text() if code < 0 else "the end"
        line = {"step": what, "code": code} | found(copy)
        if before != (before := (line["states"], line["out"])):
            (copy / "shown.txt").write_text("")
            again = {"code": run(copy, command)} | found(copy)
        print(json.dumps(line | {"again": again}), flush=True)
        shutil.rmtree(copy)
        if code >= 0:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
