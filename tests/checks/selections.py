"""Make columns of which some matter, and check choices among them."""

import numpy as np

from dpstats.privacy import (
    ADD_REMOVE,
    PureDP,
)
from dpstats.selection import SELECTORS
from tests.checks.replay import (
    Choice,
    check_distances,
    check_flow,
    check_released,
    check_scales,
    run,
)


def one_of_each(rng, n, S):
    X = rng.normal(size=(n, S))
    return X, X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n)


def columns(rng, n):
    """Two columns with many ties, some, none, or nothing but ties."""
    levels = rng.choice([1, 2, 3, 1000], 2)
    return (rng.integers(0, level, n).astype(float) for level in levels)


def tables(rng, relation):
    """Neighbouring tables of four columns and a response, ties and constants included."""
    n = int(rng.integers(0, 12))
    Z = np.column_stack([c for _ in range(3) for c in columns(rng, n)])[:, :5]
    Z *= rng.choice([1.0, -1.0], 5)
    if rng.random() < 0.5 and n:
        Z[:, rng.integers(0, 5)] = Z[:, 0]
    row = rng.choice([-1e3, 0.0, 1.0, 1e3], 5)
    at = int(rng.integers(0, n + 1))
    if relation == ADD_REMOVE:
        return Z, np.insert(Z, at, row, axis=0)
    Z, other = np.insert(Z, at, row, axis=0), np.insert(Z, at, rng.permutation(row), axis=0)
    return Z, other


def changes(pair, relation, terms, chosen):
    """(max - min change of the scores) / spread in each round, given what was chosen."""
    choice = Choice(SELECTORS["kendall"], relation, tuple(terms), len(chosen))
    one, two = (run(choice.fit(t[:, :-1], t[:, -1]), choice.limit, 0, chosen) for t in pair)
    check_scales(one)
    check_flow(one, two)
    check_released(one, two)
    return list(check_distances(one, two).values())


def check_choices(name, relation, terms=(0, 1, 2, 3), limit=PureDP(2.0), pairs=60):  # noqa: B008
    """Replay on random neighbours; the share of its bound that each query reached."""
    rng, best = np.random.default_rng(3), {}
    choice = Choice(SELECTORS[name], relation, terms, 2, limit)
    for seed in range(pairs):
        one, two = ((t[:, :-1], t[:, -1]) for t in tables(rng, relation))
        for step, ratio in choice.check(one, two, seed).items():
            best[step] = max(best.get(step, 0.0), ratio)
    return best
