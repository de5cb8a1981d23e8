"""Bound the columns of a design in public, by the ranges of the variables or as declared.

``info`` is patsy's description of a design matrix, with the constants that it learned.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from typing import NamedTuple

import numpy as np
import patsy

from dpstats.errors import ArgumentError, FormulaError, shown
from dpstats.formula.expressions import read
from dpstats.formula.expressions.intervals import Interval, interval, multiply
from dpstats.schema import Numeric, Schema

# Beyond every value of use, and products of nine such are finite.
_LARGE = 2.0**100


def factor_bounds(
    infos, schema: Schema, term_bounds: Mapping, wide: Collection[str] = ()
) -> dict[object, list[Interval]]:
    """Bound each column of each numeric factor as declared, or by interval arithmetic.

    What reads a variable in ``wide`` has bounds where they hold for every number, as those of
    ``(x > 3) * 1`` do, and else those of large numbers.
    """
    declared = {squeezed(term): bounds for term, bounds in term_bounds.items()}
    ranges = {n: (kind.low, kind.high) for n, kind in schema.items() if isinstance(kind, Numeric)}
    anywhere = {**ranges, **dict.fromkeys(wide, (-np.inf, np.inf))}
    bounds = {}
    for factor, info in [pair for side in infos for pair in side.factor_infos.items()]:
        declared_bounds = declared.get(squeezed(factor.name()))
        if info.type == "categorical":
            if declared_bounds is not None:
                raise FormulaError(f"{factor.name()} is categorical, so it takes no bounds")
            continue
        checked = _checked_bounds(factor.name(), declared_bounds)
        if checked is None and not set(wide).isdisjoint(read(factor.code).variables):
            checked = _everywhere(info, anywhere) or (-_LARGE, _LARGE)
        low, high = checked or _derived_bounds(info, ranges)
        columns = [np.broadcast_to(end, info.num_columns) for end in (low, high)]
        bounds[factor] = list(zip(*columns, strict=True))
    return bounds


def squeezed(term: str) -> str:
    """Remove blanks from a term, so that its spelling does not matter."""
    return "".join(str(term).split())


def _checked_bounds(name: str, bounds) -> Interval | None:
    """Check the bounds declared for a term."""
    if bounds is None:
        return None
    try:
        kind = Numeric(*map(float, bounds))
    except (TypeError, ValueError):
        raise ArgumentError(
            f"expected bounds (low, high) with finite low < high for {name}, got {shown(bounds)}"
        ) from None
    return kind.low, kind.high


def _derived_bounds(info, ranges: Mapping) -> Interval:
    """Bound a factor by interval arithmetic over the ranges of its variables."""
    name = info.factor.name()
    low, high = _interval(info, ranges)
    if np.isfinite(low).all() and np.isfinite(high).all():
        return low, high
    variables = read(info.factor.code).variables
    box = ", ".join(
        f"{v} in {list(ranges[v])}" if v in ranges else f"level of {v}" for v in variables
    )
    raise FormulaError(
        f"{name} is unbounded or undefined for some {box}; tighten those bounds, or give the "
        f"term its own: bounds={{{name!r}: (low, high)}}"
    )


def _everywhere(info, ranges: Mapping) -> Interval | None:
    """Return the range of a factor without learned constants, which are for a range; else None."""
    found = None if info.state["transforms"] else _interval(info, ranges)
    return found if found is not None and np.isfinite(found).all() else None


def _interval(info, ranges: Mapping) -> Interval:
    """Compute the range of a factor over those of its variables."""
    try:
        return interval(info.state["eval_code"], ranges, info.state["transforms"])
    except OverflowError:
        name = info.factor.name()
        raise FormulaError(f"{name} holds a number too large for a float") from None


class Part(NamedTuple):
    """Hold one factor of a column: its values at ``column``, or one of ``levels`` for each code."""

    factor: patsy.EvalFactor
    column: int
    levels: np.ndarray | None

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return the part at values of the factor: numbers (m,) or (m, k), or codes (m,)."""
        if self.levels is not None:
            return self.levels[values]
        return values if values.ndim == 1 else values[:, self.column]


def products(info) -> list[tuple[Part, ...]]:
    """List the factors that each column multiplies, in patsy's order; none for the intercept."""
    codings = [subterm for subterms in info.term_codings.values() for subterm in subterms]
    return [parts for subterm in codings for parts in _products(subterm, info.factor_infos)]


def _products(subterm, infos: Mapping) -> Iterator[tuple[Part, ...]]:
    """List the columns of one coded term."""
    sides = []
    for factor in subterm.factors:
        contrast = subterm.contrast_matrices.get(factor)
        count = infos[factor].num_columns
        columns = [None] * count if contrast is None else contrast.matrix.T
        sides.append([Part(factor, j, levels) for j, levels in enumerate(columns)])
    for parts in product(*reversed(sides)):  # the leftmost factor varies fastest
        yield parts[::-1]


def column_bounds(
    columns: Sequence[tuple[Part, ...]], bounds: Mapping
) -> tuple[np.ndarray, np.ndarray]:
    """Bound the columns, (S,) and (S,), by products of their factors' bounds."""

    def ends(part: Part) -> Interval:
        """Bound one factor of a column."""
        if part.levels is None:
            return bounds[part.factor][part.column]
        return part.levels.min(), part.levels.max()

    with np.errstate(all="ignore"):
        found = [reduce(multiply, map(ends, parts), (1.0, 1.0)) for parts in columns]
    low, high = np.array(found, dtype=np.float64).reshape(-1, 2).T
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise FormulaError("the product of two terms overflows; tighten their bounds")
    return low, high
