"""Make cases of Newton's method with factors, and check their neighbours."""

import pickle
from dataclasses import replace

import numpy as np

from dpstats.estimators import METHODS
from dpstats.estimators.contract import Extremes, Problem, Reference
from dpstats.numerics import Block, Layout, Rows
from dpstats.privacy import ADD_REMOVE, RELATIONS
from tests.checks.replay import Case, check_reached

METHOD = METHODS["noisy_newton"]
FACTORS = Layout(
    (
        Block(np.array([1, 2]), np.array([[0.0, 0], [1, 0], [0, 1]])),
        Block(np.array([3]), np.array([[0.0], [1]])),
    ),
    np.array([4, 5]),
    0,
)


def factor_case(neighbors: str, epsilon: float = 100.0) -> Case:
    """A factor of three levels, one of two, and two correlated regressors."""
    low, high = np.array([1.0, 0, 0, 0, -4, -4]), np.array([1.0, 1, 1, 1, 6, 6])
    reference = Reference(np.ones(2), np.array([[2.0, 0], [1, 1.5]]), 3.0, 2.0, Extremes.unknown(2))
    x_new = np.array([[1.0, 0, 1, 1, 0, 0]])
    problem = Problem(low, high, -9.0, 9.0, 0, neighbors, None, False, x_new, FACTORS, reference)
    return Case(METHOD, problem, {}, METHOD.cost(epsilon, 1e-6))


def rows(generator, n: int, ends=()):
    """Rows as codes and numbers, and responses; ``ends`` are values that occur now and then."""
    X = np.column_stack([generator.integers(0, 3, n), generator.integers(0, 2, n)]).astype(float)
    X = np.hstack([X, generator.normal(1, 2, (n, 2))])
    y = X[:, 2] + generator.normal(size=n)
    for column in (*X.T[2:], y) if ends else ():
        far = generator.random(n) < 0.3
        column[far] = generator.choice(ends, int(far.sum()))
    return X, y


def coded(X, y):
    """Rows of a table of two codes and two numbers."""
    return Rows(X[:, 2:], y, X[:, :2])


def phi(basis, X):
    """The coordinates of rows, (n, m), by numpy."""
    z = np.linalg.solve(basis.root, (X[:, 2:] - basis.center).T).T
    return np.hstack([np.eye(3)[X[:, 0].astype(int)], np.eye(2)[X[:, 1].astype(int)], z])


def check_pass(work):
    """A pass is the sum of its rows exactly, wherever they stand, and crosses to a worker.

    So a row has the same part in it whatever rows stand beside it.
    """
    table = coded(*rows(np.random.default_rng(3), 8300, ENDS))
    whole, alone = work(table), sum(map(work, table.blocks(1)))
    other = replace(table[::-1], numbers=np.asfortranarray(table.numbers[::-1]))
    sent = pickle.loads(pickle.dumps(work))(other)
    assert whole.tolist() == alone.tolist() == sent.tolist()
    assert (work(table[:0]) == 0).all()
    assert all(isinstance(value, int) for value in whole.ravel().tolist())


def changed(neighbors: str, table, row, old=None):
    """Neighbours: the table with a row more, or with it in place of another."""
    with_new, with_old = (
        (np.vstack([table[0], r[0]]), np.append(table[1], r[1])) for r in (row, old or row)
    )
    return (table if neighbors == ADD_REMOVE else with_old), with_new


ENDS = (1e300, -1e300, np.inf, -np.inf, 0.0, 1.0, 5e-324)


def check_factors():
    """Random rows with factors, far out or not, and the ones that move each query most."""
    for neighbors in RELATIONS:
        case, generator = factor_case(neighbors), np.random.default_rng(5)
        for seed in range(12):
            table = rows(generator, int(generator.choice([0, 1, 3, 60])), ENDS)
            row, old = rows(generator, 1, ENDS), rows(generator, 1, ENDS)
            case.check(*changed(neighbors, table, row, old), seed)
        table, best = rows(generator, 400), {}
        one, other = np.array([[2.0, 1, 1e300, 1 + 2.0**20]]), np.array([[0.0, 0, 1, -1e300]])
        # the second number is standardised given the first, which counts as 2^20
        near = np.array([[2.0, 1, 1, 1]])
        pairs = [((one, 1e300), (other, 3.0)), ((near, 1e300), (near, -1e300))]
        pairs += [((one, 1e300), (near, 3.0))]
        for row, old in pairs:
            for step, ratio in case.check(*changed(neighbors, table, row, old)).items():
                best[step] = max(ratio, best.get(step, 0.0))
        assert len(best) == 7 + (neighbors == ADD_REMOVE)
        for step, ratio in best.items():
            check_reached(step, ratio, 0.95)
