"""How near absorbed effects by pairs come to the within estimator, and how intervals cover.

Errors are distances from least squares of deviations from group means, in its standard errors for
errors of one variance; widths are multiples of those of its intervals, clustered. ``covers`` is of
the true slopes, for the one that is covered worst, or of the within estimator where the effect of a
long column bends; where slopes grow with the sizes of groups that of intervals without privacy,
clustered, is in brackets. With ``--weights``, even between .2 and 1, or ``--cov-type HC1`` both are
in HC1 standard errors. ``--pure`` takes delta = 0. ``--data DIR`` absorbs the largest factor of
each formula of a folder of tables instead, where what intervals hold is the within estimator.
"""

import argparse
import csv
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

import dpstats as dp
from benchmarks.tools import print_table

SLOPE = 0.3
# Rows, groups, regressors; spread of the groups' sizes on the log scale, how the errors' deviation
# grows with the first regressor, and the deviation of its slope between groups.
CASES = {
    "400 groups": (20_000, 400, 3, 0.0, 0.0, 0.0),
    "sizes lognormal": (20_000, 400, 3, 1.0, 0.0, 0.0),
    "errors of different variances": (20_000, 400, 3, 0.0, 1.0, 0.0),
    "errors clustered": (20_000, 400, 3, 0.0, 0.0, 0.1),
    "1,000 groups of 5": (5_000, 1_000, 3, 0.0, 0.0, 0.0),
    "30 groups": (5_000, 30, 3, 0.0, 0.0, 0.0),
    "4 groups": (20_000, 4, 3, 0.0, 0.0, 0.0),
    "4 groups, different variances": (20_000, 4, 3, 0.0, 1.0, 0.0),
    "12 groups, different variances": (8_000, 12, 3, 0.0, 1.0, 0.0),
    "10 groups, different sizes and variances": (3_000, 10, 2, 0.5, 1.0, 0.0),
    "3,000 groups of 2, different variances": (6_000, 3_000, 2, 0.0, 1.0, 0.0),
    "1 in 3% of the rows": (10_000, 200, 2, 0.0, 0.0, 0.0),
    "1 in 1% of the rows": (10_000, 200, 2, 0.0, 0.0, 0.0),
    "lognormal": (10_000, 200, 2, 0.0, 0.0, 0.0),
    "t3, effect up to 2": (20_000, 330, 2, 0.0, 0.0, 0.0),
    "Pareto 3, effect up to 1": (20_000, 330, 2, 0.0, 0.0, 0.0),
    "root of a lognormal": (20_000, 330, 2, 0.0, 0.0, 0.0),
    "slopes grow with sizes, lognormal": (20_000, 400, 3, 0.0, 0.0, 0.0),
    "slopes grow with sizes, Pareto": (20_000, 400, 3, 0.0, 0.0, 0.0),
    "slopes grow with 2,000 sizes, Pareto": (20_000, 2_000, 1, 0.0, 0.0, 0.0),
}
# The first of the regressors where it is not normal.
FIRST = {
    "1 in 3% of the rows": lambda rng, n: rng.uniform(size=n) < 0.03,
    "1 in 1% of the rows": lambda rng, n: rng.uniform(size=n) < 0.01,
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "t3, effect up to 2": lambda rng, n: rng.standard_t(3, size=n),
    "Pareto 3, effect up to 1": lambda rng, n: rng.pareto(3, size=n),
    "root of a lognormal": lambda rng, n: rng.lognormal(0, 1.2, size=n),
}
# Its effect where it bends.
BENT = {
    "t3, effect up to 2": lambda x: np.clip(x, -2, 2),
    "Pareto 3, effect up to 1": lambda x: np.minimum(x, 1),
    "root of a lognormal": np.sqrt,
}
# The log of a group's size where the first slope grows with it, and its mean over rows.
GROWTH = 0.2
SIZES = {
    "slopes grow with sizes, lognormal": (lambda rng, n: rng.normal(0, 1.2, n), 1.2**2),
    "slopes grow with sizes, Pareto": (lambda rng, n: rng.exponential(1 / 2, n), 1.0),
    "slopes grow with 2,000 sizes, Pareto": (lambda rng, n: rng.exponential(1 / 1.5, n), 2.0),
}
HEADER = ("case", "rows", "epsilon", "error", "shown", "covers", "width")


