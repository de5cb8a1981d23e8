"""Compare N and R-squared from released numbers with least squares: errors and coverage.

``python -m benchmarks goodness`` prints, for each method, law of the rows and size, the root mean
square error of R-squared against least squares on the same rows, the mean of its standard errors
where there is one, and how often the 95% intervals made of them hold the R-squared of the rows.
``--parts`` takes rows of lognormal weights within 0 and 10, and persons of four rows on average, in
the place of single rows: least squares are weighted, those of persons by one over their rows.
``--long`` takes long-tailed regressors in the place of normal ones, of single rows and of persons.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import statsmodels.api as sm

import dpstats as dp
from benchmarks.tools import print_table

EPSILONS, SIZES, COLUMNS = (1.0, 4.0), (2000, 10_000, 100_000), (1, 5)
METHODS = (("adassp", True), ("noisy_moments", True), ("noisy_newton", False), ("adassp", False))
ERRORS = {
    "normal": lambda rng, x: rng.normal(size=len(x)),
    "heavy-tailed": lambda rng, x: rng.standard_t(4, size=len(x)),
    "heteroscedastic": lambda rng, x: rng.normal(size=len(x)) * (0.5 + 0.5 * np.abs(x)),
}
REGRESSORS = {  # of a standard deviation of one
    "Student's t3": lambda rng, size: rng.standard_t(3, size) / 3**0.5,
    "lognormal": lambda rng, size: _lognormal(rng, 1.0, size),
    "lognormal, 1.5": lambda rng, size: _lognormal(rng, 1.5, size),
    "Pareto": lambda rng, size: rng.pareto(3, size) / 0.75**0.5,
}
REACH = 12.0  # declared bounds of the response, which no row leaves
_HEAVIEST, _ROWS_A_PERSON = 10.0, 4


class Cell(NamedTuple):
    """Hold a method with or without bounds, on one law of rows, at one epsilon.

    ``parts`` tells what rows count for parts by: "weights", "persons" or nothing. The regressors
    are of a law of ``REGRESSORS``, or normal within two deviations.
    """

    method: str
    bounded: bool
    errors: str
    d: int
    n: int
    epsilon: float
    parts: str = ""
    regressors: str = "normal"


def _lognormal(rng: np.random.Generator, sd: float, size: int) -> np.ndarray:
    """Draw numbers whose logarithms deviate by ``sd``."""
    return rng.lognormal(0, sd, size) / math.sqrt(math.expm1(sd**2) * math.exp(sd**2))


def cells(sizes: Sequence[int] = SIZES) -> Iterator[Cell]:
    """List the cells of the study."""
    for (method, bounded), errors, d, n, epsilon in product(
        METHODS, ERRORS, COLUMNS, sizes, EPSILONS
    ):
        if method != "noisy_moments" or d == 1:
            yield Cell(method, bounded, errors, d, n, epsilon)


def cells_of_parts(sizes: Sequence[int] = SIZES) -> Iterator[Cell]:
    """List those of rows that count for parts."""
    for parts, errors, n, epsilon in product(("weights", "persons"), ERRORS, sizes, EPSILONS):
        yield Cell("noisy_newton", False, errors, 1, n, epsilon, parts)


def cells_of_long_regressors(sizes: Sequence[int] = SIZES) -> Iterator[Cell]:
    """List those of long-tailed regressors, the first of which explains half of the response."""
    for regressors, parts, n, epsilon in product(REGRESSORS, ("", "persons"), sizes, EPSILONS):
        yield Cell("noisy_newton", False, "normal", 2, n, epsilon, parts, regressors)


def in_parts(rng: np.random.Generator, cell: Cell) -> tuple[np.ndarray, dict, dict]:
    """Draw what rows count for (n,), the column that tells it, and how a call names that."""
    if cell.parts == "weights":
        weights = np.minimum(rng.lognormal(-0.5, 1, cell.n), _HEAVIEST)
        return weights, {"w": weights}, {"weights": "w", "bounds": {"w": (0, _HEAVIEST)}}
    if not cell.parts:
        return np.ones(cell.n), {}, {}
    persons = rng.integers(0, cell.n // _ROWS_A_PERSON, cell.n)
    return 1 / np.bincount(persons)[persons], {"id": persons}, {"unit": "id"}


def _drawn(rng: np.random.Generator, cell: Cell) -> tuple[np.ndarray, np.ndarray]:
    """Draw regressors (n, d) and responses (n,)."""
    X = rng.normal(size=(cell.n, cell.d))
    if cell.regressors in REGRESSORS:
        X[:, 0] = 2 * REGRESSORS[cell.regressors](rng, cell.n)  # 2 deviations, as slopes are 1/2
        return X, 0.5 * X.sum(axis=1) + ERRORS[cell.errors](rng, X[:, 0])
    X = np.clip(X, -2, 2)
    return X, np.clip(0.5 * X.sum(axis=1) + ERRORS[cell.errors](rng, X[:, 0]), -REACH, REACH)


def measured(cell: Cell, repetitions: int, seed: int = 1) -> np.ndarray:
    """Measure errors and standard errors of R-squared and residual variance, (repetitions, 4)."""
    rng, rows = np.random.default_rng(seed), []
    formula = "y ~ " + " + ".join(f"x{j}" for j in range(cell.d))
    names = [f"x{j}" for j in range(cell.d)]
    bounds = {**dict.fromkeys(names, (-2, 2)), "y": (-REACH, REACH)} if cell.bounded else {}
    for i in range(repetitions):
        X, y = _drawn(rng, cell)
        weights, column, more = in_parts(rng, cell)
        table = dict(zip(names, X.T, strict=True)) | {"y": y} | column
        call = {"bounds": bounds} | more
        with dp.testing.insecure_seed(i):
            fit = dp.dp_ols(formula, table, method=cell.method, epsilon=cell.epsilon, **call)
        ols, ours = sm.WLS(y, sm.add_constant(X), weights).fit(), fit.fit_statistics
        freedom = ols.df_resid / (weights.sum() - cell.d - 1)
        theirs = {"rsquared": ols.rsquared, "scale": ols.scale * freedom}
        parts = [
            (ours.loc[name, "estimate"] - figure, ours.loc[name, "std_error"])
            for name, figure in theirs.items()
        ]
        rows.append([*parts[0], *parts[1]])
    return np.array(rows)


def covered(errors: np.ndarray, deviations: np.ndarray) -> float:
    """Return how often errors stay within 1.96 of the deviations, where there are any."""
    shown = np.isfinite(errors) & np.isfinite(deviations)
    return (
        float(np.mean(np.abs(errors[shown]) <= 1.96 * deviations[shown])) if shown.any() else np.nan
    )


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks goodness", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    study = parser.add_mutually_exclusive_group()
    study.add_argument("--parts", action="store_true", help="rows of weights, and of persons")
    study.add_argument("--long", action="store_true", help="long-tailed regressors")
    given = parser.parse_args(arguments)
    studied = cells_of_parts if given.parts else cells_of_long_regressors if given.long else cells
    rows = []
    for cell in studied(given.sizes):
        r2, r2_error, scale, scale_error = measured(cell, given.repetitions).T
        shown = np.isfinite(r2_error)
        rows.append(
            (
                cell.parts or cell.method, "yes" if cell.bounded else "no",
                cell.regressors if given.long else cell.errors, cell.d, cell.n,
                f"{cell.epsilon:g}",
                f"{np.sqrt(np.nanmean(r2**2)):.4f}" if np.isfinite(r2).any() else "",
                f"{shown.mean():.2f}",
                f"{r2_error[shown].mean():.4f}" if shown.any() else "",
                f"{covered(r2, r2_error):.2f}" if shown.any() else "",
                f"{covered(scale, scale_error):.2f}" if shown.any() else "",
            )
        )  # fmt: skip
    header = (
        "method", "bounds", "regressors" if given.long else "errors", "d", "n", "epsilon",
        "R2 rmse", "shown", "R2 s.e.", "covers", "scale covers",
    )  # fmt: skip
    print_table("R-squared beside that of least squares", header, rows)
