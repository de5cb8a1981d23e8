"""The models of tukey, all at once, against as many fits by scikit-learn on the same rows."""

import argparse
import os
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from benchmarks.speed import frame
from benchmarks.tools import checked, print_table, released
from dpstats.call import Prepared
from dpstats.estimators.contract import InMemory, Repeated
from dpstats.estimators.depth.random_subsets import fit_subsets
from dpstats.numerics import Rows


def main(arguments: list[str]) -> None:
    """Print the times and their ratios to that of scikit-learn."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks subsets", description=__doc__)
    parser.add_argument("--rows", type=int, default=10**5)
    parser.add_argument("--regressors", type=int, default=10)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    n, d, m = options.rows, options.regressors, options.models
    try:
        import sklearn.linear_model  # noqa: F401
    except ImportError:
        print("\nsubsets: skipped, scikit-learn is not installed; pip install '.[bench]'")
        return
    calls = _calls(n, d, m)
    taken = {name: seconds(call, options.repeats) for name, call in calls.items()}
    theirs = taken[next(iter(taken))]
    print_table(
        f"subsets: {m:,} models of {d} regressors and an intercept, {n:,} rows, "
        f"{os.cpu_count()} cores; median of {options.repeats}. Target for our fits: 8.",
        ("what", "seconds", "times faster"),
        [(name, f"{value:.3f}", f"{theirs / value:.1f}") for name, value in taken.items()],
    )


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Median time of a call, after one to warm up."""
    taken = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return median(taken[1:])


def _calls(n: int, d: int, m: int) -> dict[str, Callable[[], object]]:
    """What is measured, scikit-learn first."""
    from sklearn.linear_model import LinearRegression

    import dpstats as dp

    data, labels = frame(n, d), np.random.default_rng(1).integers(0, m, n)
    X, y = data.drop(columns="y").to_numpy(), data["y"].to_numpy()
    parts = [(X[labels == part], y[labels == part]) for part in range(m)]
    design = np.column_stack([np.ones(n), X])
    formula = f"y ~ {' + '.join(data.columns[:d])}"
    bounds = {name: (-2, 2) for name in data}
    guarantee = {"method": "tukey", "epsilon": 1, "bounds": bounds}
    request = checked(formula, data, **guarantee, options={"m": m})
    problem = Prepared.of(request).problem
    rows = Repeated(InMemory(Rows(design, y)))
    return {
        "scikit-learn, a fit for each part": lambda: [
            LinearRegression().fit(*part) for part in parts
        ],
        "our fits, all parts at once": lambda: fit_subsets(
            design, y, labels, m, 0, np.zeros(d + 1)
        ),
        "tukey, the release from the rows": lambda: released(request, problem, rows),
        "dp_ols with tukey and bounds": lambda: dp.dp_ols(formula, data, m=m, **guarantee),
    }
