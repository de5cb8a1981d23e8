"""Fit the default where fits have gone wrong: quadratics, wide bounds, factors, few rows, many.

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
    """Fit one table often: count the "ok", and judge intervals and slopes by least squares."""
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
    """Fit wages of men in 1988, with declared bounds and none, with two factors and without."""
    frame = pd.read_csv(folder / "aer_cps1988.csv.gz")
    frame = frame.astype(dict.fromkeys(("ethnicity", "region"), "category"))
    bounds = {"education": (0, 20), "experience": (-5, 65), "log_wage": (3, 10)}
    rows = {
        (declared, factors or "none"): against_ols(
            _QUADRATIC + factors, frame, repetitions, epsilon=1, bounds=given
        )
        for factors in ("", " + ethnicity + region")
        for declared, given in (("declared", bounds), ("none", None))
    }
    return pd.DataFrame(rows).T.rename_axis(["bounds", "factors"])


def few_rows(folder: Path, repetitions: int) -> pd.DataFrame:
    """Fit 526 wages, and 1,000 rows of which 60% share the value of a regressor."""
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
    """Simulate regressors uniform on (0, 10), a response of slopes 1, and their exact bounds."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (n, d))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    frame["y"] = 2 + X.sum(axis=1) + rng.normal(size=n)
    return frame, {**{f"x{j}": (0.0, 10.0) for j in range(d)}, "y": (0.0, 4.0 + 10 * d)}


def widened(bounds: dict, times: float | None) -> dict | None:
    """Widen bounds so many times, about the same middle."""
    if times is None:
        return None
    return {
        name: ((a + b) / 2 - times * (b - a) / 2, (a + b) / 2 + times * (b - a) / 2)
        for name, (a, b) in bounds.items()
    }


