"""Errors, intervals and times of dp_describe on a survey of 12 variables."""

import argparse
import time

import numpy as np
import pandas as pd

import dpstats as dp
from benchmarks.tools import print_table

_POPULATION = 2_000_000
_DECILES = tuple(k / 10 for k in range(1, 10))


def main(arguments: list[str]) -> None:
    """Print errors of means, deviations and medians, how often intervals cover, and times."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks describe", description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--large", type=int, default=10**6, help="rows of the timed table")
    options = parser.parse_args(arguments)
    found = simulated(options.rows, options.epsilon, options.repeats)
    print_table(
        f"describe: 12 variables, {options.rows:,} rows, epsilon {options.epsilon:g}, "
        f"{options.repeats} tables. Targets at 5,000 rows and epsilon 1: error of means "
        ".6 (normal, uniform, age) and 1.5, covered .94, median .05, deviation .1; at 50,000 rows "
        "width 1.1.",
        ("variable", "mean: error, s.e.", "covered", "shown", "width", "deviation: error",
         "covered", "median: error, s.d.", "covered", "deciles: error"),
        [row_of(name, own) for name, own in found.groupby("variable", sort=False)],
    )  # fmt: skip
    for kind in ("weights", "persons"):
        own = counted(options.rows, options.epsilon, options.repeats // 2, kind)
        print_table(
            f"describe: {kind}, {options.rows:,} rows, epsilon {options.epsilon:g}, "
            f"{options.repeats // 2} tables.",
            ("variable", "mean: covered", "shown", "width", "quartiles: covered", "width",
             "deviation: covered", "shown"),
            [_row_of_counted(name, each) for name, each in own.groupby("variable", sort=False)],
        )  # fmt: skip
    table = survey(options.large, np.random.default_rng(0))
    own = min(_seconds(table.describe) for _ in range(3))
    ours = min(_seconds(lambda: _described(table, options.epsilon, 1)) for _ in range(3))
    print(f"{options.large:,} rows: {ours:.2f} s, {ours / own:.2f} of df.describe(); target 2.")


def survey(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Make a survey: smooth, skewed, mostly zero, heaped, and whole numbers."""
    wage = np.exp(rng.normal(2.7, 0.6, n))
    usual = np.clip(np.round(rng.normal(36, 12, n) / 5) * 5, 0, 99)
    return pd.DataFrame({
        "normal": rng.normal(50, 10, n),
        "standard": rng.normal(0, 1, n),
        "uniform": rng.uniform(0, 10, n),
        "age": rng.integers(18, 91, n),
        "lognormal": 1000 * rng.lognormal(0, 1, n),
        "income": rng.lognormal(10, 0.7, n),
        "training": np.where(rng.random(n) < 0.85, 0, rng.lognormal(7, 1, n)),
        "benefits": np.where(rng.random(n) < 0.6, 0, rng.gamma(2, 500, n)),
        "wage": np.where(rng.random(n) < 0.7, np.round(2 * wage) / 2, np.round(wage, 2)),
        "hours": np.where(rng.random(n) < 0.5, 40, usual).astype(int),
        "year": rng.integers(1968, 2021, n),
        "educ": np.clip(np.round(rng.normal(13, 2.8, n)), 0, 20).astype(int),
    })  # fmt: skip


def simulated(n: int, epsilon: float, repeats: int) -> pd.DataFrame:
    """Describe tables, and compare figures with their own and intervals with the population's."""
    whole, rows = survey(_POPULATION, np.random.default_rng(2**20)), []
    truth = {(name, s): _own(whole[name], s) for name in whole for s in _statistics()}
    for seed in range(repeats):
        table = survey(n, np.random.default_rng(seed))
        for _, name, figure in _described(table, epsilon, seed).figures:
            true = truth.get((name, figure.statistic))
            if true is not None:
                own = _own(table[name], figure.statistic)
                covered = figure.lower <= true <= figure.upper
                width = figure.upper - figure.lower
                rows.append(
                    (name, figure.statistic, figure.estimate - own, own, table[name].std(), n,
                     covered, figure.status == "ok", width)
                )  # fmt: skip
    columns = "variable statistic error own sd n covered shown width".split()
    return pd.DataFrame(rows, columns=columns)


