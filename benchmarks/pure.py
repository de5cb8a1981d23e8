"""Compare the default with delta = 0 with the default, and with the other methods that need none.

``python -m benchmarks pure`` fits simulated tables of correlated normal regressors, without bounds;
with ``--lines`` tables of one regressor with declared bounds, which other methods serve too;
``--data DIR`` fits the regressions of a folder as ``python -m benchmarks tails`` reads it, of
those with at most six slopes. Figures are those of that benchmark.
"""

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import patsy

from benchmarks.skewed import Case
from benchmarks.tails import Job, found, measured, tables
from benchmarks.tools import print_table

METHODS = "noisy_newton", "noisy_newton_pure", "shrunken_pure"
LINE_METHODS = "noisy_newton_pure", "noisy_moments", "by_spread", "exp_theil_sen"
_MOST_SLOPES = 6


def drawn(n: int, d: int) -> Case:
    """Draw correlated regressors, coefficients and normal errors."""
    rng = np.random.default_rng([n, d])
    x = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    names = [f"x{j}" for j in range(d)]
    y = 3 + x @ rng.normal(size=d) * 0.5 + 2 * rng.normal(size=n)
    frame = pd.DataFrame(x, columns=names).assign(y=y)
    return Case(f"{n} rows, {d} slopes", frame, "y ~ " + " + ".join(names), {})


def line(n: int, sd: float) -> Case:
    """Draw a line in [0, 1], of a regressor of the standard deviation ``sd`` around its middle."""
    rng = np.random.default_rng([n, round(1000 * sd)])
    x = np.clip(0.5 + sd * rng.normal(size=n), 0, 1)
    y = np.clip(0.3 + 0.4 * x + 0.1 * rng.normal(size=n), 0, 1)
    bounds = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
    return Case(f"{n} rows, sd {sd:g}", pd.DataFrame({"x": x, "y": y}), "y ~ x", bounds)


def few_slopes(folder: Path) -> Iterator[Case]:
    """Read the regressions of a folder that have at most six slopes."""
    for case in tables(folder):
        if patsy.dmatrices(case.formula, case.frame)[1].shape[1] - 1 <= _MOST_SLOPES:
            yield case


def main(arguments: list[str]) -> None:
    """Print one line a case, epsilon and method."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks pure", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--data", type=Path, metavar="DIR")
    parser.add_argument("--fits", type=int, default=40)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 4.0])
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    methods = LINE_METHODS if given.lines else METHODS
    if given.data:
        cases, methods = [*few_slopes(given.data)], METHODS[:2]
    elif given.lines:
        cases = [line(*size) for size in product((300, 1000, 5000, 20_000), (0.05, 0.2))]
    else:
        cases = [drawn(*size) for size in ((5000, 3), (5000, 6), (50_000, 3), (50_000, 6))]
    jobs = [
        Job("", case, epsilon, given.lines, given.fits, method)
        for case, epsilon, method in product(cases, given.epsilon, methods)
    ]
    rows = found(jobs, given.jobs, measured).assign(method=[job.method for job in jobs])
    figures = ["ok", "shown", "cover", "error", "width"]
    cells = rows[figures].map("{:.2f}".format).to_numpy().T
    rows["epsilon"] = rows["epsilon"].map("{:g}".format)
    listed = zip(*(rows[key] for key in ("case", "epsilon", "method")), *cells, strict=True)
    print_table("delta = 0", ("case", "epsilon", "method", *figures), listed)
    if given.data:
        overall = rows.groupby(["epsilon", "method"])[["shown", "error"]].agg(["mean", "median"])
        print(overall.round(2).to_string())
