"""Standard errors clustered by a column that is not what is protected: coverage, and width.

``python -m benchmarks clusters`` prints how often intervals of the default with
``cov_type="cluster"`` hold the true coefficients, beside those of least squares, which are
clustered too, and how long they are.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t

import dpstats as dp
from benchmarks.tools import print_table

FORMULA, TRUTH = "y ~ x + z", np.array([1.0, 0.5, 0.3])


@dataclass(frozen=True)
class Design:
    """So many clusters, the share of the rows in the first one, and the correlation inside.

    A share of 0 is for clusters of one size.
    """

    clusters: int
    first: float
    correlation: float

    @property
    def name(self) -> str:
        first = f", one of {self.first:.0%}" if self.first else ""
        return f"{self.clusters}{first}, correlation {self.correlation:g}"


DESIGNS = [
    Design(clusters, first, correlation)
    for clusters in (30, 50, 200)
    for first in (0.0, 0.3)
    for correlation in (0.0, 0.1)
]


def table(design: Design, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw rows: errors and x have the correlation in clusters, z one value in each."""
    G, first = design.clusters, design.first or 1 / design.clusters
    labels = rng.choice(G, n, p=[first, *[(1 - first) / (G - 1)] * (G - 1)])
    x, errors = (_correlated(labels, G, design.correlation, rng) for _ in range(2))
    z = rng.normal(size=G)[labels]
    y = TRUTH[0] + TRUTH[1] * x + TRUTH[2] * z + errors
    return pd.DataFrame({"y": y, "x": x, "z": z, "state": labels})


def _correlated(labels, clusters: int, correlation: float, rng) -> np.ndarray:
    """Draw normal values of variance 1 that are correlated inside of clusters."""
    of_clusters = rng.normal(size=clusters)[labels]
    own = rng.normal(size=len(labels))
    return np.sqrt(correlation) * of_clusters + np.sqrt(1 - correlation) * own


def clustered(data: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Least squares and half the length of its intervals, clustered, as statsmodels has them."""
    X = np.column_stack([np.ones(len(data)), data[["x", "z"]]])
    y, (n, p) = data["y"].to_numpy(), X.shape
    inverse = np.linalg.inv(X.T @ X)
    params = inverse @ (X.T @ y)
    scores = X * (y - X @ params)[:, None]
    sums = np.stack([np.bincount(data["state"], column) for column in scores.T])
    G = data["state"].nunique()
    cov = inverse @ (sums @ sums.T) @ inverse * G / (G - 1) * (n - 1) / (n - p)
    return params, t.isf(0.025, G - 1) * np.sqrt(np.diag(cov))


def cell(design: Design, n: int, epsilon: float, repetitions: int, delta: float | None) -> tuple:
    """Fit as many tables; return one line of the printed table."""
    inside, widths, theirs, numbers = [], [], [], []
    for seed in range(repetitions):
        data = table(design, n, np.random.default_rng([7, seed]))
        params, half = clustered(data)
        with dp.testing.insecure_seed(seed):
            call = {"epsilon": epsilon, "delta": delta, "cov_type": "cluster", "cluster": "state"}
            fit = dp.dp_ols(FORMULA, data, **call)
        low, high = fit.conf_int().to_numpy().T
        shown = np.isfinite(high - low)
        inside.append(np.where(shown, (low <= TRUTH) & (high >= TRUTH), np.nan))
        widths.append(np.where(shown, (high - low) / (2 * half), np.nan))
        theirs.append(np.abs(params - TRUTH) <= half)
        numbers.append(fit.fit_statistics.loc["clusters", "estimate"])
    with np.errstate(all="ignore"):
        held, width = (
            np.nanmean(inside, axis=0)[1:], np.nanmedian(np.array(widths), axis=0)[1:],
        )  # fmt: skip
    shown = 1 - np.isnan(inside)[:, 1:].mean(axis=0)
    return (
        design.name, f"{n:,}", f"{epsilon:g}", f"{np.median(numbers):.0f}", _line(shown),
        _line(held), _line(np.mean(theirs, axis=0)[1:]), _line(width),
    )  # fmt: skip


def _line(values: np.ndarray) -> str:
    return " ".join(f"{value:.2f}" for value in values)


HEADER = ("clusters", "rows", "epsilon", "effective", "shown", "held", "OLS held", "width/OLS")


def main(arguments: list[str]) -> None:
    """Print one table: within (x) and between clusters (z) beside one another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks clusters", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--sizes", nargs="+", type=int, default=[5000, 20_000])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1, 4, 100])
    parser.add_argument("--designs", nargs="+", type=int, default=[*range(len(DESIGNS))])
    parser.add_argument("--pure", action="store_true", help="delta = 0")
    options = parser.parse_args(arguments)
    delta = 0.0 if options.pure else None
    rows = [
        cell(DESIGNS[i], n, epsilon, options.repetitions, delta)
        for i in options.designs
        for n in options.sizes
        for epsilon in options.epsilons
    ]
    name = "noisy_newton_pure" if options.pure else "noisy_newton"
    print_table(f"{name}, cov_type='cluster'", HEADER, rows)
    print(_LEGEND)


_LEGEND = """\
effective: median released number of clusters; then, for x, which varies inside of clusters, and z,
which does not: share of fits that show an interval, share of these that hold the true coefficient,
that of clustered least squares, and median width over its own"""
