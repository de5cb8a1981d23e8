"""What was tried for ``shrunken``, on simulated tables: each change by itself.

``python -m benchmarks tried`` writes vignettes/auto/tried.csv, which the page of
benchmarks/auto.py shows.
"""

import argparse
import math
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

import dpstats as dp
from benchmarks import mixed
from benchmarks.auto import DELTA, references, scored
from dpstats.estimators import METHODS
from dpstats.estimators.contract import Ranges
from dpstats.estimators.least_squares import shrunken
from dpstats.estimators.least_squares.dense import gram, noisy_sums
from dpstats.numerics.ridge import inverse, ridge
from dpstats.range_estimation import estimate, quantiles
from dpstats.range_estimation.bins import Distances

EPSILONS = (0.5, math.log(3))


def _worst_case_ridge(moments) -> np.ndarray:
    """The ridge of AdaSSP in place of the one with the least estimated risk."""
    A, c = moments.centred()
    return inverse(A, ridge(A, moments.gram_sd), moments.gram_sd) @ c


def _share(share: float):
    changed = {"shrunken": replace(METHODS["shrunken"], ranges=Ranges(share, everywhere=True))}
    return mock.patch.dict(METHODS, changed)


def _release(**names):
    """The mechanism with some of its parts exchanged."""
    return mock.patch.multiple(shrunken, **names)


def _sums(**names):
    """The release of the cross-products with other constants."""
    return mock.patch.multiple(noisy_sums, **names)


def _ranges(**names):
    """The estimation of ranges with other constants."""
    return mock.patch.multiple(estimate, **names)


def _enough(times: float):
    """Histograms from so many times as many rows."""
    return _ranges(_ENOUGH=5 * times, _ENOUGH_RESPONSE=10 * times)


def _octaves(center: float, parts: int = 1, is_value: bool = False) -> Distances:
    return Distances(center, is_value=is_value)


def _middles(**names):
    """Rough ranges with other constants."""
    return mock.patch.multiple(quantiles, **names)


# A change: how the package is altered, the arguments of the call, and whether predictions
# are limited to what the fit saw.
CHANGES = {
    "as it is": (ExitStack, {}, True),
    "AdaSSP's worst-case ridge": (
        lambda: _release(shrunken_slopes=_worst_case_ridge), {}, True,
    ),
    "predictions of unclipped rows, without a limit": (ExitStack, {}, False),
    "rows outside ranges shortened as wholes": (
        lambda: _release(clipping_box=gram.box_of), {}, True,
    ),
    "35% of the budget for ranges": (lambda: _share(0.35), {}, True),
    "65% of the budget for ranges": (lambda: _share(0.65), {}, True),
    "40% of a column's share for its first histogram": (
        lambda: _ranges(_COARSE_FRACTION=0.4), {}, True,
    ),
    "histograms alone, where one bin is seen": (lambda: _enough(0.0), {}, True),
    "histograms from half as many rows": (lambda: _enough(0.5), {}, True),
    "histograms from twice as many rows": (lambda: _enough(2.0), {}, True),
    "a middle and a spread always": (lambda: _enough(math.inf), {}, True),
    "spreads in whole octaves": (lambda: _middles(Distances=_octaves), {}, True),
    "rough ranges of three spreads": (lambda: _middles(_REACH=3.0, _REACH_RESPONSE=3.0), {}, True),
    "the response's rough range like the others'": (
        lambda: _middles(_REACH_RESPONSE=1.5), {}, True,
    ),
    "rough ranges from six eighths of the distances": (
        lambda: _middles(_DISTANCES=(6, 6)), {}, True,
    ),
    "rough ranges from seven eighths of the distances": (
        lambda: _middles(_DISTANCES=(7, 7)), {}, True,
    ),
    "no magnitude likelier than another": (lambda: _middles(_TILT=0.0), {}, True),
    "30% for X'X and 65% for X'y": (lambda: _sums(FRACTIONS=(0.3, 0.65, 0.05)), {}, True),
    "five columns by Kendall's tau first": (ExitStack, {"select": "kendall", "k": 5}, True),
    "boosting (boosted_adassp)": (ExitStack, {"method": "boosted_adassp"}, False),
    "plain AdaSSP (adassp)": (ExitStack, {"method": "adassp"}, False),
}  # fmt: skip


def score(change: str, task, epsilon: float, trial: int) -> float:
    """R^2 of one fit on rows that were not fitted; 0 where nothing was released."""
    altered, call, limited = CHANGES[change]
    if "select" in call and len(task.frame.columns) <= call["k"] + 2:
        call = {}
    fitted, held = task.split(np.random.default_rng(trial))
    with altered():
        arguments = {"method": "shrunken", "delta": DELTA, **call}
        result = dp.dp_ols(task.formula, fitted, epsilon=epsilon, **arguments)
    if not limited:
        result = replace(result, release=replace(result.release, limited=False))
    found = scored(result.predict(held), held["y"].to_numpy())
    return 0.0 if math.isinf(found) else found


def rows(epsilon: float, cells) -> list[dict]:
    """How each change did, beside the first, which changes nothing."""
    found = {c: [score(c, task, epsilon, trial) for task, trial, _ in cells] for c in CHANGES}
    ols = np.array([reference for _, _, reference in cells])
    parts = {change: np.clip(np.array(s) / ols, -1, 1.2) for change, s in found.items()}
    return [row(epsilon, c, found[c], parts[c], parts[next(iter(CHANGES))]) for c in CHANGES]


def row(epsilon: float, change: str, found, parts, before) -> dict:
    """Parts of the R^2 of OLS, from -1 to 1.2 each, and bad fits."""
    gain, error = np.mean(parts - before), np.std(parts - before) / math.sqrt(len(parts))
    return {
        "epsilon": f"{epsilon:.3g}",
        "change": change,
        "fits": len(parts),
        "mean part of OLS's R²": f"{np.mean(parts):.3f}",
        "gain (standard error)": f"{gain:+.3f} ({error:.3f})",
        "share below -0.05": f"{np.mean(np.array(found) < -0.05):.1%}",
    }


def main(arguments: list[str]) -> None:
    """Try every change and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks tried", description=__doc__)
    parser.add_argument("--out", default="vignettes/auto")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--epsilons", type=float, nargs="+", default=EPSILONS)
    chosen = parser.parse_args(arguments)
    cells = [
        (task, trial, references(task, *task.split(np.random.default_rng(trial)))["ols"])
        for task in mixed.tables(chosen.seeds)
        for trial in range(chosen.trials)
    ]
    table = pd.DataFrame([row for e in chosen.epsilons for row in rows(e, cells)])
    Path(chosen.out).mkdir(parents=True, exist_ok=True)
    table.to_csv(Path(chosen.out) / "tried.csv", index=False)
    print(table.to_string(index=False))
