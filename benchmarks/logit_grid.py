"""Coverage of logistic regressions on simulated tables, beside objective perturbation.

``python -m benchmarks logit_grid`` prints 27 cells: each pair of rows, regressors, shares of ones
and epsilons is in three of them. Regressors are normal, binary and lognormal in turn. ``shown`` is
the share of the intervals of slopes that are shown, ``held`` the share of these that hold the true
coefficient, over all slopes and for the one with the fewest; ``of MLE`` is the latter without
privacy. ``error`` and ``width`` are medians in standard errors without privacy, the former from the
estimate without it.

``objective`` is the error of objective perturbation (Chaudhuri, Monteleoni and Sarwate 2011, and
with Gaussian noise Kifer, Smith and Thakurta 2012) on the first fits of a cell. Its rows are scaled
to a length of at most 1 by public bounds, here three standard deviations of the normal variables
that the columns are made of; kind of noise and penalty are those with the least error in the cell,
which nobody could choose so without the rows. It comes without intervals.
"""

import argparse
import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm

import dpstats as dp
from benchmarks.logit import simulated
from benchmarks.tools import print_table

_Z = 1.959964
LEVELS = {
    "rows": (1000, 5000, 50_000),
    "regressors": (2, 6, 12),
    "ones": (0.02, 0.1, 0.5),
    "epsilon": (0.5, 1.0, 4.0),
}
HEADER = (
    "rows", "regressors", "ones", "epsilon", "shown", "held", "worst", "of MLE", "error",
    "width", "objective",
)  # fmt: skip
# Slopes with fewer intervals have no share of their own.
_FEW = 20
# Penalties p of p |b|^2 / 2 that are tried, and the delta of Gaussian noise.
PENALTIES, _DELTA = 2.0 ** np.arange(-1, 9), 1e-5
# The logistic loss is 1-Lipschitz in a row of length 1 and its curvature is at most this.
_CURVATURE = 0.25


def cells() -> Iterator[tuple[int, int, float, float]]:
    """Yield a third of all combinations of levels, in which each pair of levels is as frequent."""
    for place in product(range(3), repeat=4):
        if sum(place) % 3 == 0:
            n, p, ones, epsilon = (of[k] for of, k in zip(LEVELS.values(), place, strict=True))
            yield int(n), int(p), float(ones), float(epsilon)


def tables(n: int, p: int, ones: float) -> Iterator[tuple[pd.DataFrame, np.ndarray, Any]]:
    """Draw tables, true slopes and fits without privacy, where there is one, without end."""
    rng = np.random.default_rng([n, p, int(1000 * ones)])
    while True:
        frame, truth = simulated(n, p, ones, rng)
        X = sm.add_constant(frame.drop(columns="y").to_numpy(), has_constant="add")
        try:
            theirs: Any = sm.Logit(frame["y"].to_numpy(), X).fit(disp=0, warn_convergence=False)
        except (np.linalg.LinAlgError, sm.tools.sm_exceptions.PerfectSeparationError):
            continue
        if theirs.mle_retvals["converged"] and theirs.bse[1:].max() < 100:
            yield frame, truth, theirs


