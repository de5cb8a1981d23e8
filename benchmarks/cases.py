"""The default where fits have gone wrong: quadratics, wide bounds, few rows, correlated columns.

``python -m benchmarks cases --data DIR`` reads DIR/aer_cps1988.csv.gz and DIR/wage1.csv.gz and
prints one table a case. Errors are medians of the slopes' distances from the truth, or from least
squares on the same rows, in the unit that the table names.
"""

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import dpstats as dp

_QUADRATIC = "log_wage ~ education + experience + I(experience**2)"
_WIDE = (1, 3, 10, None)


def against_ols(formula: str, frame: pd.DataFrame, repetitions: int, **call) -> dict:
    """Fits of one table: how many are "ok", and what their intervals and slopes are worth."""
    ols = smf.ols(formula, frame).fit()
    slopes = [name for name in ols.params.index if name != "Intercept"]
    fits = [dp.dp_ols(formula, frame, **call) for _ in range(repetitions)]
    ends = np.array([fit.conf_int().loc[slopes].to_numpy() for fit in fits])
    shown = np.isfinite(ends).all(axis=2)
    truth = ols.params[slopes].to_numpy()
    held = (ends[:, :, 0] <= truth) & (truth <= ends[:, :, 1]) & shown
    ok = [fit for fit in fits if fit.status == "ok"]
    ratios = np.array([(fit.params[slopes] / truth).abs() for fit in ok]).reshape(-1, len(slopes))
    return {
        "fits": repetitions,
        "all shown": np.mean(shown.all(axis=1)),
        "cover": held.sum() / max(shown.sum(), 1),
        "ok": len(ok),
        "of these off 3 times": int(((ratios > 3) | (ratios < 1 / 3)).any(axis=1).sum()),
    }


def quadratic(folder: Path, repetitions: int) -> pd.DataFrame:
    """Wages of men in 1988, with declared bounds and none."""
    frame = pd.read_csv(folder / "aer_cps1988.csv.gz")
    bounds = {"education": (0, 20), "experience": (-5, 65), "log_wage": (3, 10)}
    rows = {
        "declared": against_ols(_QUADRATIC, frame, repetitions, epsilon=1, bounds=bounds),
        "none": against_ols(_QUADRATIC, frame, repetitions, epsilon=1),
    }
    return pd.DataFrame(rows).T.rename_axis("bounds")


def few_rows(folder: Path, repetitions: int) -> pd.DataFrame:
    """526 wages, and 1,000 rows of which 60% share the value of a regressor."""
    wages = pd.read_csv(folder / "wage1.csv.gz")
    wages["wage"] = np.exp(wages["lwage"])
    rng = np.random.default_rng(0)
    hours = np.where(rng.uniform(size=1000) < 0.6, 40.0, rng.normal(40, 8, 1000).round())
    pay = pd.DataFrame({"hours": hours, "pay": 100 + 10 * hours + 60 * rng.normal(size=1000)})
    rows = {
        f"{formula}, epsilon {epsilon:g}": against_ols(formula, frame, repetitions, epsilon=epsilon)
        for formula, frame in (("wage ~ educ + exper", wages), ("pay ~ hours", pay))
        for epsilon in (0.5, 1.0, 2.0)
    }
    return pd.DataFrame(rows).T.rename_axis("table")


def uniform(n: int, d: int, seed: int):
    """Regressors uniform on (0, 10) and a response of slopes 1, with exact bounds."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (n, d))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    frame["y"] = 2 + X.sum(axis=1) + rng.normal(size=n)
    return frame, {**{f"x{j}": (0.0, 10.0) for j in range(d)}, "y": (0.0, 4.0 + 10 * d)}


def widened(bounds: dict, times: float | None) -> dict | None:
    """Bounds so many times as wide, about the same middle."""
    if times is None:
        return None
    return {
        name: ((a + b) / 2 - times * (b - a) / 2, (a + b) / 2 + times * (b - a) / 2)
        for name, (a, b) in bounds.items()
    }


def wide_bounds(repetitions: int, sizes=(500, 2000, 10_000), d: int = 3) -> pd.DataFrame:
    """Median error of slopes of 1 and coverage, at bounds as exact, 3 and 10 times as wide, none.

    BinAgg's published setting (AISTATS 2026): mu of 1/2 and 1.
    """
    rows = []
    for mu, n, times in ((m, n, t) for m in (0.5, 1.0) for n in sizes for t in _WIDE):
        epsilon = float(dp.privacy.GDP(mu).guarantee(1e-6)[0])
        row = {"mu": mu, "n": n, "bounds": "none" if times is None else f"{times} times"}
        for method in ("auto", "adassp"):
            errors, held, shown = [], 0, 0
            for seed in range(repetitions):
                frame, exact = uniform(n, d, seed)
                formula = "y ~ " + " + ".join(name for name in frame if name != "y")
                fit = dp.dp_ols(
                    formula, frame, method=method, epsilon=epsilon, delta=1e-6,
                    bounds=widened(exact, times),
                )  # fmt: skip
                low, high = fit.conf_int().drop("Intercept").to_numpy().T
                finite = np.isfinite(low) & np.isfinite(high)
                errors.append(np.abs(fit.params.drop("Intercept") - 1).mean())
                held += ((low <= 1) & (1 <= high) & finite).sum()
                shown += finite.sum()
            row |= {
                f"{method} error": np.median(errors),
                f"{method} shown": shown / (d * repetitions),
                f"{method} cover": held / shown if shown else math.nan,
            }
        rows.append(row)
    return pd.DataFrame(rows).set_index(["mu", "n", "bounds"])


def lines(repetitions: int, sizes=(100, 400, 1600, 6400)) -> pd.DataFrame:
    """Error of noisy_newton over that of exp_theil_sen, one bounded regressor, public n.

    Medians over spreads of x and of residuals of the ratio of median errors of the slope.
    """
    ratios = {}
    for n in sizes:
        found = []
        for spread, residual in ((0.05, 0.05), (0.05, 0.2), (0.29, 0.05), (0.29, 0.2)):
            errors = {"noisy_newton": [], "exp_theil_sen": []}
            for seed in range(repetitions):
                frame = dp.simulate.line(n, x_sd=spread, noise_sd=residual, seed=seed)
                slope = np.polyfit(frame["x"], frame["y"], 1)[0]
                for method, seen in errors.items():
                    fit = dp.dp_ols(
                        "y ~ x", frame, method=method, epsilon=1, neighbors="replace_one",
                        bounds={"x": (0, 1), "y": (0, 1)},
                    )  # fmt: skip
                    seen.append(abs(np.nan_to_num(fit.params["x"]) - slope))
            found.append(np.median(errors["noisy_newton"]) / np.median(errors["exp_theil_sen"]))
        ratios[n] = {"median": np.median(found), "least": min(found), "largest": max(found)}
    return pd.DataFrame(ratios).T.rename_axis("epsilon n")


def main(arguments: list[str]) -> None:
    """Print the cases."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks cases", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, default=100)
    given = parser.parse_args(arguments)
    for title, table in (
        (f"{_QUADRATIC}, epsilon 1", quadratic(given.data, given.repetitions)),
        ("few rows", few_rows(given.data, given.repetitions)),
        ("uniform on (0, 10), three slopes of 1", wide_bounds(max(given.repetitions // 5, 5))),
        ("noisy_newton over exp_theil_sen, one regressor", lines(max(given.repetitions // 5, 5))),
    ):
        print(f"{title}\n{table.round(4).to_string()}\n", flush=True)
