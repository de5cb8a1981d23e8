"""Refuse terms that are collinear by arithmetic, as x and I(2 * x), whatever the rows are."""

from collections.abc import Collection
from itertools import product

import numpy as np
from patsy import Term
from patsy.design_info import DesignInfo

from dpstats.errors import FormulaError
from dpstats.formula.columns import Part, squeezed
from dpstats.formula.expressions import read
from dpstats.formula.expressions.analytic import analytic
from dpstats.formula.redundancy import collinear
from dpstats.schema import ModelSchema, Numeric

Columns = tuple[tuple[Part, ...], ...]
# Points are in these numbers times [0.3, 5]: what is a sum of others at one scale alone, within
# rounding, is none, as a number and the logarithm of it plus a million are.
_SCALES = (1.0, 1e4)
# A column of which those before it leave this part, or less, is a sum of multiples of them.
# Rounding leaves less; twelve powers, the logarithm and the inverse of one number leave 1e-7.
_NOTHING = 1e-10
# A smaller multiple is due to rounding.
_ROUNDING = 1e-6


def check_identities(
    info: DesignInfo, schema: ModelSchema, constant: str, term_bounds: Collection[str]
) -> None:
    """Refuse a design in which arithmetic makes a term a sum of multiples of others.

    ``constant`` is what the message calls the intercept. Terms with the same factors are compared
    by their numbers, at public points and where these are analytic. What is refused follows from
    the terms and the kinds of variables: not from ranges, which may be estimated, and not from how
    factors are coded, so that of the terms that a selection keeps none are refused which all
    together were not. A term with bounds of its own, which clip it, is like no other.
    """
    clipped = set(map(squeezed, term_bounds))
    for columns, terms in _compared(info).items():
        if found := _dependent(columns, schema, clipped):
            raise FormulaError(_refusal([*dict.fromkeys(terms[k] for k in found)], constant))


def _compared(info: DesignInfo) -> dict[Columns, list[Term]]:
    """List the numbers that terms with the same factors multiply, and their terms.

    None where all numbers are plain variables.
    """
    numeric = {factor: known for factor, known in info.factor_infos.items() if known.num_columns}
    names = [read(factor.code).bare for factor in numeric]
    if None not in names and len(names) == len({*names}):
        return {}
    alike: dict[frozenset, list[tuple[tuple[Part, ...], Term]]] = {}
    for term in info.term_codings:
        numbers = [factor for factor in term.factors if factor in numeric]
        parts = [[Part(f, j, None) for j in range(numeric[f].num_columns)] for f in numbers]
        levels = frozenset(term.factors) - {*numbers}
        alike.setdefault(levels, []).extend((multiplied, term) for multiplied in product(*parts))
    unzipped = (zip(*columns, strict=True) for columns in alike.values())
    return {columns: [*terms] for columns, terms in unzipped}


def _refusal(terms: list[Term], constant: str) -> str:
    """Name collinear terms, and what to write instead."""
    if len(terms) == 1:
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
    U /= np.maximum(np.abs(U).max(axis=0), np.finfo(float).tiny)  # squares stay within the doubles
    _, R = np.linalg.qr(U / np.maximum(np.linalg.norm(U, axis=0), 1.0))
    small = np.flatnonzero(np.abs(np.diag(R)) < _NOTHING)
    if not small.size:
        return []
    last = small[0]
    weights = np.abs(np.linalg.solve(R[:last, :last], R[:last, last]))
    used = np.flatnonzero(weights > _ROUNDING * weights.max(initial=0.0))
    return [*known[used].tolist(), int(known[last])]
