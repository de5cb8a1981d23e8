"""Make cases of regressions with instruments, and check their neighbours."""

from dataclasses import replace
from itertools import product

import numpy as np

from dpstats.estimators import INSTRUMENTAL
from dpstats.estimators.contract import Instruments, Reference
from dpstats.privacy import ADD_REMOVE, RELATIONS
from tests.checks import noisy_newton
from tests.checks.noisy_newton import ENDS, changed
from tests.checks.replay import Case, check_reached

METHOD = INSTRUMENTAL["noisy_instruments"]


class InstrumentCase(Case):
    """A case whose tables have the endogenous regressor in their last column."""

    def rows(self, X, y):
        return replace(super().rows(X[:, :-1], y), others=X[:, -1:])


def instrument_case(
    neighbors: str, epsilon: float = 100.0, grouped: bool = False
) -> InstrumentCase:
    """Factors and a number beside one instrument, the last column; of a group, or of all rows."""
    problem = noisy_newton.factor_case(neighbors).problem
    reference = problem.reference
    of_d = Reference(reference.center, reference.root, 1.0, 2.0, reference.extremes)
    given = Instruments((5,), (0, 1, 2, 3, 4, -1), of_d)
    problem = replace(problem, x_new=np.empty((0, 6)), instruments=given, grouped=grouped)
    return InstrumentCase(METHOD, problem, {}, METHOD.cost(epsilon, 1e-6))


def rows(generator, n: int, ends=()):
    """Rows as codes, numbers and the endogenous regressor, and responses."""
    X, y = noisy_newton.rows(generator, n, ends)
    with np.errstate(invalid="ignore"):
        d = np.clip(np.nan_to_num(X[:, 3]), -9, 9) + generator.normal(size=n)
    if ends:
        far = generator.random(n) < 0.3
        d[far] = generator.choice(ends, int(far.sum()))
    return np.column_stack([X, d]), y


def check_random(pairs: int = 12):
    """Random rows, far out or not, under both relations, of a group or of all."""
    for neighbors, grouped in product(RELATIONS, (False, True)):
        case = instrument_case(neighbors, grouped=grouped)
        generator = np.random.default_rng(5)
        for seed in range(pairs):
            table = rows(generator, int(generator.choice([0, 1, 3, 60])), ENDS)
            row, old = rows(generator, 1, ENDS), rows(generator, 1, ENDS)
            case.check(*changed(neighbors, table, row, old), seed)


def row(x: float, z: float, d: float, y: float):
    """One row of the last levels, as a table."""
    return np.array([[2.0, 1, x, z, d]]), np.array([y])


def far_pairs():
    """Rows of which some move a query most, with what each replaces."""
    far = 1e300
    yield row(far, 1 + 2.0**20, 1, far), row(1, -far, 1, 3)
    yield row(1, 1, 1, far), row(1, 1, 1, -far)
    yield row(1, 1, far, 3), row(1, 1, -far, 3)
    yield row(1, 1, 1, far), row(1, 1, far, 3)
    yield row(1, 1, far, far), row(far, 1 + 2.0**20, 1, far)
    yield row(1, 1, far, far), row(1, 1, far, -far)


# what is reached of each bound; others than these are in full
REACHED = {"scores": 0.985, "scores at zero": 0.985, "whitened X'X": 0.9}


# queries of different names, whose worst rows are among these, and those of a group besides
QUERIES, OF_GROUPS = 9, 2


def check_worst(neighbors: str, grouped: bool = False):
    """Every query has a worst case that comes close to its sensitivity."""
    case, best = instrument_case(neighbors, grouped=grouped), {}
    table = rows(np.random.default_rng(6), 400)
    for new, old in far_pairs():
        for step, ratio in case.check(*changed(neighbors, table, new, old)).items():
            best[step] = max(ratio, best.get(step, 0.0))
    assert len(best) == QUERIES + grouped * OF_GROUPS - (neighbors != ADD_REMOVE)
    for step, ratio in best.items():
        check_reached(step, ratio, REACHED.get(step, 0.99))
