"""From one tract to the nation: times and memory of the largest jobs, each in a process of its own.

Wall time depends on what else the machine does, so the processor time of all threads stands
beside it; a job on c quiet cores takes between the two.
"""

import argparse
import bisect
import itertools
import math
import os
import random
import subprocess
import sys
import time

import numpy as np
import pandas as pd

from benchmarks.tools import fresh, print_table, timed

UNIT = {"kid_rank": (0, 1), "parent_rank": (0, 1)}
FORMULA = "kid_rank ~ parent_rank"
SIZES = (10**3, 10**4, 10**5, 10**6)
NATION = 73_000
HEADER = ("work", "at most", "measured", "wall s", "processor s", "MB added")


def single(n: int, method: str = "exp_theil_sen", epsilon: float = 1) -> dict:
    """A Theil-Sen method over all pairs of n rows at one x_new, and a stable sort of n doubles.

    NumPy's default sort has vector instructions on some processors and is ten times faster there.
    """
    import dpstats as dp

    def fit(data):
        return dp.dp_ols("y ~ x", data, method=method, epsilon=epsilon, x_new=0.5,
                         bounds={"x": (0, 1), "y": (0, 1)})  # fmt: skip

    fit(dp.simulate.line(1000, seed=1))
    data, numbers = dp.simulate.line(n, seed=1), np.random.default_rng(0).uniform(size=n)
    repeats = 3 if n < 10**6 else 1
    found = timed(lambda: fit(data), repeats)
    return found | {"sort": timed(lambda: np.sort(numbers, kind="stable"), 5)["processor"]}


def tracts(method: str, count: int | None, state: str, n_jobs: int | None = None) -> dict:
    """One regression a tract, p25 and p75, for a simulated state (three times) or nation."""
    import dpstats as dp

    def fit(data):
        return dp.dp_ols(FORMULA, data, by="tract", method=method, epsilon=16, bounds=UNIT,
                         n_jobs=n_jobs, progress=False)  # fmt: skip

    fit(dp.simulate.atlas(300, seed=1))
    people = dp.simulate.atlas(count, seed=1, state=state)
    repeats = 3 if count is None else 1
    return timed(lambda: fit(people), repeats) | {"rows": len(people)}


def plain_loops(count: int = 30) -> float:
    """Seconds of exp_theil_sen in Python loops over all Illinois tracts, from some of them."""
    import dpstats as dp

    people = dp.simulate.atlas(seed=1)
    groups = [rows[["parent_rank", "kid_rank"]].to_numpy().tolist()
              for _, rows in people.groupby("tract")]  # fmt: skip
    pairs = sum(len(rows) * (len(rows) - 1) // 2 for rows in groups)
    start, done = time.process_time(), 0
    for rows in groups[:count]:
        for at in (0.25, 0.75):
            values = []
            for (x, y), (u, v) in itertools.combinations(rows, 2):
                if x != u:
                    values.append(y + (v - y) * (at - x) / (u - x))
            _median(values, 8 / (len(rows) - 1))
        done += len(rows) * (len(rows) - 1) // 2
    return (time.process_time() - start) * pairs / done


def _median(values: list[float], epsilon: float) -> float:
    """The exponential mechanism over the intervals between values, as one writes it down.

    With random.random() and in doubles: not private, and here for its time only.
    """
    ends = [-0.5, *sorted(min(max(value, -0.5), 1.5) for value in values), 1.5]
    logs = []
    for i in range(len(ends) - 1):
        gap = ends[i + 1] - ends[i]
        utility = -epsilon / 2 * abs(i - len(values) / 2)
        logs.append(math.log(gap) + utility if gap > 0 else -math.inf)
    largest, total, sums = max(logs), 0.0, []
    for log in logs:
        total += math.exp(log - largest)
        sums.append(total)
    i = bisect.bisect(sums, random.random() * total)
    return ends[i] + random.random() * (ends[i + 1] - ends[i])


def kendall(n: int = 10**6, regressors: int = 10) -> dict:
    """Selection of five terms out of ten by Kendall's tau."""
    from dpstats.noise import Noise
    from dpstats.privacy import ADD_REMOVE, PureDP
    from dpstats.selection import SELECTORS, Candidates

    def choose(rows):
        X = np.random.default_rng(0).uniform(-1, 1, (rows, regressors))
        y = X @ np.linspace(0, 1, regressors)
        candidates = Candidates(X, y, np.arange(regressors), ADD_REMOVE)
        return lambda: SELECTORS["kendall"].select(candidates, 5, PureDP(1.0), Noise(PureDP(1.0)))

    choose(1000)()
    return timed(choose(n))


def imports(repeats: int = 5) -> float:
    """Time of ``import dpstats`` over that of ``import pandas``, both in new interpreters."""
    best = {"pandas": np.inf, "dpstats": np.inf}
    for _ in range(repeats):
        for name in best:
            clock = "time.process_time()"
            code = f"import time; start = {clock}; import {name}; print({clock} - start)"
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            )
            best[name] = min(best[name], float(done.stdout))
    return best["dpstats"] / best["pandas"]


