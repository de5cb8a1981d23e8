"""Read i() of fixest: indicators of the levels of a column but a reference, times a number.

``i(year, treated, ref=2009)`` is the interaction ``i(year, ref=2009):treated``, and
``i(year, ref=2009)`` has a column for each year but 2009, whatever else is in the formula.
"""

import ast
from collections.abc import Mapping

import numpy as np
import pandas as pd
import patsy

from dpstats.errors import FormulaError
from dpstats.formula.expressions.operators import is_boolean
from dpstats.formula.expressions.reading import Reading, literal, variable_of
from dpstats.schema import BOOLEAN, Categorical, ModelSchema

_FORM = "i() takes a column, a number to multiply and ref=, as in i(year, treated, ref=2009)"


class LevelIndicators:
    """Code a factor for patsy by an indicator of each level that is no reference."""

    def __init__(self, reference: tuple):
        self.reference = reference

    def code_with_intercept(self, levels) -> patsy.ContrastMatrix:
        """Return a matrix (levels, columns), whose columns are named as fixest names them."""
        unknown = [level for level in self.reference if level not in levels]
        if unknown:
            raise patsy.PatsyError(f"ref={unknown[0]!r} in i() is none of the levels {[*levels]}")
        kept = [place for place, level in enumerate(levels) if level not in self.reference]
        return patsy.ContrastMatrix(
            np.eye(len(levels))[:, kept], [f"::{levels[place]}" for place in kept]
        )

    code_without_intercept = code_with_intercept


def level_indicators(values: pd.Categorical, ref=()) -> pd.Categorical:
    """Evaluate i() of one column."""
    coded = values[:]
    reference = tuple(ref) if isinstance(ref, list | tuple) else (ref,)
    setattr(coded, "contrast", LevelIndicators(reference))  # noqa: B010 - undeclared by pandas
    return coded


def read_indicators(node: ast.Call, reading: Reading) -> None:
    """Check i(x) or i(x, ref=2009), and record its column."""
    variable = variable_of(node.args[0], reading) if len(node.args) == 1 else None
    if variable is None or {keyword.arg for keyword in node.keywords} - {"ref"}:
        raise FormulaError(f"{reading.code}: {_FORM}")
    for keyword in node.keywords:
        literal(keyword.value)
    reading.called.add("i")
    reading.categorical.add(variable)


def multiplied(terms: list[patsy.Term]) -> list[patsy.Term]:
    """Write each i(x, z, ref=r) in terms as the interaction of i(x, ref=r) with z.

    >>> from patsy import ModelDesc
    >>> [term.name() for term in multiplied(ModelDesc.from_formula("i(g, x, ref=2)").rhs_termlist)]
    ['Intercept', 'i(g, ref=2):x']
    """
    return [
        patsy.Term([part for factor in term.factors for part in _factors(factor)]) for term in terms
    ]


def _node(factor: patsy.EvalFactor) -> ast.expr | None:
    """Return the expression of a factor, None where it cannot be read: reading it says why."""
    try:
        return ast.parse(factor.code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _factors(factor: patsy.EvalFactor) -> list[patsy.EvalFactor]:
    match _node(factor):
        case ast.Call(ast.Name("i"), [column, number], keywords):
            call = ast.Call(ast.Name("i"), [column], keywords)
            return [patsy.EvalFactor(ast.unparse(call)), patsy.EvalFactor(ast.unparse(number))]
    return [factor]


def check_left_out(terms: list[patsy.Term]) -> None:
    """Refuse i() of all levels beside an intercept, or beside another: they add up to each other.

    >>> check_left_out(patsy.ModelDesc.from_formula("i(g) + x - 1").rhs_termlist)
    """
    whole = [code for term in terms if (code := _of_all_levels(term))]
    if len(whole) + (patsy.INTERCEPT in terms) > 1 and whole:
        column = whole[-1].removeprefix("i(").removesuffix(")")
        raise FormulaError(
            f"{whole[-1]} has a column for each level, and these add up to the constant, which is "
            "there already; leave a level out by ref=, as in i(year, ref=2009), or write "
            f"C({column}), which leaves the first one out"
        )


def _of_all_levels(term: patsy.Term) -> str:
    """Return the code of a term that is i(column) without ref=, else an empty text."""
    if len(term.factors) == 1:
        match _node(term.factors[0]):
            case ast.Call(ast.Name("i"), [_], []):
                return term.factors[0].code
    return ""


def check_multiplied(readings: Mapping[str, Reading], schema: ModelSchema) -> None:
    """Refuse a term, by its factors' names and readings, in which i() multiplies no number."""
    if not any("i" in reading.called for reading in readings.values()):
        return
    for name, reading in readings.items():
        kind = schema[reading.bare] if reading.bare else None
        if kind == BOOLEAN or is_boolean(ast.parse(reading.code, mode="eval").body):
            raise FormulaError(
                f"i() multiplies a number, and {name} is true or false; make it 1 where it is "
                "true and else 0 before the call"
            )
        if isinstance(kind, Categorical) or (reading.categorical and "i" not in reading.called):
            raise FormulaError(
                f"i() multiplies a number, and {name} is a factor; make a number of it before the "
                "call, 1 at one of its levels and else 0"
            )


def named(info: patsy.DesignInfo) -> tuple[str, ...]:
    """Name the columns of a design as fixest does those of i(year, ref=2009): year::2010."""
    names = info.column_names
    for factor in info.factor_infos:
        match ast.parse(factor.code, mode="eval").body:
            case ast.Call(ast.Name("i"), [column]):
                name = variable_of(column, Reading(factor.code))
                names = [each.replace(f"{factor.name()}::", f"{name}::") for each in names]
    return tuple(names)
