"""Time and memory of dp_ols, dp_logit and dp_poisson beside statsmodels and pyfixest."""

import argparse
import time
from statistics import median

import numpy as np
import pandas as pd

from benchmarks.tools import fresh, peak_megabytes, print_table

REGRESSORS = [f"x{j}" for j in range(10)]
FORMULA = "y ~ " + " + ".join(REGRESSORS)
BOUNDS = {**dict.fromkeys(REGRESSORS, (-1, 1)), "y": (-2, 2)}
OURS, ESTIMATED, THEIRS = "adassp", "adassp, bounds estimated", "statsmodels"
NEWTON = "noisy_newton, no bounds"
LOGIT, POISSON = "dp_logit", "dp_poisson"
FACTOR, ROBUST, WEIGHTED = (f"noisy_newton, {what}" for what in ("50 levels", "HC1", "weights"))
LEVELS, GROUPS = 50, 3138
ABSORBED, WITHIN = f"noisy_newton, {GROUPS:,} groups", f"pyfixest, {GROUPS:,} groups"
# What each fit is compared with.
PEERS = {LOGIT: "statsmodels, Logit", POISSON: "statsmodels, Poisson", ABSORBED: WITHIN}
PEERS |= {peer: peer for peer in PEERS.values()}
PEERS |= dict.fromkeys((ROBUST, WEIGHTED), NEWTON)


def frame(n: int, d: int = 10) -> pd.DataFrame:
    """Simulate n rows with d regressors, column by column in memory as files are read.

    Beside the response y are one of 0 and 1, ``one``, and counts; ``f`` and ``g`` are levels and
    groups, and ``w`` weights.
    """
    rng = np.random.default_rng(0)
    columns = np.empty((d + 1, n))
    for column in columns[:d]:
        column[:] = rng.uniform(-1, 1, n)
    columns[d] = np.linspace(-0.3, 0.3, d) @ columns[:d]
    columns[d] += rng.normal(0, 0.2, n)
    data = pd.DataFrame(columns.T, columns=[*(f"x{j}" for j in range(d)), "y"], copy=False)
    ones = rng.random(n) < 1 / (1 + np.exp(-3 * columns[d]))
    counts, levels = rng.poisson(np.exp(columns[d])), [f"level {k}" for k in range(LEVELS)]
    return data.assign(
        one=ones.astype(np.int64), count=counts, w=rng.uniform(0.2, 1, n),
        f=pd.Categorical.from_codes(rng.integers(LEVELS, size=n), levels),
        g=rng.integers(GROUPS, size=n),
    )  # fmt: skip


def fits(data: pd.DataFrame) -> dict:
    """The calls under measurement, by name."""
    import statsmodels.formula.api as smf

    import dpstats as dp

    def private(bounds, method="adassp"):
        return dp.dp_ols(FORMULA, data, method=method, epsilon=1, bounds=bounds)

    def newton(more="", **options):
        return dp.dp_ols(FORMULA + more, data, method="noisy_newton", epsilon=1, **options)

    return {
        OURS: lambda: private(BOUNDS),
        ESTIMATED: lambda: private(None),
        NEWTON: newton,
        FACTOR: lambda: newton(" + f"),
        ROBUST: lambda: newton(cov_type="HC1"),
        WEIGHTED: lambda: newton(weights="w", bounds={"w": (0, 1)}),
        ABSORBED: lambda: newton(" | g"),
        WITHIN: lambda: _within(data),
        THEIRS: lambda: smf.ols(FORMULA, data).fit(),
        LOGIT: lambda: dp.dp_logit(_of("one"), data, epsilon=1),
        PEERS[LOGIT]: lambda: smf.logit(_of("one"), data).fit(disp=0),
        POISSON: lambda: dp.dp_poisson(_of("count"), data, epsilon=1),
        PEERS[POISSON]: lambda: smf.poisson(_of("count"), data).fit(disp=0),
    }


def _peer(name: str) -> str:
    """What a fit is compared with."""
    return PEERS.get(name, THEIRS)


def _within(data: pd.DataFrame):
    import pyfixest

    return pyfixest.feols(f"{FORMULA} | g", data, vcov={"CRV1": "g"})


def _of(response: str) -> str:
    return FORMULA.replace("y", response, 1)


def seconds(n: int, repeats: int, words: list[str]) -> dict[str, list[float]]:
    """Median wall and processor time of each fit over alternating repeats, one more to warm up."""
    calls, taken, clocks = fits(frame(n)), {}, (time.perf_counter, time.process_time)
    if words:
        some = {name for name in calls if any(word in name for word in words)}
        some |= {_peer(name) for name in some}
        some |= {_peer(name) for name in some}  # peers have one too
        calls = {name: call for name, call in calls.items() if name in some}
    for repeat in range(repeats + 1):
        for name, call in calls.items():
            start = [clock() for clock in clocks]
            call()
            if repeat:
                times = [clock() - began for clock, began in zip(clocks, start, strict=True)]
                taken.setdefault(name, []).append(times)
    return {name: [*map(median, zip(*times, strict=True))] for name, times in taken.items()}


def megabytes(n: int, name: str) -> tuple[float, float]:
    """By how much one fit raises this process' peak memory, and the peak itself.

    Fits of a few rows come first, so that libraries are loaded before the data are made; with
    declared bounds too, because without them so few rows have no range and are never added up.
    """
    few = fits(frame(100))
    for first in dict.fromkeys((name,) if name in (THEIRS, PEERS.get(name)) else (name, OURS)):
        few[first]()
    call = fits(frame(n))[name]
    before = peak_megabytes()
    call()
    return peak_megabytes() - before, peak_megabytes()


def main(arguments: list[str]) -> None:
    """Print both ratios for each number of rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks speed", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10**5, 10**6])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--fits", nargs="+", default=[], help="words in the names of some fits")
    options = parser.parse_args(arguments)
    rows = [row for n in options.rows for row in _rows(n, options.repeats, options.fits)]
    header = ("rows", "fit", "seconds", "time ratio", "processor s", "processor ratio",
              "MB added", "memory ratio", "peak MB")  # fmt: skip
    print_table(
        "speed: ten regressors; ratios to statsmodels without levels, with groups to pyfixest, "
        "with HC1 and weights to noisy_newton.\nTime: median of alternating repeats. Memory: "
        "growth of the peak (ru_maxrss) of a fresh process during the fit, after\ndata and "
        "libraries were "
        "loaded. Targets for a million rows: declared bounds 0.4 of the time and 1.0 of the memory,"
        "\nnoisy_newton 0.5 of the time, levels 1.2, HC1 and weights 1.25, groups 1.0, dp_logit "
        "and dp_poisson 0.5.",
        header,
        rows,
    )


def _rows(n: int, repeats: int, words: list[str]):
    taken = fresh(f"speed.seconds({n}, {repeats}, {words})")
    memory = {name: fresh(f"speed.megabytes({n}, {name!r})") for name in taken}
    for name, times in taken.items():
        (added, peak), peer = memory[name], _peer(name)
        pairs = zip(times, taken[peer], strict=True)
        yield (
            f"{n:,}",
            name,
            *(cell for ours, theirs in pairs for cell in (f"{ours:.3f}", f"{ours / theirs:.2f}")),
            f"{added:.0f}",
            f"{added / memory[peer][0]:.2f}" if memory[peer][0] else "-",
            f"{peak:.0f}",
        )
