"""adassp under the protocol of Wang (2018), Table 3: cross-validated error on the UCI sets."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.tools import checked, print_table, released
from dpstats.testing import insecure_seed

ROOT = Path(__file__).resolve().parents[1]
EPSILON, DELTA, FOLDS = 0.1, 1e-6, 10
_FOLDS = range(FOLDS)
# Error and its spread as printed in the column ADASSP of Table 3.
PAPER = {
    "airfoil": (0.0878, 0.014),
    "autompg": (0.115, 0.047),
    "concrete": (0.119, 0.016),
    "elevators": (0.0237, 0.0022),
    "energy": (0.15, 0.032),
    "forest": (0.0675, 0.013),
    "gas": (0.0875, 0.0073),
    "housing": (0.0997, 0.035),
    "keggdirected": (0.0212, 0.0011),
    "kin40k": (0.064, 0.0021),
    "machine": (0.141, 0.068),
    "parkinsons": (0.156, 0.0064),
    "pumadyn32nm": (0.0966, 0.0063),
    "servo": (0.198, 0.081),
    "skillcraft": (0.039, 0.0056),
    "sml": (0.147, 0.013),
    "solar": (0.0204, 0.0073),
    "stock": (0.0651, 0.024),
    "yacht": (0.109, 0.03),
}


@dataclass(frozen=True)
class Errors:
    """Mean squared errors: ``private`` (repetitions, folds), not private, and of predicting 0."""

    private: np.ndarray
    ridge: float
    trivial: float


def folder() -> Path:
    """Where the sets are: the environment's DATA, else shared/data beside the project."""
    return Path(os.environ.get("DATA", ROOT.parent / "shared" / "data"))


def path_of(name: str) -> Path:
    """The file of a set; its last column is the response."""
    return folder() / f"uci_{name}.csv.gz"


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


def private_call(X: np.ndarray, y: np.ndarray, epsilon: float = EPSILON):
    """The call to dp_ols that the protocol is: no intercept, row_norm=1, y in [-1, 1]."""
    names = [f"x{j}" for j in range(X.shape[1])]
    data = {**dict(zip(names, X.T, strict=True)), "y": y}
    arguments = {"epsilon": epsilon, "delta": DELTA, "row_norm": 1, "bounds": {"y": (-1, 1)}}
    return f"y ~ 0 + {' + '.join(names)}", data, arguments


def cross_validate(X, y, repetitions: int, epsilon: float = EPSILON, seed: int = 0) -> Errors:
    """Ten-fold cross-validation, each repetition with folds and noise of its own.

    Each fold is summarised once; the other nine, merged, are what a fit is released from.
    """
    formula, data, arguments = private_call(X, y, epsilon)
    request = checked(formula, data, method="adassp", **arguments)
    problem, rng = request.problem(request.design()), np.random.default_rng(seed)
    private, ridge = np.empty((2, repetitions, FOLDS))
    with insecure_seed(seed):
        for repetition in range(repetitions):
            fold = rng.permutation(len(y)) % FOLDS
            parts = [request.method.summarise(X[fold == k], y[fold == k], problem) for k in _FOLDS]
            for k in _FOLDS:
                first, *rest = parts[:k] + parts[k + 1 :]
                theta = released(request, problem, sum(rest, first)).params
                private[repetition, k] = _error(X[fold == k], y[fold == k], theta)
                theta = _ridge(X[fold != k], y[fold != k])
                ridge[repetition, k] = _error(X[fold == k], y[fold == k], theta)
    return Errors(private, float(ridge.mean()), float(np.mean(y**2)))


def _ridge(X, y) -> np.ndarray:
    """What the paper's code calls non-private: least squares with a ridge of 1."""
    return np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ y)


def _error(X, y, theta) -> float:
    return float(np.mean((y - X @ theta) ** 2))


def main(arguments: list[str]) -> None:
    """Print the paper's error beside ours for each set that is there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks table3", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=40, help="fewer for large sets")
    parser.add_argument("--sets", nargs="+", choices=PAPER, default=list(PAPER))
    options = parser.parse_args(arguments)
    there = [name for name in options.sets if path_of(name).is_file()]
    if not there:
        print(f"\ntable3: skipped, no uci_*.csv.gz in {folder()}; name their folder with DATA=")
        return
    print_table(
        f"table3: mean squared error of 10-fold cross-validation, epsilon={EPSILON}, "
        f"delta={DELTA:g}",
        (
            "set",
            "n",
            "d",
            "paper",
            "+-",
            "ours",
            "s.d. of folds",
            "distance",
            "non-private",
            "trivial",
        ),
        [_row(name, options.repetitions) for name in there],
    )
    print("distance: (ours - paper) / the paper's spread; below zero is better than the paper")


def _row(name: str, repetitions: int) -> tuple:
    X, y = prepared(pd.read_csv(path_of(name)).to_numpy())
    n, d = X.shape
    fewer = repetitions if n * d < 10**5 else max(2, repetitions // 8)
    errors = cross_validate(X, y, fewer)
    mean, spread = PAPER[name]
    ours = errors.private.mean()
    return (
        name,
        n,
        d,
        f"{mean:.4f}",
        f"{spread:.4f}",
        f"{ours:.4f}",
        f"{errors.private.std(axis=1).mean():.4f}",
        f"{(ours - mean) / spread:+.2f}",
        f"{errors.ridge:.4f}",
        f"{errors.trivial:.4f}",
    )
