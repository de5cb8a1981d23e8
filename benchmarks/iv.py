"""Regressions with instruments of every strength, simulated with a known effect.

``python -m benchmarks iv`` prints, by the F statistic that the first stage has in the population,
how often the Anderson-Rubin set holds the effect and is bounded, the median of the released F
statistic (0 where none is), how often an interval is shown and holds the effect, and the less
often held of the two other coefficients, and how long it is beside that of two-stage least squares
on the same rows, without the critical values that allow for weak instruments.

With ``--groups`` rows are in so many groups of one size, or with ``--uneven`` of lognormal sizes,
with whose effects all columns are correlated, and these are absorbed. Widths are then beside
standard errors clustered by group, and the only other coefficient is that of x.
"""

import argparse
from typing import TypeAlias

import numpy as np
import pandas as pd

import dpstats as dp
from benchmarks.tools import print_table

EFFECT, CONTROL = 0.5, 0.7
TRUTH = (0.0, CONTROL, EFFECT)
STRENGTHS = (2, 5, 10, 20, 30, 50, 100, 200)
HEADER = (
    "rows", "epsilon", "F", "errors", "AR held", "AR bounded", "F released", "shown", "held",
    "others", "width",
)  # fmt: skip
Columns: TypeAlias = dict[str, np.ndarray]


def table(
    generator, rows: int, strength: float, errors: str = "normal", endogeneity: float = 0.5
) -> Columns:
    """Draw y = 0.5 d + 0.7 x + u, d = pi z + 0.3 x + v, u and v with a correlation.

    ``errors`` are normal, of a spread that grows with z, or heavy-tailed (t with 4 degrees).
    """
    z, x, u, w = generator.normal(size=(4, rows))
    if errors == "t4":
        u, w = generator.standard_t(4, size=(2, rows)) / np.sqrt(2)
    v = endogeneity * u + np.sqrt(1 - endogeneity**2) * w
    if errors == "spread":
        u, v = (part * np.exp(0.4 * z - 0.16) for part in (u, v))
    d = np.sqrt(strength / rows) * z + 0.3 * x + v
    return {"y": EFFECT * d + CONTROL * x + u, "d": d, "x": x, "z": z}


def in_groups(generator, data: Columns, groups: int, uneven: float, alike: float) -> Columns:
    """Put rows into groups with effects on all columns, and slopes of y on z with a deviation."""
    shares = generator.lognormal(0, uneven, groups)
    g = generator.choice(groups, len(data["y"]), p=shares / shares.sum())
    z, x, v = generator.normal(size=(3, groups))
    slopes = alike * generator.normal(size=groups)[g]
    pi = (data["d"] - 0.3 * data["x"]) @ data["z"] / (data["z"] @ data["z"])
    d = data["d"] + pi * z[g] + 0.3 * x[g] + v[g]
    u = data["y"] - EFFECT * data["d"] - CONTROL * data["x"] + slopes * data["z"]
    moved = {"z": data["z"] + z[g], "x": data["x"] + x[g], "d": d}
    return {**moved, "y": EFFECT * d + CONTROL * moved["x"] + u + 3 * v[g], "g": g.astype(str)}


def standard_error(data: Columns) -> float:
    """Compute the robust standard error of two-stage least squares on all rows.

    With groups it is that of deviations from their means, clustered.
    """
    columns, scores_of = pd.DataFrame(data).assign(one=1.0), np.asarray
    exogenous = ["one", "x"]
    if "g" in data:
        groups, exogenous = columns.pop("g"), ["x"]
        columns = columns - columns.groupby(groups).transform("mean")
        scores_of = lambda s: pd.DataFrame(s).groupby(groups).sum().to_numpy()  # noqa: E731
    Z, X = (columns[[*exogenous, name]].to_numpy() for name in ("z", "d"))
    y = columns["y"].to_numpy()
    inverse = np.linalg.inv(Z.T @ X)
    scores = scores_of(Z * (y - X @ (inverse @ (Z.T @ y)))[:, None])
    return float(np.sqrt((inverse @ (scores.T @ scores) @ inverse.T)[-1, -1]))


def cell(
    rows: int, epsilon: float, strength: float, errors: str, alike: float, fits: int,
    groups: tuple[int, float, float],
) -> tuple:  # fmt: skip
    """Fit so many tables and count what their sets and intervals hold."""
    generator, found = np.random.default_rng(int(rows + 7 * strength)), []
    formula, truth = "y ~ x + [d ~ z]", TRUTH
    if groups[0]:
        formula, truth = formula + " | g", TRUTH[1:]
    for seed in range(fits):
        data = table(generator, rows, strength, errors, alike)
        if groups[0]:
            data = in_groups(generator, data, *groups)
        with dp.testing.insecure_seed(seed):
            fit = dp.dp_iv(formula, data, epsilon=epsilon)
        low, high = fit.conf_int().to_numpy().T
        whole, held = fit.anderson_rubin(), (low <= truth) & (high >= truth)
        width = (high[-1] - low[-1]) / (2 * 1.96 * standard_error(data))
        found.append((EFFECT in whole, whole.is_bounded, fit.first_stage.fvalue, *held, width))
    sets, bounded, strengths, *held, widths = map(np.array, zip(*found, strict=True))
    shown = np.isfinite(widths)
    some = shown.any()
    return (
        rows, epsilon, strength, errors, sets.mean(), bounded.mean(),
        np.median(np.nan_to_num(strengths)),
        shown.mean(), held[-1][shown].mean() if some else np.nan,
        min(one[shown].mean() for one in held[:-1]) if some else np.nan,
        np.median(widths[shown]) if some else np.nan,
    )  # fmt: skip


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks iv", description=__doc__)
    parser.add_argument("--fits", type=int, default=400)
    parser.add_argument("--rows", type=int, nargs="*", default=[5000, 20_000])
    parser.add_argument("--epsilons", type=float, nargs="*", default=[1, 4])
    parser.add_argument("--errors", nargs="*", default=["normal", "spread", "t4"])
    parser.add_argument("--strengths", type=float, nargs="*", default=STRENGTHS)
    parser.add_argument("--endogeneity", type=float, default=0.5, help="correlation of the errors")
    parser.add_argument("--groups", type=int, default=0, help="absorb so many groups")
    parser.add_argument("--uneven", type=float, default=0, help="deviation of the log of sizes")
    parser.add_argument("--slopes", type=float, default=0, help="deviation of a group's slope on z")
    given = parser.parse_args(arguments)
    groups = given.groups, given.uneven, given.slopes
    cells = [
        cell(rows, epsilon, strength, errors, given.endogeneity, given.fits, groups)
        for rows in given.rows
        for epsilon in given.epsilons
        for errors in given.errors
        for strength in given.strengths
    ]
    rows = [[f"{v:.3g}" if isinstance(v, float) else v for v in row] for row in cells]
    print_table("Instruments, by the F statistic in the population", HEADER, rows)
