"""Read what a caller declares of columns: types, bounds, levels and prediction points."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpstats.call.unsupported import OF_LINEARMODELS
from dpstats.codebook import PARTS
from dpstats.codebook import Schema as Declared
from dpstats.engines import AnyTable
from dpstats.engines.columns import NUMERIC, UNTYPED, no_levels, no_number
from dpstats.engines.columns.cells import is_utf8
from dpstats.errors import ArgumentError, FormulaError, shown
from dpstats.estimators import INSTRUMENTAL
from dpstats.estimators.contract import Method
from dpstats.formula import Formula
from dpstats.formula.columns import squeezed
from dpstats.formula.expressions import read
from dpstats.schema import (
    BOOLEAN,
    INSIDE_FUNCTIONS,
    UNLIMITED,
    Categorical,
    Kind,
    Labels,
    Numeric,
)
from dpstats.spelling import near_or_listed, no_column

# Stands for a range not known yet while the structure of the design is checked.
_PLACEHOLDER = Numeric(-1.0, 1.0)
_UNKNOWN = _PLACEHOLDER, INSIDE_FUNCTIONS
_ZERO_TO_ONE, _OUTCOMES = Numeric(0.0, 1.0), Categorical((0, 1))
_BINARY = BOOLEAN, _OUTCOMES


def check_columns(declared: Declared, formulas: Collection[Formula], table: AnyTable) -> None:
    """Raise ArgumentError for a formula's variable, or a declared name, that is no column.

    What is declared of columns that no formula uses is for other regressions on these data. A
    term may have bounds too: one of these formulas, or of columns whose ranges do not need it.
    """
    columns = set(table.columns)
    used = dict.fromkeys(name for formula in formulas for name in formula.variables)
    for name in used:
        if name not in columns and name in OF_LINEARMODELS:
            raise ArgumentError(f"there is no column {name!r}; {OF_LINEARMODELS[name]}")
        if name not in columns:
            raise no_column(name, table.columns)
        if not is_utf8(name):
            raise ArgumentError(f"the name {name!r} of a column is no UTF-8; rename the column")
    terms = [term for formula in formulas for term in formula.written_terms]
    elsewhere = columns - set(used) | {*declared.bounds, *declared.levels} & columns
    for part in PARTS:
        for name in getattr(declared, part):
            if name in columns or part == "bounds" and _is_term(name, terms, elsewhere):
                continue
            known = dict.fromkeys([*table.columns, *(terms if part == "bounds" else ())])
            names = type(table.columns)(known)
            what = "no column of the data" + " and no term of the formula" * (part == "bounds")
            raise ArgumentError(
                f"{part} names {name!r}, which is {what}; {near_or_listed(name, names)}"
            )


def _is_term(name, terms: Collection[str], elsewhere: Collection[str]) -> bool:
    """Tell whether a name is one of the terms, or a term of other columns."""
    if not isinstance(name, str):
        return False
    try:
        return squeezed(name) in map(squeezed, terms) or {*read(name).variables} <= {*elsewhere}
    except FormulaError:
        return False


def declared_bounds(bounds: Mapping[str, tuple[float, float]], formula: Formula):
    """Return those of the declared bounds that concern a formula, as ranges and of terms."""
    own = set(formula.variables) - {*formula.levels, formula.absorbed}
    ranges = {name: Numeric(*pair) for name, pair in bounds.items() if name in own}
    others = {name: pair for name, pair in bounds.items() if name not in formula.variables}
    terms = {squeezed(term) for term in formula.written_terms if others}
    return ranges, {name: pair for name, pair in others.items() if squeezed(name) in terms}


class DeclaredSchema(NamedTuple):
    """Hold the public schema, the variables without a range yet, and notes for the report."""

    schema: dict[str, Kind]
    unbounded: tuple[str, ...]
    notes: tuple[str, ...]

    def beside(self, other: "DeclaredSchema") -> "DeclaredSchema":
        """Merge what two formulas declare; of a column in both, ``other`` takes precedence."""
        return DeclaredSchema(
            {**self.schema, **other.schema},
            tuple(dict.fromkeys((*other.unbounded, *self.unbounded))),
            tuple(dict.fromkeys((*other.notes, *self.notes))),
        )


def declared_together(
    formulas: Collection[Formula], table: AnyTable, declared: Declared, row_norm, method: Method
) -> tuple[DeclaredSchema, dict[str, tuple[float, float]]]:
    """Return what is declared of all variables of formulas, and bounds of their terms.

    The earliest formula that names a variable or a term takes precedence.
    """
    found, term_bounds = DeclaredSchema({}, (), ()), {}
    for formula in formulas:
        ranges, bounds = declared_bounds(declared.bounds, formula)
        own = declared_schema(formula, table, ranges, declared.levels, row_norm, method)
        check_response(formula, own.schema, method)
        found, term_bounds = own.beside(found), {**bounds, **term_bounds}
    return found, term_bounds


def declared_schema(
    formula: Formula, table: AnyTable, ranges, levels, row_norm, method: Method
) -> DeclaredSchema:
    """Decide by types, declarations and the use in the formula what kind each variable is.

    A column without a type (in a text file, a list or an object column) is a factor where levels
    are declared, and a number where bounds are. Anything else is refused, for a column of text read
    as numbers would release noise.
    """
    own = {name: values for name, values in levels.items() if name in formula.variables}
    declared = {**formula.levels, **own}
    declared.pop(formula.absorbed, None)
    for name, labels in declared.items():
        table.check_labels(name, labels, f"levels[{name!r}]")
    schema: dict[str, Kind] = {}
    undeclared = []
    for name in formula.variables:
        kind = _declared_kind(name, formula, table, declared, ranges, method)
        if kind is None:
            kind = _kind_without_range(name, formula, table, row_norm, method)
        if kind is None:
            undeclared.append(name)
        else:
            schema[name] = kind
    if undeclared:
        name = next((name for name in undeclared if name in formula.predictors), undeclared[0])
        outcomes = method.binary and name == formula.bare_response
        raise _undeclared(name, table.kind(name), name in formula.predictors, outcomes)
    unbounded = [name for name, kind in schema.items() if _is_one(kind, _UNKNOWN)]
    return DeclaredSchema(schema, tuple(unbounded), _notes(schema, declared))


def _declared_kind(
    name: str, formula: Formula, table: AnyTable, declared, ranges, method: Method
) -> Kind | None:
    """Return the kind that a type or a declaration gives a variable, None of a number without."""
    if name == formula.absorbed:
        _check_absorbed(name, table)
        return Labels()
    is_response = name == formula.bare_response
    absorbs = formula.absorbed is not None
    more = "; the labels of the first column after | alone are private" * absorbs
    kind = kind_of_column(name, table, declared, name in formula.categorical, more)
    if is_response and kind is BOOLEAN:
        kind = _ZERO_TO_ONE
    if is_response and method.binary:
        return _binary(name, kind, table, ranges.get(name))
    if not isinstance(kind, Categorical):
        return ranges.get(name, kind)
    if name in ranges:
        raise ArgumentError(f"{name} is categorical; bounds are for numeric columns")
    if len(kind.levels) == 1:
        raise ArgumentError(
            f"{name} has one level, {shown(kind.levels[0])}, and so no effect to estimate: "
            f'declare every value it may have, levels={{"{name}": [...]}}, or leave it out'
        )
    return kind


def kind_of_column(
    name: str, table: AnyTable, levels: Mapping, is_factor: bool = False, more: str = ""
) -> Categorical | None:
    """Return the factor that declared levels or a column's type imply, None of a number.

    Raises
    ------
    ArgumentError
        For a factor without levels, which ends in ``more``, and for a column that is neither.
    """
    if name in levels:
        return Categorical(levels[name], table.ordered(name))
    kind = table.kind(name)
    if kind == "boolean":
        return BOOLEAN
    is_factor = is_factor or kind == "category"
    if is_factor and (known := table.levels(name)):
        table.check_labels(name, known, "the column type")
        return Categorical(known, table.ordered(name))
    if is_factor or kind == "string":
        raise no_levels(name, more * is_factor)
    if kind not in (*NUMERIC, *UNTYPED):
        raise no_number(name, kind)
    return None


def _kind_without_range(
    name: str, formula: Formula, table: AnyTable, row_norm, method: Method
) -> Numeric | None:
    """Return a placeholder for the missing range of a number, None of an undeclared column."""
    transformed = name in formula.declared
    if transformed and not method.ranges.marginals:
        raise ArgumentError(
            f"{name} is transformed in the formula, so its range must be declared: "
            f'bounds={{"{name}": (low, high)}}'
        )
    if table.kind(name) in UNTYPED:
        return None
    if row_norm is not None and name in formula.predictors:
        return Numeric(-row_norm, row_norm)
    if not method.ranges.needed:
        return UNLIMITED
    return INSIDE_FUNCTIONS if transformed else _PLACEHOLDER


def _is_one(kind: Kind, own: Collection[Kind]) -> bool:
    """Tell by identity whether a kind is one of ``own``, to which a declared kind may be equal."""
    return any(kind is one for one in own)


def _binary(name: str, kind: Kind | None, table: AnyTable, given: Numeric | None) -> Kind | None:
    """Return the kind of a response of two outcomes: a number is 0 or 1, any other is missing."""
    if isinstance(kind, Categorical) and len(kind.levels) != 2:
        raise ArgumentError(
            f"a logit takes a response with two outcomes, and {name} has the levels "
            f'{shown(list(kind.levels))}; declare the two, levels={{"{name}": [...]}}, the one '
            "that counts as 1 last, which leaves rows with another one out"
        )
    if given not in (None, _ZERO_TO_ONE):
        raise ArgumentError(
            f"a logit takes a response of 0 and 1, got bounds ({given.low:g}, {given.high:g}) on "
            f"{name}; leave its bounds out, or use dp_ols"
        )
    if isinstance(kind, Categorical) or table.kind(name) not in (*NUMERIC, *UNTYPED):
        return kind
    if table.kind(name) in UNTYPED:
        return given
    return BOOLEAN if table.kind(name) == "boolean" else _OUTCOMES


def check_response(formula: Formula, schema: Mapping[str, Kind], method: Method) -> None:
    """Raise FormulaError for a factor as the response or the endogenous regressor of a line."""
    name = formula.bare_response
    if not name or not isinstance(schema.get(name), Categorical) or method.binary:
        return
    if method.name in INSTRUMENTAL:
        raise FormulaError(
            f"expected numbers as the response and the endogenous regressor, got {name}; make two "
            "levels a column of 0 and 1, or write I((g == 'b') * 1)"
        )
    raise FormulaError(
        f"expected one numeric response, got {formula.response}; make two levels a 0/1 number, "
        "write I(g == 'b'), or fit a logit by dp_logit"
    )


def _undeclared(name: str, kind: str, predictor: bool, outcomes: bool) -> ArgumentError:
    """Build the error for a column without a type of which nothing else says what it is."""
    if outcomes:
        return ArgumentError(
            f"nothing declares what {name} is, a column of {UNTYPED[kind]}: give "
            f'types={{"{name}": "boolean"}} if it is true or false, types={{"{name}": "number"}} '
            f'if it is 0 or 1, levels={{"{name}": [...]}} if it is a category of two'
        )
    number = f'bounds={{"{name}": (low, high)}} or types={{"{name}": "number"}} if it is a number'
    category = f'levels={{"{name}": [...]}} if it is a category'
    return ArgumentError(
        f"nothing declares what {name} is, a column of {UNTYPED[kind]}: give {number}"
        + (f", {category}" if predictor else "; a response must be one")
    )


def _check_absorbed(name: str, table: AnyTable) -> None:
    """Refuse an absorbed column without labels; bounds and levels of one concern other formulas."""
    if table.kind(name) == "other":
        raise ArgumentError(f"{name!r} is of a type without labels; convert the column first")


def _notes(schema: Mapping[str, Kind], declared: Mapping) -> tuple[str, ...]:
    """Note which levels come from a type, and which leave rows out that have none of them.

    How many rows these are is private; what is released is the number of rows that are left.
    """
    factors = [name for name, kind in schema.items() if isinstance(kind, Categorical)]
    typed = [n for n in factors if n not in declared and not _is_one(schema[n], _BINARY)]
    notes = []
    if typed:
        named = ", ".join(typed)
        notes.append(f"the categories of {named}, taken from the column type, are public")
    notes += [
        f"rows where {name} is neither 0 nor 1 are left out"
        for name, kind in schema.items()
        if kind is _OUTCOMES
    ]
    listed = [name for name in declared if name in factors]
    if listed:
        notes.append(
            f"rows with another value of {' or '.join(listed)} than the declared levels are left "
            "out; a number of rows below what you expect may mean that levels= lacks one"
        )
    return tuple(notes)


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
    if len(formula.predictors) == 1 and not hasattr(type(x_new), "columns"):
        return _frame({formula.predictors[0]: x_new}, x_new)
    try:
        return pd.DataFrame({name: list(np.asarray(x_new[name])) for name in formula.predictors})
    except Exception:  # each library of data frames has its own error for this
        raise ArgumentError(
            "expected x_new to be a mapping or a data frame with the columns "
            f"{', '.join(formula.predictors)}, got {shown(x_new)}"
        ) from None


def _frame(columns: dict, x_new) -> pd.DataFrame:
    """Build a frame of columns and scalars; all of them may be scalars."""
    try:
        single = all(np.ndim(values) == 0 for values in columns.values())
        columns = {name: v if np.ndim(v) == 0 else list(v) for name, v in columns.items()}
        return pd.DataFrame(columns, index=[0] if single else None)
    except (TypeError, ValueError):  # of a set, or of unequal length
        raise ArgumentError(
            f"expected the columns of x_new to be lists of equal length, got {shown(x_new)}"
        ) from None
