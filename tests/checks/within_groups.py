"""Check how far rows and levels move sums of deviations from group means."""

from dataclasses import dataclass, replace

import numpy as np

from dpstats.estimators import ABSORBING
from dpstats.estimators.contract import InMemory, Method, Problem
from dpstats.estimators.least_squares.within.groups import within_box
from dpstats.formula import Formula
from dpstats.privacy import ADD_REMOVE, RELATIONS, Cost
from dpstats.schema import Categorical, Labels, Numeric
from tests.checks.replay import (
    BOUNDS,
    Pairs,
    Violation,
    check_reached,
    problem_of,
    row,
    strange_row,
    strange_table,
)
from tests.checks.rows import keyed_rows

STEPS = ("X'X", "X'y", "y'y")
GRAM, CROSS, SQUARE = (f"{step} within groups" for step in STEPS)
DEGREES = "degrees of freedom"
SUMS = ("adassp", "ssp")


@dataclass(frozen=True)
class Absorbed(Pairs):
    """A method that absorbs groups, under one problem; the last column of X has the keys."""

    method: Method
    problem: Problem
    limit: Cost

    def fit(self, X, y):
        """The release of these rows, as a function of the noise."""
        rows = keyed_rows(X, y, len(self.problem.low), self.problem.weighted)
        return lambda noise: self.method.release(InMemory(rows), self.problem, self.limit, noise)

    def __str__(self):
        p = self.problem
        kind = "estimated" if p.estimated else "norm" if p.row_norm else "box"
        return f"{self.method.name}-{p.neighbors}-S{len(p.low)}-{kind}-x{p.low[0]:g}"


def case_of(name="adassp", epsilon=2.0, **problem):
    """A case whose x and y have the second of the replay suite's bounds unless given."""
    given = {"d": 1, "x": BOUNDS[1][0], "y": BOUNDS[1][1], "intercept": None, **problem}
    return Absorbed(ABSORBING[name], problem_of(**given), ABSORBING[name].cost(epsilon, 1e-6))


def with_factor(coding: str, neighbors: str, levels: int = 6) -> Absorbed:
    """y ~ x + a factor in a coding of patsy, with effects to absorb."""
    schema = {
        "y": Numeric(*BOUNDS[1][1]), "x": Numeric(*BOUNDS[1][0]), "g": Labels(),
        "h": Categorical(tuple(range(levels))),
    }  # fmt: skip
    design = Formula.parse(f"y ~ x + {coding} | g").design(schema)
    case = case_of(d=len(design.names), neighbors=neighbors)
    box = {"low": design.low, "high": design.high, "layout": design.layout}
    x_new = np.empty((0, len(design.names)))
    return replace(case, problem=replace(case.problem, **box, x_new=x_new))


CASES = [
    case_of(name, neighbors=relation, d=d, **kind)
    for name in SUMS
    for relation in RELATIONS
    for d in (1, 3)
    for kind in ({}, {"row_norm": 2.5}, {"estimated": True})
]


# A row has at most all of one, and may have so little that it counts for nothing.
WEIGHTS = 1.0, 1.0, 0.5, 1e-3, 2.0**-20, 1e-9


def keyed(generator, X, y, groups=3):
    """The table with random keys; a few groups, so that rows share them."""
    return np.column_stack([X, generator.integers(groups, size=len(y))]), y


def neighbour_of(generator, problem, X, y):
    """One strange row more or less, or in the place of another, perhaps of another group."""
    x, response = strange_row(generator, problem)
    if problem.weighted:
        x = np.append(x, generator.choice(WEIGHTS))
    new = np.append(x, generator.integers(4)), response
    gone = int(generator.integers(len(y))) if len(y) else 0
    if problem.neighbors == ADD_REMOVE:
        if len(y) and generator.integers(2):
            return np.delete(X, gone, axis=0), np.delete(y, gone)
        return np.insert(X, gone, new[0], axis=0), np.insert(y, gone, new[1])
    if not len(y):
        return X, y
    X, y = X.copy(), y.copy()
    X[gone], y[gone] = new
    return X, y


def check_random(case, pairs=12):
    """Strange tables and neighbours."""
    generator = np.random.default_rng(1)
    for seed in range(pairs):
        X, y = strange_table(generator, case.problem, int(generator.choice([0, 1, 2, 5, 20])))
        X, y = keyed(generator, X, y)
        case.check((X, y), neighbour_of(generator, case.problem, X, y), seed)


