"""Split a formula such as ``y ~ x1 + x2 | state`` into its regression and its absorbed column."""

import ast
from collections import OrderedDict
from typing import NamedTuple

from patsy import INTERCEPT
from patsy.design_info import DesignInfo

from dpstats.errors import FormulaError
from dpstats.formula.expressions.reading import Reading, variable_of
from dpstats.formula.r.terms import RFormula, absorbed_in_r

_QUOTES = "\"'`"


class Split(NamedTuple):
    """Hold a formula without its last part, and the column that this part names, if any."""

    regression: str
    absorbed: str | None


def split_off(text: str) -> Split:
    """Split off what stands right of ``|``: the column whose effects are absorbed.

    Of several columns joined by + the first is absorbed, and the others become indicators, for
    which they need levels. Raises FormulaError for what is no column.

    >>> split_off("y ~ x1 + x2 | state")
    Split(regression='y ~ x1 + x2', absorbed='state')
    >>> split_off("y ~ x | state + year")
    Split(regression='y ~ x + C(year)', absorbed='state')
    """
    if isinstance(text, RFormula):
        return Split(*absorbed_in_r(text))
    parts = _parts(text)
    if len(parts) == 1:
        return Split(text, None)
    if len(parts) > 2:
        raise FormulaError(
            f"{text!r} has two |; instruments are for dp_iv, and random effects do not exist here"
        )
    return _split(text, *parts)


def _parts(text: str) -> list[str]:
    """Split a text at each | outside parentheses and quotes."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
        depth += not quote and (character in "([{") - (character in ")]}")
        if character == "|" and not quote and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _split(text: str, regression: str, absorbed: str) -> Split:
    """Read the columns after |: the first is absorbed, the others become indicators."""
    try:
        node = ast.parse(absorbed.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _no_column(text) from None
    others = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        _column(text, node.right)
        others.insert(0, f" + C({ast.unparse(node.right)})")
        node = node.left
    return Split(regression.strip() + "".join(others), _column(text, node))


def _column(text: str, node: ast.expr) -> str:
    """Return the column that an expression after | names."""
    if isinstance(node, ast.BinOp | ast.Tuple):
        raise FormulaError(
            f"{text} absorbs combinations of columns; make them a column of their own before the "
            "call and absorb that"
        )
    name = variable_of(node, Reading(ast.unparse(node)))
    if name is None:
        raise _no_column(text)
    return name


def _no_column(text: str) -> FormulaError:
    return FormulaError(
        f"expected the name of one column after |, as in y ~ x | state, got {text!r}"
    )


def without_intercept(info: DesignInfo) -> DesignInfo:
    """Drop the intercept from a design that was coded with one: the absorbed effects contain it."""
    names = [name for name in info.column_names if name not in _intercepts(info)]
    if not names:
        raise FormulaError(
            "a formula with | needs a regressor: the effects of the absorbed column contain "
            "every constant"
        )
    codings = [(term, coding) for term, coding in info.term_codings.items() if term != INTERCEPT]
    return DesignInfo(names, info.factor_infos, OrderedDict(codings))


def _intercepts(info: DesignInfo) -> list[str]:
    place = info.term_slices.get(INTERCEPT)
    return [] if place is None else info.column_names[place]
