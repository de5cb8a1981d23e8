"""What one term of a formula may say: an allow-list of Python, and how it uses each variable.

A formula can run any Python, so nothing of it is evaluated before it has been read here.
Every construct on the list gives a row's value from that row alone.
"""

import ast
from dataclasses import dataclass, field

from dpstats.errors import FormulaError
from dpstats.formula.intervals import FUNCTIONS
from dpstats.formula.refusals import refusal, unknown_function

CONTRASTS = ("Treatment", "Sum", "Poly", "Helmert", "Diff")
_SCALE, _KNOTS = {"center", "rescale", "ddof"}, {"df", "knots", "lower_bound", "upper_bound"}
LEARNERS = {  # name: literal options; the constants come from the public ranges
    "center": set(),
    "standardize": _SCALE,
    "scale": _SCALE,
    "bs": _KNOTS | {"degree", "include_intercept"},
    "cr": _KNOTS | {"constraints"},
    "cc": _KNOTS | {"constraints"},
}
SPLINES = {"bs", "cr", "cc"}

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)


@dataclass
class Reading:
    """How one expression uses its variables.

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
        """Variables that must have levels: in C(), or compared with a string or a truth value."""
        compared = {
            name
            for name, values in self.compared.items()
            if any(isinstance(value, str | bool) for value in values)
        }
        return self.categorical | compared


def read(code: str) -> Reading:
    """Check one expression against the allow-list.

    Raises FormulaError for anything that is not on it, saying what to write.

    >>> sorted(read("np.log(wage) * (age > 30)").numeric)
    ['age', 'wage']
    >>> read("wage.mean()")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dpstats.errors.FormulaError: wage.mean(): write center(x) ... instead
    """
    reading = Reading(code)
    node = _parse(code)
    reading.bare = _variable(node, reading)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "C":
        _read_c(node, reading)
    elif reading.bare is None:
        _read_value(node, reading)
    if not reading.variables:
        raise FormulaError(f"{code} names no variable; write + 1 or + 0 for the intercept")
    return reading


def _parse(code: str) -> ast.expr:
    try:
        return ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError(
            f"cannot read {code!r} as an expression; name each predictor, join them with + and "
            "write Q('name') for a name with spaces or dots"
        ) from None


def _variable(node: ast.expr, reading: Reading) -> str | None:
    """The variable a node names, as x or as Q("x"), noted as seen."""
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
    match arguments:
        case [ast.Constant(str(name))] if not keywords:
            return name
    raise FormulaError('expected a quoted name in Q(), as in Q("my column")')


def _read_value(node: ast.expr, reading: Reading) -> None:
    """Check a numeric or Boolean expression."""
    name = _variable(node, reading)
    if name is not None:
        reading.numeric.add(name)
        return
    match node:
        case ast.Constant(bool() | int() | float()):
            pass
        case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
            _read_value(operand, reading)
        case ast.BinOp(left, operator, right):
            _check_operator(node, operator, left)
            _check_power(node)
            _read_value(left, reading)
            _read_value(right, reading)
        case ast.Compare(left, [operator], [right]):
            _read_comparison(left, operator, right, reading)
        case ast.Call():
            _read_call(node, reading)
        case _:
            raise FormulaError(refusal(node))


def _check_operator(node: ast.BinOp, operator: ast.operator, left: ast.expr) -> None:
    if isinstance(operator, ast.BitXor):
        power = ast.unparse(ast.BinOp(left, ast.Pow(), node.right))
        raise FormulaError(f"{ast.unparse(node)}: ^ is not a power in Python; write I({power})")
    if isinstance(operator, ast.BitAnd | ast.BitOr):
        raise FormulaError(f"{ast.unparse(node)}: write (a > 1) * (b > 2) for 'and', + for 'or'")
    if not isinstance(operator, _OPERATORS):
        raise FormulaError(f"{ast.unparse(node)}: expected one of + - * / ** between numbers")
    if isinstance(operator, ast.Pow) and _is_boolean(left):
        raise FormulaError(f"{ast.unparse(node)}: a power of a comparison changes nothing; drop it")


def _check_power(node: ast.BinOp) -> None:
    """Refuse what NumPy raises an error about in some rows: whole numbers to negative powers."""
    match node:
        case ast.BinOp(_, ast.Pow(), ast.Constant(int(power))) if power >= 0:
            return
        case ast.BinOp(base, ast.Pow(), power) if _is_whole(base) and _is_whole(power):
            raise FormulaError(
                f"{ast.unparse(node)}: write a number in the base with a decimal point, as in 2.0, "
                "so that negative powers are fractions"
            )


def _is_whole(node: ast.expr) -> bool:
    """Whether an expression consists of whole numbers by its form; variables never do."""
    match node:
        case ast.Compare() | ast.Constant(int()):
            return True
        case ast.UnaryOp(_, inner) | ast.Call(ast.Name("I"), [inner]):
            return _is_whole(inner)
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() | ast.Pow(), right):
            return _is_whole(left) and _is_whole(right)
        case ast.Call(ast.Name("where") | ast.Attribute(attr="where"), [_, left, right]):
            return _is_whole(left) and _is_whole(right)
    return False


def _is_boolean(node: ast.expr) -> bool:
    match node:
        case ast.Compare() | ast.Constant(bool()):
            return True
        case ast.Call(ast.Name("I"), [inner]):
            return _is_boolean(inner)
        case ast.BinOp(left, ast.Add() | ast.Mult(), right):
            return _is_boolean(left) and _is_boolean(right)
    return False


def _read_comparison(left, operator, right, reading: Reading) -> None:
    """Check one comparison; only == and != reach the levels of a categorical."""
    if isinstance(operator, ast.Eq | ast.NotEq):
        for node, other in ((left, right), (right, left)):
            name = _variable(node, reading)
            if name is not None and _is_constant(other):
                reading.compared.setdefault(name, []).append(ast.literal_eval(other))
                return
    elif not isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        raise FormulaError(f"{reading.code}: expected one of < <= > >= == != to compare")
    _read_value(left, reading)
    _read_value(right, reading)


def _is_constant(node: ast.expr) -> bool:
    match node:
        case ast.Constant() | ast.UnaryOp(ast.USub(), ast.Constant(int() | float())):
            return True
    return False


def _read_call(node: ast.Call, reading: Reading) -> None:
    name = _function(node)
    reading.called.add(ast.unparse(node.func).split(".")[0])
    if name in LEARNERS:
        _read_learner(name, node, reading)
        return
    arity = FUNCTIONS[name].arity if name in FUNCTIONS else (1,)
    if node.keywords or len(node.args) not in arity:
        counts = " or ".join(map(str, arity))
        raise FormulaError(f"{ast.unparse(node)}: expected {counts} unnamed argument(s)")
    for argument in node.args:
        _read_value(argument, reading)


def _function(node: ast.Call) -> str:
    """The allowed function a call names: np.log, log, I, center, ..."""
    match node.func:
        case ast.Attribute(ast.Name("np"), name) if name in FUNCTIONS:
            return name
        case ast.Name(name) if name == "I" or name in FUNCTIONS or name in LEARNERS:
            return name
        case ast.Name("C"):
            raise FormulaError(f"{ast.unparse(node)}: C() must stand alone, joined by + : or *")
        case ast.Attribute(_, name) | ast.Name(name):
            raise FormulaError(unknown_function(node, name, [*sorted(FUNCTIONS), *LEARNERS]))
    raise FormulaError(refusal(node.func))


def _read_learner(name: str, node: ast.Call, reading: Reading) -> None:
    """Check center(x), standardize(x), bs(x, df=4), ...: one expression, literal options."""
    options = {keyword.arg: keyword.value for keyword in node.keywords}
    if name in SPLINES and len(node.args) == 2 and "df" not in options:
        options["df"] = node.args[1]
    elif len(node.args) != 1:
        raise FormulaError(f"{ast.unparse(node)}: expected {name}(x) with options by name")
    for option, value in options.items():
        if option not in LEARNERS[name]:
            allowed = ", ".join(sorted(LEARNERS[name])) or "no options"
            raise FormulaError(f"{ast.unparse(node)}: {name}() takes {allowed}, not {option}=")
        if option == "constraints" and _literal(value) != "center":
            raise FormulaError(f"{ast.unparse(node)}: expected constraints='center'")
        _literal(value)
    _read_value(node.args[0], reading)
    if name in SPLINES:
        reading.splined |= set(read(ast.unparse(node.args[0])).variables)


def _read_c(node: ast.Call, reading: Reading) -> None:
    """Check C(x), C(x, Treatment("b")), C(x, Sum, levels=["a", "b"])."""
    variable = _variable(node.args[0], reading) if node.args else None
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
    levels = _literal(node)
    if isinstance(levels, list | tuple) and all(
        isinstance(level, str | int | float) for level in levels
    ):
        return tuple(levels)
    raise FormulaError(f"{reading.code}: expected levels=[...] of strings or numbers")


def _read_contrast(node: ast.expr, reading: Reading) -> None:
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
        _literal(argument)


def _literal(node: ast.expr):
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise FormulaError(f"expected a constant instead of {ast.unparse(node)}") from None
