"""Compare the default on simulated designs with shrunken, adassp at exact bounds and OLS.

``python -m benchmarks grid`` fits y on d regressors of several laws. Errors are the root mean
square error of the slopes in units of sd(y) / sd(x); ``shown`` is the part of the slopes with an
interval, ``cover`` how many of those hold the true slope. The last line is the worst cell: all
intervals of a cell together lie within the Clopper-Pearson limits of 95%, or above, or do not.
"""

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import beta, norm

import dpstats as dp

# Correlated normal variables (n, d) become the regressors.
LAWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "normal": lambda z: z,
    "lognormal": lambda z: np.exp(0.8 * z),
    "t3": lambda z: np.sign(z) * np.expm1(np.abs(z)),
    "uniform": lambda z: 10 * norm.cdf(z),
    "0/1": lambda z: (z > np.linspace(-0.5, 1.2, z.shape[1])).astype(float),
    "quadratic": lambda z: np.column_stack(
        [40 + 12 * z[:, :1], (40 + 12 * z[:, :1]) ** 2, z[:, 2:]]
    ),
    "AR(1)": lambda z: z,
    "equicorrelated": lambda z: z,
}
CORRELATION = {"AR(1)": 0.8, "equicorrelated": 0.9}
SLOPES = np.array([1, -0.5, 0.7, 0.3, -0.8, 0.4])
EPSILONS, SIZES, DIMENSIONS = (0.5, 1.0, 3.0), (500, 3000, 10_000, 100_000), (1, 6, 20, 60)
_ROWS_PER_COLUMN = 80
_LEVEL = 0.95


def design(law: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Simulate regressors (n, d)."""
    rho, places = CORRELATION.get(law, 0.3 if d > 1 else 0.0), np.arange(d)
    equal = (1 - rho) * np.eye(d) + rho
    matrix = rho ** np.abs(places[:, None] - places) if law == "AR(1)" else equal
    return LAWS[law](rng.normal(size=(n, d)) @ np.linalg.cholesky(matrix).T)


def drawn(law: str, n: int, d: int, share: float, seed: int):
    """Simulate a table in which x explains ``share``; return slopes in units of sd(y) / sd(x)."""
    rng = np.random.default_rng(seed)
    X = design(law, n, d, rng)
    sd = X.std(axis=0)
    slopes = np.resize(SLOPES, d) / sd
    signal = X @ slopes
    y = 7 + signal + signal.std() * np.sqrt((1 - share) / share) * rng.normal(size=n)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]).assign(y=y)
    return frame, slopes, sd / y.std()


def fits(frame: pd.DataFrame, epsilon: float, alone: bool = False):
    """Fit by each method: slopes (d,), and the ends of intervals (d, 2) of the default.

    With ``alone`` only the default is fitted, which takes a third of the time.
    """
    names = [name for name in frame if name != "y"]
    formula = "y ~ " + " + ".join(names)
    bounds = {name: (frame[name].min(), frame[name].max()) for name in frame}
    default = dp.dp_ols(formula, frame, epsilon=epsilon, delta=1e-6)
    ends = default.conf_int().loc[names].to_numpy()
    if alone:
        return {"default": default.params[names].to_numpy()}, ends
    before = dp.dp_ols(formula, frame, epsilon=epsilon, delta=1e-6, method="shrunken")
    exact = dp.dp_ols(formula, frame, epsilon=epsilon, delta=1e-6, method="adassp", bounds=bounds)
    X = np.column_stack([np.ones(len(frame)), frame[names]])
    ols = np.linalg.lstsq(X, frame["y"], rcond=None)[0][1:]
    slopes = {"default": default, "shrunken": before, "adassp, exact bounds": exact}
    found = {name: fit.params[names].to_numpy() for name, fit in slopes.items()}
    return found | {"OLS": ols}, ends


def measured(cell, repetitions: int, alone: bool = False) -> dict:
    """Run one cell: errors by method, and shares of intervals shown and covering."""
    law, n, d, share, epsilon = cell
    errors, shown, held = [], 0, 0
    for seed in range(repetitions):
        frame, truth, units = drawn(law, n, d, share, seed)
        slopes, ends = fits(frame, epsilon, alone)
        errors.append({name: ((s - truth) * units) ** 2 for name, s in slopes.items()})
        finite = np.isfinite(ends).all(axis=1)
        shown += finite.sum()
        held += ((ends[:, 0] <= truth) & (truth <= ends[:, 1]) & finite).sum()
    of = {name: float(np.sqrt(np.median([e[name].mean() for e in errors]))) for name in errors[0]}
    return {
        "law": law, "n": n, "d": d, "R2": share, "epsilon": epsilon, **of,
        "shown": shown / (d * repetitions), "cover": held / shown if shown else np.nan,
        "intervals": shown,
    }  # fmt: skip


def cells(sizes, dimensions, epsilons):
    """List the cells in which a column has rows enough for least squares, and d suits the law."""
    for law, n, d, share, epsilon in product(LAWS, sizes, dimensions, (0.3, 0.9), epsilons):
        if n >= _ROWS_PER_COLUMN * d and not (law == "quadratic" and d == 1):
            yield law, n, d, share, epsilon


def main(arguments: list[str]) -> None:
    """Print a line for each cell and what all cells have in common."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks grid", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--dimensions", type=int, nargs="+", default=DIMENSIONS)
    parser.add_argument("--epsilons", type=float, nargs="+", default=EPSILONS)
    parser.add_argument("--laws", nargs="+", choices=LAWS, default=list(LAWS))
    parser.add_argument("--alone", action="store_true", help="fit the default alone")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args(arguments)
    chosen = [
        cell
        for cell in cells(given.sizes, given.dimensions, given.epsilons)
        if cell[0] in given.laws
    ]
    work = partial(measured, repetitions=given.repetitions, alone=given.alone)
    with ProcessPoolExecutor(given.processes) as pool:
        rows = list(pool.map(work, chosen))
    table = pd.DataFrame(rows)
    print(table.drop(columns="intervals").round(4).to_string(index=False))
    seen = table[table["intervals"] > 0]
    held = seen["cover"] * seen["intervals"]
    upper = beta.ppf(0.9995, held + 1, np.maximum(seen["intervals"] - held, 1e-9))
    below = seen[upper < _LEVEL]
    enough = table[table["n"] * table["epsilon"] >= 5000 * (table["d"] + 1)]
    error = ""
    if not given.alone:
        ratio = (table["default"] / table["shrunken"]).median()
        error = f"the default's error is {ratio:.2f} of shrunken's (median); "
    print(
        f"{len(table)} cells: {error}shown "
        f"{table['shown'].mean():.0%}, at least {enough['shown'].min():.0%} where n epsilon >= "
        f"5000 (d + 1); coverage given shown {held.sum() / seen['intervals'].sum():.3f}, least "
        f"{seen['cover'].min():.3f}; below 95% beyond chance in {len(below)} cells"
    )
    print(below.drop(columns="intervals").round(4).to_string(index=False) if len(below) else "")