def wide_bounds(repetitions: int, sizes=(500, 2000, 10_000), d: int = 3) -> pd.DataFrame:
    """Compare errors of slopes and coverage at exact bounds, 3 and 10 times as wide, and none.

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


def factors(repetitions: int, rows: int = 100_000) -> pd.DataFrame:
    """Compare the slope and effects of a factor with least squares on the same rows."""
    table = {}
    for levels in (10, 50, 200, 500):
        rng = np.random.default_rng(0)
        code, x = rng.integers(0, levels, rows), rng.normal(size=rows)
        g = pd.Categorical.from_codes(code, categories=[str(level) for level in range(levels)])
        y = 0.5 * x + rng.normal(0, 0.3, levels)[code] + rng.normal(0, 0.5, rows)
        frame = pd.DataFrame({"x": x, "g": g, "y": y})
        ols = smf.ols("y ~ g + x", frame).fit()
        for method in ("noisy_newton", "adassp", "shrunken", "shrunken_pure"):
            fits = [
                dp.dp_ols("y ~ g + x", frame, method=method, epsilon=1) for _ in range(repetitions)
            ]
            off = np.array([fit.params - ols.params for fit in fits])
            ends = np.array([fit.conf_int().to_numpy() for fit in fits])
            shown = np.isfinite(ends).all(axis=2)
            held = (ends[:, :, 0] <= ols.params.to_numpy()) & (
                ols.params.to_numpy() <= ends[:, :, 1]
            )
            table[levels, method] = {
                "s.d. of the slope": off[:, -1].std(),
                "rmse of levels": np.sqrt(np.mean(off[:, 1:-1] ** 2)),
                "shown": shown.mean(),
                "cover": held[shown].mean() if shown.any() else math.nan,
            }
    return pd.DataFrame(table).T.rename_axis(["levels", "method"])


def robust_factors(repetitions: int, rows: int = 100_000) -> pd.DataFrame:
    """Compare the slope and effects of a factor with the truth, errors of other kinds.

    By adassp: with variances that grow with x, the same with skewed weights, and with five rows of
    a person that share half of their errors' variance.
    """
    kinds = {
        "plain": {},
        "HC1": {"cov_type": "HC1"},
        "weights, HC1": {"cov_type": "HC1", "weights": "w"},
        "persons": {"unit": "id"},
    }
    bounds, table = {"x": (0, 1), "y": (-1, 1.5), "w": (0, 4)}, {}
    for levels in (10, 50, 200):
        names = [str(level) for level in range(levels)]
        effects = np.linspace(-0.2, 0.2, levels)
        truth = np.r_[effects[0], effects[1:] - effects[0], 0.5]
        for kind, call in kinds.items():
            off, held, shown = [], [], []
            for seed in range(repetitions):
                rng = np.random.default_rng(seed)
                code, x = rng.integers(0, levels, rows), rng.uniform(size=rows)
                errors = 0.15 * rng.normal(size=rows) * (0.5 + x if "HC1" in kind else 1.0)
                if kind == "persons":
                    own = np.repeat(rng.normal(size=rows // 5), 5)
                    errors = 0.15 * (rng.normal(size=rows) + own) / math.sqrt(2)
                frame = pd.DataFrame({
                    "x": x, "g": pd.Categorical.from_codes(code, names),
                    "w": np.minimum(rng.lognormal(0, 0.7, rows), 4.0),
                    "id": np.arange(rows) // 5, "y": effects[code] + 0.5 * x + errors,
                })  # fmt: skip
                fit = dp.dp_ols(
                    "y ~ g + x", frame, method="adassp", epsilon=1, bounds=bounds, **call
                )
                low, high = fit.conf_int().to_numpy().T
                off.append(fit.params - truth)
                shown.append(np.isfinite(low) & np.isfinite(high))
                held.append((low <= truth) & (truth <= high))
            off, held, shown = (np.array(part) for part in (off, held, shown))
            table[levels, kind] = {
                "rmse of the slope": np.sqrt(np.mean(off[:, -1] ** 2)),
                "rmse of levels": np.sqrt(np.mean(off[:, 1:-1] ** 2)),
                "shown": shown.mean(),
                "cover": held[shown].mean() if shown.any() else math.nan,
            }
    return pd.DataFrame(table).T.rename_axis(["levels", "errors"])


def slopes(repetitions: int, rows: int = 100_000) -> pd.DataFrame:
    """Compare slopes that differ by level with least squares on the same rows, at epsilon 1."""
    table = {}
    for levels in (4, 8, 20):
        rng = np.random.default_rng(0)
        code, x = rng.integers(0, levels, rows), rng.uniform(size=rows)
        y = np.linspace(-0.2, 0.2, levels)[code] + np.linspace(0.3, 0.7, levels)[code] * x
        g = pd.Categorical.from_codes(code, [str(level) for level in range(levels)])
        frame = pd.DataFrame({"x": x, "g": g, "y": y + rng.normal(0, 0.15, rows)})
        ols = smf.ols("y ~ x*g", frame).fit()
        names = [name for name in ols.params.index if "x" in name]
        for method in ("noisy_newton", "adassp", "shrunken"):
            call = {"method": method, "epsilon": 1, "bounds": {"x": (0, 1), "y": (-1, 1.5)}}
            fits = [dp.dp_ols("y ~ x*g", frame, **call) for _ in range(repetitions)]
            off = np.array([fit.params[names] - ols.params[names] for fit in fits])
            ends = np.array([fit.conf_int().loc[names].to_numpy() for fit in fits])
            table[levels, method] = {
                "rmse of slopes": np.sqrt(np.mean(off**2)),
                "s.e. of least squares": ols.bse[names].mean(),
                "shown": np.isfinite(ends).all(axis=2).mean(),
            }
    return pd.DataFrame(table).T.rename_axis(["levels", "method"])


def tiny(repetitions: int) -> pd.DataFrame:
    """Fit few uniform rows, of which epsilon 1 says little: count "ok" fits and coverage."""
    table = {}
    for n in (30, 120, 250, 500, 1000):
        for d in (1, 3):
            ok, wrong, shown, held = 0, 0, 0, 0
            for seed in range(repetitions):
                rng = np.random.default_rng(seed)
                frame = pd.DataFrame(rng.uniform(size=(n, d))).rename(columns="x{}".format)
                formula = f"y ~ {' + '.join(frame)}"
                frame["y"] = 0.2 + 0.6 * frame.sum(axis=1) + rng.normal(0, 0.1, n)
                fit = dp.dp_ols(formula, frame, epsilon=1)
                ratio = (fit.params.drop("Intercept") / 0.6).abs()
                low, high = fit.conf_int().drop("Intercept").to_numpy().T
                finite = np.isfinite(low) & np.isfinite(high)
                ok += fit.status == "ok"
                wrong += fit.status == "ok" and bool(((ratio > 3) | (ratio < 1 / 3)).any())
                shown += finite.sum()
                held += ((low <= 0.6) & (0.6 <= high) & finite).sum()
            table[n, d] = {
                "fits": repetitions,
                "ok": ok,
                "of these off 3 times": wrong,
                "shown": shown / (d * repetitions),
                "cover": held / shown if shown else math.nan,
            }
    return pd.DataFrame(table).T.rename_axis(["rows", "regressors"])


def widths(repetitions: int, sizes=(2000, 20_000, 200_000)) -> pd.DataFrame:
    """Compare standard errors with those of least squares, and count what intervals hold.

    Two regressors, normal or exponential errors; the largest tables are drawn a fifth as often.
    """
    table = {}
    for n in sizes:
        for errors in ("normal", "exponential"):
            for epsilon in (1, 4):
                ratios, held = [], []
                for seed in range(repetitions if n < max(sizes) else max(repetitions // 5, 3)):
                    rng = np.random.default_rng(seed)
                    x = rng.uniform(0, 10, n)
                    frame = pd.DataFrame({"x": x, "z": 3 * rng.normal(size=n) + 0.3 * x})
                    drawn = (
                        rng.normal(size=n) if errors == "normal" else rng.exponential(size=n) - 1
                    )
                    frame["y"] = 10 + 0.5 * x + 0.2 * frame["z"] + drawn
                    ols, fit = (
                        smf.ols("y ~ x + z", frame).fit(),
                        dp.dp_ols("y ~ x + z", frame, epsilon=epsilon),
                    )
                    low, high = fit.conf_int().to_numpy().T
                    truth = np.array([10, 0.5, 0.2])
                    ratios.append((fit.bse / ols.bse).to_numpy())
                    held.append((low <= truth) & (truth <= high))
                table[n, errors, epsilon] = {
                    "s.e. over least squares": np.nanmedian(ratios),
                    "cover the truth": np.mean(held),
                }
    return pd.DataFrame(table).T.rename_axis(["rows", "errors", "epsilon"])


def lines(repetitions: int, sizes=(100, 400, 1000, 1600, 3200, 6400)) -> pd.DataFrame:
    """Compare the slopes of noisy_newton and exp_theil_sen for one regressor with bounds.

    Ratios of median errors at epsilon 1, over spreads of x and of residuals: noisy_newton's, where
    the number of rows is private (add_remove) or public, over exp_theil_sen's.
    """
    ratios = {}
    for n in sizes:
        found = [
            line_errors(n, spread, residual, repetitions)
            for spread, residual in ((0.05, 0.05), (0.05, 0.2), (0.29, 0.05), (0.29, 0.2))
        ]
        for neighbors in ("add_remove", "replace_one"):
            ratio = [errors[neighbors] / errors["exp_theil_sen"] for errors in found]
            ratios[n, neighbors] = {
                "median": np.median(ratio), "least": min(ratio), "largest": max(ratio),
            }  # fmt: skip
    return pd.DataFrame(ratios).T.rename_axis(["epsilon n", "neighbors"])


def line_errors(n: int, spread: float, residual: float, repetitions: int) -> dict[str, float]:
    """Measure median errors of the slope: of exp_theil_sen, and of noisy_newton by relation."""
    errors: dict[str, list] = {"exp_theil_sen": [], "add_remove": [], "replace_one": []}
    for seed in range(repetitions):
        frame = dp.simulate.line(n, x_sd=spread, noise_sd=residual, seed=seed)
        slope = np.polyfit(frame["x"], frame["y"], 1)[0]
        for name, seen in errors.items():
            call = {"method": "noisy_newton", "neighbors": name}
            call = {"method": name} if name == "exp_theil_sen" else call
            fit = dp.dp_ols("y ~ x", frame, epsilon=1, bounds={"x": (0, 1), "y": (0, 1)}, **call)
            seen.append(abs(np.nan_to_num(fit.params["x"]) - slope))
    return {name: float(np.median(seen)) for name, seen in errors.items()}


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
        ("a factor, 100,000 rows, epsilon 1", factors(max(given.repetitions // 4, 5))),
        ("a factor and other errors, epsilon 1", robust_factors(max(given.repetitions // 4, 5))),
        ("slopes by level, x*g, epsilon 1", slopes(max(given.repetitions // 10, 5))),
        ("few uniform rows, epsilon 1", tiny(given.repetitions)),
        ("two regressors, how wide", widths(max(given.repetitions // 5, 5))),
        ("noisy_newton over exp_theil_sen, one regressor", lines(max(given.repetitions // 5, 5))),
    ):
        print(f"{title}\n{table.round(4).to_string()}\n", flush=True)
