"""Check C(x), its contrast and its levels."""

import ast

from dpstats.errors import FormulaError
from dpstats.formula.expressions.reading import Reading, literal, variable_of

CONTRASTS = ("Treatment", "Sum", "Poly", "Helmert", "Diff")


def read_category(node: ast.Call, reading: Reading) -> None:
    """Check C(x), C(x, Treatment("b")), C(x, Sum, levels=["a", "b"])."""
    variable = variable_of(node.args[0], reading) if node.args else None
    if variable is None:
        raise FormulaError(
            f"{reading.code}: C() takes one variable, as in C(x); for an "
            "expression write a comparison such as I(x > 3)"
        )
    reading.called.add("C")
    reading.categorical.add(variable)
    options = {keyword.arg: keyword.value for keyword in node.keywords}
    options |= dict(zip(("contrast", "levels"), node.args[1:], strict=False))
    for option, value in options.items():
        if option == "contrast":
            _read_contrast(value, reading)
        elif option == "levels":
            reading.levels[variable] = _level_list(value, reading)
        else:
            raise FormulaError(f"{reading.code}: C() takes a contrast and levels=, not {option}=")


def _level_list(node: ast.expr, reading: Reading) -> tuple:
    """Return the levels that C(x, levels=[...]) declares."""
    levels = literal(node)
    if isinstance(levels, list | tuple) and all(
        isinstance(level, str | int | float) for level in levels
    ):
        return tuple(levels)
    raise FormulaError(f"{reading.code}: expected levels=[...] of strings or numbers")


def _read_contrast(node: ast.expr, reading: Reading) -> None:
    """Check a contrast such as Sum or Treatment("b")."""
    match node:
        case ast.Name(name) if name in CONTRASTS:
            arguments = []
        case ast.Call(ast.Name(name), positional, keywords) if name in CONTRASTS:
            arguments = positional + [keyword.value for keyword in keywords]
        case _:
            raise FormulaError(
                f"{reading.code}: expected a contrast among {', '.join(CONTRASTS)}, as in "
                'C(x, Treatment("b"))'
            )
    reading.called.add(name)
    for argument in arguments:
        literal(argument)
