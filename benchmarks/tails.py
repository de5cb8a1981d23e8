"""Count how often intervals hold least squares where columns are skewed, rare, heaped or far out.

``python -m benchmarks tails`` fits the simulated cases of benchmarks/skewed.py and the regressions
of benchmarks/textbook.py. With ``--data DIR`` it also reads DIR/FORMULAS.csv, with the columns name
and formula, and a table DIR/name.csv.gz for each; variables in C() are factors with the levels
present. Bounds are none, or the extremes rounded outward to one digit. With ``--weights`` rows
weigh .5 to 2 within bounds of 0 and 2, and least squares are weighted, with robust errors. The fits
of a case differ in their noise alone, so an interval, which has to hold the sampling error too,
should hold least squares of all rows in 95% of the fits at least. ``--write`` writes what was found
to docs/intervals.md, with ``--only`` for some of the sources simulated, hidden and textbook.

ok: fits with this status. shown: slopes with an interval. cover: intervals that hold the
coefficient of least squares, in the worst slope that has five or more. error: distance from least
squares in its standard errors. width: length of intervals over that of least squares. Errors and
widths are medians over slopes and fits.
"""

import argparse
import math
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, product
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import dpstats as dp
from benchmarks import tailspage, textbook
from benchmarks.skewed import HIDDEN, LAWS, Case, Law
from benchmarks.tailspage import BOUNDS, SUMMARY, figures
from benchmarks.tools import print_table

EPSILONS = (1.0, 4.0)
PAGE = "docs/intervals.md"
# Weights are spread evenly between these.
WEIGHT, _LIGHTEST, _HEAVIEST = "weight_", 0.5, 2.0
# The worst slope is one of those with so many intervals.
_ENOUGH = 5
_LEVEL_WIDTH = 2 * 1.959964


class Job(NamedTuple):
    """Hold a case of a source, how to fit it, and how the package is altered meanwhile."""

    source: str
    case: Case
    epsilon: float
    bounded: bool
    fits: int
    method: str
    change: str = ""
    weighted: bool = False

    @property
    def frame(self) -> pd.DataFrame:
        """The rows, with weights in any case."""
        rng, n = np.random.default_rng(1), len(self.case.frame)
        return self.case.frame.assign(**{WEIGHT: rng.uniform(_LIGHTEST, _HEAVIEST, n)})

    @property
    def call(self) -> dict:
        """What is said to dp_ols of bounds and weights."""
        bounds = dict(self.case.bounds) if self.bounded else {}
        if not self.weighted:
            return {"bounds": bounds or None}
        return {"bounds": {**bounds, WEIGHT: (0.0, _HEAVIEST)}, "weights": WEIGHT}


def simulated(laws: dict[str, Law]) -> Iterator[Case]:
    """Draw the cases of benchmarks/skewed.py."""
    for name, law in laws.items():
        frame = law.frame(name)
        yield Case(name, frame, law.formula, codebook(frame))


def tables(folder: Path) -> Iterator[Case]:
    """Read the regressions of a folder."""
    for entry in pd.read_csv(folder / "FORMULAS.csv").itertuples():
        frame = pd.read_csv(folder / f"{entry.name}.csv.gz")
        for name in re.findall(r"C\((\w+)\)", entry.formula):
            frame[name] = pd.Categorical(frame[name].astype(str))
        yield Case(entry.name, frame, entry.formula, codebook(frame))


def of_textbook(formulas: Iterable[tuple[str, str]]) -> Iterator[Case]:
    """Read regressions of benchmarks/textbook.py."""
    for name, formula in formulas:
        frame = textbook.read(name, formula)
        yield Case(name, frame, formula, codebook(frame))


