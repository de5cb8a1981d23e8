"""Made-up tables with columns of many kinds, on which the constants of auto were chosen."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from benchmarks.tables import Task

ROWS, COLUMNS, EXPLAINED = (500, 2000, 8000), (2, 8, 24), (0.2, 0.7)


def _zeros(rng, n):
    """Mostly zeros, the rest spread over two orders of magnitude."""
    return np.where(rng.uniform(size=n) < rng.uniform(0.02, 0.5), rng.lognormal(3, 0.7, n), 0.0)


KINDS = (
    lambda rng, n: rng.normal(10 * rng.normal(), rng.lognormal(), n),
    lambda rng, n: rng.uniform(0, 100, n),
    lambda rng, n: rng.lognormal(2, 1, n),
    lambda rng, n: (rng.uniform(size=n) < rng.choice([0.03, 0.1, 0.3, 0.5])) * 1.0,
    _zeros,
    lambda rng, n: rng.poisson(rng.lognormal(0.5, 1, n)).astype(float),
    lambda rng, n: rng.integers(1950, 2021, n).astype(float),
    lambda rng, n: 5 * rng.standard_t(3, n),
)


def table(n: int, d: int, explained: float, seed: int) -> Task:
    """A regression on d columns, half of which follow a common factor in their ranks.

    About 60% of the slopes differ from zero; in a third of the tables the response is
    censored from below, and its unit and origin vary.
    """
    rng = np.random.default_rng([n, d, int(100 * explained), seed])
    common = rng.normal(size=n)
    X = np.column_stack([_column(rng, n, j, d, common) for j in range(d)])
    slopes = rng.normal(size=d) * (rng.uniform(size=d) < 0.6)
    slopes[0] += not slopes.any()
    line = (X - X.mean(axis=0)) / X.std(axis=0) @ slopes
    y = np.sqrt(explained) * line / line.std() + np.sqrt(1 - explained) * rng.normal(size=n)
    if rng.integers(3) == 1:
        y = np.maximum(y, -0.5)
    y = rng.choice([1, 50, 1e4]) * (y + rng.choice([0, 3]))
    frame = pd.DataFrame({**{f"x{j}": X[:, j] for j in range(d)}, "y": y})
    return Task(f"n={n} d={d} R2={explained} #{seed}", frame)


def _column(rng, n: int, j: int, d: int, common: np.ndarray) -> np.ndarray:
    """Column j: every kind in turn where there are many, else any kind."""
    values = KINDS[j % len(KINDS) if d >= len(KINDS) else rng.integers(len(KINDS))](rng, n)
    if rng.uniform() < 0.5:
        return values
    ranks = np.argsort(np.argsort(0.7 * (common + rng.normal(size=n))))
    return np.sort(values)[ranks]


def tables(seeds: int) -> Iterator[Task]:
    """``seeds`` tables of every size and strength."""
    for n in ROWS:
        for d in COLUMNS:
            for explained in EXPLAINED:
                for seed in range(seeds):
                    yield table(n, d, explained, seed)
