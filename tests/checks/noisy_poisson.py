"""Make cases of Poisson regressions by Newton steps, and check their neighbours."""

from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.estimators import GENERALIZED
from dpstats.privacy import ADD_REMOVE
from tests.checks import noisy_logit, noisy_newton
from tests.checks.noisy_logit import offset, pair, with_offsets
from tests.checks.noisy_newton import changed
from tests.checks.replay import Case, check_reached

METHOD = GENERALIZED["noisy_poisson"]
STEPS = ("number of rows", "mean of y", "X'X", "leverages", "whitened X'X", "scores at zero")
STEPS += ("score norms", "scores", "Hessian", "score products")


def poisson_case(neighbors: str, epsilon: float = 100.0, offsets: bool = False) -> Case:
    """A factor of three levels, one of two, and two correlated regressors."""
    problem = replace(noisy_newton.factor_case(neighbors).problem, y_low=0.0, y_high=2.0**60)
    problem = with_offsets(problem) if offsets else problem
    return Case(METHOD, problem, {"cov_type": "HC1"}, METHOD.cost(epsilon, 1e-6))


CASES = [poisson_case(neighbors) for neighbors in METHOD.neighbors]


def rows(generator, n: int, ends=()):
    """Rows as codes and numbers, and counts, of which some lie anywhere."""
    X, y = noisy_newton.rows(generator, n, ends)
    index = np.clip(np.nan_to_num(0.2 * (X[:, 2] - 1) - 0.1 * X[:, 0]), -3, 3)
    counts = generator.poisson(3 * np.exp(index)).astype(float)
    return X, np.where(np.isin(y, ends), y, counts) if ends else counts


check_random = partial(noisy_logit.check_random, case_of=poisson_case, drawn=rows)


def worst_pairs():
    """Rows of which some move a query most, with what each replaces.

    Long rows with any response; for Hessians rows whose responses are near their means, and two
    of them that are about orthogonal in whitened directions.
    """
    for length in (1e300, 30.0, 10.0):
        for angle in np.linspace(0, 2 * np.pi, 5)[:-1].tolist():
            for y in (0.0, 3.0, 1e300):
                new, old = pair(angle, length, y)
                yield new, (old[0], np.array([y]))
    for angle in np.linspace(0, 2 * np.pi, 9)[:-1].tolist():
        new, old = pair(angle, 300.0, 1e300, mirrored=False)
        yield new, (old[0], np.array([1e300]))
    one, other = pair(0.3, 0.1, 1e300)
    yield one, (one[0], np.array([0.0]))
    yield one, (other[0], np.array([0.0]))
    yield pair(0.3, 1e300, 1.0)[0], (np.array([[0.0, 0, 1, 1]]), np.array([0.0]))
    for length, y in ((7.0, 3.0), (10.0, 10.0), (10.0, 1e300)):
        yield pair(np.pi / 4, length, y)[0], pair(13 * np.pi / 8, length, y)[0]


# what is reached of each bound
LEAST = 0.99


def check_offsets(neighbors: str):
    """Rows far out with offsets far out move each query as far as is stated, and none farther."""
    case, best = poisson_case(neighbors, offsets=True), {}
    table = offset(rows(np.random.default_rng(6), 150), 0.3)
    for row, old in worst_pairs():
        for at in ((1e300, -1e300), (-1e300, 1e300), (3.0, 0.0), (0.3, 0.3)):
            given = (offset(part, value) for part, value in zip((row, old), at, strict=True))
            for step, ratio in case.check(*changed(neighbors, table, *given)).items():
                best[step] = max(ratio, best.get(step, 0.0))
    assert set(best) == set(STEPS[neighbors != ADD_REMOVE :])
    for step, ratio in best.items():
        check_reached(step, ratio, LEAST)


def check_worst(neighbors: str, only: str = ""):
    """Every query, or ``only`` one, has a worst case that comes close to its sensitivity."""
    case, best = poisson_case(neighbors), {}
    table = rows(np.random.default_rng(6), 150)
    for row, old in worst_pairs():
        for step, ratio in case.check(*changed(neighbors, table, row, old)).items():
            best[step] = max(ratio, best.get(step, 0.0))
    assert set(best) == set(STEPS[neighbors != ADD_REMOVE :])
    for step, ratio in best.items():
        if only in ("", step):
            check_reached(step, ratio, LEAST)
