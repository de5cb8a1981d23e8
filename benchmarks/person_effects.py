"""How near effects of persons, absorbed and protected, come to the within estimator.

``y ~ x0 + ... | g`` with ``unit="g"``, without bounds. Errors are distances from weighted least
squares of deviations from the persons' means, in its standard errors clustered by person; widths
are multiples of those of its intervals. ``covers`` is of the true slopes, for the one that is
covered worst, with that of the intervals without privacy in brackets. ``--adassp`` fits adassp
within bounds that hold all rows, whose noise follows them.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

import dpstats as dp
from benchmarks.pairs import within
from benchmarks.tools import print_table

SLOPE = 0.3


@dataclass(frozen=True)
class Case:
    """Persons of 1 to ``most`` rows and d regressors, of a ``law``, that follow their effects.

    Errors of a person are autoregressive, and their deviation grows with the first regressor where
    it is ``unequal``.
    """

    persons: int
    d: int = 2
    most: int = 8
    law: str = "normal"
    unequal: bool = False


CASES = {
    "normal": Case(5000),
    "errors of different variances": Case(5000, unequal=True),
    "two rows each": Case(5000, most=2),
    "6 regressors": Case(20_000, d=6),
    "lognormal": Case(5000, law="lognormal"),
    "lognormal, different variances": Case(5000, law="lognormal", unequal=True),
    "1 in 10% of the rows": Case(5000, law="tenth"),
    "1 in 3% of the rows": Case(5000, law="rare"),
    "1,000 persons": Case(1000, d=1),
}
LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "lognormal": lambda rng, shape: rng.lognormal(0, 1, size=shape),
    "tenth": lambda rng, shape: (rng.uniform(size=shape) < 0.1) * 1.0,
    "rare": lambda rng, shape: (rng.uniform(size=shape) < 0.03) * 1.0,
}
HEADER = ("case", "rows", "epsilon", "error", "shown", "covers", "width")


def table(case: Case, seed: int) -> pd.DataFrame:
    """Simulate rows of persons."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(min(2, case.most), case.most + 1, case.persons)
    person = np.repeat(np.arange(case.persons), rows)
    effect = rng.normal(size=case.persons)[person]
    x = LAWS[case.law](rng, (len(person), case.d))
    x += effect[:, None] * (case.law == "normal")
    errors = rng.normal(size=(case.persons, case.most)).cumsum(axis=1) * 0.5
    first = np.repeat(np.cumsum(rows) - rows, rows)
    errors = errors[person, np.arange(len(person)) - first] + rng.normal(size=len(person))
    errors *= 1 + case.unequal * np.abs(x[:, 0])
    columns = {f"x{j}": x[:, j] for j in range(case.d)}
    return pd.DataFrame({**columns, "y": SLOPE * x.sum(axis=1) + 2 * effect + errors, "g": person})


def measured(name: str, epsilon: float, fits: int, sums: bool) -> tuple:
    """Measure one case."""
    case, errors, shown, covered, widths, without = CASES[name], [], [], [], [], []
    for seed in range(fits):
        data = table(case, seed)
        names, half = [c for c in data if c[0] == "x"], norm.ppf(0.975)
        weights = 1 / data.groupby("g")["y"].transform("size")
        slopes, deviations = within(data.assign(w=weights), names)
        own = deviations["cluster"]
        more = {"method": "adassp", "bounds": _bounds(data)} if sums else {}
        with dp.testing.insecure_seed(seed):
            formula = f"y ~ {' + '.join(names)} | g"
            found = dp.dp_ols(formula, data, epsilon=epsilon, unit="g", **more)
        low, high = found.conf_int().to_numpy().T
        errors.append(np.abs(found.params - slopes) / own)
        shown.append(np.isfinite(low))
        covered.append((low <= SLOPE) & (high >= SLOPE))
        without.append(np.abs(slopes - SLOPE) <= half * own)
        widths.append((high - low) / (2 * half * own))
    seen, held = np.array(shown), np.array(covered)
    each = [held[seen[:, j], j].mean() for j in range(case.d) if seen[:, j].any()]
    width = np.median(np.array(widths)[seen]) if seen.any() else np.nan
    return (
        name, f"{len(data):,}", f"{epsilon:g}", f"{np.median(errors):.2f}", f"{seen.mean():.2f}",
        f"{min(each, default=np.nan):.2f} ({np.mean(without, axis=0).min():.2f})", f"{width:.2f}",
    )  # fmt: skip


def _bounds(data: pd.DataFrame) -> dict:
    """Return extremes, rounded outward."""
    numbers = data.drop(columns="g")
    return {name: (np.floor(numbers[name].min()), np.ceil(numbers[name].max())) for name in numbers}


def main(arguments: list[str]) -> None:
    """Print one line a case and epsilon."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks person_effects")
    parser.add_argument("--fits", type=int, default=100)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 4.0])
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--adassp", action="store_true")
    given = parser.parse_args(arguments)
    rows = [
        measured(name, epsilon, given.fits, given.adassp)
        for name in given.only
        for epsilon in given.epsilon
    ]
    print_table(f"person_effects: {given.fits} fits a case", HEADER, rows)