def line(n: int, p: int, ones: float, epsilon: float, fits: int, beside: int) -> tuple:
    """Return one line of the table."""
    found: dict[str, list] = {"shown": [], "held": [], "theirs": [], "error": [], "width": []}
    others = []
    for seed, (frame, truth, theirs) in zip(range(fits), tables(n, p, ones), strict=False):
        with dp.testing.insecure_seed(seed):
            fit = dp.dp_logit(f"y ~ {' + '.join(frame.columns[:-1])}", frame, epsilon=epsilon)
        low, high = fit.conf_int().to_numpy()[1:].T
        best, errors = theirs.params[1:], theirs.bse[1:]
        shown = np.isfinite(high - low)
        found["shown"].append(shown)
        found["held"].append(np.where(shown, (low <= truth) & (truth <= high), np.nan))
        found["theirs"].append(np.abs(truth - best) <= _Z * errors)
        found["error"].append(np.abs(fit.params.to_numpy()[1:] - best) / errors)
        found["width"].append(np.where(shown, (high - low) / (2 * _Z * errors), np.nan))
        if seed < beside:
            rng = np.random.default_rng(seed)
            others.append([np.abs(b - best) / errors for b in perturbed(frame, epsilon, rng)])
    cells = {name: np.array(values, dtype=float) for name, values in found.items()}
    held, often = cells["held"], np.isfinite(cells["held"]).sum(axis=0) >= _FEW
    worst = np.nanmean(held[:, often], axis=0).min() if often.any() else np.nan
    objective = np.median(np.array(others), axis=(0, 2)).min() if others else np.nan
    with np.errstate(all="ignore"):
        figures = (
            cells["shown"].mean(), np.nanmean(held) if often.any() else np.nan, worst,
            cells["theirs"].mean(axis=0).min(), np.median(cells["error"]),
            np.nanmedian(cells["width"]) if often.any() else np.nan, objective,
        )  # fmt: skip
    facts = f"{n:,}", p, f"{ones:g}", f"{epsilon:g}"
    return (*facts, *("-" if math.isnan(value) else f"{value:.2f}" for value in figures))


def perturbed(frame: pd.DataFrame, epsilon: float, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the slopes by objective perturbation, of each kind of noise and each penalty."""
    X, y = frame.drop(columns="y").to_numpy(), frame["y"].to_numpy()
    kinds = ((-3.0, 3.0), (0.0, 1.0), (0.0, math.exp(0.8 * 3)))
    low, high = np.array([kinds[j % 3] for j in range(X.shape[1])]).T
    half, size = (high - low) / 2, math.sqrt(X.shape[1] + 1)
    U = np.clip((X - low) / half - 1, -1, 1)
    U = np.column_stack([np.ones(len(U)), U]) / size
    found = []
    for gaussian, penalty in product((False, True), PENALTIES):
        vector, penalty = _noise(U.shape[1], epsilon, penalty, gaussian, rng)
        found.append(_minimum(U, y, vector, penalty)[1:] / half / size)
    return found


def _noise(
    p: int, epsilon: float, penalty: float, gaussian: bool, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Draw the vector (p,) of the linear term, and return the penalty that it needs at least.

    A row that is added moves the slope of the objective by at most 1 and the determinant of its
    Hessian by a factor of at most 1 + c / penalty, c the largest curvature, so that noise of a
    density proportional to e^(-b |v|) costs b + log(1 + c / penalty).
    """
    if gaussian:  # Kifer et al. 2012, theorem 2
        deviation = math.sqrt(8 * math.log(2 / _DELTA) + 4 * epsilon) / epsilon
        return rng.normal(0, deviation, p), max(penalty, 2 * _CURVATURE / epsilon)
    direction, length = rng.normal(size=p), rng.gamma(p)
    left = epsilon - math.log1p(_CURVATURE / penalty)
    return direction / np.linalg.norm(direction) * length / left, penalty


def _minimum(U: np.ndarray, y: np.ndarray, vector: np.ndarray, penalty: float) -> np.ndarray:
    """Minimise the logistic loss with linear and quadratic terms by Newton's method."""
    at = np.zeros(U.shape[1])
    for _ in range(30):
        mu = 1 / (1 + np.exp(-np.clip(U @ at, -40, 40)))
        slope = U.T @ (mu - y) + vector + penalty * at
        step = np.linalg.solve((U.T * (mu * (1 - mu))) @ U + penalty * np.eye(len(at)), slope)
        step *= min(1.0, 20 / max(float(np.linalg.norm(step)), 1e-12))
        at = at - step
        if np.abs(step).max() < 1e-6:
            break
    return at


def main(arguments: list[str]) -> None:
    """Print the table, or some of its cells."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks logit_grid", description=__doc__)
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--beside", type=int, default=20, help="fits by objective perturbation")
    parser.add_argument("--cells", nargs="+", type=int, help="numbers of lines, from 1 on")
    given = parser.parse_args(arguments)
    chosen = [*cells()]
    chosen = [chosen[k - 1] for k in given.cells] if given.cells else chosen
    rows = (line(*cell, given.fits, given.beside) for cell in chosen)
    print_table(f"logit_grid: {given.fits} fits each", HEADER, rows)
