"""Prepare an audit: a claim, neighbouring inputs, and releases as plain numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpstats.auditing.inputs import Pair, corner_pairs, corner_problem
from dpstats.call import method_choice
from dpstats.errors import ArgumentError, shown
from dpstats.estimators import GENERALIZED, INSTRUMENTAL, METHODS, SEVERAL
from dpstats.estimators.contract import InMemory, Instruments, Method, Release, Repeated
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.option_checks import whole
from dpstats.privacy import GDP, validate_guarantee

# Synthetic tables of more regressors, whose products are audited, would not fit in memory.
_MOST_REGRESSORS = 1000
# One release as numbers by name, without the numbers that were not released.
Output = Mapping[str, float]


@dataclass(frozen=True)
class Subject:
    """Hold a mechanism, its claim and its candidate inputs.

    Parameters
    ----------
    name, neighbors : str
    epsilon, delta : float
        The claim.
    gaussian : bool
        True if it claims the mu-GDP equivalent of (epsilon, delta).
    pairs : sequence of Pair
    start : callable
        ``start(input)`` returns a function that makes one release.
    """

    name: str
    neighbors: str
    epsilon: float
    delta: float
    gaussian: bool
    pairs: Sequence[Pair]
    start: Callable[[Any], Callable[[], Output]]

    def releases(self, rows, count: int) -> list[Output]:
        """Draw independent releases from one input."""
        release = self.start(rows)
        return [release() for _ in range(count)]

    def counted(self, count: Callable[[], object]) -> "Subject":
        """Return the subject whose releases are counted as they are made."""

        def start(rows):
            release = self.start(rows)
            return lambda: (release(), count())[0]

        return replace(self, start=start)


def matrix(outputs: Sequence[Output], names: Sequence[str]) -> np.ndarray:
    """Arrange outputs as (m, F), NaN for numbers that were not released."""
    return np.array([[output.get(name, np.nan) for name in names] for output in outputs])


def function_subject(function, epsilon, delta, neighbors, pairs) -> Subject:
    """Audit any function of one input, which is called for each release."""
    if pairs is None:
        raise ArgumentError("a function needs pairs= of neighbouring inputs, [(first, second)]")
    epsilon, delta = validate_guarantee(epsilon, 0.0 if delta is None else delta)

    def start(rows):
        return lambda: _numbers("output", _number_or_array(function(rows)))

    name = getattr(function, "__name__", type(function).__name__)
    relation = neighbors or "neighbours as given"
    return Subject(name, relation, epsilon, delta, False, named_pairs(pairs), start)


def method_subject(
    method: Method, epsilon, delta, neighbors, pairs, d, options, outcomes: int = 1
) -> Subject:
    """Audit a method on rows (X, y); a pass before noise is made once for all releases.

    Other responses, and an endogenous regressor, move with the first, which is as much as they may.
    """
    neighbors = method_choice.checked_relation(method, neighbors)
    d = regressors(method, d)
    problem = corner_problem(d, neighbors)
    layout = problem.layout
    assert layout is not None, "that of an intercept and numbers"
    problem = replace(problem, coded=method.takes_codes(layout))
    if method.binary:  # which cuts responses
        problem = replace(problem, y_low=0.0, y_high=1.0)
    if method.instrumental:  # the last regressor is the instrument
        places, none = (*range(len(problem.low) - 1), -1), problem.x_new[:0]
        given = Instruments((len(problem.low) - 1,), places, problem.reference)
        problem = replace(problem, instruments=given, x_new=none)
    problem = replace(problem, others=(problem.reference,) * (outcomes - 1))
    copies = 1 if method.instrumental else outcomes - 1
    options = method_choice.checked_options(method, options)
    method.check(problem, options)
    epsilon, delta = method_choice.checked_guarantee(method, epsilon, delta)
    cost = method.cost(epsilon, delta)

    def start(rows):
        table = Rows(*rows)
        if problem.coded:
            table = layout.compact(table)
        if copies:
            table = replace(table, others=np.tile(table.response[:, None], copies))
        repeated = Repeated(InMemory(table))

        def release():
            noise = Noise(cost)
            passes = repeated.under(noise)
            found = method.release(passes, problem, cost, noise, **options)
            return output_of(found) if outcomes == 1 else _of_several(found)

        return release

    pairs = corner_pairs(d, neighbors) if pairs is None else table_pairs(pairs, d)
    claim = method.promise(epsilon, delta)
    name = method.name if outcomes == 1 else f"{method.name}, {outcomes} outcomes"
    return Subject(name, neighbors, *claim, isinstance(cost, GDP), pairs, start)


def find_method(name, outcomes: int = 1) -> Method:
    """Return the method of this name, of any model; a method is returned itself."""
    if isinstance(name, Method):
        return name
    method = method_choice.find_method(name, known={**METHODS, **GENERALIZED, **INSTRUMENTAL})
    if outcomes > 1 and method.name not in SEVERAL:
        raise ArgumentError(
            f"{method.name} fits one response at a time, got outcomes={outcomes}; with several "
            f"audit {' or '.join(SEVERAL)}"
        )
    return method if outcomes == 1 else SEVERAL[method.name]


def regressors(method: Method, d) -> int:
    """Check the number of regressors of the synthetic tables."""
    d = whole("d", 1, _MOST_REGRESSORS)(d)
    if method.single_regressor and d > 1:
        raise ArgumentError(f"{method.name} fits one regressor, got d={d}")
    return d


def named_pairs(pairs) -> list[Pair]:
    """Number the pairs of inputs that the caller passed."""
    try:
        named = [Pair(f"pair {i}", *pair) for i, pair in enumerate(pairs)]
    except TypeError:
        named = []
    if not named:
        raise ArgumentError("expected pairs to be a list of (first, second)")
    return named


def table_pairs(pairs, d: int, persons: bool = False) -> list[Pair]:
    """Check the pairs of tables that the caller passed for a method, as arrays."""

    def table(given) -> tuple[np.ndarray, ...]:
        try:
            X, y, *others = map(np.asarray, given)
            X, y = X.astype(float), y.astype(float)
            fits = X.shape == (len(y), d + 1) and len(others) == persons
            fits = fits and all(column.shape == (len(y),) for column in (y, *others))
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise ArgumentError(
                f"expected pairs of tables (X, y{', persons' * persons}) with rows of an intercept "
                f"and d={d} numbers in X, got {shown(given)}"
            )
        return X, y, *others

    return [replace(pair, first=table(pair.first), second=table(pair.second))
            for pair in named_pairs(pairs)]  # fmt: skip


def output_of(release: Release) -> Output:
    """Collect the numbers of a release and of its auxiliary fit, and an indicator of its status."""
    corner = np.triu_indices(len(release.params))
    cov = [] if release.cov is None else release.cov[corner]
    parts = {"params": release.params, "predictions": release.predictions, "cov": cov}
    output = {f"status {release.status}": 1.0}
    for name, values in {**parts, **release.evidence.values()}.items():
        output |= _numbers(name, values)
    if release.companion is None:
        return output
    of_companion = output_of(release.companion).items()
    return output | {f"companion {name}": value for name, value in of_companion}


def _of_several(releases: Sequence[Release]) -> Output:
    """Collect the numbers of the releases of several outcomes."""
    found = enumerate(map(output_of, releases))
    return {f"outcome {i} {name}": value for i, of_one in found for name, value in of_one.items()}


def _number_or_array(value) -> np.ndarray:
    """Check what an audited function returned."""
    try:
        if value is None:
            raise TypeError
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"expected the function to return a number or an array of numbers, got {shown(value)}"
        ) from None


def _numbers(name: str, values) -> Output:
    """Name the entries of a number or an array."""
    flat = np.ravel(np.asarray(values, dtype=float))
    return {f"{name}[{i}]": float(value) for i, value in enumerate(flat)}
