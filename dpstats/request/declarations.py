"""Read what a caller declares of columns: types, bounds, levels and prediction points."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpstats.engines import AnyTable
from dpstats.engines.columns import NUMERIC, UNTYPED
from dpstats.errors import ArgumentError
from dpstats.formula import Formula
from dpstats.mechanisms.shared import Method
from dpstats.schema import (
    BOOLEAN,
    FARTHEST,
    INSIDE_FUNCTIONS,
    UNLIMITED,
    Categorical,
    Kind,
    Labels,
    Numeric,
    check_labels,
    plain_labels,
)

# Stands for a range not known yet while the structure of the design is checked.
_PLACEHOLDER = Numeric(-1.0, 1.0)


def declared_bounds(bounds, formula: Formula):
    """Return declared bounds as ranges of variables and of terms."""
    if bounds is not None and not isinstance(bounds, Mapping):
        raise ArgumentError(
            f"expected bounds to be a mapping {{column: (low, high)}}, got {type(bounds).__name__}"
        )
    ranges, term_bounds = {}, {}
    for name, pair in (bounds or {}).items():
        target = ranges if name in formula.variables else term_bounds
        low, high = public_range(name, pair)
        target[name] = Numeric(low, high) if target is ranges else (low, high)
    formula.check_terms(term_bounds)
    return ranges, term_bounds


def public_range(name: str, pair) -> tuple[float, float]:
    """Return declared bounds of one column or term as two numbers, low < high."""
    try:
        low, high = (float(bound) for bound in pair)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"expected bounds[{name!r}] to be (low, high), got {pair!r}") from None
    if not -FARTHEST <= low < high <= FARTHEST:
        raise ArgumentError(
            f"expected bounds[{name!r}] to be finite (within {FARTHEST:g} of zero) with "
            f"low < high, got ({low:g}, {high:g})"
        )
    return low, high


class DeclaredSchema(NamedTuple):
    """Hold the public schema, the variables without a range yet, and notes for the report."""

    schema: dict[str, Kind]
    unbounded: tuple[str, ...]
    notes: tuple[str, ...]


def declared_types(types, table: AnyTable) -> AnyTable:
    """Return the table with the kinds that ``types=`` declares.

    Raises
    ------
    ArgumentError
        For another word than those in ``types=``, or a column that has a type of its own.
    """
    if types is not None and not isinstance(types, Mapping):
        raise ArgumentError(
            f"expected types to be a mapping {{column: kind}}, got {type(types).__name__}"
        )
    return table.typed(dict(types or {}))


def declared_schema(
    formula: Formula, table: AnyTable, ranges, levels, row_norm, method: Method
) -> DeclaredSchema:
    """Decide by types, declarations and the use in the formula what kind each variable is.

    A column without a type (in a text file, a list or an object column) is a factor where levels
    are declared, and a number where bounds are or where it is the response, whatever is in it.
    Anything else is refused, for a column of text read as numbers would release noise.
    """
    declared = {**formula.levels, **_levels(levels, formula)}
    for name, labels in declared.items():
        table.check_labels(name, labels, f"levels[{name!r}]")
    schema: dict[str, Kind] = {}
    unbounded, from_dtype = [], []
    for name in formula.variables:
        if name == formula.absorbed:
            _check_absorbed(name, table, ranges, declared)
            schema[name] = Labels()
            continue
        kind = _kind(name, formula, table, declared)
        if isinstance(kind, Categorical):
            if name in ranges:
                raise ArgumentError(f"{name} is categorical; bounds are for numeric columns")
            if name not in declared and kind is not BOOLEAN:
                from_dtype.append(name)
            schema[name] = kind
        elif name in ranges or kind is not None:
            schema[name] = ranges.get(name, kind)
        elif name in formula.declared and not method.needs_marginals:
            raise ArgumentError(
                f"{name} is transformed in the formula, so its range must be declared: "
                f'bounds={{"{name}": (low, high)}}'
            )
        elif table.kind(name) in UNTYPED and name != formula.variables[0]:
            raise ArgumentError(
                f"nothing declares what {name} is, a column of {UNTYPED[table.kind(name)]}: give "
                f'bounds={{"{name}": (low, high)}} or types={{"{name}": "number"}} if it is a '
                f'number, levels={{"{name}": [...]}} if it is a category'
            )
        elif row_norm is not None and name in formula.predictors:
            schema[name] = Numeric(-row_norm, row_norm)
        elif not method.needs_bounds:
            schema[name] = UNLIMITED
        else:
            schema[name] = INSIDE_FUNCTIONS if name in formula.declared else _PLACEHOLDER
            unbounded.append(name)
    return DeclaredSchema(schema, tuple(unbounded), _notes(table, schema, ranges, from_dtype))


def _check_absorbed(name: str, table: AnyTable, ranges, declared) -> None:
    """Refuse an absorbed column without labels, or one that bounds or levels are declared of."""
    for argument, names in (("bounds", ranges), ("levels", declared)):
        if name in names:
            raise ArgumentError(
                f"{argument} names {name!r}, which is absorbed: its labels only sort rows and need "
                "not be declared; leave it out there"
            )
    if table.kind(name) == "other":
        raise ArgumentError(f"{name!r} is of a type without labels; convert the column first")


def _notes(table: AnyTable, schema, ranges, from_dtype: list[str]) -> tuple[str, ...]:
    """Note which levels come from a type, and a response that is numeric only by its use."""
    notes = []
    if from_dtype:
        named = ", ".join(from_dtype)
        notes.append(f"the categories of {named}, taken from the column type, are public")
    undeclared = [name for name in schema if table.kind(name) in UNTYPED and name not in ranges]
    numbers = [name for name in undeclared if isinstance(schema[name], Numeric)]
    if numbers:
        notes.append(f"{numbers[0]} was read as numbers; nothing declares its type")
    return tuple(notes)


def _levels(levels, formula: Formula) -> dict[str, tuple]:
    if levels is not None and not isinstance(levels, Mapping):
        raise ArgumentError(
            f"expected levels to be a mapping {{column: [levels]}}, got {type(levels).__name__}"
        )
    for name, values in (levels or {}).items():
        if name not in formula.variables:
            raise ArgumentError(f"levels names {name!r}, which the formula does not use")
        check_labels(values, f"levels[{name!r}]")
    return {name: plain_labels(values) for name, values in (levels or {}).items()}


def _kind(name: str, formula: Formula, table: AnyTable, declared) -> Numeric | Categorical | None:
    """Return the kind that a column's type and levels imply, None if numeric without a range."""
    if name in declared:
        return Categorical(declared[name], table.ordered(name))
    kind = table.kind(name)
    if kind == "boolean":
        return Numeric(0.0, 1.0) if name == formula.response else BOOLEAN
    factor = name in formula.categorical or kind == "category"
    if factor and (levels := table.levels(name)):
        table.check_labels(name, levels, "the column type")
        return Categorical(levels, table.ordered(name))
    if kind in (*NUMERIC, *UNTYPED) and not factor:
        return None
    if factor or kind == "string":
        raise ArgumentError(
            f"the levels of {name} must be declared, because those present in the data are "
            f'private: levels={{"{name}": [...]}} or a Categorical column'
        )
    raise ArgumentError(f"{name} is neither numeric nor categorical; convert the column first")


