"""What the benchmarks share: a call below dp_ols, fresh interpreters, and a plain table."""

import json
import subprocess
import sys
import time
from collections.abc import Callable

from dpstats.call import Request
from dpstats.call.arguments import make_request
from dpstats.estimators.contract import Repeated
from dpstats.noise import Noise


def checked(
    formula, data, *, method, epsilon, delta=None, bounds=None, row_norm=None, neighbors=None,
    companion=None, options=None,
) -> Request:  # fmt: skip
    """The arguments of dp_ols as the mechanism sees them, for many fits of one kind."""
    return make_request(
        formula, data, method=method, epsilon=epsilon, delta=delta, bounds=bounds, levels=None,
        x_new=None, neighbors=neighbors, missing="drop", row_norm=row_norm, companion=companion,
        options=options or {},
    )  # fmt: skip


def released(request: Request, problem, rows: Repeated):
    """One release of the request's method from rows that are released from many times."""
    cost, noise = request.fit_cost, Noise(request.fit_cost)
    return request.method.release(rows.under(noise), problem, cost, noise, **request.options)


def fresh(call: str):
    """The value of a call such as ``"speed.seconds(1000, 5)"`` in a new interpreter."""
    module = call.partition(".")[0]
    code = f"import json; from benchmarks import {module}; print(json.dumps({call}))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def peak_megabytes() -> float:
    """The most memory that this process has had so far."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def timed(call: Callable, repeats: int = 1) -> dict:
    """Best of some repeats: wall and processor seconds, and by how much the peak memory rose."""
    before, best = peak_megabytes(), None
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        call()
        taken = time.perf_counter() - wall, time.process_time() - processor
        best = taken if best is None else min(best, taken)
    return {"wall": best[0], "processor": best[1], "added": peak_megabytes() - before}


def print_table(title: str, header: tuple, rows) -> None:
    """Print a title, a header and rows of cells, each column as wide as its widest cell.

    >>> print_table("ages", ("name", "age"), [("Ada", 36), ("Grace", 85)])
    <BLANKLINE>
    ages
    name   age
    Ada    36
    Grace  85
    """
    cells = [tuple(map(str, row)) for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    print(f"\n{title}")
    for row in cells:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(padded).rstrip(), flush=True)
