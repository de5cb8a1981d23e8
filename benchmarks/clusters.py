"""Standard errors clustered by a column that is not what is protected: coverage, and width.

``python -m benchmarks clusters`` prints how often intervals of the default with
``cov_type="cluster"`` hold the true coefficients, beside those of least squares, which are
clustered too, and how long they are; with ``--model`` those of logits, Poisson regressions and
instruments.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd

import dpstats as dp
from benchmarks.cluster_models import MODELS, Model
from benchmarks.tools import print_table


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


def table(model: Model, design: Design, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw rows: errors and x have the correlation in clusters, z one value in each."""
    G, first = design.clusters, design.first or 1 / design.clusters
    labels = rng.choice(G, n, p=[first, *[(1 - first) / (G - 1)] * (G - 1)])
    return model.table(labels, G, design.correlation, rng)


def cell(
    model: Model, design: Design, n: int, epsilon: float, repetitions: int, delta: float | None
) -> tuple:
    """Fit as many tables; return one line of the printed table."""
    inside, widths, theirs, numbers = [], [], [], []
    for seed in range(repetitions):
        data = table(model, design, n, np.random.default_rng([7, seed]))
        params, half = model.clustered(data)
        with dp.testing.insecure_seed(seed):
            call = {"epsilon": epsilon, "delta": delta, "cov_type": "cluster", "cluster": "state"}
            fit = model.fit(model.formula, data, **call)
        low, high = fit.conf_int().to_numpy().T
        shown = np.isfinite(high - low)
        inside.append(np.where(shown, (low <= model.truth) & (high >= model.truth), np.nan))
        widths.append(np.where(shown, (high - low) / (2 * half), np.nan))
        theirs.append(np.abs(params - model.truth) <= half)
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


HEADER = ("clusters", "rows", "epsilon", "effective", "shown", "held", "theirs", "width")


def main(arguments: list[str]) -> None:
    """Print one table: within (x) and between clusters (z) beside one another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks clusters", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--sizes", nargs="+", type=int, default=[5000, 20_000])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1, 4, 100])
    parser.add_argument("--designs", nargs="+", type=int, default=[*range(len(DESIGNS))])
    parser.add_argument("--model", choices=MODELS, default="ols")
    parser.add_argument("--pure", action="store_true", help="delta = 0")
    options = parser.parse_args(arguments)
    delta = 0.0 if options.pure else None
    model = MODELS[options.model]
    rows = [
        cell(model, DESIGNS[i], n, epsilon, options.repetitions, delta)
        for i in options.designs
        for n in options.sizes
        for epsilon in options.epsilons
    ]
    name = f"{model.fit.__name__}{', delta=0' * options.pure}, cov_type='cluster'"
    print_table(name, HEADER, rows)
    print(_LEGEND.format(*model.names))


_LEGEND = """\
effective: median released number of clusters; then, for {} and {}: share of fits that show an
interval, share of these that hold the true coefficient, that of the non-private clustered fit, and
median width over its own; x varies inside of clusters, and z does not"""
