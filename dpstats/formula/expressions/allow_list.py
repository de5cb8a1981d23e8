"""Check a term of a formula against an allow-list of Python, and record how it uses variables.

A formula can run any Python, so nothing of it is evaluated before it has been read here.
Every construct on the list gives a row's value from that row alone.
"""

import ast
import math

from dpstats.errors import FormulaError
from dpstats.formula.expressions.intervals import FUNCTIONS
from dpstats.formula.expressions.level_indicators import read_indicators
from dpstats.formula.expressions.operators import check_operator, check_power, is_constant
from dpstats.formula.expressions.reading import Reading, literal, read_category, variable_of
from dpstats.formula.expressions.refusals import refusal, unknown_function

_SCALE, _KNOTS = {"center", "rescale", "ddof"}, {"df", "knots", "lower_bound", "upper_bound"}
LEARNERS = {  # name: literal options; the constants come from the public ranges
    "center": set(),
    "standardize": _SCALE,
    "scale": _SCALE,
    "bs": _KNOTS | {"degree", "include_intercept"},
    "cr": _KNOTS | {"constraints"},
    "cc": _KNOTS | {"constraints"},
    "poly": {"degree", "raw"},
}
SPLINES = {"bs", "cr", "cc"}
_STANDS_ALONE = {"C": read_category, "i": read_indicators}
# The option that may stand in the second place without its name.
_SECOND = {**dict.fromkeys(SPLINES, "df"), "poly": "degree"}
# Polynomials of a higher degree have coefficients that no sample of use determines.
_MOST = 12
# Those of a spline, each of which has a coefficient.
_MOST_COLUMNS = 1000


def read(code: str) -> Reading:
    """Check one expression against the allow-list.

    Raises FormulaError for anything that is not on it, with what to write instead.

    >>> sorted(read("np.log(wage) * (age > 30)").numeric)
    ['age', 'wage']
    >>> read("wage.mean()")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dpstats.errors.FormulaError: wage.mean(): write center(x) ... instead
    """
    reading = Reading(code)
    node = tree_of(code)
    reading.bare = variable_of(node, reading)
    match node:
        case ast.Call(ast.Name(name)) if name in _STANDS_ALONE:
            _STANDS_ALONE[name](node, reading)
        case _ if reading.bare is None:
            _read_value(node, reading)
    if not reading.variables:
        raise FormulaError(f"{code} names no variable; write + 1 or + 0 for the intercept")
    return reading


def tree_of(code: str) -> ast.expr:
    """Parse Python code; raise FormulaError if it is no expression."""
    try:
        return ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError(
            f"cannot read {code!r} as an expression; name each predictor, join them with + and "
            "write Q('name') for a name with spaces or dots"
        ) from None


def _read_value(node: ast.expr, reading: Reading) -> None:
    """Check a numeric or Boolean expression."""
    name = variable_of(node, reading)
    if name is not None:
        reading.numeric.add(name)
        return
    match node:
        case ast.Constant(bool() | int() | float()):
            pass
        case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
            _read_value(operand, reading)
        case ast.BinOp(left, operator, right):
            check_operator(node, operator, left)
            check_power(node)
            _read_value(left, reading)
            _read_value(right, reading)
        case ast.Compare(left, [operator], [right]):
            _read_comparison(left, operator, right, reading)
        case ast.Call():
            _read_call(node, reading)
        case _:
            raise FormulaError(refusal(node))


def _read_comparison(left, operator, right, reading: Reading) -> None:
    """Check a comparison; only == and != may compare the levels of a categorical."""
    if any(isinstance(side, ast.Constant) and side.value is None for side in (left, right)):
        raise FormulaError(
            "None is equal to nothing, and rows with a missing value are left out anyway; leave "
            "the comparison with None out"
        )
    if isinstance(operator, ast.Eq | ast.NotEq):
        for node, other in ((left, right), (right, left)):
            name = variable_of(node, reading)
            if name is not None and is_constant(other):
                reading.compared.setdefault(name, []).append(ast.literal_eval(other))
                return
    elif not isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        raise FormulaError(f"{reading.code}: expected one of < <= > >= == != to compare")
    _read_value(left, reading)
    _read_value(right, reading)


