"""Coverage of logits and Poisson regressions by group, beside fits of one group alone.

``python -m benchmarks glm_groups`` prints how many intervals are shown, how many of these hold the
true coefficient, of the coefficient with the fewest, and their width in standard errors without
privacy, by group and in fits of the same rows as tables of their own.
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm

import dpstats as dp
from benchmarks.tools import print_table

_Z, _GROUPS = 1.959964, 8
# Coefficients with fewer intervals have no share of their own.
_FEW = 10
HEADER = ("groups", "rows of each", "epsilon", "shown", "held", "alone", "held", "of MLE",
          "effects held", "width", "alone")  # fmt: skip


@dataclass(frozen=True)
class Case:
    """How far groups differ: intercepts, slopes of x, and means and scales of x and of offsets."""

    logit: bool
    apart: float
    offset: bool = False


CASES = {
    "logit, alike": Case(True, 0.0),
    "logit, unlike": Case(True, 1.0),
    "logit, unlike, offset": Case(True, 1.0, True),
    "counts, alike": Case(False, 0.0),
    "counts, unlike": Case(False, 1.0),
    "counts, unlike, exposure": Case(False, 1.0, True),
}


def drawn(case: Case, n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw groups of n rows, and return the table and the true coefficients of each group."""
    rng = np.random.default_rng([seed, n])
    far = case.apart * np.linspace(-1, 1, _GROUPS)
    truth = np.column_stack([0.3 + far, 0.4 + 0.2 * far[::-1], np.full(_GROUPS, -0.3)])
    g = np.repeat(np.arange(_GROUPS), n)
    x = far[g] + np.exp(0.4 * far[g]) * rng.normal(size=len(g))
    d = rng.integers(0, 2, len(g))
    o = case.offset * (far[::-1][g] + 0.5 * rng.normal(size=len(g)))
    predictor = truth[g, 0] + truth[g, 1] * x + truth[g, 2] * d + o
    if case.logit:
        y = (rng.random(len(g)) < 1 / (1 + np.exp(-predictor))).astype(int)
    else:
        y = rng.poisson(np.exp(predictor))
    return pd.DataFrame({"y": y, "x": x, "d": d, "g": g, "o": o}), truth


def _seen(fit, truth: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return by coefficient whether a shown interval holds the truth, and its width; else NaN."""
    low, high = fit.conf_int().to_numpy().T
    shown = np.isfinite(high - low)
    held = np.where(shown, (low <= truth) & (truth <= high), np.nan)
    return held, np.where(shown, (high - low) / (2 * _Z * errors), np.nan)


def _effects_held(fit, usual, logit: bool) -> np.ndarray:
    """Return by slope whether the interval of its marginal effect holds that without privacy."""
    low, high = fit.get_margeff().conf_int().to_numpy().T
    mean = np.asarray(usual.predict())
    theirs = (mean * (1 - mean) if logit else mean).mean() * usual.params.to_numpy()[1:]
    return np.where(np.isfinite(high - low), (low <= theirs) & (theirs <= high), np.nan)


def measured(case: Case, n: int, epsilon: float, tables: int) -> dict[str, np.ndarray]:
    """Fit the groups of some tables, together and one by one."""
    fit: Any = dp.dp_logit if case.logit else dp.dp_poisson
    model: Any = sm.Logit if case.logit else sm.Poisson
    cov = "nonrobust" if case.logit else "HC1"
    found: dict[str, list] = {key: [] for key in ("held", "width", "alone", "wide", "mle", "ame")}
    more = {"epsilon": epsilon} | ({"offset": "o"} if case.offset else {})
    for seed in range(tables):
        data, truth = drawn(case, n, seed)
        with dp.testing.insecure_seed(seed):
            by = fit("y ~ x + d", data, by="g", groups=list(range(_GROUPS)), **more)
        for g, own in data.groupby("g"):
            usual = model.from_formula("y ~ x + d", own, offset=own["o"]).fit(disp=0, cov_type=cov)
            with dp.testing.insecure_seed(1000 * seed + g):
                alone = fit("y ~ x + d", own, **more)
            errors, (low, high) = usual.bse.to_numpy(), usual.conf_int().to_numpy().T
            for one, (held, width) in ((by[g], ("held", "width")), (alone, ("alone", "wide"))):
                for key, value in zip((held, width), _seen(one, truth[g], errors), strict=True):
                    found[key].append(value)
            found["mle"].append((low <= truth[g]) & (truth[g] <= high))
            found["ame"].append(_effects_held(by[g], usual, case.logit))
    return {key: np.array(values, dtype=float) for key, values in found.items()}


def line(name: str, n: int, epsilon: float, tables: int) -> tuple:
    """Return one line of the table."""
    found = measured(CASES[name], n, epsilon, tables)

    def shares(key: str) -> tuple[float, float]:
        known = found[key]
        number = np.isfinite(known).sum(axis=0)
        worst = np.where(number < _FEW, np.inf, np.nansum(known, axis=0) / np.maximum(number, 1))
        return float(np.isfinite(known).mean()), float(worst.min())

    figures = (
        *shares("held"), *shares("alone"), float(found["mle"].mean(axis=0).min()), shares("ame")[1],
        float(np.nanmedian(found["width"])), float(np.nanmedian(found["wide"])),
    )  # fmt: skip
    return (
        name,
        f"{n:,}",
        f"{epsilon:g}",
        *(f"{v:.2f}" if np.isfinite(v) else "-" for v in figures),
    )


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks glm_groups", description=__doc__)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--sizes", nargs="+", type=int, default=[2000, 10_000])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1, 4])
    given = parser.parse_args(arguments)
    rows = [line(name, n, epsilon, given.tables)
            for name in CASES for n in given.sizes for epsilon in given.epsilons]  # fmt: skip
    print_table(f"{_GROUPS} groups, {given.tables} tables each", HEADER, rows)
