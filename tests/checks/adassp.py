"""Check powers of a regressor: their limit, their sums and how far a row moves them."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.call import Prepared
from dpstats.call.arguments import make_request
from dpstats.estimators import METHODS
from dpstats.estimators.least_squares import adassp
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.replay import Case, check_reached, neighbour, row, strange_table, with_row

POWERS = "y ~ x + I(x**2)"
BOUNDS = {"x": (20, 65), "y": (0, 5), "z": (-1, 1), "w": (0.5, 2)}


def ages(n=20_000, seed=1):
    """Return a quadratic of ages with groups, weights and a second regressor."""
    generator = np.random.default_rng(seed)
    x, z = generator.uniform(20, 65, n), generator.uniform(-1, 1, n)
    g = generator.choice(list("abc"), n)
    y = 0.5 + 0.1 * x - 0.001 * x**2 + 0.2 * z + 0.3 * (g == "b")
    y = np.clip(y + generator.normal(0, 0.3, n), 0, 5)
    return pd.DataFrame({"x": x, "y": y, "z": z, "g": pd.Categorical(g),
                         "w": generator.uniform(0.5, 2, n), "s": np.arange(n) % 30})  # fmt: skip


def check_powers(formula, seed=1, method="adassp", **options):
    """At a huge budget, fits of powers are those of statsmodels, fitted values to 1e-6 of y.

    Standard errors too, but for a thousandth.
    """
    data = ages(80_000 if "|" in formula else 20_000)  # four times the noise within groups
    bounds = {name: BOUNDS[name] for name in BOUNDS if name in formula + str(options)}
    epsilon = 1e7 if "cov_type" in options else 1e6  # squared residuals are farther out
    with dp.testing.insecure_seed(seed):
        ours = dp.dp_ols(formula, data, method=method, epsilon=epsilon, bounds=bounds, **options)
    if "|" in formula:
        formula = formula.replace("| s", "+ C(s)")
    fit = smf.wls if "weights" in options else smf.ols
    more = {"weights": data["w"]} if "weights" in options else {}
    theirs = fit(formula, data, **more).fit(cov_type=options.get("cov_type", "nonrobust"))
    names = list(ours.params.index)
    difference = (ours.params - theirs.params[names]).to_numpy()
    columns = theirs.model.data.orig_exog[names].to_numpy()
    fitted = columns @ difference
    fitted -= fitted.mean() if "C(s)" in formula else 0.0  # effects are not released
    assert np.abs(fitted).max() < 1e-6 * 5
    np.testing.assert_allclose(ours.bse, theirs.bse[names], rtol=2e-3)
    return ours


@dataclass(frozen=True)
class Powers(Case):
    """A method on sums whose columns are x and its square: rows are made of x alone."""

    def of(self, X, y):
        """Return rows with x, of any value, and the square of x within its range."""
        x = X[:, 1]
        return np.column_stack([np.ones(len(y)), x, np.clip(x, 20, 65) ** 2]), y


def powers_of(name, neighbors, **options):
    """Return the case of x + I(x**2) with the problem of a call."""
    rows = {"x": np.empty(0), "y": np.empty(0)}
    request = make_request(
        POWERS, rows, method=name, epsilon=2, delta=None, bounds={"x": (20, 65), "y": (0, 5)},
        levels=None, x_new=None, neighbors=neighbors, missing="drop", row_norm=None,
        options=options,
    )  # fmt: skip
    prepared = Prepared.of(request)
    assert prepared.problem.basis is not None
    return Powers(METHODS[name], prepared.problem, options, prepared.cost)


def cases_of_powers():
    """Methods on sums in a basis, those that shrink at estimated ranges too."""
    for neighbors in (ADD_REMOVE, REPLACE_ONE):
        for options in ({}, {"cov_type": "HC1"}):
            yield powers_of("adassp", neighbors, **options)
        for name in ("shrunken", "shrunken_pure"):
            case = powers_of(name, neighbors)
            yield case
            yield replace(case, problem=replace(case.problem, estimated=True))


def check_powers_of_neighbours(pairs=10):
    """Strange tables and neighbours: no query moves further than stated."""
    generator = np.random.default_rng(5)
    for case in cases_of_powers():
        for seed in range(pairs):
            X, y = strange_table(generator, case.problem, int(generator.integers(6)))
            other = neighbour(generator, case.problem, X, y)
            case.check((X, y), other, seed)
            case.check(case.of(X, y), case.of(*other), seed)


def check_worst_power():
    """The row at the upper end of x, with the response at its end, reaches the sensitivity."""
    for name in ("ssp", "shrunken", "shrunken_pure"):
        case = powers_of(name, ADD_REMOVE)
        worst = row(case.problem, [65, 65.0**2], 5)
        empty = np.empty((0, 3)), np.empty(0)
        ratios = case.check(empty, with_row(*empty, worst, 0))
        for step in ("X'X", "X'y"):
            check_reached(step, ratios[step], 0.99)


def check_powers_row_by_row():
    """Exact sums of rows are those of each row by itself, to the last bit."""
    case = powers_of("adassp", ADD_REMOVE)
    data = ages(200)
    X, y = case.of(np.column_stack([np.ones(200), data["x"]]), data["y"].to_numpy())
    rows = Rows(X, y)
    whole = adassp.summarise(rows, case.problem).sums.cross
    parts = [adassp.summarise(rows[i : i + 1], case.problem) for i in range(200)]
    assert (whole == sum(part.sums.cross for part in parts)).all()