def declared_x_new(x_new, formula: Formula) -> pd.DataFrame | None:
    """Return public prediction points as a frame with one row per point."""
    if x_new is None:
        return None
    if formula.absorbed is not None:
        raise ArgumentError(
            f"x_new= asks for predictions, which need the effects of {formula.absorbed}; these are "
            "absorbed and not released, so leave x_new out"
        )
    if isinstance(x_new, pd.DataFrame):
        return x_new
    if isinstance(x_new, Mapping):
        return _frame(dict(x_new), x_new)
    if len(formula.predictors) != 1:
        raise ArgumentError(
            "expected x_new to be a mapping or a data frame with the columns "
            f"{', '.join(formula.predictors)}, got {x_new!r}"
        )
    return _frame({formula.predictors[0]: x_new}, x_new)


def _frame(columns: dict, x_new) -> pd.DataFrame:
    """Build a frame of columns and scalars; all of them may be scalars."""
    single = all(np.ndim(values) == 0 for values in columns.values())
    try:
        columns = {name: v if np.ndim(v) == 0 else list(v) for name, v in columns.items()}
        return pd.DataFrame(columns, index=[0] if single else None)
    except ValueError:
        raise ArgumentError(
            f"expected the columns of x_new to be lists of equal length, got {x_new!r}"
        ) from None
