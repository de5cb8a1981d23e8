"""Make laws of rows for shrunken fits, and check whole calls on neighbours."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.call.arguments import make_request
from dpstats.estimators.contract import Release
from dpstats.privacy import RELATIONS, REPLACE_ONE
from dpstats.run.prepare import prepare
from dpstats.run.single import fit_single
from tests.checks.replay import check_neighbours

RNG = np.random.default_rng(8)
ROWS = 4000
X1, X2, NOISE = RNG.normal(size=(3, ROWS))
LINE = pd.DataFrame({"x1": X1, "x2": X2, "y": 3 + 2 * X1 - X2 + NOISE})


def named(call) -> str:
    """The method for a call: with delta=0 the pure one."""
    return "shrunken_pure" if call.get("delta") == 0 else "shrunken"


def squeezed(result) -> str:
    return " ".join(str(result.summary()).split())


def strange_tables() -> dict[str, pd.DataFrame]:
    """Tables on which a fit without bounds may go wrong."""
    few = RNG.uniform(size=ROWS) < 0.01
    columns = {
        "constant": np.full(ROWS, 7.0),
        "99% zero": few * np.exp(8 * X1),
        "up to 10^12": RNG.integers(0, 10**12, ROWS).astype(float),
        "10^-9": 1e-9 * X1,
        "huge outlier": np.r_[1e300, X1[1:]],
        "heavy tails": RNG.standard_cauchy(ROWS),
        "spike": np.where(RNG.uniform(size=ROWS) < 0.4, 25_000, 25_000 + 5000 * np.abs(X1)),
    }
    tables = {name: LINE.assign(x1=column) for name, column in columns.items()}
    tables |= {f"{name}, response": LINE.assign(y=column) for name, column in columns.items()}
    return tables | {**{f"{n} rows": LINE[:n] for n in (0, 1, 2, 10, 80)}}


STRANGE = strange_tables()
LAWS = {
    "normal": lambda rng, n: rng.normal(100, 1, n),
    "years": lambda rng, n: rng.integers(1950, 2021, n).astype(float),
    "lognormal": lambda rng, n: rng.lognormal(2, 1.5, n),
    "Pareto": lambda rng, n: rng.pareto(1.5, n),
    "half zeros": lambda rng, n: rng.lognormal(1, 1.5, n) * (rng.uniform(size=n) < 0.5),
    "mostly one value": lambda rng, n: (
        rng.poisson(1, 4 * n) * (rng.uniform(size=4 * n) < 0.3) - 0.3
    ),
}
CALLS = [
    {},
    {"delta": 0},
    {"select": "kendall", "k": 1},
    {"bounds": {"y": (-1, 2)}},
    {"bounds": {"x1": (-1, 2), "x2": (0, 9), "y": (-1, 2)}, "epsilon": 8},
    {"epsilon": 2},
    {"epsilon": 2, "delta": 0},
]


@dataclass(frozen=True)
class Outcome:
    """All that a call publishes beside its events."""

    release: Release
    schema: str
    selected: tuple[str, ...] | None


def composite(data, call):
    """Selection, ranges and fit of one call as a function of the noise, and its limit."""
    defaults = dict.fromkeys(("delta", "bounds", "levels", "x_new", "row_norm"))
    request = make_request(
        "y ~ x1 + x2", data, method=named(call), missing="drop", options={},
        **{**defaults, "epsilon": 30, **call},
    )  # fmt: skip

    def fit(noise):
        result = fit_single(prepare(request, noise), noise)
        return Outcome(result.release, str(result.schema), result.selected)

    promised = request.cost.guarantee(request.delta)[0]
    assert promised <= call.get("epsilon", 30) * (1 + 1e-6)
    return fit, request.cost


def check_composite(calls=CALLS, relations=RELATIONS, seeds=3):
    """Replay selection, ranges and fit on neighbouring tables, rows far out among them."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(400, 2)) + [0, 2000], columns=["x1", "x2"])
    table["y"] = np.clip(table["x1"], 0, None)
    extremes = [0.0, 1e300, -1e300, np.inf, 1e-300, 2000.0, 1.0, np.nan]
    for call in calls:
        for neighbors in relations:
            for seed in range(seeds):
                new = pd.DataFrame([rng.choice(extremes, 3)], columns=table.columns)
                if neighbors == REPLACE_ONE:  # which rows are missing is public there
                    new = new.fillna(0.0)
                kept = table[1:] if neighbors == REPLACE_ONE else table
                other = pd.concat([kept, new], ignore_index=True)
                base = pd.concat([table[1:], table[:1]], ignore_index=True)
                fits = [composite(t, {**call, "neighbors": neighbors}) for t in (base, other)]
                found = check_neighbours(fits[0][0], fits[1][0], fits[0][1], seed)
                assert {"X'X", "X'y", "y'y"} <= set(found)
