"""Record how an expression of a formula uses each variable, and read names, constants and C()."""

import ast
from dataclasses import dataclass, field

from dpstats.errors import FormulaError

CONTRASTS = ("Treatment", "Sum", "Poly", "Helmert", "Diff")


@dataclass
class Reading:
    """Record how one expression uses its variables.

    `variables` keeps the order of appearance. `bare` is the variable when the expression is
    nothing else, `numeric` holds those in arithmetic or in a function, `categorical` those
    in C(), `compared` the constants a variable is tested against with == or !=, `levels`
    those declared in C(), `splined` the variables of splines, `spans` the lower_bound= and
    upper_bound= of those that are splined alone, `placed` the variables of splines with knots,
    or one end, and not both ends, `called` the functions.
    """

    code: str
    bare: str | None = None
    variables: dict[str, None] = field(default_factory=dict)
    numeric: set[str] = field(default_factory=set)
    categorical: set[str] = field(default_factory=set)
    compared: dict[str, list] = field(default_factory=dict)
    levels: dict[str, tuple] = field(default_factory=dict)
    splined: set[str] = field(default_factory=set)
    spans: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    placed: set[str] = field(default_factory=set)
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


def variable_alone(reading: Reading) -> str | None:
    """Return the variable that an expression names and no more: as x, `x` in R, or Q("x").

    Those of R are bare in ``I(x)`` and ``as.numeric(x)`` too.
    """
    name, code = reading.bare, reading.code
    named = name is not None and (code in (name, f"`{name}`") or code.startswith("Q("))
    return name if named else None


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
