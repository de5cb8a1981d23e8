"""Private intervals beside those of least squares, on data declared public."""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import dpstats as dp
from benchmarks.tools import print_table

EPSILONS = (0.5, 1.0, 4.0)
SETS = {
    "cps1988": (
        "soc_aer_cps1988.csv.gz",
        "log_wage ~ education + experience",
        {"log_wage": (3, 9), "education": (0, 18), "experience": (-4, 63)},
    ),
    "aer_fertility": (
        "soc_aer_fertility.csv.gz",
        "work ~ morekids + age",
        {"work": (0, 52), "morekids": (0, 1), "age": (21, 35)},
    ),
}


def table(name: str, folder: Path) -> pd.DataFrame | None:
    """The rows of a set, with answers of two kinds as 0 and 1; None where the file is missing."""
    path = folder / SETS[name][0]
    if not path.is_file():
        return None
    rows = pd.read_csv(path)
    if "log_wage" not in rows and "wage" in rows:
        rows["log_wage"] = np.log(rows["wage"])
    for column in rows.select_dtypes(exclude="number"):
        kinds = sorted(rows[column].dropna().unique())
        if len(kinds) == 2:
            rows[column] = (rows[column] == kinds[1]).astype(float)
    return rows


def lines(name: str, rows: pd.DataFrame) -> list[tuple]:
    """Coefficient by coefficient: the interval of least squares, and the private ones."""
    _, formula, bounds = SETS[name]
    fits = {"OLS": smf.ols(formula, rows).fit()}
    with dp.testing.insecure_seed(1):
        for epsilon in EPSILONS:
            fits[f"epsilon {epsilon:g}"] = dp.dp_ols(
                formula, rows, method="adassp", epsilon=epsilon, bounds=bounds
            )
    terms = fits["OLS"].params.index
    return [(name, term, *(_interval(fit, term) for fit in fits.values())) for term in terms]


def _interval(fit, term: str) -> str:
    low, high = fit.conf_int().loc[term]
    return f"{fit.params[term]:.4f} [{low:.4f}, {high:.4f}]"


def cells() -> list[tuple]:
    """The 111 cells of fictitious people: how p25 of noisy_moments compares with OLS."""
    people, bounds = dp.datasets.oi_microdata(), {"kid_rank": (0, 1), "parent_rank": (0, 1)}
    formula = "kid_rank ~ parent_rank"
    reference = dp.evaluate.ols_reference(formula, people, by="cell", bounds=bounds, public=True)
    ols = reference[reference["term"] == "p25"].set_index("cell")
    found = []
    for epsilon in (*EPSILONS, 16.0):
        with dp.testing.insecure_seed(1):
            result = dp.dp_ols(
                formula, people, by="cell", method="noisy_moments", epsilon=epsilon, bounds=bounds
            )
        own = result.frame[result.frame["term"] == "p25"].set_index("cell")
        width, of_ols = own["upper"] - own["lower"], 2 * 1.96 * ols["std_error"]
        holds = (own["lower"] <= ols["estimate"]) & (ols["estimate"] <= own["upper"])
        found.append(
            (
                f"{epsilon:g}",
                f"{np.isinf(width).mean():.2f}",
                f"{np.median(width[np.isfinite(width)]):.3f}" if np.isfinite(width).any() else "-",
                f"{of_ols.median():.3f}",
                f"{holds.mean():.2f}",
            )
        )
    return found


def main(arguments: list[str]) -> None:
    """Print the intervals of every set that is there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks intervals", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DATA", "data")))
    folder = parser.parse_args(arguments).data
    there = {name: table(name, folder) for name in SETS}
    rows = [line for name, t in there.items() if t is not None for line in lines(name, t)]
    if rows:
        header = ("set", "coefficient", "OLS", *(f"epsilon {e:g}" for e in EPSILONS))
        print_table("intervals: adassp beside OLS, 95%", header, rows)
    missing = [SETS[name][0] for name, t in there.items() if t is None]
    if missing:
        print(f"\nintervals: no {', '.join(missing)} in {folder}; name a folder with --data")
    header = ("epsilon", "unbounded", "median width", "of OLS", "holds OLS estimate")
    print_table("intervals: p25 of noisy_moments in 111 cells", header, cells())
