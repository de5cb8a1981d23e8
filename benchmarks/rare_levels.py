"""Count how often intervals hold a rare level whose errors are skewed and larger than others.

``python -m benchmarks rare_levels`` draws 20,000 rows with a level of 10, 3 or 1% of them beside
normal regressors. The level is a factor's, or one of a number, or that of the rows in neither of
two groups, each with a number. Errors are exponential, those of the level up to five times as large
as others. It prints the part of the intervals shown that hold least squares of all rows, and their
width over that of its HC1 interval. With ``| g`` both are of deviations from the means of 333
groups.
"""

import argparse
from itertools import product

import numpy as np
import pandas as pd
import statsmodels.api as sm

import dpstats as dp
from benchmarks.tools import print_table

ROWS, GROUPS = 20_000, 333
TIMES, SHARES = (1, 3, 5), (0.1, 0.03, 0.01)
FACTOR, NUMBER, NEITHER = "a level of a factor", "one of a number", "in neither of two groups"
# The other regressors, how the level is coded, whether a column is absorbed, and options.
KINDS: dict[str, tuple[int, str, bool, dict]] = {
    "2 regressors": (1, FACTOR, False, {}),
    "10": (9, FACTOR, False, {}),
    "26": (25, FACTOR, False, {}),
    "10, HC1": (9, FACTOR, False, {"cov_type": "HC1"}),
    "10, a number": (9, NUMBER, False, {}),
    "10, neither": (9, NEITHER, False, {}),
    "5 | g": (4, FACTOR, True, {}),
    "5, neither | g": (4, NEITHER, True, {}),
}


def table(
    others: int, share: float, times: float, coded: str, absorbs: bool, seed: int
) -> pd.DataFrame:
    """Draw a table of so many other regressors; groups have effects where they are absorbed.

    Where the level is that of neither of two groups, these are level and x0.
    """
    rng = np.random.default_rng([seed, ROWS])
    level, x = rng.random(ROWS) < share, rng.normal(size=(ROWS, others))
    errors, g = rng.exponential(size=ROWS) - 1, rng.integers(0, GROUPS, ROWS)
    errors *= np.where(level, times, 1.0)
    if coded == NEITHER:
        is_first = rng.random(ROWS) < 0.5
        level, x[:, 0] = is_first & ~level, ~is_first & ~level
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(others)])
    y = 0.5 * level + x.sum(axis=1) / (2 * np.sqrt(others)) + errors
    effects = absorbs * rng.normal(size=GROUPS)
    return frame.assign(level=level * 1.0, y=y + effects[g], g=g)


def measured(kind: str, share: float, times: float, epsilon: float, fits: int) -> str:
    """Return the part of the intervals that hold the level's coefficient, and their width."""
    others, coded, absorbs, options = KINDS[kind]
    held, widths = [], []
    for seed in range(fits):
        data = table(others, share, times, coded, absorbs, seed)
        names = ["level", *(f"x{j}" for j in range(others))]
        own = data[[*names, "y"]]
        means = own.groupby(data["g"] if absorbs else np.zeros(ROWS)).transform("mean")
        own = own - means  # without a column to absorb one group stands for the constant
        ols = sm.OLS(own["y"], own.drop(columns="y")).fit(cov_type="HC1")
        if coded == FACTOR:
            data["level"] = pd.Categorical(np.where(data["level"] > 0, "b", "a"))
        formula = f"y ~ {' + '.join(names)}{' | g' if absorbs else ''}"
        with dp.testing.insecure_seed(seed):
            found = dp.dp_ols(formula, data, epsilon=epsilon, **options).conf_int()
        (name,) = (each for each in found.index if each.startswith("level"))
        low, high = found.loc[name]
        if np.isfinite(low):
            held.append(low <= ols.params["level"] <= high)
            widths.append((high - low) / np.subtract(*ols.conf_int().loc["level", [1, 0]]))
    return f"{np.mean(held):.2f}, {np.median(widths):.1f}" if held else "-"


def main(arguments: list[str]) -> None:
    """Print a table for each epsilon."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks rare_levels", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--fits", type=int, default=40)
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1, 4])
    parser.add_argument("--only", nargs="+", metavar="KIND", choices=list(KINDS), default=[*KINDS])
    given = parser.parse_args(arguments)
    for epsilon in given.epsilon:
        lines = [
            (f"{times}, {share:.0%}",)
            + tuple(measured(kind, share, times, epsilon, given.fits) for kind in given.only)
            for times, share in product(TIMES, SHARES)
        ]
        print_table(f"epsilon {epsilon:g}", ("errors, level", *given.only), lines)
