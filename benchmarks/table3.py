"""The protocol of Wang (2018), Table 3: cross-validated error on the UCI sets."""

import argparse
import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.tools import checked, print_table, released
from dpstats.call import Prepared
from dpstats.estimators import METHODS
from dpstats.estimators.contract import InMemory, Repeated
from dpstats.numerics import Rows
from dpstats.testing import insecure_seed

EPSILON, FOLDS = 0.1, 10
_FOLDS = range(FOLDS)
# Error and its spread as the paper prints them, by set and method.
PAPER = pd.read_csv(Path(__file__).with_name("wang2018_table3.csv"), index_col=["set", "method"])
SETS = tuple(PAPER.index.unique("set"))
# The methods of this protocol that there are, whether the paper has them or not.
CANDIDATES = ("adassp", "ssp", "adaops", "ops", "objpert", "noisy_sgd")
PRESENT = tuple(name for name in CANDIDATES if name in METHODS)


@dataclass(frozen=True)
class Errors:
    """Mean squared errors: ``private`` (repetitions, folds), not private, and of predicting 0.

    ``private`` is NaN where nothing was released.
    """

    private: np.ndarray
    ridge: float
    trivial: float


def path_of(name: str, folder: Path | str | None = None) -> Path:
    """The file of a set, response last, in the folder named here or by the environment's DATA."""
    return Path(folder or os.environ.get("DATA", "data")) / f"uci_{name}.csv.gz"


def delta_of(n: int) -> float:
    """The paper's delta, min(10^-6, 1 / n^2)."""
    return min(1e-6, n**-2.0)


def prepared(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows X (n, d) of unit norm and responses y (n,) within [-1, 1].

    NaN becomes 0, y is divided by max |y|, the columns of X are standardised, and every row
    of X is divided by its norm; a row of zeros stays.
    """
    table = np.nan_to_num(table.astype(float), nan=0.0)
    X, y = table[:, :-1], table[:, -1] / np.abs(table[:, -1]).max()
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1), y


def private_call(X: np.ndarray, y: np.ndarray, epsilon: float = EPSILON, method: str = "adassp"):
    """The call to dp_ols that the protocol is: no intercept, row_norm=1, y in [-1, 1]."""
    names = [f"x{j}" for j in range(X.shape[1])]
    data = {**dict(zip(names, X.T, strict=True)), "y": y}
    arguments = {"method": method, "epsilon": epsilon, "row_norm": 1, "bounds": {"y": (-1, 1)}}
    if METHODS[method].guarantee != "pure":
        arguments["delta"] = delta_of(len(y))
    return f"y ~ 0 + {' + '.join(names)}", data, arguments


def cross_validate(
    X, y, repetitions: int, epsilon: float = EPSILON, seed: int = 0, method: str = "adassp"
) -> Errors:
    """Ten-fold cross-validation, each repetition with folds and noise of its own."""
    formula, data, arguments = private_call(X, y, epsilon, method)
    request = checked(formula, data, **arguments)
    problem, rng = Prepared.of(request).problem, np.random.default_rng(seed)
    rows = Rows(X, y)
    private, ridge = np.empty((2, repetitions, FOLDS))
    with insecure_seed(seed):
        for repetition in range(repetitions):
            fold = rng.permutation(len(y)) % FOLDS
            for k in _FOLDS:
                others = Repeated(InMemory(rows[fold != k]))
                theta = released(request, problem, others).params
                private[repetition, k] = _error(X[fold == k], y[fold == k], theta)
                theta = ridge_solution(X[fold != k], y[fold != k])
                ridge[repetition, k] = _error(X[fold == k], y[fold == k], theta)
    return Errors(private, float(ridge.mean()), float(np.mean(y**2)))


def ridge_solution(X, y) -> np.ndarray:
    """Solve least squares with a ridge of 1, which the paper's code calls non-private."""
    return np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ y)


def _error(X, y, theta) -> float:
    return float(np.mean((y - X @ theta) ** 2))


def main(arguments: list[str]) -> None:
    """Print the paper's error beside ours for each set that is there, and each method."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks table3", description=__doc__)
    parser.add_argument("--data", help="folder of uci_*.csv.gz; by default what DATA says")
    parser.add_argument("--repetitions", type=int, default=40, help="fewer for large sets")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--methods", nargs="+", choices=PRESENT, default=["adassp"])
    options = parser.parse_args(arguments)
    there = [name for name in options.sets if path_of(name, options.data).is_file()]
    if not there:
        print("\ntable3: skipped, no uci_*.csv.gz; name their folder with --data or DATA=")
        return
    rows = [
        _row(table_row(name, method, options.repetitions, options.data))
        for name in there
        for method in options.methods
    ]
    print_table(
        f"table3: mean squared error of 10-fold cross-validation, epsilon={EPSILON}, "
        "delta=min(1e-6, 1/n^2)",
        ("set", "method", "n", "d", "paper", "+-", "ours", "s.d. of folds", "distance",
         "failed", "non-private", "trivial"),
        rows,
    )  # fmt: skip
    print("distance: (ours - paper) / the paper's spread; below zero is better than the paper")


@dataclass(frozen=True)
class Row:
    """One set and method: errors, and what the paper prints (NaN where it does not)."""

    name: str
    method: str
    shape: tuple[int, int]
    errors: Errors
    paper: float
    spread: float

    @property
    def failed(self) -> float:
        """The share of folds without a release."""
        return float(np.isnan(self.errors.private).mean())

    @property
    def ours(self) -> float:
        """The mean error of the folds with a release, infinite when there is none."""
        return float(np.nanmean(self.errors.private)) if self.failed < 1 else math.inf

    @property
    def distance(self) -> float:
        """How far ours is from the paper's error, in units of the paper's spread."""
        return (self.ours - self.paper) / self.spread


def table_row(name: str, method: str, repetitions: int, folder=None) -> Row:
    """Cross-validate a method on a set, an eighth as often when the set is large."""
    X, y = prepared(pd.read_csv(path_of(name, folder)).to_numpy())
    fewer = repetitions if X.size < 10**5 else max(2, repetitions // 8)
    errors = cross_validate(X, y, fewer, method=method)
    printed = (name, method) in PAPER.index
    paper, spread = PAPER.loc[(name, method)] if printed else (np.nan, np.nan)
    return Row(name, method, X.shape, errors, paper, spread)


def _row(row: Row) -> tuple:
    """The cells of a row."""
    spread = float(row.errors.private.std(axis=1).mean())
    numbers = (row.paper, row.spread, row.ours, spread)
    return (
        row.name,
        row.method,
        *row.shape,
        *(f"{value:.4f}" for value in numbers),
        f"{row.distance:+.2f}",
        f"{row.failed:.0%}",
        f"{row.errors.ridge:.4f}",
        f"{row.errors.trivial:.4f}",
    )
