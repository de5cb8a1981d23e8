"""Measure time and memory of absorbed effects, y ~ x | g, against pyfixest's feols."""

import argparse
import time
from statistics import median

import numpy as np
import pandas as pd

from benchmarks.tools import fresh, peak_megabytes, print_table

FORMULA, BOUNDS = "y ~ x | g", {"x": (0, 1), "y": (-0.5, 1.5)}
OURS, THEIRS = "dpstats", "pyfixest"


def frame(n: int, groups: int) -> pd.DataFrame:
    """Simulate n rows of a line with an effect for each group."""
    rng = np.random.default_rng(0)
    g, effects = rng.integers(groups, size=n), rng.normal(0, 0.1, groups)
    x = rng.uniform(0, 1, n)
    return pd.DataFrame({"x": x, "y": 0.5 * x + effects[g] + rng.normal(0, 0.1, n), "g": g})


def fits(data: pd.DataFrame) -> dict:
    """Name the calls under measurement."""
    import pyfixest

    import dpstats as dp

    return {
        OURS: lambda: dp.dp_ols(FORMULA, data, epsilon=1, bounds=BOUNDS),
        THEIRS: lambda: pyfixest.feols(FORMULA, data, vcov="iid"),
    }


def seconds(n: int, groups: int, repeats: int) -> dict[str, float]:
    """Measure each fit's median time over alternating repeats, after one of each to warm up."""
    calls, taken = fits(frame(n, groups)), {name: [] for name in (OURS, THEIRS)}
    for repeat in range(repeats + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            taken[name] += [time.perf_counter() - start] * (repeat > 0)
    return {name: median(values) for name, values in taken.items()}


def megabytes(n: int, groups: int, name: str) -> tuple[float, float]:
    """Measure by how much one fit raises this process' peak memory, and the peak itself."""
    fits(frame(100, 5))[name]()
    call = fits(frame(n, groups))[name]
    before = peak_megabytes()
    call()
    return peak_megabytes() - before, peak_megabytes()


def main(arguments: list[str]) -> None:
    """Print times, memory and the ratios for each number of groups."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks absorbed", description=__doc__)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--groups", type=int, nargs="+", default=[50, 3138, 100_000])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    rows = [row for groups in options.groups for row in _rows(options, groups)]
    print_table(
        f"absorbed: y ~ x | g, {options.rows:,} rows, against pyfixest's feols. Time: median of "
        "alternating repeats. Memory: growth of\nthe peak of a fresh process during the fit. "
        "Targets at 3,138 groups: below one second and below 1,000 MB.",
        ("groups", "fit", "seconds", "time ratio", "MB added", "peak MB"),
        rows,
    )


def _rows(options, groups: int):
    taken = fresh(f"absorbed.seconds({options.rows}, {groups}, {options.repeats})")
    for name, time_taken in taken.items():
        added, peak = fresh(f"absorbed.megabytes({options.rows}, {groups}, {name!r})")
        ratio = time_taken / taken[THEIRS]
        yield (
            f"{groups:,}",
            name,
            f"{time_taken:.3f}",
            f"{ratio:.2f}",
            f"{added:.0f}",
            f"{peak:.0f}",
        )
