"""Regressions a second of by=, one a tract of a simulated state."""

import argparse
import time
from statistics import median

import dpstats as dp
from benchmarks.tools import print_table

METHODS = ("exp_theil_sen", "noisy_stats", "adassp")
BOUNDS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}


def seconds(people, method: str) -> float:
    """Time of one call over all tracts."""
    start = time.perf_counter()
    dp.dp_ols(
        "kid_rank ~ parent_rank",
        people,
        by="tract",
        method=method,
        epsilon=16,
        bounds=BOUNDS,
        progress=False,
    )
    return time.perf_counter() - start


def main(arguments: list[str]) -> None:
    """Print tracts a second for each method."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks groups", description=__doc__)
    parser.add_argument("--tracts", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    people = dp.simulate.atlas(options.tracts, seed=1)
    rows = []
    for method in METHODS:
        seconds(people, method)  # compiles and imports
        taken = median(seconds(people, method) for _ in range(options.repeats))
        rows.append((method, f"{taken:.2f}", f"{options.tracts / taken:,.0f}"))
    print_table(
        f"groups: {options.tracts} simulated tracts, {len(people):,} rows, one process",
        ("method", "seconds", "tracts a second"),
        rows,
    )