def growth(sizes=SIZES) -> pd.DataFrame:
    """:func:`single` for several numbers of rows, indexed by n."""
    return pd.DataFrame({n: fresh(f"scale.single({n})") for n in sizes}).T


def groups_growth(counts) -> pd.DataFrame:
    """exp_theil_sen over several numbers of tracts, indexed by their number."""
    runs = {count: fresh(f"scale.tracts('exp_theil_sen', {count}, 'US')") for count in counts}
    return pd.DataFrame(runs).T


def exponent(times: pd.Series) -> float:
    """Slope of log time on log size."""
    return float(np.polyfit(np.log(times.index.astype(float)), np.log(times), 1)[0])


def table(alone: pd.DataFrame, nation: pd.DataFrame):
    """Rows of the table, cell by cell, from :func:`growth` and :func:`groups_growth`."""
    sizes, count = alone.index, nation.index[-1]
    last, n = alone.iloc[-1], sizes[-1]
    yield _row(f"exp_theil_sen, all pairs, n = {n:,}, one x_new", "60 stable sorts of n",
               f"{last['processor'] / last['sort']:.0f} stable sorts", last)  # fmt: skip
    yield _row("the same, memory", "12 arrays of n", f"{last['added'] * 1e6 / n / 8:.1f} arrays")
    slope = exponent(alone["processor"])
    yield _row(f"the same, growth from n = {sizes[0]:,}", "exponent 1.15", f"{slope:.2f}")
    found = fresh("scale.single(1_000_000, 'ss_theil_sen', 8)")
    yield _row("ss_theil_sen, all pairs, n = 1,000,000, epsilon 8", "60 s", _seconds(found), found)
    state = fresh("scale.tracts('exp_theil_sen', None, 'IL', 1)")
    yield _row("Illinois, 3,108 tracts, exp_theil_sen, one core", "0.5 s", _seconds(state), state)
    ratio = fresh("scale.plain_loops()") / state["processor"]
    yield _row("the same against plain Python loops", "100 times faster", f"{ratio:.0f} times")
    found = nation.iloc[-1]
    name = f"nation, {count:,} tracts, {found['rows']:,.0f} rows, "
    yield _row(f"{name}exp_theil_sen", "10 s, 2 GiB", _seconds(found), found)
    found = fresh(f"scale.tracts('noisy_moments', {count}, 'US')")
    yield _row(f"{name}noisy_moments", "3 s", _seconds(found), found)
    found = fresh("scale.kendall()")
    yield _row("Kendall selection, n = 1,000,000, d = 10, k = 5", "3 s", _seconds(found), found)
    yield _row("import dpstats against import pandas", "1.5 times", f"{imports():.2f} times")


def _row(work: str, limit: str, measured: str, found=None) -> tuple[str, ...]:
    if found is None:
        return work, limit, measured, "", "", ""
    cells = f"{found['wall']:.2f}", f"{found['processor']:.2f}", f"{found['added']:.0f}"
    return work, limit, measured, *cells


def _seconds(found) -> str:
    return f"{found['wall']:.2f} s"


def machine() -> str:
    """What the times depend on."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return f"{os.cpu_count()} cores, load average {load:.1f} before the run"


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks scale", description=__doc__)
    parser.add_argument("--tracts", type=int, default=NATION)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    options = parser.parse_args(arguments)
    title = f"scale: the largest jobs ({machine()})"
    measured = growth(options.sizes), groups_growth([options.tracts])
    print_table(title, HEADER, list(table(*measured)))


if __name__ == "__main__":
    main(sys.argv[1:])
