"""Make cases of logistic regressions by Newton steps, and check their neighbours."""

from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.estimators import GENERALIZED
from dpstats.estimators.contract import Offsets
from dpstats.privacy import ADD_REMOVE, RELATIONS, REPLACE_ONE
from tests.checks import noisy_newton
from tests.checks.noisy_newton import ENDS, changed
from tests.checks.replay import Case, check_reached

METHOD = GENERALIZED["noisy_logit"]
STEPS = ("mean of y", "X'X", "leverages", "whitened X'X", "scores at zero", "scores", "Hessian")
STEPS += ("slopes and entropies",)


def logit_case(neighbors: str, epsilon: float = 100.0, offsets: bool = False, **options) -> Case:
    """A factor of three levels, one of two, and two correlated regressors."""
    problem = replace(noisy_newton.factor_case(neighbors).problem, y_low=0.0, y_high=1.0)
    problem = with_offsets(problem) if offsets else problem
    return Case(METHOD, problem, options, METHOD.cost(epsilon, 1e-6))


def with_offsets(problem):
    """The problem of rows with offsets, of which a distribution was released."""
    of_rows = Offsets(np.array([-1.0, 0.5]), np.array([0.4, 0.6]))
    return replace(problem, reference=replace(problem.reference, offsets=of_rows))


def offset(row, value):
    """Rows with an offset behind their columns."""
    return row and (np.hstack([row[0], np.full((len(row[0]), 1), value)]), row[1])


CASES = [
    logit_case(neighbors, **options)
    for neighbors in METHOD.neighbors
    for options in ({}, {"cov_type": "HC1"})
]


def rows(generator, n: int, ends=()):
    """Rows as codes and numbers, and responses of 0 and 1."""
    X, _ = noisy_newton.rows(generator, n, ends)
    with np.errstate(over="ignore", invalid="ignore"):
        chance = 1 / (1 + np.exp(-np.clip(np.nan_to_num(X[:, 2] - X[:, 0]), -9, 9)))
    return X, (generator.random(n) < chance).astype(float)


robust_case = partial(logit_case, cov_type="HC1")


def check_random(pairs: int = 12, case_of=robust_case, drawn=rows):
    """Random rows, far out or not, under both relations, with offsets and without."""
    for neighbors in RELATIONS:
        case, generator = case_of(neighbors), np.random.default_rng(5)
        with_offset = case_of(neighbors, offsets=True)
        for seed in range(pairs):
            table = drawn(generator, int(generator.choice([0, 1, 3, 60])), ENDS)
            row, old = drawn(generator, 1, ENDS), drawn(generator, 1, ENDS)
            case.check(*changed(neighbors, table, row, old), seed)
            far = generator.choice([*ENDS, np.nan], 3)
            given = (
                offset(part, value) for part, value in zip((table, row, old), far, strict=True)
            )
            with_offset.check(*changed(neighbors, *given), seed)


def pair(angle: float, length: float, y: float, mirrored: bool = True):
    """A row in a direction of the two numbers, and one across the middle or at right angles."""
    x, z = length * np.cos(angle), length * np.sin(angle)
    new = np.array([[2.0, 1, 1 + x, 1 + z]]), np.array([y])
    old = (1 - x, 1 - z) if mirrored else (1 - z, 1 + x)
    return new, (np.array([[0.0, 0, *old]]), np.array([y]))


def worst_pairs():
    """Rows of which some move a query of counts or products most, with what each replaces."""
    yield pair(0.3, 1.0, 1.0)[0], pair(0.3, 1.0, 0.0)[1]
    for length in (1e300, 2.0**20, 1e3, 30.0, 10.0, 5.0, 2.0):
        for angle in np.linspace(0, 2 * np.pi, 9)[:-1]:
            for mirrored in (True, False):
                yield pair(float(angle), length, 1.0, mirrored)
    far = pair(0.3, 1e300, 1.0)[0]
    yield far, (np.array([[0.0, 0, 1, 1]]), np.array([0.0]))


