"""Where noisy_moments overtakes exp_theil_sen on one regressor, as eps times n grows.

The rule of ``method="auto"`` for one regressor with declared bounds uses this crossing. It
may depend on what is public only, so each size is tried over spreads of x from a
twentieth of its range to a uniform x, and the rule is the size from which noisy_moments has
the smaller typical error for the middle of them.
"""

import numpy as np

from benchmarks.tools import checked, print_table, released
from dpstats import simulate
from dpstats.testing import insecure_seed

SIZES = (50, 100, 200, 400, 800, 1600, 3200)
SPREADS = (0.05, 0.1, 0.2, 0.29)
METHODS = ("exp_theil_sen", "noisy_moments")
BOUNDS = {"x": (0, 1), "y": (0, 1)}


def error(method: str, table, epsilon: float, draws: int) -> float:
    """The 68% quantile of |prediction - OLS| at a quarter and three quarters of the range."""
    request = checked("y ~ x", table, method=method, epsilon=epsilon, bounds=BOUNDS)
    problem = request.problem(request.design())
    X = np.column_stack([np.ones(len(table)), table["x"]])
    y = table["y"].to_numpy()
    ols = problem.x_new @ np.linalg.lstsq(X, y, rcond=None)[0]
    summary = request.method.summarise(X, y, problem)
    errors = []
    for _ in range(draws):
        release = released(request, problem, summary)
        found = np.clip(np.nan_to_num(release.predictions, nan=0.5), -0.5, 1.5)
        errors.append(np.abs(found - ols))
    return float(np.quantile(errors, 0.68))


def ratios(size: int, rows: int, draws: int, seeds: int) -> list[float]:
    """Error of noisy_moments over that of exp_theil_sen, a spread each, at eps n = size."""
    found = []
    for spread in SPREADS:
        tables = [
            simulate.line(rows, x_sd=spread, noise_sd=0.1, seed=seed) for seed in range(seeds)
        ]
        pairs = [[error(m, t, size / rows, draws) for m in METHODS] for t in tables]
        found.append(float(np.median([moments / theil_sen for theil_sen, moments in pairs])))
    return found


def main(arguments: list[str]) -> None:
    """Print the ratios of errors; below 1 noisy_moments is the better one."""
    with insecure_seed(3):
        rows = [(size, *(f"{r:.2f}" for r in ratios(size, 200, 40, 5))) for size in SIZES]
    header = ("eps n", *(f"sd(x) = {spread:g}" for spread in SPREADS))
    print_table("Error of noisy_moments over that of exp_theil_sen, n = 200", header, rows)
