"""Regressions a second of by=, one a tract of a simulated state, and what categories cost."""

import argparse
import time
from statistics import median

import pandas as pd

import dpstats as dp
from benchmarks.tools import print_table

METHODS = ("exp_theil_sen", "noisy_stats", "adassp")
BOUNDS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}


def seconds(people, method: str, clock=time.perf_counter) -> float:
    """Time of one call over all tracts."""
    start = clock()
    dp.dp_ols(
        "kid_rank ~ parent_rank",
        people,
        by="tract",
        method=method,
        epsilon=16,
        bounds=BOUNDS,
        progress=False,
    )
    return clock() - start


def category_ratio(tracts: int) -> float:
    """Processor time of groups by a Categorical over that of the same groups by integers."""
    people = dp.simulate.atlas(tracts, seed=1)
    codes, names = people["tract"].to_numpy() - 1, [f"tract {i:06d}" for i in range(tracts)]
    named = people.assign(tract=pd.Categorical.from_codes(codes, names))
    seconds(people, "noisy_stats")  # compiles and imports
    clock = time.process_time
    return seconds(named, "noisy_stats", clock) / seconds(people, "noisy_stats", clock)


def main(arguments: list[str]) -> None:
    """Print tracts a second for each method, and what a column of categories costs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks groups", description=__doc__)
    parser.add_argument("--tracts", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--categories", type=int, default=73_000)
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
    ratio = category_ratio(options.categories)
    print(
        f"{options.categories:,} groups by a Categorical take {ratio:.2f} times the processor time "
        "of the same groups by integers"
    )