def best_on_rays(measured, step: str) -> float:
    """The largest ratio of a step over rows on rays, which rises to some length and then falls.

    The length of the row is found first, then that of the one it replaces.
    """

    def ratio(angle: float, new: float, old: float) -> float:
        mirrored = step != "score products"
        one, two = (pair(angle, float(np.exp(at)), 1.0, mirrored) for at in (new, old))
        return measured(one[0], two[1])[step]

    best = 0.0
    for angle in np.linspace(0, 2 * np.pi, 9)[:-1].tolist():
        new, found = _peak(lambda at, angle=angle: ratio(angle, at, at))
        _, both = _peak(lambda at, angle=angle, new=new: ratio(angle, new, at))
        best = max(best, found, both)
        if best > 0.985:
            break
    return best


def _peak(rising) -> tuple[float, float]:
    """Where a function of a logarithm of a length is largest, and how large.

    An interval is cut by numbers of Fibonacci, so that each step asks for one new value.
    """
    seen, width, low, high = {}, float(np.log(2.0**12)) / 987, 0, 987
    for step in (610, 377, 233, 144, 89, 55, 34, 21, 13, 8, 5, 3, 2):
        one, two = high - step, low + step
        seen |= {at: rising(at * width) for at in (one, two) if at not in seen}
        low, high = (one, high) if seen[one] < seen[two] else (low, two)
    best = max(seen, key=lambda at: seen[at])
    return best * width, seen[best]


# what is reached of each bound; some are not attained, as what is replaced is taken to be
# orthogonal, or to differ in a slope by its largest value while derivatives do too
ADDED = dict.fromkeys(["number of rows", *STEPS, "score products"], 0.985)
ADDED |= {"slopes and entropies": 0.8, "scores at zero": 0.3}
REPLACED = dict.fromkeys([*STEPS, "score products"], 0.95) | {
    "scores at zero": 0.88, "scores": 0.85, "slopes and entropies": 0.5,
}  # fmt: skip
LEAST_WITH_OFFSETS = {ADD_REMOVE: 0.985, REPLACE_ONE: 0.95}
ON_RAYS = {ADD_REMOVE: ("scores", "slopes and entropies", "score products")}
ON_RAYS[REPLACE_ONE] = "scores at zero", "score products"


def check_offsets(neighbors: str):
    """Rows with offsets far out move each query of scores as far as is stated, and none farther."""
    case = logit_case(neighbors, offsets=True, cov_type="HC1")
    table = offset(rows(np.random.default_rng(6), 150), 0.3)

    def measured(row, old, far=1e300):
        given = (offset(part, far * (1 - 2 * part[1][0])) for part in (row, old))
        return case.check(*changed(neighbors, table, *given))

    for row, old in worst_pairs():
        for far in (1e300, 3.0):
            measured(row, old, far)
    for step in ("scores at zero", "scores", "score products"):
        check_reached(step, best_on_rays(measured, step), LEAST_WITH_OFFSETS[neighbors])


def check_worst(neighbors: str, only: str = "", **options):
    """Every query, or ``only`` one, has a worst case that comes close to its sensitivity.

    Replaced rows stand among zeros alone, so that two that point against each other may both be
    ones against the odds.
    """
    case, best = logit_case(neighbors, **options), {}
    X, y = rows(np.random.default_rng(6), 150)
    table = X, y * (neighbors == ADD_REMOVE)

    def measured(row, old):
        return case.check(*changed(neighbors, table, row, old))

    for row, old in worst_pairs():
        for step, ratio in measured(row, old).items():
            best[step] = max(ratio, best.get(step, 0.0))
    wanted = {**(ADDED if neighbors == ADD_REMOVE else REPLACED)}
    if not options:
        del wanted["score products"]
    assert set(best) == set(wanted)
    for step in ON_RAYS[neighbors]:
        if step in wanted and only in ("", step):
            best[step] = max(best[step], best_on_rays(measured, step))
    for step, least in wanted.items():
        if only in ("", step):
            check_reached(step, best[step], least)
