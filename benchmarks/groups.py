"""Regressions a second of by=, one a tract of a simulated state, and what categories cost.

The default is timed on small groups of two regressors, beside a loop of statsmodels over them.
"""

import argparse
import time
from statistics import median

import numpy as np
import pandas as pd

import dpstats as dp
from benchmarks.tools import fresh, print_table, timed

METHODS = ("exp_theil_sen", "noisy_stats", "adassp")
BOUNDS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}
SMALL = ((3_000, 60), (20_000, 30))
# The loop is timed on so many groups at most.
_LOOP = 3_000


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


def drawn(groups: int, rows: int) -> pd.DataFrame:
    """Draw groups of so many rows, with two regressors."""
    rng = np.random.default_rng(0)
    x, z, noise = rng.normal(size=(3, groups * rows))
    y, group = 1 + 0.5 * x - 0.3 * z + noise, np.repeat(np.arange(groups), rows)
    return pd.DataFrame({"y": y, "x": x, "z": z, "group": group})


def small(groups: int, rows: int) -> tuple[float, float, float]:
    """Time the default on small groups: milliseconds of processor time a group, of a loop, and MB.

    A few groups come first, so that loops are compiled and libraries loaded.
    """
    import statsmodels.formula.api as smf

    def private(data):
        return dp.dp_ols("y ~ x + z", data, by="group", epsilon=1, progress=False, n_jobs=1)

    def loop(data):
        return [smf.ols("y ~ x + z", own).fit() for _, own in data.groupby("group")]

    few = drawn(20, rows)
    private(few), loop(few)
    data, some = drawn(groups, rows), drawn(min(groups, _LOOP), rows)
    ours, theirs = timed(lambda: private(data)), timed(lambda: loop(some))
    each = ours["processor"] / groups, theirs["processor"] / min(groups, _LOOP)
    return 1e3 * each[0], 1e3 * each[1], ours["added"]


def _small_rows():
    for groups, rows in SMALL:
        ours, theirs, added = fresh(f"groups.small({groups}, {rows})")
        yield (
            f"{groups:,}", rows, f"{ours:.2f}", f"{theirs:.2f}", f"{ours / theirs:.2f}",
            f"{added:.0f}",
        )  # fmt: skip


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
    print_table(
        "groups: the default on small groups, epsilon 1, two regressors without bounds, one thread,"
        "\nbeside a loop of smf.ols(...).fit(): milliseconds of processor time a group",
        ("groups", "rows of each", "dp_ols, by=", "loop", "ratio", "MB added"),
        _small_rows(),
    )
    ratio = category_ratio(options.categories)
    print(
        f"{options.categories:,} groups by a Categorical take {ratio:.2f} times the processor time "
        "of the same groups by integers"
    )