def weighted(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Make a survey with weights from .2 to 5 that are larger where incomes are."""
    table = survey(n, rng)
    ranks = np.log(table["income"]) - 10
    return table.assign(weight=np.clip(np.exp(ranks + rng.normal(0, 0.3, n)), 0.2, 5.0))


def persons(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Make a survey of persons with one to four equal rows, more of them with larger incomes."""
    table = survey(n, rng)
    rows = np.clip(np.round(np.log(table["income"] / 8000)), 1, 4).astype(int)
    repeated = table.loc[np.repeat(table.index, rows)].rename_axis("person").reset_index()
    return repeated.sample(frac=1, random_state=int(rng.integers(2**31)))


def counted(n: int, epsilon: float, repeats: int, kind: str) -> pd.DataFrame:
    """Describe tables by weights or by persons, and compare intervals with the population's."""
    make = weighted if kind == "weights" else persons
    call: dict = (
        {"weights": "weight", "bounds": {"weight": (0.2, 5)}, "delta": 1e-6}
        if kind == "weights"
        else {"unit": "person"}
    )
    whole = make(_POPULATION, np.random.default_rng(2**20))
    names, rows = [n for n in whole if n not in ("weight", "person")], []
    truth = {n: _weighted_figures(whole, n, kind) for n in names}
    for seed in range(repeats):
        table = make(n, np.random.default_rng(seed))
        with dp.testing.insecure_seed(seed):
            found = dp.dp_describe(table, names, epsilon=epsilon, **call)
        own = {n: _weighted_figures(table, n, kind) for n in names}
        for _, name, figure in found.figures:
            if figure.statistic in truth[name]:
                true = truth[name][figure.statistic]
                rows.append((name, figure.statistic, figure.lower <= true <= figure.upper,
                             figure.upper - figure.lower, figure.status == "ok",
                             2 * 1.96 * own[name]["error"]))  # fmt: skip
    columns = "variable statistic covered width shown usual".split()
    return pd.DataFrame(rows, columns=columns)


def _weighted_figures(table: pd.DataFrame, name: str, kind: str) -> dict[str, float]:
    """Return mean, deviation, quartiles and standard error of the mean of weighted rows."""
    x = table[name].to_numpy(float)
    w = (
        table["weight"]
        if kind == "weights"
        else 1 / table.groupby("person")[name].transform("size")
    )
    w = w.to_numpy()
    mean, order = np.average(x, weights=w), np.argsort(x, kind="stable")
    ranks = np.cumsum(w[order]) / w.sum()
    found = {f"{q}%": x[order][np.argmax(ranks >= q / 100)] for q in (25, 50, 75)}
    units = (w * (x - mean)) ** 2 if kind == "weights" else w * (x - mean) ** 2
    found |= {"mean": mean, "sd": np.sqrt(np.average((x - mean) ** 2, weights=w))}
    return found | {"error": np.sqrt(units.sum()) / w.sum()}


def _row_of_counted(name, own: pd.DataFrame) -> tuple[str, ...]:
    of = dict(iter(own.groupby("statistic")))
    mean, sd = of["mean"], of["sd"]
    quartiles = pd.concat([of[f"{q}%"] for q in (25, 50, 75)])
    worst = min(of[f"{q}%"].covered.mean() for q in (25, 50, 75))
    return (
        str(name),
        f"{mean[mean.shown].covered.mean():.3f}",
        f"{mean.shown.mean():.2f}",
        f"{(mean.width / mean.usual).median():.2f}",
        f"{worst:.3f}",
        f"{(quartiles.width / quartiles.usual).median():.2f}",
        f"{sd[sd.shown].covered.mean():.3f}",
        f"{sd.shown.mean():.2f}",
    )


def row_of(name, own: pd.DataFrame) -> tuple[str, ...]:
    """Summarise the errors of one variable: medians over tables, coverage of what is shown."""
    of = dict(iter(own.groupby("statistic")))
    mean, sd, middle = of["mean"], of["sd"], of["50%"]
    shown = mean[mean["shown"]]
    root = np.sqrt(mean["n"])
    deciles = pd.concat([of[f"{100 * q:g}%"] for q in _DECILES])
    deciles = deciles[deciles["own"] > 0]
    return (
        str(name),
        f"{(mean.error.abs() / mean.sd * root).median():.2f}",
        f"{shown.covered.mean():.3f}",
        f"{mean.shown.mean():.2f}",
        f"{(mean.width / (2 * 1.96 * mean.sd / root)).median():.2f}",
        f"{(sd.error / sd.own).abs().median():.3f}",
        f"{sd[sd.shown].covered.mean():.3f}",
        f"{(middle.error.abs() / middle.sd).median():.3f}",
        f"{middle.covered.mean():.3f}",
        f"{(deciles.error / deciles.own).abs().mean():.2%}" if len(deciles) else "-",
    )


def _statistics() -> tuple[str, ...]:
    return "mean", "sd", *(f"{100 * q:g}%" for q in _DECILES)


def _own(column: pd.Series, statistic: str) -> float:
    if statistic in ("mean", "sd"):
        return float(column.mean() if statistic == "mean" else column.std())
    return float(column.quantile(float(statistic[:-1]) / 100, interpolation="lower"))


def _described(table: pd.DataFrame, epsilon: float, seed: int) -> dp.DPDescription:
    with dp.testing.insecure_seed(seed):
        return dp.dp_describe(table, list(table), epsilon=epsilon, quantiles=_DECILES)


def _seconds(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
