"""Regressions as economists write them: error, intervals shown, and coverage of least squares.

``python -m benchmarks econ --data DIR`` reads DIR/FORMULAS.csv, with the columns name and formula,
and a table DIR/name.csv.gz for each. Variables in C() are factors with the levels present. Errors
are in standard errors of least squares on the same rows; an interval covers when it holds the
coefficient of least squares. Declared bounds are the extremes rounded outward to one digit.
"""

import argparse
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import dpstats as dp

EPSILONS = (1.0, 4.0)


class Regression(NamedTuple):
    """A table, a formula and the bounds that a codebook would give."""

    name: str
    frame: pd.DataFrame
    formula: str
    bounds: dict[str, tuple[float, float]]


def regressions(folder: Path) -> Iterator[Regression]:
    """Read the regressions of a folder."""
    for entry in pd.read_csv(folder / "FORMULAS.csv").itertuples():
        frame = pd.read_csv(folder / f"{entry.name}.csv.gz")
        factors = re.findall(r"C\((\w+)\)", entry.formula)
        for name in factors:
            frame[name] = pd.Categorical(frame[name].astype(str))
        bounds = {
            name: (rounded(frame[name].min(), math.floor), rounded(frame[name].max(), math.ceil))
            for name in frame
            if name not in factors
        }
        yield Regression(entry.name, frame, entry.formula, bounds)


def rounded(value: float, toward) -> float:
    """Round to one significant digit in a direction."""
    if value == 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(abs(value)))
    return toward(value / unit) * unit


def measured(case: Regression, epsilon: float, bounded: bool, method: str) -> dict:
    """Compare one private fit with least squares, coefficient by coefficient but the intercept."""
    ols = smf.ols(case.formula, case.frame).fit()
    fit = dp.dp_ols(
        case.formula, case.frame, epsilon=epsilon, method=method,
        bounds=case.bounds if bounded else None,
    )  # fmt: skip
    slopes = [name for name in ols.params.index if name != "Intercept"]
    errors = ((fit.params - ols.params) / ols.bse)[slopes].abs()
    low, high = fit.conf_int().loc[slopes].to_numpy().T
    shown = np.isfinite(low) & np.isfinite(high)
    covered = (low <= ols.params[slopes]) & (ols.params[slopes] <= high)
    return {
        "name": case.name,
        "n": len(case.frame),
        "error": float(np.nanmedian(errors)),
        "shown": float(shown.mean()),
        "covered": float(covered[shown].mean()) if shown.any() else math.nan,
        "status": fit.status,
    }


def main(arguments: list[str]) -> None:
    """Print a table for each epsilon, without bounds and with them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks econ", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--method", default="noisy_newton")
    parser.add_argument("--repetitions", type=int, default=5)
    given = parser.parse_args(arguments)
    cases = list(regressions(given.data))
    for epsilon in EPSILONS:
        for bounded in (False, True):
            fits = pd.DataFrame(
                [
                    measured(case, epsilon, bounded, given.method)
                    for case in cases
                    for _ in range(given.repetitions)
                ]
            )
            numbers = ["n", "error", "shown", "covered"]
            by_table = fits.groupby("name")[numbers].agg(
                {"n": "first", "error": "median", "shown": "mean", "covered": "mean"}
            )
            print(by_table.round(2).to_string())
            print(
                f"{given.method}, epsilon {epsilon:g}, {'declared' if bounded else 'no'} bounds: "
                f"median error {by_table.error.median():.2f} standard errors, largest "
                f"{by_table.error.max():.1f}; intervals on {by_table.shown.mean():.0%}, which "
                f"cover {fits.covered.mean():.1%}",
                flush=True,
            )
