"""Several outcomes in one release, beside fits that divide the budget.

``python -m benchmarks outcomes`` prints, for k simulated outcomes on p regressors, median errors of
slopes in standard errors of least squares and widths of intervals in theirs, with and without
``missing="listwise"``, and the share of slopes of least squares of all rows held. With ``--parts``
the columns and X'X have other parts of the budget than they have. ``--joint`` prints how much less
noise scores would have that are clipped as one vector of all outcomes.
"""

import argparse
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from unittest import mock

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import dpstats as dp
from benchmarks.tools import print_table
from dpstats.estimators import METHODS, SEVERAL
from dpstats.estimators.newton.row_sums.sums import SCORE_EDGES
from dpstats.estimators.newton.steps import rounds
from dpstats.estimators.newton.steps.score_tails import score_limit, score_tail
from dpstats.privacy import GDP

_Z = 1.959964
HEADER = ("rows", "p", "k", "epsilon", "split: error", "width", "held", "one: error", "width",
          "held")  # fmt: skip
_JOINT_HEADER = ("rows", "p", "k", "epsilon", "errors", "split limit", "joint limit", "noise")


def drawn(n: int, p: int, k: int, seed: int) -> pd.DataFrame:
    """Draw correlated regressors and outcomes, whose errors are normal, or have t(5) or steps."""
    rng = np.random.default_rng([seed, n, p, k])
    x = rng.normal(size=(n, p))
    for j in range(1, p):
        x[:, j] = 0.5 * x[:, j - 1] + math.sqrt(0.75) * x[:, j]
    slopes = rng.normal(size=(p, k)) * math.sqrt(0.4 / p)
    common, errors = rng.normal(size=(n, 1)), rng.normal(size=(n, k))
    errors[:, 1] = rng.standard_t(5, n) / math.sqrt(5 / 3)
    y = x @ slopes + math.sqrt(0.3) * common + math.sqrt(0.7) * errors
    y[:, 0] = y[:, 0] > 0.5
    names = [*(f"x{j}" for j in range(p)), *(f"y{j}" for j in range(k))]
    return pd.DataFrame(np.hstack([x, y]), columns=names)


def figures(n: int, p: int, k: int, epsilon: float, fits: int, missing: str) -> list[str]:
    """Return the median error, the median width and the share held of all slopes."""
    right = " + ".join(f"x{j}" for j in range(p))
    formulas = {f"y{j}": f"y{j} ~ {right}" for j in range(k)}
    errors, widths, held = [], [], []
    for seed in range(fits):
        data = drawn(n, p, k, seed)
        with dp.testing.insecure_seed(seed):
            found = dp.dp_ols(formulas, data, epsilon=epsilon, missing=missing)
        for name, fit in found.items():
            usual = smf.ols(formulas[name], data).fit()
            low, high = fit.conf_int().to_numpy()[1:].T
            b, unit = usual.params.to_numpy()[1:], usual.bse.to_numpy()[1:]
            errors += [*(np.abs(fit.params.to_numpy()[1:] - b) / unit)]
            widths += [*((high - low) / (2 * _Z * unit))]
            held += [*((low <= b) & (b <= high))]
    return [f"{np.median(errors):.2f}", f"{np.median(widths):.2f}", f"{np.mean(held):.3f}"]


@contextmanager
def common_part(value: float) -> Iterator[None]:
    """Give columns and X'X another part of what they take for one outcome."""
    method = SEVERAL["noisy_newton"]
    share = METHODS["noisy_newton"].ranges.share * value
    changed = replace(method, ranges=replace(method.ranges, share=share))
    with (
        mock.patch.object(rounds, "COMMON", value),
        mock.patch.dict(SEVERAL, {"noisy_newton": changed}),
    ):
        yield


def joint_line(n: int, p: int, k: int, epsilon: float, heavy: bool) -> tuple:
    """Return limits in root mean squares, and the noise of one clip over that of k."""
    rng = np.random.default_rng([n, p, k])
    a = np.linalg.norm(np.column_stack([np.ones(n), rng.normal(size=(n, p))]), axis=1)
    r = rng.standard_t(5, (n, k)) / math.sqrt(5 / 3) if heavy else rng.normal(size=(n, k))
    r = math.sqrt(0.3) * rng.normal(size=(n, 1)) + math.sqrt(0.7) * r
    sizes = {1: np.abs(r[:, 0]), k: np.linalg.norm(r, axis=1) / math.sqrt(k)}
    (own, one), (joint, both) = (
        _limit_and_noise(
            a * size / math.sqrt(p + 1), (p + 1) * m, GDP.of(epsilon, 1e-6).part(m / k)
        )
        for m, size in sizes.items()
    )
    what = "t(5)" if heavy else "normal"
    return f"{n:,}", p, k, epsilon, what, f"{own:.2f}", f"{joint:.2f}", f"{both / one:.2f}"


def _limit_and_noise(sizes: np.ndarray, directions: int, cost: GDP) -> tuple[float, float]:
    """Return the limit that a noisy histogram of scores leads to, and the noise on a step."""
    counts = np.histogram(sizes, [0, *SCORE_EDGES, np.inf])[0]
    noisy = 1 / cost.part(rounds.GAUSSIAN.tail).mu
    unit = 1 / cost.part(rounds.GAUSSIAN.rounds[-1]).mu
    rng, found = np.random.default_rng(0), []
    for _ in range(12):
        tail = score_tail(counts + noisy * rng.normal(size=len(counts)), noisy, 1.0, 0.1, 40.0)
        worth = 0.1 * len(sizes) ** 2 / directions
        limit, whole = score_limit(tail, 1.0, directions, unit, worth)
        found.append((limit, limit * unit * math.sqrt(directions) / whole))
    return tuple(np.median(found, axis=0))


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks outcomes", description=__doc__)
    parser.add_argument("--fits", type=int, default=6)
    parser.add_argument("--sizes", nargs="+", type=int, default=[2000, 10_000, 50_000])
    parser.add_argument("--regressors", nargs="+", type=int, default=[3, 8, 15])
    parser.add_argument("--outcomes", nargs="+", type=int, default=[2, 3, 5])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1, 4])
    parser.add_argument("--parts", nargs="+", type=float, default=[rounds.COMMON])
    parser.add_argument("--joint", action="store_true")
    given = parser.parse_args(arguments)
    cells = [*product(given.sizes, given.regressors, given.outcomes, given.epsilons)]
    if given.joint:
        lines = [joint_line(*cell, heavy) for cell in cells for heavy in (False, True)]
        print_table("one clip for all outcomes", _JOINT_HEADER, lines)
        return
    split = {cell: figures(*cell, given.fits, "drop") for cell in cells}
    for part in given.parts:
        with common_part(part):
            lines = [(f"{n:,}", p, k, f"{e:g}", *split[n, p, k, e],
                      *figures(n, p, k, e, given.fits, "listwise"))
                     for n, p, k, e in cells]  # fmt: skip
        title = f"{given.fits} tables each; columns and X'X have {part:g} of their part for one"
        print_table(title, HEADER, lines)
