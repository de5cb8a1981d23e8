"""Make cases of several outcomes on one design, and check their neighbours."""

from collections import defaultdict
from dataclasses import replace

import numpy as np

from dpstats.estimators import SEVERAL
from dpstats.estimators.contract import Reference
from dpstats.privacy import ADD_REMOVE, RELATIONS
from tests.checks import noisy_newton
from tests.checks.noisy_newton import ENDS, changed
from tests.checks.replay import Case, check_reached

OTHERS = 2


class OutcomesCase(Case):
    """A case whose tables have the other responses in their last columns."""

    def rows(self, X, y):
        return replace(super().rows(X[:, :-OTHERS], y), others=X[:, -OTHERS:])


def outcomes_case(
    neighbors: str, name: str = "noisy_newton", epsilon: float = 100.0, **options
) -> OutcomesCase:
    """Factors and numbers, and three responses, of units of their own."""
    method, problem = SEVERAL[name], noisy_newton.factor_case(neighbors).problem
    center, root, extremes = (getattr(problem.reference, n) for n in ("center", "root", "extremes"))
    others = tuple(Reference(center, root, c, scale, extremes) for c, scale in ((1, 2), (-7, 0.3)))
    problem = replace(problem, others=others)
    return OutcomesCase(method, problem, options, method.cost(epsilon, 1e-6))


def rows(generator, n: int, ends=()):
    """Rows as codes, numbers and the other responses, and the first ones."""
    X, y = noisy_newton.rows(generator, n, ends)
    others = np.column_stack([y + generator.normal(size=n), generator.normal(-7, 0.3, n)])
    if ends:
        far = generator.random(others.shape) < 0.3
        others[far] = generator.choice(ends, int(far.sum()))
    return np.hstack([X, others]), y


def check_random(pairs: int = 8):
    """Random rows, far out or not, under both relations, with and without products of scores."""
    for neighbors in RELATIONS:
        for name in SEVERAL:
            case, generator = outcomes_case(neighbors, name), np.random.default_rng(5)
            for seed in range(pairs):
                table = rows(generator, int(generator.choice([0, 1, 3, 60])), ENDS)
                row, old = rows(generator, 1, ENDS), rows(generator, 1, ENDS)
                case.check(*changed(neighbors, table, row, old), seed)


def row(x: float, z: float, *responses: float):
    """One row of the last levels, as a table."""
    y, *others = responses
    return np.array([[2.0, 1, x, z, *others]]), np.array([y])


def far_pairs():
    """Rows of which some move a query most, with what each replaces."""
    far, near = 1e300, (3.0, 1.0, -7.0)
    yield row(far, 1 + 2.0**20, far, far, far), row(1, -far, *near)
    yield row(1, 1, far, far, far), row(1, 1, -far, -far, -far)
    yield row(1, 1, far, far, far), row(far, 1 + 2.0**20, *near)
    yield row(5, 6, *near), row(1, 1, *near)  # whose products are about alike, for L1
    for place, one in enumerate(near):
        ends = ((*near[:place], y, *near[place + 1 :]) for y in (far, -far, one))
        high, low, usual = (row(1, 1, *responses) for responses in ends)
        yield high, low
        yield high, usual


# What is reached of each bound; others than these are in full.
REACHED = {"scores": 0.985, "scores at zero": 0.985, "whitened X'X": 0.9}
# In L1 the farthest pair of responses is halfway, where a response has no name for it.
REACHED_IN_L1 = {**REACHED, "X'X": 0.9, "mean and mean square of y": 0.88}
# Names of queries of plain fits; with robust errors there are products of scores too.
QUERIES = 8


def check_worst(neighbors: str, name: str = "noisy_newton", **options):
    """Every query has a worst case that comes close to its sensitivity."""
    case, best = outcomes_case(neighbors, name, **options), defaultdict(float)
    least = REACHED if name == "noisy_newton" else REACHED_IN_L1
    table = rows(np.random.default_rng(6), 400)
    for new, old in far_pairs():
        for step, ratio in case.check(*changed(neighbors, table, new, old)).items():
            best[step] = max(ratio, best[step])
    assert len(best) == QUERIES - (neighbors != ADD_REMOVE) + ("cov_type" in options)
    for step, ratio in best.items():
        check_reached(step, ratio, least.get(step, 0.99))
