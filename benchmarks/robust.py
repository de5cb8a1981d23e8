"""Robust standard errors where the variance of errors differs: coverage of the truth, and width.

``python -m benchmarks robust`` prints, for the default and adassp with ``cov_type="HC1"``, how
often intervals hold the true coefficients, the worst of them first, and how long they are.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

import dpstats as dp
from benchmarks.tools import print_table

FORMULA, LEVELS = "y ~ C(g) + x + z", {"g": ["a", "b", "c"]}
SHIFTS = {"a": 0.0, "b": 0.5, "c": -0.5}
TRUTH = np.array([1.0, 0.5, -0.5, 0.5, 0.3])
Z = norm.isf(0.025)


@dataclass(frozen=True)
class Design:
    """Errors given (rng, line, x, g), whether x is a gamma variable, and bounds for adassp."""

    errors: Callable
    y: tuple[float, float]
    gamma: bool = False


DESIGNS = {
    "one variance": Design(lambda rng, line, x, g: rng.normal(size=len(x)), (-6, 8)),
    "|x|": Design(lambda rng, line, x, g: np.abs(x) * rng.normal(size=len(x)), (-10, 12)),
    "exp(x/2)": Design(lambda rng, line, x, g: np.exp(x / 2) * rng.normal(size=len(x)), (-12, 14)),
    "skewed exp(x/2)": Design(
        lambda rng, line, x, g: np.exp(x / 2) * (rng.exponential(size=len(x)) - 1), (-6, 40)
    ),
    "by level": Design(
        lambda rng, line, x, g: (0.5 + (g == "b") / 2 + 2.5 * (g == "c")) * rng.normal(size=len(x)),
        (-12, 12),
    ),
    "income": Design(
        lambda rng, line, x, g: line * (rng.lognormal(-0.32, 0.8, len(x)) - 1), (0, 60), True
    ),
}


def table(design: Design, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw rows with correlated x and z and a factor; income is a line times lognormal factors."""
    x, g = rng.normal(size=n), rng.choice(LEVELS["g"], n, p=[0.6, 0.3, 0.1])
    z = 0.5 * x + np.sqrt(0.75) * rng.normal(size=n)
    x = rng.gamma(8, 0.5, n) if design.gamma else x
    z = np.clip(z, -4.5, 4.5)
    line = TRUTH[0] + np.array([SHIFTS[level] for level in g]) + TRUTH[3] * x + TRUTH[4] * z
    frame = pd.DataFrame({"x": x, "z": z, "g": g})
    # a line times positive factors is to be positive
    spread = np.maximum(line, 0.1) if design.gamma else line
    return frame.assign(y=line + design.errors(rng, spread, x, g))


def white(data: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Least squares and its errors by HC1."""
    g, n = data["g"].to_numpy(), len(data)
    X = np.column_stack([np.ones(n), g == "b", g == "c", data[["x", "z"]]]).astype(float)
    inverse = np.linalg.inv(X.T @ X)
    params = inverse @ (X.T @ data["y"].to_numpy())
    scores = X * (data["y"].to_numpy() - X @ params)[:, None]
    cov = inverse @ (scores.T @ scores) @ inverse * n / (n - len(params))
    return params, np.sqrt(np.diag(cov))


def cell(name: str, method: str, n: int, epsilon: float, repetitions: int) -> tuple:
    """Fit as many tables; return one line of the printed table."""
    design, options = DESIGNS[name], {}
    if method != "noisy_newton":
        x = (0, 14) if design.gamma else (-4.5, 4.5)
        options["bounds"] = {"x": x, "z": (-4.5, 4.5), "y": design.y}
    errors, inside, widths, theirs = [], [], [], []
    for seed in range(repetitions):
        data = table(design, n, np.random.default_rng([7, seed]))
        params, hc1 = white(data)
        with dp.testing.insecure_seed(seed):
            fit = dp.dp_ols(FORMULA, data, method=method, epsilon=epsilon, levels=LEVELS,
                            cov_type="HC1", **options)  # fmt: skip
        low, high = fit.conf_int().to_numpy().T
        shown = np.isfinite(high - low)
        inside.append(np.where(shown, (low <= TRUTH) & (high >= TRUTH), np.nan))
        widths.append(np.where(shown, (high - low) / (2 * Z * hc1), np.nan))
        errors.append((fit.params.to_numpy() - params) / hc1)
        theirs.append(np.abs(params - TRUTH) <= Z * hc1)
    with np.errstate(all="ignore"):
        held = np.nanmean(inside, axis=0)
        needed = np.sqrt(1 + np.mean(np.square(errors), axis=0))
        width = np.nanmedian(widths, axis=0)
    shown = np.mean(~np.isnan(inside))
    return (
        name, method, n, f"{epsilon:g}", f"{shown:.2f}", f"{np.nanmin(held):.3f}",
        f"{np.nanmean(held):.3f}", f"{np.mean(theirs, axis=0).min():.3f}",
        " ".join(f"{value:.2f}" for value in width), " ".join(f"{value:.2f}" for value in needed),
    )  # fmt: skip


HEADER = (
    "errors", "method", "rows", "epsilon", "shown", "worst held", "mean", "White's worst",
    "width/White's", "needed",
)  # fmt: skip


def main(arguments: list[str]) -> None:
    """Print one table a method."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks robust", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--methods", nargs="+", default=["noisy_newton", "adassp"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[5000, 20_000])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1, 4, 8, 100])
    parser.add_argument("--designs", nargs="+", default=[*DESIGNS])
    options = parser.parse_args(arguments)
    for method in options.methods:
        rows = [
            cell(name, method, n, epsilon, options.repetitions)
            for name in options.designs
            for n in options.sizes
            for epsilon in options.epsilons
        ]
        print_table(f"{method}, cov_type='HC1'", HEADER, rows)
    print(_LEGEND)


_LEGEND = """\
held: share of shown intervals that hold the true coefficient, for the worst of five coefficients
and on average; White's: the same without privacy; width: median over White's, for the intercept,
two levels, x and z; needed: root of 1 plus mean square of the privacy error, in White's errors"""
