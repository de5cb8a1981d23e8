"""Find where by_spread should change from one of its methods to the other.

exp_theil_sen has the smaller error where little can be seen of x, noisy_moments where much can.
A rule may use epsilon times n, which is public there, or spend a part of the budget on
epsilon n var(x). Each size is tried over spreads of x, from a twentieth of its range to a
uniform x, and over residuals that are nearly none, a tenth and a third of the range of y.
A rule is judged by its regret: its error over that of the better method, a geometric mean.
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.tools import checked, print_table, released
from dpstats import simulate
from dpstats.call import Prepared
from dpstats.estimators.contract import InMemory, Repeated
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from dpstats.testing import insecure_seed

SIZES = (50, 200, 800, 1600, 3200, 6400, 12800, 25600)
SPREADS = (0.05, 0.1, 0.2, 0.29)
RESIDUALS = (0.02, 0.1, 0.3)
METHODS = ("exp_theil_sen", "noisy_moments")
_REGRET = ("rule", "mean regret", "worst regret")
BOUNDS = {"x": (0, 1), "y": (0, 1)}
# The share of epsilon for epsilon n var(x), and the values from which noisy_moments is taken.
SHARE, THRESHOLDS = 0.1, (16, 32, 64, 128, 256, 512, 1024)


def errors(method: str, table, epsilon: float, draws: int, neighbors: str) -> np.ndarray:
    """|prediction - OLS| at a quarter and three quarters of the range, shape (draws, 2)."""
    call = {"method": method, "epsilon": epsilon, "neighbors": neighbors}
    request = checked("y ~ x", table, bounds=BOUNDS, **call)
    problem = Prepared.of(request).problem
    X = np.column_stack([np.ones(len(table)), table["x"]])
    y = table["y"].to_numpy()
    ols = problem.x_new @ np.linalg.lstsq(X, y, rcond=None)[0]
    rows, found = Repeated(InMemory(Rows(X, y))), []
    for _ in range(draws):
        release = released(request, problem, rows)
        values = np.clip(np.nan_to_num(release.predictions, nan=0.5), -0.5, 1.5)
        found.append(np.abs(values - ols))
    return np.array(found)


def typical(found: np.ndarray) -> float:
    """The 68% quantile."""
    return float(np.quantile(found, 0.68))


def private_rules(rng, table, epsilon: float, rest: dict) -> dict[str, float]:
    """The error of rules that look at epsilon n var(x) plus Laplace noise.

    One row, exchanged or added, moves n var(x), x in [0, 1], by at most 1.
    """
    x = table["x"].to_numpy()
    noise = rng.laplace(0, 1 / SHARE, len(rest["noisy_moments"]))
    seen = epsilon * len(x) * x.var() + noise
    theil_sen, moments = rest["exp_theil_sen"], rest["noisy_moments"]
    return {
        f"{SHARE:.0%} on epsilon n var(x), from {limit}": typical(
            np.where((seen >= limit)[:, None], moments, theil_sen)
        )
        for limit in THRESHOLDS
    }


def cell(
    size: int, spread: float, residual: float, rows: int, draws: int, seeds: int, neighbors: str
):
    """Error of noisy_moments over that of exp_theil_sen, and the regret of each rule."""
    ratios, regrets = [], []
    for seed in range(seeds):
        table = simulate.line(rows, x_sd=spread, noise_sd=residual, seed=seed)
        epsilon, rng = size / rows, np.random.default_rng(seed)
        whole = {m: errors(m, table, epsilon, draws, neighbors) for m in METHODS}
        rest = {m: errors(m, table, epsilon * (1 - SHARE), draws, neighbors) for m in METHODS}
        theil_sen, moments = (typical(whole[m]) for m in METHODS)
        by_size = {f"epsilon n from {s}": moments if size >= s else theil_sen for s in SIZES[2:]}
        rules = {"always exp_theil_sen": theil_sen, "always noisy_moments": moments, **by_size}
        rules |= private_rules(rng, table, epsilon, rest)
        ratios.append(moments / theil_sen)
        regrets.append({rule: np.log(e / min(moments, theil_sen)) for rule, e in rules.items()})
    mean = {rule: float(np.mean([r[rule] for r in regrets])) for rule in regrets[0]}
    return float(np.median(ratios)), mean


def main(arguments: list[str]) -> None:
    """Print the ratios of errors, below 1 where noisy_moments is better; keep the regrets."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks crossing", description=__doc__)
    parser.add_argument("--out", default="vignettes/auto")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--neighbors", default=ADD_REMOVE, choices=[ADD_REMOVE, REPLACE_ONE])
    chosen = parser.parse_args(arguments)
    shapes = list(product(RESIDUALS, SPREADS))
    settings = chosen.rows, chosen.draws, chosen.seeds, chosen.neighbors
    with insecure_seed(3):
        cells = {(size, *s): cell(size, s[1], s[0], *settings) for size in SIZES for s in shapes}
    for residual in RESIDUALS:
        rows = [
            (size, *(f"{cells[size, residual, spread][0]:.2f}" for spread in SPREADS))
            for size in SIZES
        ]
        header = ("eps n", *(f"sd(x) = {spread:g}" for spread in SPREADS))
        title = f"Error of noisy_moments over that of exp_theil_sen, residual sd {residual:g}"
        print_table(title, header, rows)
    regrets = [mean for _, mean in cells.values()]
    rows = [
        (rule, f"{np.exp(np.mean([r[rule] for r in regrets])):.2f}",
         f"{np.exp(max(r[rule] for r in regrets)):.2f}")
        for rule in regrets[0]
    ]  # fmt: skip
    print_table("Regret of rules over all of these", _REGRET, rows)
    pd.DataFrame(rows, columns=_REGRET).to_csv(Path(chosen.out) / "crossing.csv", index=False)
