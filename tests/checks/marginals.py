"""Check how far a row moves the histograms of its columns."""

import numpy as np

from dpstats.privacy import GDP, RELATIONS, REPLACE_ONE
from dpstats.range_estimation.marginals import estimate_marginals
from dpstats.schema import Numeric
from tests.checks.replay import check_neighbours, check_reached

LIMIT = GDP.of(8.0, 1e-6)
DECLARED = {"a": None, "b": None, "year": None, "within": Numeric(-5.0, 50.0), "y": None}


def columns(n: int, seed: int = 4) -> dict[str, np.ndarray]:
    """Ages, tiny numbers, years that need a zoom, a bounded column and a skewed response.

    Half of the ages are below 39 and half above 41, so that one row moves the bin of their median,
    of which all parts are on one side.
    """
    generator = np.random.default_rng(seed)
    older = np.arange(n) % 2 == 0
    return {
        "a": np.where(older, generator.uniform(41, 60, n), generator.uniform(5, 39, n)),
        "b": generator.normal(4e-3, 2e-3, n),
        "year": generator.integers(1950, 2021, n).astype(float),
        "within": generator.normal(20, 2, n),
        "y": generator.lognormal(3, 1, n),
    }


def marginals(data, limit, neighbors, limits=DECLARED):
    """The estimate as a function of the noise, from two batches."""
    halves = [{k: v[i::2] for k, v in data.items()} for i in range(2)]
    weights = dict.fromkeys(limits, 1.0) | {"y": 2.0}
    return lambda noise: estimate_marginals(
        lambda each: sum(map(each, halves)), limits, weights, limit, noise, neighbors, ("y",)
    )


FAR = [0.0, -0.0, 1e-300, 1e300, np.inf, -np.inf, 5.0, 60.0, -1e-3, 2.0**-40]


def moved(data, limit, neighbors, changes: int = 30) -> dict[str, float]:
    """The largest distance over sensitivity by step, over random changes of a row.

    The row that goes lies far above the median of each column.
    """
    generator, best = np.random.default_rng(6), {}
    data = {name: np.append(column, 1e6) for name, column in data.items()}
    for seed in range(changes):
        new = {name: generator.choice([*FAR, *column[-5:]]) for name, column in data.items()}
        kept = slice(None, -1 if neighbors == REPLACE_ONE else None)
        other = {name: np.append(column[kept], new[name]) for name, column in data.items()}
        fits = (marginals(table, limit, neighbors) for table in (data, other))
        for step, ratio in check_neighbours(*fits, limit, seed).items():
            best[step] = max(best.get(step, 0.0), ratio)
    return best


def check_marginals():
    """Histograms of many rows and quantiles of few move as stated, and reach it."""
    for neighbors in RELATIONS:
        many, few = (
            moved(columns(n), LIMIT.part(s), neighbors) for n, s in ((4000, 1), (300, 0.1))
        )
        names = set(DECLARED)
        first = {"order of magnitude of " + name for name in names - {"within"}}
        assert {"neighbourhood of year", "histogram of within"} | first <= set(many)
        assert {f"range of {name}" for name in names} <= set(many)
        assert {f"{what} of {name}" for what in ("median", "spread") for name in names} <= set(few)
        assert {f"closer median of {name}" for name in names} <= set(few)
        for step, ratio in (many | few).items():
            if step != "closer median of a":
                check_reached(step, ratio, 0.99)
