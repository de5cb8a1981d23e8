"""Estimate a population's coefficients from samples with skewed survey weights.

``python -m benchmarks weights`` prints bias and coverage of weighted fits, of fits that ignore the
weights, and of rows that were multiplied by the root of their weight before they are clipped to
the bounds of the unweighted columns, as some software does.
"""

import argparse

import numpy as np
import pandas as pd
from statsmodels.api import WLS

import dpstats as dp

# Trimmed at the 99.8th percentile in the population too, so that the target is exact.
LARGEST = 10.0
BOUNDS = {"x": (0.0, 1.0), "y": (-1.0, 2.0)}
HC1 = {"cov_type": "HC1"}


def sample(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw a sample in which rows of a steeper line are rarer, with their weights."""
    z = rng.normal(size=n)
    frame = pd.DataFrame({"x": rng.beta(2, 2, n), "w": np.minimum(np.exp(0.8 * z), LARGEST)})
    errors = 0.15 * rng.normal(size=n) * (0.5 + frame["x"])
    frame["y"] = 0.1 + (0.3 + 0.15 * np.tanh(z)) * frame["x"] + errors
    return frame


def population() -> np.ndarray:
    """Return intercept and slope in the population, from ten million rows of a sample."""
    frame = sample(10_000_000, np.random.default_rng(0))
    y = frame["y"].clip(*BOUNDS["y"]).to_numpy()
    X = np.column_stack([np.ones(len(y)), frame["x"]])
    return WLS(y, X, weights=frame["w"].to_numpy()).fit().params


def weighted(data: pd.DataFrame, epsilon: float, **options) -> tuple[np.ndarray, np.ndarray]:
    """Fit with weights=; return the slope and its interval."""
    options = {"method": "adassp", "bounds": {**BOUNDS, "w": (0.0, LARGEST)}, **options}
    result = dp.dp_ols("y ~ x", data, epsilon=epsilon, weights="w", **options)
    return result.params["x"], result.conf_int().loc["x"].to_numpy()


def default(data: pd.DataFrame, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Fit with weights= and no bounds but theirs; return the slope and its interval."""
    return weighted(data, epsilon, method="auto", bounds={"w": (0.0, LARGEST)})


def unweighted(data: pd.DataFrame, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Fit without weights; return the slope and its interval."""
    result = dp.dp_ols("y ~ x", data, method="adassp", epsilon=epsilon, bounds=BOUNDS)
    return result.params["x"], result.conf_int().loc["x"].to_numpy()


def scaled_before_clipping(data: pd.DataFrame, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Multiply rows by the root of w over its mean, clip them to the bounds, and fit."""
    root = np.sqrt(data["w"] / data["w"].mean())
    rows = pd.DataFrame({"one": root, "x": root * data["x"], "y": root * data["y"]})
    result = dp.dp_ols("y ~ one + x - 1", rows, method="adassp", epsilon=epsilon,
                       bounds={**BOUNDS, "one": (0.0, 1.0)})  # fmt: skip
    return result.params["x"], result.conf_int().loc["x"].to_numpy()


def trials(fit, truth: float, n: int, repetitions: int, seed: int = 1, **more):
    """Return errors (R,) and whether each interval that is bounded covers, (R,), NaN if none."""
    errors, covered = np.empty(repetitions), np.empty(repetitions)
    for r in range(repetitions):
        with dp.testing.insecure_seed(seed * 1_000_003 + r):
            slope, (low, high) = fit(sample(n, np.random.default_rng([seed, r])), **more)
        errors[r] = slope - truth
        covered[r] = low <= truth <= high if np.isfinite([low, high]).all() else np.nan
    return errors, covered


FITS = {
    "the default": default,
    "weights, HC1": lambda data, epsilon: weighted(data, epsilon, **HC1),
    "weights": weighted,
    "weights, trimmed at 4, HC1": lambda data, epsilon: weighted(
        data, epsilon, trim_weights=4.0, **HC1
    ),
    "no weights": unweighted,
    "scaled, then clipped": scaled_before_clipping,
}


def main(arguments: list[str]) -> None:
    """Print a table of bias, root mean square error and coverage."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks weights", description=__doc__)
    parser.add_argument("--fits", type=int, default=300)
    options = parser.parse_args(arguments)
    truth = population()[1]
    print(f"slope in the population: {truth:.4f}")
    print(f"{'fit':28}{'n':>8}{'epsilon':>9}{'bias':>9}{'rmse':>8}{'shown':>7}{'covers':>8}")
    for n in (5_000, 50_000):
        for epsilon in (1.0, 4.0):
            for name, fit in FITS.items():
                errors, covered = trials(fit, truth, n, options.fits, epsilon=epsilon)
                shown = ~np.isnan(covered)
                rate = covered[shown].mean() if shown.any() else np.nan
                print(
                    f"{name:28}{n:8,}{epsilon:9g}{errors.mean():9.4f}"
                    f"{np.sqrt(np.mean(errors**2)):8.4f}{shown.mean():7.0%}{rate:8.1%}"
                )