def codebook(frame: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Round the extremes of numeric columns outward to one digit."""
    numbers = frame.select_dtypes("number")
    return {
        name: (rounded(column.min(), math.floor), rounded(column.max(), math.ceil))
        for name, column in numbers.items()
    }


def rounded(value: float, toward) -> float:
    """Round to one significant digit in a direction."""
    if value == 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(abs(value)))
    return toward(value / unit) * unit


def measured(job: Job) -> dict:
    """Compare private fits of a case with least squares of its rows, slope by slope."""
    case, frame = job.case, job.frame
    weights, errors = (frame[WEIGHT], "HC1") if job.weighted else (1.0, "nonrobust")
    ols = smf.wls(case.formula, frame, weights=weights).fit(cov_type=errors)
    slopes = [name for name in ols.params.index if name != "Intercept"]
    truth, deviation = ols.params[slopes].to_numpy(), ols.bse[slopes].to_numpy()
    fits = list(_fits(job))
    errors = np.array([fit.params[slopes].to_numpy() - truth for fit in fits])
    low, high = np.moveaxis([fit.conf_int().loc[slopes].to_numpy() for fit in fits], 2, 0)
    shown = np.isfinite(low) & np.isfinite(high)
    width = ((high - low) / (_LEVEL_WIDTH * deviation))[shown]
    return {
        "source": job.source, "case": case.name, "n": len(case.frame), "epsilon": job.epsilon,
        "bounded": job.bounded, "fits": job.fits,
        "ok": float(np.mean([fit.status == "ok" for fit in fits])),
        "shown": float(shown.mean()),
        "cover": worst(shown, shown & (low <= truth) & (truth <= high)),
        "error": float(np.nanmedian(np.abs(errors) / deviation)),
        "width": float(np.median(width)) if len(width) else math.nan,
    }  # fmt: skip


def _fits(job: Job) -> Iterator:
    """Fit with noise that differs from fit to fit and is the same at every call."""
    frame = job.frame
    for i in range(job.fits):
        seed = zlib.crc32(f"{job.case.name} {job.epsilon} {job.bounded} {i}".encode())
        with dp.testing.insecure_seed(seed):
            yield dp.dp_ols(
                job.case.formula, frame, epsilon=job.epsilon, method=job.method, **job.call
            )  # fmt: skip


def worst(shown: np.ndarray, held: np.ndarray) -> float:
    """Return the least part of intervals that hold, of slopes with enough; NaN for none.

    ``shown`` and ``held`` (fits, slopes) say which intervals have ends and hold least squares.
    """
    enough = shown.sum(axis=0) >= min(_ENOUGH, len(shown))
    if not enough.any():
        return math.nan
    return float((held.sum(axis=0)[enough] / shown.sum(axis=0)[enough]).min())


def found(jobs: Sequence[Job], processes: int, work: Callable[[Job], dict]) -> pd.DataFrame:
    """Do the work of the jobs side by side, the longest first, and keep their order."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    rows = [len(job.case.frame) for job in jobs]
    order = np.argsort(rows, kind="stable")[::-1]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        done = list(pool.map(work, [jobs[place] for place in order]))
    return pd.DataFrame([done[place] for place in np.argsort(order)])


def printed(rows: pd.DataFrame) -> None:
    """Print the cases of each source, epsilon and kind of bounds, then how each did overall."""
    header = ("case", "n", "ok", "shown", "cover", "error", "width")
    keys = ["source", "epsilon", "bounded"]
    groups = list(rows.groupby(keys, sort=False))
    for (source, epsilon, bounded), part in groups:
        title = f"{source}: epsilon {epsilon:g}, {BOUNDS[bounded]}, {part['fits'].iloc[0]} fits"
        cells = part[list(header[2:])].map("{:.2f}".format).to_numpy()
        lines = zip(part["case"], part["n"], *cells.T, strict=True)
        print_table(title, header, lines)
    print()
    for (source, epsilon, bounded), part in groups:
        line = ", ".join(f"{SUMMARY[key]} {value}" for key, value in figures(part).items())
        print(f"{source}: epsilon {epsilon:g}, {BOUNDS[bounded]}: {line}")


def sources(folders: Iterable[Path], only: Sequence[str] | None) -> Iterator[tuple[str, Case]]:
    """List the cases by where they are from; ``only`` names some of them, or of the sources."""
    groups = [
        ("simulated", simulated(LAWS)),
        ("hidden", chain(simulated(HIDDEN), of_textbook(textbook.DECIDED))),
        ("textbook", of_textbook(textbook.FORMULAS)),
    ]
    groups += [(folder.name, tables(folder)) for folder in folders]
    for source, cases in groups:
        for case in cases:
            if not only or {source, case.name} & set(only):
                yield source, case


def main(arguments: list[str]) -> None:
    """Measure every case, print what was found and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks tails", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--data", type=Path, nargs="+", default=[], metavar="DIR")
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--epsilon", type=float, nargs="+", default=EPSILONS)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--weights", action="store_true")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="cases, or sources, as DIR")
    parser.add_argument("--write", nargs="?", const=PAGE, type=Path, metavar="PAGE")
    given = parser.parse_args(arguments)
    whole = set(given.only or ()) <= set(tailspage.BLOCKS[:-1])
    if given.write and (not whole or given.weights or tuple(given.epsilon) != EPSILONS):
        parser.error(
            "--write is for all cases of a source at epsilon 1 and 4: leave out --weights and "
            f"--epsilon, and names in --only but {', '.join(tailspage.BLOCKS[:-1])}"
        )
    jobs = [
        Job(source, case, epsilon, bounded, given.fits, given.method, weighted=given.weights)
        for source, case in sources(given.data, given.only)
        for epsilon, bounded in product(given.epsilon, BOUNDS)
    ]
    if not jobs:
        parser.error(f"--only {' '.join(given.only)} names no case")
    rows = found(jobs, given.jobs, measured)
    printed(rows)
    if given.write:
        tailspage.write(rows, given.write)
