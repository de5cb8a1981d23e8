"""Coverage of logit and Poisson regressions with offsets and exposures, on simulated tables.

``python -m benchmarks offsets`` prints how many of the intervals that are shown hold the true
coefficient, of the coefficient with the fewest, and beside it those without privacy.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm

import dpstats as dp
from benchmarks.tools import print_table

_Z, _SLOPES = 1.959964, (0.4, -0.3)
HEADER = ("case", "rows", "epsilon", "ok", "shown", "held", "of MLE", "width")


@dataclass(frozen=True)
class Case:
    """What is drawn for each row beside a normal x and an indicator d, and the intercept."""

    offset: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    intercept: float
    logit: bool = False


CASES = {
    "exposure of .5 to 1.5": Case(lambda rng, x: np.log(rng.uniform(0.5, 1.5, len(x))), 0.5),
    "exposure that follows x": Case(lambda rng, x: 0.7 * x + rng.normal(0, 0.5, len(x)), -0.5),
    "lognormal exposure": Case(lambda rng, x: rng.normal(0, 1.2, len(x)), -0.5),
    "rates of populations": Case(lambda rng, x: rng.normal(10, 1, len(x)), -9.5),
    "odds that follow x": Case(lambda rng, x: 0.8 * x + rng.normal(0, 1, len(x)), -0.5, True),
    "odds far from even": Case(lambda rng, x: rng.normal(4, 1.5, len(x)), -4.0, True),
    "odds with heavy tails": Case(lambda rng, x: 1.5 * rng.standard_t(3, len(x)), -0.5, True),
}


def drawn(case: Case, n: int, seed: int) -> pd.DataFrame:
    """Draw a table of n rows; t is e^o of the offset o."""
    rng = np.random.default_rng([seed, n])
    x, d = rng.normal(size=n), rng.integers(0, 2, n)
    o = case.offset(rng, x)
    predictor = case.intercept + _SLOPES[0] * x + _SLOPES[1] * d + o
    if case.logit:
        y = (rng.random(n) < 1 / (1 + np.exp(-predictor))).astype(int)
    else:
        y = rng.poisson(np.exp(predictor))
    return pd.DataFrame({"y": y, "x": x, "d": d, "o": o, "t": np.exp(o)})


def line(name: str, n: int, epsilon: float, fits: int) -> tuple:
    """Return one line of the table."""
    case = CASES[name]
    family: Any = sm.families.Binomial() if case.logit else sm.families.Poisson()
    found: dict[str, list] = {"ok": [], "shown": [], "held": [], "theirs": [], "width": []}
    truth = np.array([case.intercept, *_SLOPES])
    for seed in range(fits):
        data = drawn(case, n, seed)
        usual = sm.GLM.from_formula("y ~ x + d", data, family=family, offset=data["o"]).fit()
        with dp.testing.insecure_seed(seed):
            if case.logit:
                fit = dp.dp_logit("y ~ x + d", data, offset="o", epsilon=epsilon)
            else:
                fit = dp.dp_poisson("y ~ x + d", data, exposure="t", epsilon=epsilon)
        low, high = fit.conf_int().to_numpy().T
        own = usual.conf_int().to_numpy().T
        shown = np.isfinite(high - low)
        found["ok"].append(fit.status == "ok")
        found["shown"].append(shown)
        found["held"].append(np.where(shown, (low <= truth) & (truth <= high), np.nan))
        found["theirs"].append((own[0] <= truth) & (truth <= own[1]))
        width = (high - low) / (2 * _Z * usual.bse.to_numpy())
        found["width"].append(np.where(shown, width, np.nan))
    cells = {key: np.array(values, dtype=float) for key, values in found.items()}
    worst = int(np.nanargmin(np.nanmean(cells["held"], axis=0)))
    figures = (
        cells["ok"].mean(), cells["shown"].mean(), np.nanmean(cells["held"], axis=0)[worst],
        cells["theirs"].mean(axis=0)[worst], np.nanmedian(cells["width"]),
    )  # fmt: skip
    return (name, f"{n:,}", f"{epsilon:g}", *(f"{value:.2f}" for value in figures))


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks offsets", description=__doc__)
    parser.add_argument("--fits", type=int, default=100)
    parser.add_argument("--sizes", nargs="+", type=int, default=[5000, 20_000])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1, 4])
    given = parser.parse_args(arguments)
    rows = [line(name, n, epsilon, given.fits)
            for name in CASES for n in given.sizes for epsilon in given.epsilons]  # fmt: skip
    print_table(f"offsets: {given.fits} fits each", HEADER, rows)
