"""Record how an expression of a formula uses each variable."""

import ast
from dataclasses import dataclass, field

from dpstats.errors import FormulaError


@dataclass
class Reading:
    """Record how one expression uses its variables.

    `variables` keeps the order of appearance. `bare` is the variable when the expression is
    nothing else, `numeric` holds those in arithmetic or in a function, `categorical` those
    in C(), `compared` the constants a variable is tested against with == or !=, `levels`
    those declared in C(), `splined` the variables of splines, `called` the functions.
    """

    code: str
    bare: str | None = None
    variables: dict[str, None] = field(default_factory=dict)
    numeric: set[str] = field(default_factory=set)
    categorical: set[str] = field(default_factory=set)
    compared: dict[str, list] = field(default_factory=dict)
    levels: dict[str, tuple] = field(default_factory=dict)
    splined: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)

    @property
    def with_levels(self) -> set[str]:
        """Return the variables that need levels: in C(), or compared with a text or truth value."""
        compared = {
            name
            for name, values in self.compared.items()
            if any(isinstance(value, str | bool) for value in values)
        }
        return self.categorical | compared


def variable_of(node: ast.expr, reading: Reading) -> str | None:
    """Return the variable that a node names, as x or as Q("x"), and record it."""
    match node:
        case ast.Name(name):
            pass
        case ast.Call(ast.Name("Q"), arguments, keywords):
            reading.called.add("Q")
            name = _quoted(arguments, keywords)
        case _:
            return None
    reading.variables[name] = None
    return name


def _quoted(arguments: list, keywords: list) -> str:
    """Return the name in Q("name")."""
    match arguments:
        case [ast.Constant(str(name))] if not keywords:
            return name
    raise FormulaError('expected a quoted name in Q(), as in Q("my column")')


def literal(node: ast.expr):
    """Return the value of a constant, or raise FormulaError."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise FormulaError(f"expected a constant instead of {ast.unparse(node)}") from None
