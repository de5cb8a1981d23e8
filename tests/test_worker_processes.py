"""Pieces of work give the same in any number of processes, and end with what started them."""

import os
import signal
import subprocess
import sys
import time

import pytest

import dpstats as dp
from dpstats.planning import plan_grid
from dpstats.worker_processes import done

CALL = {"n": 200, "bounds": {"x": (0, 1), "y": (0, 1)}, "methods": "adassp", "epsilon": [1, 4],
        "repetitions": 20, "progress": False}  # fmt: skip


def refused(value: int) -> int:
    """Raise for one piece of work."""
    if value == 2:
        raise dp.ArgumentError(f"no {value}")
    return value


def test_processes_give_the_same_plans():
    one, two = (plan_grid("y ~ x", n_jobs=n_jobs, **CALL) for n_jobs in (1, 2))
    assert one.plans.keys() == two.plans.keys() and one.calls == two.calls
    for cell, plan in one.plans.items():
        assert plan.frame.equals(two.plans[cell].frame)
    with pytest.raises(dp.ArgumentError, match="n_jobs"):
        plan_grid("y ~ x", n_jobs=0, **CALL)


def test_an_error_in_a_process_is_the_caller_s():
    with pytest.raises(dp.ArgumentError, match="no 2"):
        dict(done(refused, dict(enumerate(range(4))), 2))


def process(_) -> int:
    """The number of the process that does a piece of work."""
    time.sleep(0.1)
    return os.getpid()


def test_there_are_no_more_processes_than_processors():
    found = set(dict(done(process, dict.fromkeys(range(20)), 10**6)).values())
    assert os.getpid() not in found and 1 <= len(found) <= (os.cpu_count() or 1)


SLEEPERS = """
import time
from dpstats.worker_processes import done
if __name__ == "__main__":
    print("started", flush=True)
    dict(done(time.sleep, dict.fromkeys(range(4), 600), 2))
"""


def workers(parent: int) -> list[int]:
    """The processes that this one started."""
    found = subprocess.run(["ps", "--ppid", str(parent), "-o", "pid="], capture_output=True)
    return [int(pid) for pid in found.stdout.split()]


def alive(pid: int) -> bool:
    """Tell whether a process runs; one that has ended may wait to be collected."""
    shown = subprocess.run(["ps", "-p", str(pid), "-o", "stat="], capture_output=True, text=True)
    return bool(shown.stdout.strip()) and not shown.stdout.startswith("Z")


@pytest.mark.skipif(os.name != "posix", reason="looks at processes by ps")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_parent(tmp_path, how):
    script = tmp_path / "sleepers.py"
    script.write_text(SLEEPERS)
    parent = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, start_new_session=True)  # fmt: skip
    assert parent.stdout is not None and parent.stdout.readline() == b"started\n"
    until = time.monotonic() + 60
    while len(children := workers(parent.pid)) < 4 and time.monotonic() < until:
        time.sleep(0.2)
    time.sleep(3)  # for the workers to start
    if how == signal.SIGINT:
        os.killpg(parent.pid, how)  # as a terminal does at Ctrl-C
    else:
        parent.kill()
    parent.wait(timeout=60)
    until = time.monotonic() + 60
    while any(map(alive, children)) and time.monotonic() < until:
        time.sleep(0.2)
    assert len(children) >= 2 and not any(map(alive, children))
