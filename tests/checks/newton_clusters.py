"""Replay releases with clusters on neighbours whose rows have labels, random and the worst ones."""

from dataclasses import replace

import numpy as np

from dpstats.estimators.contract import InMemory, Method
from dpstats.numerics import Rows
from dpstats.privacy import ADD_REMOVE
from tests.checks.noisy_newton import ENDS, METHOD, factor_case, rows
from tests.checks.replay import Case, check_neighbours, check_reached

STEPS = ("norm of cluster sizes", "cluster lengths", "cluster products")
_FAR = np.array([[0.0, 0, 1, 1]])
_ABOVE, _BELOW = np.array([1e300]), np.array([-1e300])
Table = tuple[np.ndarray, ...]


def clustered_case(
    neighbors: str, epsilon: float = 50.0, method: Method = METHOD, **kind: bool
) -> Case:
    """Two factors and two numbers, with standard errors clustered by a column of labels."""
    case = replace(factor_case(neighbors), method=method, limit=method.cost(epsilon, 1e-6))
    return replace(case, problem=replace(case.problem, clustered=True, **kind))


def fit(case: Case, table: Table):
    """Return the release of a table of X, y, labels, parts and units, as a function of the noise.

    Where rows have no weights and units are rows they have no parts.
    """
    X, y, labels, parts, units = table
    more = {"parts": parts} if case.problem.in_parts else {}
    more |= {"units": units} if case.problem.by_unit else {}
    passes = InMemory(Rows(X[:, 2:], y, X[:, :2], clusters=labels, **more))
    options = {"cov_type": "cluster"}
    return lambda noise: case.method.release(passes, case.problem, case.limit, noise, **options)


def check_clusters(neighbors: str, method: Method = METHOD, **kind: bool) -> None:
    """No row, or unit, moves a query further than stated, and the worst ones do by 99% of it."""
    case = clustered_case(neighbors, method=method, **kind)
    best = dict.fromkeys(STEPS, 0.0)
    for seed in range(10):
        generator = np.random.default_rng(seed)
        _ratios(case, *_random_pair(neighbors, generator, case.problem.by_unit), seed)
    for one, two in _worst_pairs(neighbors):
        found = _ratios(case, one, two, 0)
        best = {step: max(best[step], found.get(step, 0.0)) for step in STEPS}
    for step, ratio in best.items():
        check_reached(step, ratio, 0.99)


def _ratios(case: Case, one: Table, two: Table, seed: int) -> dict[str, float]:
    return check_neighbours(fit(case, one), fit(case, two), case.limit, seed)


def _random_pair(neighbors: str, generator, by_unit: bool) -> tuple[Table, Table]:
    """Tables of few labels that differ in a row, or a unit of some, which may change labels too."""
    table = _rows(generator, int(generator.choice([0, 1, 3, 60])))
    row, old = (_rows(generator, 1 + 4 * by_unit, one=True) for _ in range(2))
    return (table if neighbors == ADD_REMOVE else _with(table, old)), _with(table, row)


def _worst_pairs(neighbors: str):
    """Yield tables in which a row stretches the sum of its cluster to where sums are clipped.

    Two clusters have rows far out, above the line and below it, and four have rows on the line, so
    that sums are clipped at six lengths over six. With more clusters near it they are clipped long
    before. Other tables have one cluster but for a row.
    """
    generator = np.random.default_rng(0)
    above, below, beside = _one(_ABOVE, 0.0), _one(_BELOW, 0.0), _one(_ABOVE, 1.0)
    for size in (165, 175, 180, 185, 215, 220, 225, 260):
        table = _far_rows(generator, 200, size)
        if neighbors == ADD_REMOVE:
            yield _with(table, above), table
        else:
            yield _with(table, beside), _with(table, above)
            yield _with(table, above), _with(table, below)
    table = _far_rows(generator, 200, 200, 24)
    yield table if neighbors == ADD_REMOVE else _with(table, below), _with(table, above)
    alone = _with(*[above] * 50)
    other = _with(alone, _one(_ABOVE, 5.0))
    yield alone if neighbors == ADD_REMOVE else other, _with(alone, above)


def _far_rows(generator, far: int, near: int, others: int = 4) -> Table:
    X, _ = rows(generator, others * near)
    y = np.concatenate([np.repeat([1e300, -1e300], far), X[:, 2] + 3])
    names = np.arange(2.0, 2 + others)
    labels = np.concatenate([np.repeat([0.0, 1.0], far), np.repeat(names, near)])
    X = np.vstack([np.repeat(_FAR, 2 * far, axis=0), X])
    return X, y, labels, np.ones(len(y)), np.arange(len(y))


def _one(y: np.ndarray, label: float) -> Table:
    return _FAR, y, np.array([label]), np.ones(1), np.zeros(1, int)


def _rows(generator, n: int, one: bool = False) -> Table:
    """Draw rows; those of ``one`` unit have parts that add up to 1."""
    X, y = rows(generator, n, ENDS)
    labels = generator.integers(0, 3, n).astype(float)
    if one:
        return X, y, labels, np.full(n, 2.0**-20 * (2**20 // n)), np.zeros(n, int)
    return X, y, labels, generator.choice([0.0, 2.0**-21, 0.3, 1.0], n), np.arange(n)


def _with(*tables: Table) -> Table:
    """Put tables after one another; units stay apart."""
    *parts, units = zip(*tables, strict=True)
    first = np.cumsum([0, *(own.max(initial=-1) + 1 for own in units)])
    units = [own + start for own, start in zip(units, first[:-1], strict=True)]
    return *(np.concatenate(part) for part in parts), np.concatenate(units)
