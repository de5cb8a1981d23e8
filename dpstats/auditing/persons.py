"""Prepare an audit of a method that protects all rows of a person together."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpstats.auditing.inputs import Pair, Rows, corner_pairs
from dpstats.auditing.subjects import Output, Subject, output_of, regressors, table_pairs
from dpstats.call import Request
from dpstats.call.arguments import make_request
from dpstats.errors import ArgumentError, shown
from dpstats.estimators import GENERALIZED, METHODS
from dpstats.estimators.contract import Method, Repeated
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, GDP
from dpstats.privacy.report import relation_name
from dpstats.run.prepare import prepare


def unit_subject(
    method: Method, epsilon, delta, neighbors, pairs, d, unit, max_rows, options
) -> Subject:
    """Audit a method on tables (X, y, persons), read and weighted as a call of dp_ols does.

    What a person's rows count for is part of what is audited, and so is each second pass over them.
    """
    names = [f"x{j}" for j in range(1, regressors(method, d) + 1)]
    if not isinstance(unit, str):
        raise ArgumentError(f'expected unit to name a column, as in unit="id", got {shown(unit)}')
    if unit in (*names, "y"):
        raise ArgumentError(
            f"unit={unit!r} is a variable of the synthetic tables; name the persons otherwise"
        )
    others = {name: value for name, value in options.items() if name != "k"}
    methods = {**METHODS, **GENERALIZED}
    bounds = {name: (-1, 1) for name in names} | {"y": (0 if method.binary else -1, 1)}

    def request_of(rows) -> Request:
        X, y, persons = rows
        y = (y > 0) * 1.0 if method.binary else y
        table = {**dict(zip(names, X.T[1:], strict=True)), "y": y, unit: persons}
        request = make_request(
            f"y ~ {' + '.join(names)}", table, method=method.name, methods=methods, epsilon=epsilon,
            delta=delta, neighbors=neighbors, bounds=bounds, levels=None,
            x_new={name: [-0.5, 0.5] for name in names}, k=options.get("k"), options=others,
            unit=unit, max_rows=max_rows,
        )  # fmt: skip
        return replace(request, method=method)

    none = np.empty((0, len(names) + 1)), np.empty(0), np.empty(0)
    request = request_of(none)
    rows = 1 if max_rows is None else max_rows
    return Subject(
        name=method.name,
        neighbors=relation_name(request.neighbors, unit),
        epsilon=request.epsilon,
        delta=request.delta,
        gaussian=isinstance(request.cost, GDP),
        pairs=person_pairs(len(names), request.neighbors, rows)
        if pairs is None
        else table_pairs(pairs, len(names), persons=True),
        start=lambda rows: _start(request_of(rows)),
    )


def _start(request: Request) -> Callable[[], Output]:
    """Return a function that makes one release from the table of a request.

    The first pass over the table is made once where nothing is released before it.
    """
    known = None if request.method.ranges.marginals else prepare(request, Noise(request.cost))
    repeated = known and Repeated(known)

    def release():
        noise = Noise(request.cost)
        prepared = known or prepare(request, noise)
        passes = repeated.under(noise) if repeated else prepared
        facts = prepared.problem, prepared.cost, noise
        return output_of(request.method.release(passes, *facts, **prepared.request.options))

    return release


def person_pairs(d: int, neighbors: str, max_rows: int) -> list[Pair]:
    """Build tables that differ in all rows of one person, where those of rows differ in one row.

    These rows are all alike, more than ``max_rows``, and not as many in the other table. Each other
    person has one row.
    """
    alike, many = 1 if neighbors == ADD_REMOVE else 4 * max_rows, 8 * max_rows
    rows = f"{many} rows" if alike == 1 else f"{alike} rows that become {many}"
    return [
        Pair(
            f"{pair.name}, for {rows} of a person",
            _repeated(pair.first, alike),
            _repeated(pair.second, many),
        )
        for pair in corner_pairs(d, neighbors)
    ]


def _repeated(rows: Rows, times: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make each row a person's, and the last one that of a person with so many."""
    X, y = rows
    persons = np.minimum(np.arange(len(y) + times - 1), len(y) - 1)
    return X[persons], y[persons], persons
