"""Count how often intervals hold least squares where one long column is on the line or leaves it.

``python -m benchmarks far_out`` draws tables of a long column x and a normal z, of 5,000 to 60,000
rows if not said otherwise. The response follows a function of x, or x up to a percentile and no
farther, and .4 z, with normal errors. It prints for each law, number of rows and epsilon, without
bounds and with the extremes rounded outward, how many of the tables' worst slopes hold least
squares of all rows in .9 of the fits, and the width of intervals over that of least squares
(geometric mean over tables).
"""

import argparse
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.skewed import Case
from benchmarks.tails import EPSILONS, Job, codebook, found, measured
from benchmarks.tailspage import BOUNDS, COVERED

ROWS = (5000, 20_000, 60_000)
PERCENTILES = (95.0, 99.0, 99.7)
Draw = Callable[[np.random.Generator, int], np.ndarray]
Effect = Callable[[np.ndarray], np.ndarray]


def _t(freedom: float) -> Draw:
    return lambda rng, n: rng.standard_t(freedom, n)


def _pareto(index: float) -> Draw:
    return lambda rng, n: rng.pareto(index, n)


def _lognormal(deviation: float) -> Draw:
    return lambda rng, n: np.exp(deviation * rng.normal(size=n))


def _exponential(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.exponential(size=n)


def _line(x: np.ndarray) -> np.ndarray:
    return 0.5 * x


def _up_to(percentile: float) -> Effect:
    """Return a line of half the column's deviations up to a percentile, and flat beyond."""
    return lambda x: 0.5 * np.minimum(x, np.percentile(x, percentile)) / x.std()


LAWS: dict[str, tuple[Draw, Effect]] = {
    "t2.5, tanh": (_t(2.5), np.tanh),
    "t3, tanh": (_t(3), np.tanh),
    "t4, tanh": (_t(4), np.tanh),
    "t5, tanh": (_t(5), np.tanh),
    "t3, within 2": (_t(3), lambda x: np.clip(x, -2, 2)),
    "Pareto 3, up to 1": (_pareto(3), lambda x: np.minimum(x, 1)),
    "Pareto 4, logarithm": (_pareto(4), np.log1p),
    "exponential, up to 2": (_exponential, lambda x: np.minimum(x, 2)),
    "Weibull .5, logarithm": (lambda rng, n: rng.weibull(0.5, n), np.log1p),
    "lognormal 1.2, root": (_lognormal(1.2), np.sqrt),
    "t3, line": (_t(3), _line),
    "Pareto 3, line": (_pareto(3), _line),
    "Laplace, line": (lambda rng, n: rng.laplace(size=n), _line),
    "lognormal .8, line": (_lognormal(0.8), _line),
    "normal, line": (lambda rng, n: rng.normal(size=n), _line),
}
_COLUMNS: dict[str, Draw] = {
    "lognormal .8": _lognormal(0.8),
    "lognormal 1.2": _lognormal(1.2),
    "exponential": _exponential,
    "Pareto 3": _pareto(3),
    "t4": lambda rng, n: np.abs(rng.standard_t(4, n)),
    "gamma .5": lambda rng, n: rng.gamma(0.5, 1, n),
}
LAWS |= {
    f"{name}, up to {percentile:g}%": (draw, _up_to(percentile))
    for (name, draw), percentile in product(_COLUMNS.items(), PERCENTILES)
}


def cases(
    tables: int, sizes: Sequence[int] = ROWS, laws: dict[str, tuple[Draw, Effect]] = LAWS
) -> Iterator[tuple[str, Case]]:
    """Draw tables of each law and size, from seeds that follow from their names."""
    for (name, (draw, effect)), rows, table in product(laws.items(), sizes, range(tables)):
        rng = np.random.default_rng(zlib.crc32(f"{name} {rows} {table}".encode()))
        x = draw(rng, rows)
        z, errors = rng.normal(size=(2, rows))
        frame = pd.DataFrame({"x": x, "z": z, "y": effect(x) + 0.4 * z + errors})
        yield name, Case(f"{name} {rows} {table}", frame, "y ~ x + z", codebook(frame))


def summary(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the part of the tables that are held, and widths, by keys and epsilon and bounds."""
    columns = ["epsilon", "bounded"]
    table = rows.groupby([*keys, *columns], sort=False).agg(
        held=("cover", lambda cover: (cover >= COVERED).mean()),
        width=("width", lambda width: np.exp(np.log(width).mean())),
    )
    return table.unstack(columns) if keys else table


def main(arguments: list[str]) -> None:
    """Measure every law and print what was found."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks far_out", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--fits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", type=int, nargs="+", default=[*ROWS])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[*EPSILONS])
    parser.add_argument("--pure", action="store_true", help="with delta = 0")
    parser.add_argument("--only", nargs="+", metavar="LAW", choices=list(LAWS))
    given = parser.parse_args(arguments)
    laws = {name: law for name, law in LAWS.items() if not given.only or name in given.only}
    jobs = [
        Job(name, case, epsilon, bounded, given.fits, "noisy_newton_pure" if given.pure else "auto")
        for name, case in cases(given.tables, given.rows, laws)
        for epsilon, bounded in product(given.epsilon, BOUNDS)
    ]
    rows = found(jobs, given.jobs, measured).rename(columns={"source": "law"})
    rows["bounded"] = rows["bounded"].map(BOUNDS)
    with pd.option_context("display.width", 160, "display.max_rows", None):
        print(summary(rows, ["law", "n"]).round(2).to_string(), end="\n\n")
        print(summary(rows, []).round(2).to_string())