def table(case: str, seed: int) -> pd.DataFrame:
    """Simulate rows of groups, with whose effects the regressors are correlated."""
    n, groups, d, spread, unequal, clustered = CASES[case]
    rng = np.random.default_rng(seed)
    if case in SIZES:
        of_sizes, mean = SIZES[case]
        logs = of_sizes(rng, groups)
        weights, slopes = np.exp(logs), GROWTH * (logs - mean)
    else:
        weights, slopes = rng.lognormal(0, spread, groups), np.zeros(groups)
    g, effects = rng.choice(groups, n, p=weights / weights.sum()), rng.normal(size=(groups, d))
    x = rng.normal(size=(n, d)) + effects[g]
    if case in FIRST:
        x[:, 0] = FIRST[case](rng, n)
    errors = rng.normal(size=n) * (1 + unequal * np.abs(x[:, 0]))
    errors += clustered * rng.normal(size=groups)[g] * x[:, 0]
    errors += slopes[g] * x[:, 0]
    line = SLOPE * x.sum(axis=1)
    if case in BENT:
        line += BENT[case](x[:, 0]) - SLOPE * x[:, 0]
    y = line + 3 * effects[g, 0] + errors
    columns = {f"x{j}": x[:, j] for j in range(d)}
    return pd.DataFrame({**columns, "y": y, "g": g})


