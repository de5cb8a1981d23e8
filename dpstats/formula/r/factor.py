"""Translate factor(), ordered(), relevel() and C() around one column of a formula of R."""

from dataclasses import dataclass, replace

import numpy as np

from dpstats.errors import FormulaError
from dpstats.formula.r.tree import Call, Name, Node, Text, constants, literal

_CODINGS = {
    "contr.treatment": "numbered",  # the same columns, to which R gives numbers for levels
    "contr.poly": "poly",
    "contr.sum": "sum",
    "contr.helmert": "helmert",
}
# Arguments of factor() and, where it is True, of ordered(), in R's order.
_ARGUMENTS = {
    False: ("levels", "labels", "exclude", "ordered"),
    True: ("levels", "labels", "exclude"),
}
FACTORS = ("factor", "as.factor", "ordered", "as.ordered", "relevel", "C", "i")


@dataclass(frozen=True)
class Coding:
    """Say how a factor becomes columns; None stands for what the column's type implies.

    With ``as_number`` it becomes one column of its numeric values, as by as.numeric(). With
    ``left_out``, which is not None for i() of fixest, it becomes indicators of the other levels.
    ``ordered`` tells whether the factor is, whatever the column is. R recodes a column ``as_it_is``
    by relevel() and C() if it is a factor, but not if it is true or false.
    """

    contrast: str | None = None
    reference: str | None = None
    as_number: bool = False
    left_out: tuple[str, ...] | None = None
    ordered: bool | None = None
    as_it_is: bool = False


def factor(node: Call) -> tuple[str, Coding]:
    """Translate a call that makes a factor of one column, and give its coding."""
    match node.function:
        case "i":
            return _indicators(node)
        case "relevel":
            arguments = node.matched("x", "ref")
            code, coding = _inner(node, arguments["x"])
            reference = _text(arguments["ref"], node)
            return code, replace(coding, contrast="treatment", reference=reference)
        case "C":
            arguments = node.matched("object", "contr")
            code, coding = _inner(node, arguments["object"])
            named = arguments["contr"]
            contrast = _CODINGS.get(named.value if isinstance(named, Text) else str(named))
            if contrast is None:
                raise FormulaError(f"{node}: expected one of {', '.join(_CODINGS)}")
            return code, replace(coding, contrast=contrast)
    ordered = node.function in ("ordered", "as.ordered") or None
    names = ("x",) if node.function.startswith("as.") else ("x", *_ARGUMENTS[ordered or False])
    arguments = node.matched(*names, needed=1)
    column = arguments["x"]
    if not isinstance(column, Name):
        raise FormulaError(f"{node}: expected the name of a column, as in {node.function}(g)")
    if arguments.keys() & {"labels", "exclude"}:
        others = [f"{name} = {value}" for name, value in arguments.items() if name != "x"]
        made = f"{node.function}({', '.join([f'data${column}', *others])})"
        raise FormulaError(
            f"{node}: {node.function}() in a formula takes a column and levels; make the column "
            f"before the call, as by data${column} <- {made}, and name that"
        )
    ordered = _is_true(arguments["ordered"], node) if "ordered" in arguments else ordered
    levels = ""
    if "levels" in arguments:
        levels = f", levels={[literal(value) for value in constants(arguments['levels'])]!r}"
    return f"C(Q({column.text!r}){levels})", Coding(ordered=ordered)


def _indicators(node: Call) -> tuple[str, Coding]:
    """Translate i(x, ref = 2009) of fixest, an indicator of each other level."""
    form = "i() takes a column, a number to multiply and ref =, as in i(year, treated, ref = 2009)"
    for name, _ in node.arguments:
        if name not in (None, "x", "ref"):
            raise FormulaError(f"i() has no {name} =; {form}")
    arguments = node.matched("x", "ref", needed=1)
    if not isinstance(arguments["x"], Name):
        raise FormulaError(f"{node}: {form}")
    left_out = constants(arguments["ref"]) if "ref" in arguments else []
    labels = tuple(level_label(literal(each)) for each in left_out)
    return f"i(Q({arguments['x'].text!r}))", Coding(left_out=labels)


def _inner(node: Call, inner: Node) -> tuple[str, Coding]:
    """Translate the factor inside relevel() or C()."""
    if isinstance(inner, Name):
        return f"C(Q({inner.text!r}))", Coding(as_it_is=True)
    if isinstance(inner, Call) and inner.function in FACTORS and inner.function != "i":
        return factor(inner)
    raise FormulaError(f"{node}: expected a column or factor(column), got {inner}")


def level_label(level) -> str:
    """Write a level as R does."""
    if isinstance(level, bool | np.bool_):
        return str(level).upper()
    return f"{level:.15g}" if isinstance(level, int | float) else str(level)


def _is_true(node: Node, call: Call) -> bool:
    """Return the value of TRUE or FALSE."""
    if node not in (Name("TRUE"), Name("FALSE")):
        raise FormulaError(f"{call}: expected ordered to be TRUE or FALSE, got {node}")
    return node == Name("TRUE")


def _text(node: Node, call: Call) -> str:
    """Return the level in quotes."""
    if not isinstance(node, Text):
        raise FormulaError(f'{call}: expected the level in quotes, as in ref = "b"')
    return node.value