def _read_call(node: ast.Call, reading: Reading) -> None:
    """Check a call of an allowed function."""
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
    """Return the allowed function that a call names: np.log, log, I, center, ..."""
    match node.func:
        case ast.Attribute(ast.Name("np"), name) if name in FUNCTIONS:
            return name
        case ast.Name(name) if name == "I" or name in FUNCTIONS or name in LEARNERS:
            return name
        case ast.Name(name) if name in _STANDS_ALONE:
            call = f"{ast.unparse(node)}: {name}()"
            raise FormulaError(f"{call} must stand alone, joined by + : or *")
        case ast.Attribute(_, name) | ast.Name(name):
            raise FormulaError(unknown_function(node, name, [*sorted(FUNCTIONS), *LEARNERS]))
    raise FormulaError(refusal(node.func))


def _read_learner(name: str, node: ast.Call, reading: Reading) -> None:
    """Check center(x), standardize(x), bs(x, df=4), ...: one expression, literal options."""
    options = {keyword.arg: keyword.value for keyword in node.keywords}
    if name in _SECOND and len(node.args) == 2 and _SECOND[name] not in options:
        options[_SECOND[name]] = node.args[1]
    elif len(node.args) != 1:
        raise FormulaError(f"{ast.unparse(node)}: expected {name}(x) with options by name")
    for option, value in options.items():
        if option not in LEARNERS[name]:
            allowed = ", ".join(sorted(LEARNERS[name])) or "no options"
            raise FormulaError(f"{ast.unparse(node)}: {name}() takes {allowed}, not {option}=")
        if option == "constraints" and literal(value) != "center":
            raise FormulaError(f"{ast.unparse(node)}: expected constraints='center'")
        _check_size(node, option, literal(value))
    if name == "poly":
        _check_polynomial(node, options, reading)
    _read_value(node.args[0], reading)
    if name in SPLINES:
        inner = read(ast.unparse(node.args[0]))
        reading.splined |= set(inner.variables)
        if {"lower_bound", "upper_bound"} <= options.keys():
            if inner.bare is not None:
                _read_span(inner.bare, options, reading)
        elif {"lower_bound", "upper_bound", "knots"} & options.keys():
            reading.placed |= set(inner.variables)


def _read_span(variable: str, options: dict, reading: Reading) -> None:
    """Record the numbers that a spline of a variable is given as ends."""
    low, high = (literal(options[option]) for option in ("lower_bound", "upper_bound"))
    if all(isinstance(end, int | float) and math.isfinite(end) for end in (low, high)):
        reading.spans.setdefault(variable, []).append((low, high))


def _check_size(node: ast.Call, option: str | None, value) -> None:
    """Refuse more columns of a spline, or a higher degree, than any sample of use determines."""
    if option not in ("df", "degree", "knots"):
        return
    most = _MOST if option == "degree" else _MOST_COLUMNS
    columns = len(value) if isinstance(value, list | tuple) else value
    if isinstance(columns, int) and columns > most:
        raise FormulaError(f"{ast.unparse(node)}: expected {option} of at most {most:,}")


def _check_polynomial(node: ast.Call, options: dict, reading: Reading) -> None:
    """Check poly(x, degree): a plain column, a degree, and whether raw powers are wanted."""
    if ast.dump(node) != ast.dump(tree_of(reading.code)):
        raise FormulaError(f"{ast.unparse(node)}: poly() must stand alone, joined by + : or *")
    degree = literal(options["degree"]) if "degree" in options else None
    raw = literal(options["raw"]) if "raw" in options else False
    if variable_of(node.args[0], Reading(reading.code)) is None:
        raise FormulaError(
            f"{ast.unparse(node)}: expected poly(x, degree) of one column; make the column "
            f"{ast.unparse(node.args[0])} before the call"
        )
    if type(degree) is not int or not 1 <= degree <= _MOST or type(raw) is not bool:
        raise FormulaError(
            f"{ast.unparse(node)}: expected a degree from 1 to {_MOST}, as in poly(x, 2), and raw "
            "to be True or False"
        )