def within(data: pd.DataFrame, names: list[str]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Fit deviations from means, weighted ones: slopes, and standard errors of several kinds."""
    w = data["w"].to_numpy() if "w" in data else np.ones(len(data))
    columns, g = data[[*names, "y"]], data["g"].to_numpy()
    means = columns.mul(w, axis=0).groupby(g).sum().div(pd.Series(w).groupby(g).sum(), axis=0)
    centred = columns.to_numpy() - means.loc[g].to_numpy()
    x, y = centred[:, :-1], centred[:, -1]
    inverse = np.linalg.inv((x * w[:, None]).T @ x)
    slopes = inverse @ (x * w[:, None]).T @ y
    left = y - x @ slopes
    freedom = len(data) - data["g"].nunique() - len(names)
    scores = x * (w * left)[:, None]
    sums = pd.DataFrame(scores).groupby(g).sum().to_numpy()
    found = {"nonrobust": inverse * (w @ left**2) / freedom}
    found["cluster"], found["HC1"] = (inverse @ s.T @ s @ inverse for s in (sums, scores))
    return slopes, {kind: np.sqrt(np.diag(cov)) for kind, cov in found.items()}


def measured(
    case: str, epsilon: float, fits: int, weights: bool, cov_type: str | None, delta: float | None
) -> tuple:
    """Measure one case."""
    errors, shown, covered, widths, without = [], [], [], [], []
    of_error, of_width = ("HC1", "HC1") if weights or cov_type else ("nonrobust", "cluster")
    more = {"weights": "w", "bounds": {"w": (0, 1)}} if weights else {}
    cov_type = "cluster" if case in SIZES else cov_type
    for seed in range(fits):
        data = table(case, seed)
        names = [name for name in data if name not in "yg"]
        if weights:
            data["w"] = np.random.default_rng(1000 + seed).uniform(0.2, 1, len(data))
        slopes, deviations = within(data, names)
        formula = f"y ~ {' + '.join(names)} | g"
        with dp.testing.insecure_seed(seed):
            found = dp.dp_ols(
                formula, data, epsilon=epsilon, delta=delta, cov_type=cov_type, **more
            )
        low, high = found.conf_int().to_numpy().T
        errors.append(np.abs(found.params - slopes) / deviations[of_error])
        shown.append(np.isfinite(low))
        truth = slopes if case in BENT else SLOPE
        covered.append((low <= truth) & (high >= truth))
        half = norm.ppf(0.975) * deviations[of_width]
        widths.append((high - low) / (2 * half))
        without.append(np.abs(slopes - SLOPE) <= half)
    seen, held = np.array(shown), np.array(covered)
    of_each = [held[seen[:, j], j].mean() for j in range(held.shape[1]) if seen[:, j].any()]
    covers = f"{min(of_each):.2f}" if of_each else ""
    if case in SIZES:
        covers += f" ({np.mean(without, axis=0).min():.2f})"
    return (
        case,
        f"{CASES[case][0]:,}",
        f"{epsilon:g}",
        f"{np.median(errors):.2f}",
        f"{seen.mean():.2f}",
        covers,
        f"{np.median(np.array(widths)[seen]):.2f}" if of_each else "",
    )


def absorbing(formula: str, data: pd.DataFrame) -> tuple[str, str] | None:
    """Return a formula with its largest factor absorbed, and that factor, if anything is left."""
    factors = re.findall(r"C\((\w+)\)", formula)
    if not factors:
        return None
    largest = max(factors, key=lambda name: data[name].nunique())
    response, terms = (part.strip() for part in formula.split("~"))
    left = [term.strip() for term in terms.split("+")]
    left = [term for term in left if term != f"C({largest})"]
    if not left or any(largest in term for term in left):
        return None
    return f"{response} ~ {' + '.join(left)}", largest


def real_tables(folder: Path, epsilon: float, fits: int):
    """Measure the formulas of a folder, within declared bounds."""
    import statsmodels.formula.api as smf

    for row in csv.DictReader((folder / "FORMULAS.csv").open()):
        data = pd.read_csv(folder / f"{row['name']}.csv.gz")
        for name in re.findall(r"C\((\w+)\)", row["formula"]):
            data[name] = pd.Categorical(data[name].astype(str))
        found = absorbing(row["formula"], data)
        if found is None:
            continue
        formula, column = found
        ols = smf.ols(f"{formula} + C({column})", data).fit()
        numbers = data.select_dtypes("number")
        bounds = {name: (numbers[name].min(), numbers[name].max()) for name in numbers}
        errors, shown, covered = [], [], []
        for seed in range(fits):
            with dp.testing.insecure_seed(seed):
                fit = dp.dp_ols(f"{formula} | {column}", data, epsilon=epsilon, bounds=bounds)
            names = fit.params.index
            low, high = fit.conf_int().to_numpy().T
            errors.append(np.median(np.abs(fit.params - ols.params[names]) / ols.bse[names]))
            shown.append(np.isfinite(low).mean())
            inside = (low <= ols.params[names]) & (ols.params[names] <= high)
            covered += inside[np.isfinite(low)].tolist()
        held = f"{np.mean(covered):.2f}" if covered else "-"
        yield np.median(errors), np.mean(shown), held, row["name"], len(data)


def main(arguments: list[str]) -> None:
    """Print the table of simulated cases, or that of a folder."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pairs", description=__doc__)
    parser.add_argument("--fits", type=int, default=200)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 4.0])
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--weights", action="store_true")
    parser.add_argument("--cov-type", choices=["HC1"])
    parser.add_argument("--pure", action="store_true")
    parser.add_argument("--data", type=Path)
    given = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", module="dpstats")
    if given.data is None:
        rows = [
            measured(
                case,
                epsilon,
                given.fits,
                given.weights,
                given.cov_type,
                0.0 if given.pure else None,
            )
            for case in given.only
            for epsilon in given.epsilon
        ]
        print_table(f"pairs: {given.fits} fits a case", HEADER, rows)
        return
    for epsilon in given.epsilon:
        found = list(real_tables(given.data, epsilon, given.fits))
        rows = [(name, f"{n:,}", f"{e:.2f}", f"{s:.2f}", held) for e, s, held, name, n in found]
        middle = np.median([each[0] for each in found]), np.mean([each[1] for each in found])
        title = f"pairs: largest factor absorbed, epsilon {epsilon:g}; median error {middle[0]:.2f}"
        header = ("table", "rows", "error", "shown", "holds least squares")
        print_table(f"{title}, shown {middle[1]:.2f}", header, rows)