def coded_rows(case, generator, n):
    """Rows at ends of x and y with levels of the factor at random, coded as patsy does."""
    block_columns = [c for block in case.problem.layout.blocks for c in block.columns]
    X = np.empty((n, len(case.problem.low)))
    for block in case.problem.layout.blocks:
        X[:, block.columns] = block.coding[generator.integers(len(block.coding), size=n)]
    others = np.setdiff1d(np.arange(X.shape[1]), block_columns)
    ends = np.stack([case.problem.low, case.problem.high])
    X[:, others] = ends[generator.integers(2, size=(n, len(others))), others]
    return X, generator.choice([case.problem.y_low, case.problem.y_high], n)


def check_factor(case, pairs=30):
    """Rows of a few levels, one of which becomes one of another level."""
    generator = np.random.default_rng(2)
    for seed in range(pairs):
        n = int(generator.choice([1, 2, 30]))
        few = generator.integers(6)
        X, y = coded_rows(case, generator, n + 1)
        if few:  # many alike, from which one row differs as much as it can
            X[: n - 1], y[: n - 1] = X[0], y[0]
        X, y = keyed(generator, X, y, 2)
        one = X[:n], y[:n]
        two = (X, y) if case.problem.neighbors == ADD_REMOVE else (X[1:], y[1:])
        case.check(one, two, seed)


def at(problem, u, v, key):
    """The row at these scaled coordinates, with its key."""
    box = within_box(problem)
    x, y = row(problem, box.center + box.scale * np.asarray(u), box.y_center + box.y_scale * v)
    return np.append(x, key), y


def stacked(rows):
    return np.array([x for x, _ in rows]), np.array([y for _, y in rows])


# Rows per group: the bound is that of ever larger groups, n / (n + 1) of it is reached in one of n.
MANY = 400


def worst_pairs(case):
    """(step, table, neighbour, share of the bound) that move each query most.

    A group lies in one corner, and the row that joins in the opposite one. Under replace-one the
    row comes from another group, where it was as far off the other way; for the triangle of u u'
    the bound is attained by two rows without a common entry that is not zero only, so that one
    regressor reaches 1 / sqrt 2 of it, by a row that was alone in its group.
    """
    p, d = case.problem, len(case.problem.low)
    low, high = -np.ones(d), np.ones(d)
    if p.row_norm is not None:  # the corners that a ball allows
        low, high = -np.eye(d)[0], np.eye(d)[0]
    group = [at(p, low, -1, 1)] * MANY + [at(p, low, 1, 2)] * MANY
    far, apart = at(p, high, 1, 1), at(p, high, -1, 2)
    alone = at(p, high, 1, 3)
    if p.neighbors == ADD_REMOVE:
        pair = stacked(group), stacked([*group, far])
        return [(step, *pair, 0.99) for step in (GRAM, CROSS, SQUARE, DEGREES)]
    from_alone = stacked([*group, alone]), stacked([*group, far])
    across = stacked([*group, apart]), stacked([*group, far])
    return [
        (GRAM, *from_alone, 0.7),
        (CROSS, *across, 0.99),
        (SQUARE, *from_alone, 0.99),
        (DEGREES, *from_alone, 0.99),
    ]


PLAIN = [case for case in CASES if not case.problem.estimated]


def check_worst(case):
    """The worst rows come close to what is stated, across groups for replace-one."""
    for step, one, two, level in worst_pairs(case):
        check_reached(step, case.check(one, two)[step], level)


def check_shares():
    """A row that joins n others moves the products by n / (n + 1) of the bound, as is derived."""
    case = case_of(neighbors=ADD_REMOVE)
    for n in (1, 2, 3, 10):
        group = [at(case.problem, [-1], -1, 1)] * n + [at(case.problem, [0.5], 0.25, 2)] * 5
        found = case.check(stacked(group), stacked([*group, at(case.problem, [1], 1, 1)]))
        for step in (GRAM, CROSS, SQUARE):
            if abs(found[step] - n / (n + 1)) > 1e-9:
                raise Violation(f"{step}: {found[step]} of the bound for {n} rows")


def check_worst_factor(case):
    """A row of another level moves two dummies at once and reaches the bound of the triangle."""
    X, y = (np.repeat(part[:1], MANY + 1, axis=0) for part in coded_rows(
        case, np.random.default_rng(3), 1
    ))  # fmt: skip
    (block,) = case.problem.layout.blocks
    X[:, block.columns] = block.coding[1]
    x = np.setdiff1d(np.arange(X.shape[1]), block.columns)[0]
    X[:, x], y[:] = case.problem.low[x], case.problem.y_low
    X[-1, block.columns] = block.coding[2]
    X[-1, x], y[-1] = case.problem.high[x], case.problem.y_high
    X = np.column_stack([X, np.zeros(len(y))])
    found = case.check((X[:-1], y[:-1]), (X, y))
    check_reached(GRAM, found[GRAM])
    check_reached(CROSS, found[CROSS])
