"""Raw powers and a spline beside poly(): the noise of sums in the columns and in their basis."""

import argparse
from unittest.mock import patch

import numpy as np
import pandas as pd

import dpstats as dp
from benchmarks.tools import print_table

LOW, HIGH = 20, 65
BOUNDS = {"x": (LOW, HIGH), "y": (0, 5)}
AT = {"x": [25, 42.5, 60]}
FORMULAS = ("y ~ x + I(x**2)", "y ~ poly(x, 2)", "y ~ x + I(x**2) + I(x**3)", "y ~ poly(x, 3)",
            "y ~ bs(x, df=5)")  # fmt: skip


def frame(n: int, seed: int) -> pd.DataFrame:
    """n simulated rows of a quadratic of uniform ages."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(LOW, HIGH, n)
    y = 0.5 + 0.1 * x - 0.001 * x**2 + rng.normal(0, 0.4, n)
    return pd.DataFrame({"x": x, "y": np.clip(y, 0, 5)})


def fits(
    formula: str, n: int, epsilon: float, seeds: int, basis: bool, method: str
) -> dict[str, float]:
    """Privacy errors of predictions in standard errors of least squares, and intervals shown."""
    errors, shown, slopes = [], [], []
    for seed in range(seeds):
        data = frame(n, seed)
        with patch("dpstats.call.prepared.orthogonal_basis", _none if not basis else _found):
            fit = released(formula, data, epsilon, seed, method)
            limit = released(formula, data, 1e8, seed, "adassp")
        private, exact = (each.predict(AT, interval=True) for each in (fit, limit))
        errors.append((fit.predict(AT) - exact["mean"]) / exact["mean_se"])
        shown.append(np.isfinite(private[["mean_ci_lower", "mean_ci_upper"]]).all(axis=1))
        slopes.append(np.isfinite(fit.conf_int()).all(axis=1).mean())
    errors = np.abs(np.array(errors, float))
    return {
        "middle": float(np.nanmedian(errors[:, 1])),
        "sides": float(np.nanmedian(errors[:, [0, 2]])),
        "predictions": float(np.mean(shown)),
        "coefficients": float(np.mean(slopes)),
    }


def released(formula: str, data: pd.DataFrame, epsilon: float, seed: int, method: str):
    """One release."""
    with dp.testing.insecure_seed(seed):
        return dp.dp_ols(formula, data, method=method, epsilon=epsilon, bounds=BOUNDS)


def _none(design):
    return None


def _found(design):
    from dpstats.formula.orthogonal import orthogonal_basis

    return orthogonal_basis(design)


def main(arguments: list[str]) -> None:
    """Print errors and the share of intervals for each formula, in its columns and in a basis."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks powers", description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--method", default="adassp")
    parser.add_argument("--seeds", type=int, default=30)
    options = parser.parse_args(arguments)
    print_table(
        f"powers: {options.method}, {options.rows:,} rows, x uniform on [{LOW}, {HIGH}], epsilon "
        f"{options.epsilon:g}, {options.seeds} seeds. Median privacy\nerror of predictions at the "
        "middle and the sides, in standard errors of least squares, and the share of\nintervals "
        "that are bounded, of predictions and of coefficients.",
        ("formula", "sums of", "middle", "sides", "predictions", "coefficients"),
        _rows(options),
    )


def _rows(options):
    given = options.rows, options.epsilon, options.seeds
    for formula in FORMULAS:
        for basis in (False, True):
            found = fits(formula, *given, basis, options.method)
            sums = "orthogonal columns" if basis else "columns"
            shares = (f"{found[name]:.0%}" for name in ("predictions", "coefficients"))
            yield formula, sums, f"{found['middle']:.2f}", f"{found['sides']:.2f}", *shares
