"""Refuse terms that are collinear by arithmetic, as x and I(2 * x), whatever the rows are."""

from collections.abc import Collection

import numpy as np
from patsy.design_info import DesignInfo

from dpstats.errors import FormulaError
from dpstats.formula.columns import Part, products, squeezed
from dpstats.formula.expressions import read
from dpstats.formula.expressions.analytic import analytic
from dpstats.formula.redundancy import collinear, terms_of
from dpstats.schema import ModelSchema, Numeric

Columns = tuple[tuple[Part, ...], ...]
# Points are in these numbers times [0.3, 5]: what is a sum of others at one scale alone, within
# rounding, is none, as a number and the logarithm of it plus a million are.
_SCALES = (1.0, 1e4)
# A column of which those before it leave this part, or less, is a sum of multiples of them.
# Rounding leaves less; twelve powers, the logarithm and the inverse of one number leave 1e-6.
_NOTHING = 1e-10
# A smaller multiple is due to rounding.
_ROUNDING = 1e-6


def check_identities(
    info: DesignInfo, schema: ModelSchema, constant: str, term_bounds: Collection[str]
) -> None:
    """Refuse a design in which arithmetic makes a column a sum of multiples of others.

    ``constant`` is what the message calls the intercept. Columns that multiply the same functions
    of levels are compared at public points, if their numbers are analytic. So what is refused
    follows from the formula and the kinds of its variables, and not from their ranges, which may
    be estimated. A term with bounds of its own, which clip it, is like no other.
    """
    clipped = set(map(squeezed, term_bounds))
    for columns, places in _compared(info).items():
        if found := [places[k] for k in _dependent(columns, schema, clipped)]:
            raise FormulaError(_refusal(info, found, constant))


def _compared(info: DesignInfo) -> dict[Columns, list[int]]:
    """List columns that are multiples of the same function of levels: their numbers, and places.

    None where all numbers are plain variables. Functions that multiply the same numbers are one.
    """
    numbers = [factor for factor, known in info.factor_infos.items() if known.type == "numerical"]
    names = [read(factor.code).bare for factor in numbers]
    if None not in names and len(names) == len({*names}):
        return {}
    alike: dict[tuple, dict[int, tuple[Part, ...]]] = {}
    for j, parts in enumerate(products(info)):
        levels = ((part.factor, part.levels.tobytes()) for part in parts if part.levels is not None)
        multiplied = (part for part in parts if part.levels is None)
        alike.setdefault((*levels,), {})[j] = (*multiplied,)
    return {(*columns.values(),): [*columns] for columns in alike.values()}


def _refusal(info: DesignInfo, found: list[int], constant: str) -> str:
    """Name the terms of columns, and what to write instead."""
    terms = terms_of(info, found)
    if len(found) == 1:
        return f"{terms[0].name()} is 0 whatever the rows are; leave it out"
    return collinear(terms, constant, "leave one of them out")


def _dependent(columns: Columns, schema: ModelSchema, clipped: Collection[str]) -> list[int]:
    """Return the first column that is a sum of multiples of others at all scales, after these."""
    found, *others = (_first_sum(_values(columns, schema, clipped, scale)) for scale in _SCALES)
    return found if all(other[-1:] == found[-1:] for other in others) else []


def _values(columns: Columns, schema: ModelSchema, clipped, scale: float) -> np.ndarray:
    """Evaluate columns at public points, (m, k); NaN for one that is not analytic."""
    count = np.arange(64 + 8 * len(columns))
    numbers = {
        # digits of a sine that its argument does not show
        name: scale * (0.3 + 4.7 * (np.sin(12.9898 * count + 78.233 * i) * 43758.5453 % 1))
        for i, (name, kind) in enumerate(schema.items())
        if isinstance(kind, Numeric)
    }
    found = np.ones((len(count), len(columns)))
    with np.errstate(all="ignore"):
        for column, parts in zip(found.T, columns, strict=True):
            for part in parts:
                free = squeezed(part.factor.name()) not in clipped
                values = analytic(part.factor.code, numbers) if free else None
                column *= np.nan if values is None else part.of(values)
    return found


def _first_sum(X: np.ndarray) -> list[int]:
    """Return the first column that is a sum of multiples of those before it, after these.

    >>> x, unknown = np.array([1.0, 2.0, 4.0, 7.0]), np.full(4, np.nan)
    >>> _first_sum(np.column_stack([np.ones(4), unknown, x, 2 * x + 1, x**2]))
    [0, 2, 3]
    """
    known = np.flatnonzero(np.isfinite(X).any(axis=0))
    rows = np.isfinite(X[:, known]).all(axis=1)
    if rows.sum() < len(known):
        return []
    U = X[np.ix_(rows, known)]
    _, R = np.linalg.qr(U / np.maximum(np.linalg.norm(U, axis=0), 1e-200))
    small = np.flatnonzero(np.abs(np.diag(R)) < _NOTHING)
    if not small.size:
        return []
    last = small[0]
    weights = np.abs(np.linalg.solve(R[:last, :last], R[:last, last]))
    used = np.flatnonzero(weights > _ROUNDING * weights.max(initial=0.0))
    return [*known[used].tolist(), int(known[last])]
