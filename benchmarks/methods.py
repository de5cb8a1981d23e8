"""Time and memory of every method by the numbers of rows and regressors, and growth in rows."""

import argparse
import os
import time
from collections.abc import Sequence
from statistics import median

import numpy as np

from benchmarks.speed import frame
from benchmarks.tools import fresh, peak_megabytes, print_table

ROWS, REGRESSORS = (10**3, 10**4, 10**5), (1, 10, 50)


def measure(method: str, n: int, d: int, repeats: int) -> tuple[float, float, str]:
    """Median seconds, megabytes added to the peak, and status of one call to dp_ols.

    A call of a few rows comes first, so that libraries are loaded and code is compiled.
    """
    import dpstats as dp

    names = [f"x{j}" for j in range(d)]
    bounds = {**dict.fromkeys(names, (-1, 1)), "y": (-2, 2)}

    def call(data):
        formula = f"y ~ {' + '.join(names)}"
        return dp.dp_ols(formula, data, method=method, epsilon=1, bounds=bounds)

    call(frame(200, d))
    data = frame(n, d)
    before = peak_megabytes()
    status = call(data).status
    added, taken = peak_megabytes() - before, []
    for _ in range(repeats):
        start = time.perf_counter()
        call(data)
        taken.append(time.perf_counter() - start)
    return median(taken), added, status


def exponent(rows: Sequence[int], seconds: Sequence[float]) -> float:
    """The least-squares slope of log seconds on log rows.

    >>> round(exponent([10, 100, 1000], [2e-3, 2e-2, 2e-1]), 3)
    1.0
    """
    return float(np.polyfit(np.log(rows), np.log(seconds), 1)[0])


def main(arguments: list[str]) -> None:
    """Print a line for each method and shape."""
    from dpstats.estimators import METHODS

    parser = argparse.ArgumentParser(prog="python -m benchmarks methods", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--regressors", type=int, nargs="+", default=REGRESSORS)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    rows = [
        line
        for name in options.methods
        for d in options.regressors
        if d == 1 or not METHODS[name].single_regressor
        for line in _lines(name, d, options.rows, options.repeats)
    ]
    print_table(
        f"methods: one call of dp_ols at epsilon 1 with declared bounds, each shape in a fresh "
        f"process, {os.cpu_count()} cores.\nTime: median of {options.repeats}. Memory: growth of "
        "the peak (ru_maxrss) in the first call. Exponent: of n in the time,\nover all n; below 1 "
        "where fixed costs dominate.",
        ("method", "d", "n", "seconds", "MB added", "exponent", "status"),
        rows,
    )


def _lines(name: str, d: int, sizes: Sequence[int], repeats: int) -> list[tuple]:
    """One method and number of regressors over all numbers of rows."""
    taken = [fresh(f"methods.measure({name!r}, {n}, {d}, {repeats})") for n in sizes]
    growth = exponent(sizes, [seconds for seconds, _, _ in taken]) if len(sizes) > 1 else np.nan
    return [
        (name, d, f"{n:,}", f"{seconds:.3f}", f"{added:.0f}", f"{growth:.2f}", status)
        for n, (seconds, added, status) in zip(sizes, taken, strict=True)
    ]
