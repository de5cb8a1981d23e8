"""Groups of by= beside one fit of each: how many intervals are shown, how far off, and covering.

The regressors are normal with correlations of .3, about means that are those of all groups or
lie 3 standard deviations apart, or on scales that differ by a factor of e in one standard
deviation. Errors and widths are in units of the group's least squares.
"""

import argparse
import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

import dpstats as dp
from benchmarks.tools import print_table

KINDS = ("alike", "means differ", "scales differ")
_CORRELATION, _APART = 0.3, 3.0


def table(kind: str, groups: int, rows: int, regressors: int, seed: int) -> pd.DataFrame:
    """Draw groups of so many rows each."""
    rng, d = np.random.default_rng(seed), regressors
    of = np.repeat(np.arange(groups), rows)
    root = np.linalg.cholesky((1 - _CORRELATION) * np.eye(d) + _CORRELATION)
    means = rng.normal(size=(groups, d + 1)) * _APART * (kind == "means differ")
    scales = np.exp(rng.normal(size=(groups, d + 1)) * (kind == "scales differ"))
    X = rng.normal(size=(len(of), d)) @ root.T * scales[of, :d]
    y = X @ slopes(d) + rng.normal(size=len(of)) * scales[of, d] + means[of, d]
    columns = {f"x{j}": X[:, j] + means[of, j] for j in range(d)}
    return pd.DataFrame({**columns, "y": y, "group": pd.Categorical(of)})


def slopes(regressors: int) -> np.ndarray:
    """Slopes of which the regressors explain about half of the response."""
    return np.linspace(0.5, 1, regressors) / np.sqrt(regressors)


def least_squares(part: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Slopes and their standard errors by least squares."""
    X = np.column_stack([np.ones(len(part)), part.filter(like="x")])
    inverse = np.linalg.inv(X.T @ X)
    params = inverse @ X.T @ part["y"]
    left = part["y"] - X @ params
    variance = left @ left / (len(X) - X.shape[1])
    return params[1:], np.sqrt(np.diag(inverse) * variance)[1:]


def fits(data: pd.DataFrame, epsilon: float, bounds, together: bool) -> Iterator[tuple]:
    """Slopes and ends of intervals of each group: of by=, or of a fit of its rows alone."""
    regressors = [name for name in data if name.startswith("x")]
    formula = "y ~ " + " + ".join(regressors)
    parts = [own.drop(columns="group") for _, own in data.groupby("group", observed=True)]
    if together:
        by = dp.dp_ols(formula, data, by="group", epsilon=epsilon, bounds=bounds, progress=False)
        found = [by[label] for label in by.labels]
    else:
        found = [dp.dp_ols(formula, part, epsilon=epsilon, bounds=bounds) for part in parts]
    for result, part in zip(found, parts, strict=True):
        ends = result.conf_int().loc[regressors].to_numpy()
        yield result.params[regressors].to_numpy(), ends, *least_squares(part)


def row(data: pd.DataFrame, epsilon: float, bounded: bool, together: bool) -> tuple[str, ...]:
    """Print how one kind of fits does."""
    numbers = data.drop(columns="group")
    ends = zip(np.floor(numbers.min()), np.ceil(numbers.max()), strict=True)
    bounds = dict(zip(numbers, ends, strict=True)) if bounded else None
    params, ends, exact, errors = map(
        np.array, zip(*fits(data, epsilon, bounds, together), strict=True)
    )
    shown = np.isfinite(ends).all(axis=2)
    truth = slopes(params.shape[1])
    inside = (ends[..., 0] <= truth) & (truth <= ends[..., 1])
    width = (ends[..., 1] - ends[..., 0]) / 2 / 1.96 / errors
    error = np.median(np.abs(params - exact) / errors)
    if not shown.any():
        return f"{shown.mean():.0%}", f"{error:.2f}", "", ""
    seen = f"{np.median(width[shown]):.1f}", f"{inside[shown].mean():.3f}"
    return f"{shown.mean():.0%}", f"{error:.2f}", *seen


def main(arguments: list[str]) -> None:
    """Print shown intervals, errors, widths and coverage by kind, size, epsilon and bounds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pooled", description=__doc__)
    parser.add_argument("--groups", type=int, default=50)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--regressors", type=int, nargs="+", default=[3])
    options = parser.parse_args(arguments)
    lines, ways = [], (("by=", True), ("alone", False))
    cells = itertools.product(KINDS, options.rows, options.regressors, (1, 4), (True, False))
    for kind, rows, regressors, epsilon, bounded in cells:
        data = table(kind, options.groups, rows, regressors, seed=1)
        place = kind, str(rows), str(regressors), str(epsilon), "yes" if bounded else "no"
        for name, together in ways:
            with dp.testing.insecure_seed(3):
                lines.append((*place, name, *row(data, epsilon, bounded, together)))
    header = "groups", "rows", "regressors", "epsilon", "bounds", "fits", "shown", "error", "width"
    print_table(
        f"pooled: {options.groups} groups by by= and one by one; error and width in s.e. of OLS",
        (*header, "covers"),
        lines,
    )
