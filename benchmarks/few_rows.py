"""Count intervals of tables of few rows and many levels that least squares explains nearly all of.

``python -m benchmarks few_rows`` draws tables of a number and two factors, of uneven levels, as
those of a price by weight, color and clarity. Noise hides some directions of X'X then, and steps
leave the coefficients there where they were. It prints how many of the intervals are shown, and
which part of them holds least squares.
"""

import argparse
from itertools import product

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import dpstats as dp
from benchmarks.tools import print_table

ROWS, EPSILONS, EXPLAINED = (500, 1000, 2000), (1.0, 4.0), (0.98, 0.5)
FORMULA = "y ~ x + color + clarity"
COLORS, CLARITIES = (0.05, 0.1, 0.15, 0.2, 0.21, 0.18, 0.11), (0.09, 0.23, 0.57, 0.07, 0.03, 0.01)


def table(rows: int, explained: float, seed: int) -> pd.DataFrame:
    """Draw a table of so many rows, of which the columns explain a part of the variance."""
    rng = np.random.default_rng([seed, rows])
    color, clarity = (rng.choice(len(shares), rows, p=shares) for shares in (COLORS, CLARITIES))
    x = rng.normal(size=rows)
    fit = x - 0.05 * color - 0.1 * clarity
    errors = rng.normal(size=rows) * np.sqrt(fit.var() * (1 / explained - 1))
    frame = pd.DataFrame({"x": x, "y": fit + errors})
    for name, codes in {"color": color, "clarity": clarity}.items():
        frame[name] = pd.Categorical.from_codes(
            codes, [f"{name}{k}" for k in range(codes.max() + 1)]
        )
    return frame


def measured(rows: int, explained: float, epsilon: float, tables: int) -> tuple[str, ...]:
    """Return the part of the intervals that are shown, of those the part that hold, and errors."""
    held, all_of_them = [], 0
    for seed in range(tables):
        data = table(rows, explained, seed)
        ols = smf.ols(FORMULA, data).fit()
        with dp.testing.insecure_seed(seed):
            found = dp.dp_ols(FORMULA, data, epsilon=epsilon)
        ends = found.conf_int().drop(index="Intercept")
        all_of_them += len(ends)
        ends = ends[np.isfinite(ends).all(axis=1)]
        true = ols.params[ends.index]
        held += ((ends[0] <= true) & (true <= ends[1])).tolist()
    shown = f"{len(held) / all_of_them:.2f}"
    return shown, f"{np.mean(held):.3f}" if held else "-", f"{len(held) - sum(held)}"


def main(arguments: list[str]) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks few_rows", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--tables", type=int, default=40)
    given = parser.parse_args(arguments)
    lines = [
        (f"{rows:,}", explained, f"{epsilon:g}", *measured(rows, explained, epsilon, given.tables))
        for rows, explained, epsilon in product(ROWS, EXPLAINED, EPSILONS)
    ]
    print_table(
        f"few_rows: {FORMULA}, no bounds",
        ("rows", "R-squared", "epsilon", "shown", "held", "missed"),
        lines,
    )
