"""Time what a ledger adds to a call, and how long listing and verifying many records takes."""

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.tools import print_table, timed
from dpstats import Budget, Ledger, dp_ols, simulate
from dpstats.engines import Source
from dpstats.ledger.accounts import Asked
from dpstats.ledger.records import insert, update
from dpstats.privacy import Call, PureDP
from dpstats.results.store.calls import to_text

_CALL = {"method": "noisy_stats", "epsilon": 0.01, "bounds": {"x": (0, 1), "y": (0, 1)}}
_AT_ONCE = 1000  # records in one transaction while the ledger is filled


def main(arguments: list[str]) -> None:
    """Print milliseconds a call, and seconds for a ledger of many records."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks ledger", description=__doc__)
    parser.add_argument("--records", type=int, default=10**5)
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.create(Path(folder, "b.ledger"), dataset="b", epsilon=1e6,
                               neighbors="replace_one", fingerprint="1")  # fmt: skip
        rows = [("a call with an empty ledger", *_added(ledger, options.calls), 5)]
        fill(ledger, options.records)
        count = f"{len(ledger.requests()):,}"
        rows.append((f"a call with {count} records", *_added(ledger, options.calls), 5))
        listed, verified = timed(ledger.requests, 3), timed(ledger.verify)
    rows.append((f"to list {count} records", *_milliseconds(listed), 1000))
    rows.append((f"to verify {count} records", *_milliseconds(verified), ""))
    header = ("what a ledger takes", "ms, wall", "ms, processor", "target, wall")
    print_table("ledger: medians of calls beyond those of a Budget", header, rows)


def _milliseconds(taken: dict) -> tuple[str, str]:
    return f"{1e3 * taken['wall']:.0f}", f"{1e3 * taken['processor']:.0f}"


def _added(ledger: Ledger, calls: int) -> tuple[str, str]:
    """Time the milliseconds that a ledger adds to a call, beside a Budget in turns."""
    rows, taken, first = simulate.line(300, seed=1), {}, len(ledger.requests())
    budgets = {"ledger": ledger, "budget": Budget(1e6)}
    for i in range(calls):
        for name, budget in budgets.items():
            epsilon = _CALL["epsilon"] * (
                1 + (first + i) / 1e9
            )  # an equal call would not be fitted
            before = time.perf_counter(), time.process_time()
            dp_ols("y ~ x", rows, **_CALL | {"epsilon": epsilon}, budget=budget)
            after = time.perf_counter(), time.process_time()
            taken.setdefault(name, []).append((after[0] - before[0], after[1] - before[1]))
    middle = {
        name: [median(part) for part in zip(*pairs, strict=True)] for name, pairs in taken.items()
    }
    wall, processor = (a - b for a, b in zip(middle["ledger"], middle["budget"], strict=True))
    return f"{1e3 * wall:.2f}", f"{1e3 * processor:.2f}"


def fill(ledger: Ledger, records: int) -> None:
    """Put released requests with costs of their own into a ledger, many in one transaction."""
    text = to_text(dp_ols("y ~ x", simulate.line(300, seed=1), **_CALL))
    for first in range(0, records, _AT_ONCE):
        asked = [_asked(i) for i in range(first, min(first + _AT_ONCE, records))]
        charges = ledger.reserve_all(asked)
        with ledger._store.writing() as connection:
            for charge in charges:
                actor, number = charge.actor, charge.request
                insert(connection, "releases", actor, "released", id=number, result=text)
                update(connection, "requests", number, actor, "released", state="released")


def _asked(i: int) -> Asked:
    epsilon = 0.01 + i * 1e-9
    source = Source((), {"x": "number", "y": "number"})
    call = {"number": i}
    facts = {"formula": "y ~ x", "method": "noisy_stats", "source": source, "call": call}
    return Asked(Call(epsilon, 0.0, PureDP(epsilon)), "replace_one", facts)
