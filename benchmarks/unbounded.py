"""Whether intervals without declared bounds cover least squares on all rows, or are hidden."""

import argparse
from itertools import product

import numpy as np
import pandas as pd

import dpstats as dp
from benchmarks.tools import print_table

SIZES, EPSILONS = (1000, 2000, 5000, 20_000), (0.5, 1.0, 4.0)
# Laws of two regressors, and of errors.
LAWS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "uniform": lambda rng, size: rng.uniform(0, 10, size),
    "0/1": lambda rng, size: (rng.random(size) < 0.3) * 1.0,
    "exponential": lambda rng, size: rng.exponential(size=size),
    "lognormal, 0.5": lambda rng, size: rng.lognormal(0, 0.5, size),
    "mostly zero": lambda rng, size: np.where(rng.random(size) < 0.8, 0, rng.exponential(3, size)),
    "t, 3": lambda rng, size: rng.standard_t(3, size),
    "lognormal": lambda rng, size: rng.lognormal(size=size),
}
ERRORS = {"normal": LAWS["normal"], "lognormal": LAWS["lognormal"]}
# The mean of the response: a line, and one that no line fits.
MEANS = {
    "line": lambda x: 1 + x[:, 0] - x[:, 1] / 2,
    "logarithms": lambda x: np.log(0.1 + np.abs(x)) @ [1.0, -0.5],
}
HEADER = (
    "x", "errors", "mean", "n", "epsilon", "fits", "shown", "clipped", "covered", "width/OLS",
)  # fmt: skip


def line(law: str, errors: str, mean: str, n: int, epsilon: float, fits: int, **call) -> tuple:
    """One cell: shares of fits, and of those shown how many cover in the worse of two slopes."""
    rng = np.random.default_rng(1)
    shown, clipped, hits, widths = 0, 0, np.zeros(2), []
    for _ in range(fits):
        x = LAWS[law](rng, (n, 2))
        y = MEANS[mean](x) + ERRORS[errors](rng, n)
        data = pd.DataFrame({"y": y, "x1": x[:, 0], "x2": x[:, 1]})
        fit = dp.dp_ols("y ~ x1 + x2", data, epsilon=epsilon, **call)
        ends = fit.conf_int().loc[["x1", "x2"]].to_numpy()
        clipped += fit.status == "clipped"
        if not np.isfinite(ends).all():
            continue
        slopes, errors_of = _ols(x, y)
        shown += 1
        hits += (ends[:, 0] <= slopes) & (slopes <= ends[:, 1])
        widths.append((ends[:, 1] - ends[:, 0]) / (2 * 1.96 * errors_of))
    place = (
        law,
        errors,
        mean,
        n,
        f"{epsilon:g}",
        fits,
        f"{shown / fits:.2f}",
        f"{clipped / fits:.2f}",
    )
    if not shown:
        return (*place, "-", "-")
    return (*place, f"{hits.min() / shown:.2f}", f"{np.median(widths):.1f}")


def _ols(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of least squares on all rows, and their standard errors."""
    X = np.column_stack([x, np.ones(len(y))])
    inverse = np.linalg.inv(X.T @ X)
    params = inverse @ (X.T @ y)
    variance = np.sum((y - X @ params) ** 2) / (len(y) - 3)
    return params[:2], np.sqrt(variance * np.diag(inverse))[:2]


def main(arguments: list[str]) -> None:
    """Print one table a method, with one line a law, size and epsilon."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks unbounded", description=__doc__)
    parser.add_argument("--fits", type=int, default=200)
    parser.add_argument("--methods", nargs="+", default=["adassp", "ssp"])
    parser.add_argument("--laws", nargs="+", default=list(LAWS), choices=LAWS)
    parser.add_argument("--errors", nargs="+", default=list(ERRORS), choices=ERRORS)
    parser.add_argument("--means", nargs="+", default=list(MEANS), choices=MEANS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--cov-type", default="nonrobust")
    chosen = parser.parse_args(arguments)
    more = {} if chosen.cov_type == "nonrobust" else {"cov_type": chosen.cov_type}
    cells = (chosen.laws, chosen.errors, chosen.means, chosen.sizes, chosen.epsilons)
    for method in chosen.methods:
        with dp.testing.insecure_seed(1):
            rows = [line(*cell, chosen.fits, method=method, **more) for cell in product(*cells)]
        print_table(f"{method} without bounds, {chosen.cov_type}", HEADER, rows)
