"""Regressions with instruments of every strength, simulated with a known effect.

``python -m benchmarks iv`` prints, by the F statistic that the first stage has in the population,
how often the Anderson-Rubin set holds the effect and is bounded, the median of the released F
statistic (0 where none is), how often an interval is shown and holds the effect, and the less
often held of the two other coefficients, and how long it is beside that of two-stage least squares
on the same rows, without the critical values that allow for weak instruments.

With ``--groups`` rows are in so many groups of one size, or with ``--uneven`` of lognormal sizes,
with whose effects all columns are correlated, and these are absorbed. Widths are then beside
standard errors clustered by group, and the only other coefficient is that of x.

With ``--by`` there are so many groups of so many rows each, with a regression each: y and d have
another center and scale in every group.
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
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


def by_groups(generator, tables: Sequence[Columns]) -> tuple[Columns, np.ndarray]:
    """Give y and d of each table a center and a scale; return all rows, and the truths (G, 3)."""
    moved, truths = [], []
    for g, own in enumerate(tables):
        (y_center, d_center), (y_scale, d_scale) = (
            generator.normal(size=2),
            generator.lognormal(0, 0.7, 2),
        )
        slope = EFFECT * y_scale / d_scale
        truths.append((y_center - slope * d_center, CONTROL * y_scale, slope))
        labels = np.full(len(own["y"]), f"g{g}")
        y, d = y_center + y_scale * own["y"], d_center + d_scale * own["d"]
        moved.append({**own, "y": y, "d": d, "label": labels})
    return {name: np.concatenate([t[name] for t in moved]) for name in moved[0]}, np.array(truths)


def fits_by_group(generator, seed: int, epsilon: float, tables: Sequence[Columns]) -> Iterator:
    """Fit a regression a group; yield each fit with its rows and its truth."""
    data, truths = by_groups(generator, tables)
    labels = [f"g{g}" for g in range(len(tables))]
    with dp.testing.insecure_seed(seed):
        fits = dp.dp_iv("y ~ x + [d ~ z]", data, by="label", groups=labels, epsilon=epsilon)
    for label, truth in zip(labels, truths, strict=True):
        own = data["label"] == label
        yield fits[label], {name: data[name][own] for name in ("y", "d", "x", "z")}, truth


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


def one_fit(
    generator, seed: int, epsilon: float, data: Columns, groups: tuple[int, float, float]
) -> Iterator:
    """Fit one regression, with absorbed effects of groups if any; yield it, its rows and truth."""
    formula, truth = "y ~ x + [d ~ z]", TRUTH
    if groups[0]:
        formula, truth, data = formula + " | g", TRUTH[1:], in_groups(generator, data, *groups)
    with dp.testing.insecure_seed(seed):
        yield dp.dp_iv(formula, data, epsilon=epsilon), data, truth


def cell(
    rows: int, epsilon: float, strength: float, errors: str, alike: float, fits: int,
    groups: tuple[int, float, float], by: int,
) -> tuple:  # fmt: skip
    """Fit so many tables and count what their sets and intervals hold."""
    generator, found = np.random.default_rng(int(rows + 7 * strength)), []
    draw = partial(table, generator, rows, strength, errors, alike)
    for seed in range(fits):
        each = (
            fits_by_group(generator, seed, epsilon, [draw() for _ in range(by)])
            if by
            else one_fit(generator, seed, epsilon, draw(), groups)
        )
        for fit, data, truth in each:
            low, high = fit.conf_int().to_numpy().T
            whole, held = fit.anderson_rubin(), (low <= truth) & (high >= truth)
            width = (high[-1] - low[-1]) / (2 * 1.96 * standard_error(data))
            known = truth[-1] in whole, whole.is_bounded, fit.first_stage.fvalue
            found.append((*known, *held, width))
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
    parser.add_argument("--by", type=int, default=0, help="fit so many groups of the rows each")
    given = parser.parse_args(arguments)
    groups = given.groups, given.uneven, given.slopes
    cells = [
        cell(rows, epsilon, strength, errors, given.endogeneity, given.fits, groups, given.by)
        for rows in given.rows
        for epsilon in given.epsilons
        for errors in given.errors
        for strength in given.strengths
    ]
    rows = [[f"{v:.3g}" if isinstance(v, float) else v for v in row] for row in cells]
    print_table("Instruments, by the F statistic in the population", HEADER, rows)
