r"""What privacy costs at least under the protocol of Wang (2018), Table 3, by table and epsilon.

``python -m benchmarks floor --data DIR`` reads the uci_*.csv.gz of DIR, as ``table3`` does, and
prints errors of prediction above those of least squares, in percent of these:

- floor: what no mu-GDP estimator is below on average over coefficients, as shown below.
- step: one Gaussian release of clipped scores for the whole budget, from the least squares solution
  itself, with X'X known and the limit chosen with hindsight. It spends nothing on finding either.
- adassp: what that method has above ridge regression, with ``--repetitions``.
- noisy_newton: what that method has above the same, with an intercept and all columns in [-1, 1].

The floor. Let rows be N(x'theta, s^2) given x, with E xx' = 1 (the identity), their number Poisson
of mean n, and let theta have the prior N(0, (V/d) 1), so that the fit explains V. Let M be mu-GDP
where one row is added, T the score of its output, which is the expected score of the rows given the
output, and J = E TT' its Fisher information about theta. A row has the score a = x (y - x'theta) /
s^2, of mean 0 and covariance 1 / s^2. By Mecke's formula

    tr J = E sum_i a_i'T(M(rows)) = n E a'T(M(rows and the row of a)).

Without that row a'T has the mean 0 and, given a, the mean square a'Ja. The chi-square divergence of
outputs that are mu-GDP is at most exp(mu^2) - 1, that of N(mu, 1) from N(0, 1), of which they are a
function. So tr J <= n sqrt(exp(mu^2) - 1) E sqrt(a'Ja) <= n sqrt((exp(mu^2) - 1) tr J / s^2), that
is tr J <= n^2 (exp(mu^2) - 1) / s^2. The inequality of van Trees gives E|estimate - theta|^2 >=
d^2 / (tr J + d^2 / V), so that the excess over the best prediction is, in units of s^2, at least

    1 / (n^2 (exp(mu^2) - 1) / d^2 + s^2 / V).

Least squares itself has an excess of d / n. The floor is for tables of this size, noise and fit, on
average: an estimator that always says what is right for one table has no error there.
"""

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd

import dpstats as dp
from benchmarks.table3 import (
    FOLDS,
    SETS,
    cross_validate,
    delta_of,
    path_of,
    prepared,
    ridge_solution,
)
from benchmarks.tools import print_table
from dpstats.privacy import GDP
from dpstats.testing import insecure_seed

EPSILONS = (0.1, 0.5, 1.0)
# Limits on scores that are tried, and the part of the largest eigenvalue that counts as none.
_LIMITS, _NO_EIGENVALUE = 60, 1e-9


def floor(n: float, d: int, mu: float, noise: float, explained: float) -> float:
    """Return the least average error of any mu-GDP estimator over that of least squares, minus 1.

    >>> round(floor(1000, 10, 0.05, 1.0, 1.0), 4), floor(1000, 10, 1.0, 1.0, 1.0)
    (0.0281, 0.0)
    """
    if explained <= 0:
        return 0.0
    excess = 1 / (n**2 * math.expm1(mu**2) / d**2 + noise / explained)
    return max((1 + excess) / (1 + d / n) - 1, 0.0)


def step(scores: np.ndarray, n: float, mu: float) -> float:
    """Return the excess of one noisy sum of the scores (N, d) of n of N rows, at the best limit.

    Clipped to C they add up to what clipping leaves, plus noise of C / mu in each direction; the
    step divides by the number of rows below C.
    """
    rows, d = scores.shape
    sizes = np.linalg.norm(scores, axis=1)
    found = []
    for limit in np.geomspace(np.median(sizes), sizes.max(), _LIMITS):
        kept = np.minimum(1, limit / np.maximum(sizes, np.finfo(float).tiny))
        bias = (scores * kept[:, None]).sum(axis=0) * n / rows
        whole = n * np.mean(sizes <= limit)
        found.append((bias @ bias + d * (limit / mu) ** 2) / whole**2)
    return min(found)


def whitened(X: np.ndarray) -> np.ndarray:
    """Return X (n, d) in coordinates in which X'X is n times the identity, of its rank."""
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    seen = values > _NO_EIGENVALUE * values.max()
    return X @ (vectors[:, seen] / np.sqrt(values[seen]))


def newton_excess(X: np.ndarray, y: np.ndarray, repetitions: int, epsilon: float) -> float:
    """Return the cross-validated excess of noisy_newton over ridge regression, as a part of it."""
    names = [f"x{j}" for j in range(X.shape[1])]
    data, rng, private, ridge = pd.DataFrame(X, columns=names), np.random.default_rng(0), 0.0, 0.0
    data["y"], bounds = y, dict.fromkeys([*names, "y"], (-1, 1))
    with insecure_seed(0):
        for _ in range(repetitions):
            fold = rng.permutation(len(y)) % FOLDS
            for k in range(FOLDS):
                fitted, held = fold != k, fold == k
                fit = dp.dp_ols(
                    "y ~ " + " + ".join(names), data[fitted], method="noisy_newton",
                    epsilon=epsilon, delta=delta_of(len(y)), bounds=bounds,
                )  # fmt: skip
                private += np.mean((y[held] - fit.predict(data[held])) ** 2)
                ridge += np.mean((y[held] - X[held] @ ridge_solution(X[fitted], y[fitted])) ** 2)
    return private / ridge - 1


def excesses(name: str, folder: Path, repetitions: int) -> list[dict]:
    """Return the excesses of one table, in percent, at each epsilon."""
    X, y = prepared(pd.read_csv(path_of(name, folder)).to_numpy())
    A, n = whitened(X), len(y) * (FOLDS - 1) / FOLDS
    d = A.shape[1]
    left = y - A @ (A.T @ y / len(y))
    noise = float(left @ left) / (len(y) - d)
    found = []
    for epsilon in EPSILONS:
        mu = GDP.of(epsilon, delta_of(len(y))).mu
        row = {"set": name, "n": len(y), "d": d, "epsilon": epsilon}
        row["floor"] = 100 * floor(n, d, mu, noise, float(np.mean(y**2)) - noise)
        row["step"] = 100 * step(A * left[:, None], n, mu) / noise
        if repetitions:
            errors = cross_validate(X, y, repetitions, epsilon)
            row["adassp"] = 100 * (float(errors.private.mean()) / errors.ridge - 1)
            row["noisy_newton"] = 100 * newton_excess(X, y, repetitions, epsilon)
        found.append(row)
    return found


def main(arguments: list[str]) -> None:
    """Print the excesses by table and their medians over tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks floor", description=(__doc__ or "").partition("The floor.")[0]
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--repetitions", type=int, default=0, help="of the methods; 0 leaves them out"
    )
    given = parser.parse_args(arguments)
    names = [name for name in SETS if path_of(name, given.data).is_file()]
    rows = [row for name in names for row in excesses(name, given.data, given.repetitions)]
    table = pd.DataFrame(rows)
    columns = [name for name in table if name not in ("set", "n", "d", "epsilon")]
    wide = table.pivot_table(
        index=["set", "n", "d"], columns="epsilon", values=columns, sort=False
    ).reindex(columns=[(c, e) for c in columns for e in EPSILONS])
    medians = wide.median()
    print_table(
        "floor: error of prediction above least squares, in percent of it, by epsilon",
        ("set", "n", "d", *(f"{c} {e:g}" for c, e in wide)),
        [
            *((*map(str, key), *(f"{v:.2f}" for v in row)) for key, row in zip(
                wide.index, wide.to_numpy(), strict=True)),
            ("median", "", "", *(f"{v:.2f}" for v in medians)),
        ],
    )  # fmt: skip
