"""Translate expressions of R into Python of the allow-list."""

import math
from datetime import datetime

from dpstats.errors import FormulaError
from dpstats.formula.r.factor import FACTORS, Coding, factor
from dpstats.formula.r.tree import Call, Infix, Name, Node, Number, Paren, Prefix, Text, constants

_FUNCTIONS = {
    "abs": "np.abs",
    "asinh": "np.arcsinh",
    "atan": "np.arctan",
    "ceiling": "np.ceil",
    "cos": "np.cos",
    "exp": "np.exp",
    "expm1": "np.expm1",
    "floor": "np.floor",
    "log": "np.log",
    "log10": "np.log10",
    "log1p": "np.log1p",
    "log2": "np.log2",
    "round": "np.round",
    "sign": "np.sign",
    "sin": "np.sin",
    "sqrt": "np.sqrt",
    "tanh": "np.tanh",
}
_AS_NUMBER = ("as.numeric", "as.double")
_INSTEAD = {
    "bs": "poly(x, 3), or columns made with public knots",
    "cut": "comparisons such as I(x > 3), or a factor made with public breaks",
    "is.na": "a factor in which missing is a level, for rows with a missing value are left out",
    "diff": "a column made before the call",
    "lag": "a column made before the call",
    "max": "pmax(a, b)",
    "mean": "I(x - a) with a public a",
    "min": "pmin(a, b)",
    "ns": "poly(x, 3), or columns made with public knots",
    "s": "poly(x, 3)",
    "scale": "I((x - a) / b) with public a and b",
}


def translate(node: Node) -> tuple[str, Coding]:
    """Translate one variable of a formula, and say how it is coded should it be a factor.

    >>> from dpstats.formula.r.syntax import parse
    >>> translate(parse("log(x, 2) * I(k^2)"))[0]
    "((np.log(Q('x')) / 0.6931471805599453) * (Q('k') ** 2.0))"
    >>> code, coding = translate(parse("relevel(g, ref = 'b')"))
    >>> code, coding.contrast, coding.reference
    ("C(Q('g'))", 'treatment', 'b')
    """
    node = _unwrapped(node)
    if isinstance(node, Call) and node.function in FACTORS:
        return factor(node)
    if isinstance(node, Call) and node.function in _AS_NUMBER:
        inner = _unwrapped(node.matched("x")["x"])
        # the type of the column decides what its number is
        return _number(inner), Coding(as_number=isinstance(inner, Name))
    if isinstance(node, Call) and node.function == "poly":
        return _polynomial(node), Coding()
    return _any(node), Coding()


def condition_in_python(node: Node) -> str:
    """Translate a condition on one row.

    >>> from dpstats.formula.r.syntax import parse
    >>> condition_in_python(parse("age > 25 & !member"))
    "((Q('age') > 25.0) * ((Q('member') == True) == False))"
    """
    return _truth(node)


def _unwrapped(node: Node) -> Node:
    """Take off the parentheses and the I() around an expression."""
    while isinstance(node, Paren) or (isinstance(node, Call) and node.function == "I"):
        node = node.inner if isinstance(node, Paren) else node.matched("x")["x"]
    return node


def _any(node: Node) -> str:
    """Translate a numeric or a truth value."""
    return _truth(node) if _is_truth(node) else _number(node)


def _is_truth(node: Node) -> bool:
    """Tell whether an expression is a truth value."""
    match node:
        case Paren(inner) | Call("I", ((_, inner),)):
            return _is_truth(inner)
        case Infix("<" | "<=" | ">" | ">=" | "==" | "!=" | "&" | "&&" | "|" | "||" | "%in%"):
            return True
        case Prefix("!") | Name("TRUE" | "FALSE"):
            return True
    return False


def _number(node: Node) -> str:
    """Translate a numeric value; a truth value counts as 0 or 1, as in R."""
    if _is_truth(node):
        return f"(1.0 * {_truth(node)})"
    match node:
        case Name(text):
            return f"Q({text!r})"
        case Number():
            return repr(node.value)
        case Paren(inner):
            return _number(inner)
        case Prefix("-" | "+" as operator, operand):
            return f"({operator}{_number(operand)})"
        case Infix("+" | "-" | "*" | "/" as operator, left, right):
            return f"({_number(left)} {operator} {_number(right)})"
        case Infix("^", left, right):
            return f"({_number(left)} ** {_number(right)})"
        case Infix("%/%", left, right):
            return f"np.floor({_number(left)} / {_number(right)})"
        case Call():
            return _call(node)
        case Text():
            raise FormulaError(f'{node}: a string may only be compared, as in I(g == "b")')
        case Infix(operator) if operator.startswith("%"):
            raise FormulaError(f"{node}: there is no {operator} here; compute the column first")
    raise FormulaError(f"{node} is no value of one row; compute the column first")


def _truth(node: Node) -> str:
    """Translate a truth value."""
    match node:
        case Name("TRUE" | "FALSE" as text):
            return text.title()
        case Name(text):
            return f"(Q({text!r}) == True)"
        case Paren(inner) | Call("I", ((_, inner),)):
            return _truth(inner)
        case Prefix("!", operand):
            return f"({_truth(operand)} == False)"
        case Infix("&" | "&&", left, right):
            return f"({_truth(left)} * {_truth(right)})"
        case Infix("|" | "||", left, right):
            return f"({_truth(left)} + {_truth(right)})"
        case Infix("%in%", left, right):
            values = constants(right)
            return f"({' + '.join(_comparison(left, '==', value) for value in values)})"
        case Infix("<" | "<=" | ">" | ">=" | "==" | "!=" as operator, left, right):
            return _comparison(left, operator, right)
        case Call():
            _call(node)  # raises for a function that is not known
    raise FormulaError(f"{node} is neither TRUE nor FALSE; write a comparison such as x > 3")


def _comparison(left: Node, operator: str, right: Node) -> str:
    """Translate a comparison."""
    if operator not in ("==", "!=") and (isinstance(left, Text) or isinstance(right, Text)):
        raise FormulaError(
            f"{left} {operator} {right}: a text is equal to a level or is not; list the levels, as "
            'in g %in% c("a", "b"), and compare a date with as.Date() of a text'
        )
    return f"({_compared(left)} {operator} {_compared(right)})"


def _compared(node: Node) -> str:
    """Translate one side of a comparison, which may be a string."""
    return repr(node.value) if isinstance(node, Text) else _any(node)


def _call(node: Call) -> str:
    """Translate a function call."""
    match node.function:
        case "I" | "as.numeric" | "as.double":
            return _number(node.matched("x")["x"])
        case "as.Date":
            return _days(node)
        case "as.integer" | "trunc":
            return _whole_part(node.matched("x")["x"])
        case "log":
            return _logarithm(node)
        case "ifelse":
            test, yes, no = node.matched("test", "yes", "no").values()
            return f"np.where({_truth(test)}, {_number(yes)}, {_number(no)})"
        case "pmin" | "pmax" as name:
            return _nested("np.minimum" if name == "pmin" else "np.maximum", node)
        case "round":
            arguments = node.matched("x", "digits", needed=1)
            return f"np.round({', '.join(map(_number, arguments.values()))})"
        case name if name in _FUNCTIONS:
            return f"{_FUNCTIONS[name]}({_number(node.matched('x')['x'])})"
    raise FormulaError(_unknown(node))


def _days(node: Call) -> str:
    """Translate as.Date() of a text to the number of days since 1970, which dates of R are."""
    text = node.matched("x")["x"]
    try:
        day = datetime.strptime(text.value if isinstance(text, Text) else "", "%Y-%m-%d")
    except ValueError:
        raise FormulaError(f'{node}: expected as.Date() of a text such as "2020-01-31"') from None
    return repr(float((day - datetime(1970, 1, 1)).days))


def _polynomial(node: Call) -> str:
    """Translate poly(x, degree, raw = TRUE), which stands alone and has a column per power."""
    arguments = node.matched("x", "degree", "raw", needed=1)
    if not isinstance(arguments["x"], Name):
        raise FormulaError(
            f"{node}: expected poly(x, degree) of one column; make the column {arguments['x']} "
            "before the call"
        )
    degree, raw = arguments.get("degree", Number("1")), arguments.get("raw", Name("FALSE"))
    if not isinstance(degree, Number) or degree.value != int(degree.value):
        raise FormulaError(f"{node}: expected a whole number as the degree, as in poly(x, 2)")
    if raw not in (Name("TRUE"), Name("FALSE")):
        raise FormulaError(
            f"{node}: expected poly(x, degree) of one column, and raw to be TRUE or FALSE"
        )
    code = f"poly({_number(arguments['x'])}, {int(degree.value)}"
    return code + (", raw=True)" if raw == Name("TRUE") else ")")


def _whole_part(node: Node) -> str:
    """Translate a number without its decimals."""
    if _is_truth(node):
        return _number(node)
    code = _number(node)
    return f"np.where({code} < 0, np.ceil({code}), np.floor({code}))"


def _unknown(node: Call) -> str:
    """Write the message for a function that is not allowed."""
    if node.function in FACTORS:
        return f"{node}: a factor stands alone, joined by + : or *"
    if node.function == "poly":
        return f"{node}: a polynomial stands alone, joined by + : or *"
    if node.function == "interaction":
        factors = [str(value) for name, value in node.arguments if name is None]
        crossed, cells = " * ".join(factors), ":".join(factors)
        return (
            f"{node}: write {crossed} for the same fit, or {cells} - 1 for a coefficient of each "
            "combination of levels"
        )
    if node.function == "offset":
        return f"{node}: subtract it from the response, as in I(y - z) ~ x"
    if node.function in _INSTEAD:
        return (
            f"{node} does not follow from one row and public facts alone; write "
            f"{_INSTEAD[node.function]}"
        )
    known = sorted({*_FUNCTIONS, "factor", "I", "ifelse", "pmax", "pmin", "poly", "relevel"})
    return (
        f"{node.function}() is not known; use one of {', '.join(known)}, or make the column first"
    )


def _logarithm(node: Call) -> str:
    """Translate log(x) or log(x, base)."""
    arguments = node.matched("x", "base", needed=1)
    code = f"np.log({_number(arguments['x'])})"
    base = arguments.get("base")
    if base is None or base == Call("exp", ((None, Number("1")),)):
        return code
    if not isinstance(base, Number) or base.value <= 0 or base.value == 1:
        raise FormulaError(
            f"{node}: expected a number > 0 other than 1 as the base of the logarithm, as in "
            f"log({arguments['x']}, 10), or none for exp(1)"
        )
    return f"({code} / {math.log(base.value)!r})"


def _nested(name: str, node: Call) -> str:
    """Translate pmin() or pmax() of several values to nested calls."""
    values = [_number(value) for key, value in node.arguments if key is None]
    if len(values) < 2 or len(values) < len(node.arguments):
        raise FormulaError(f"{node}: expected two or more values without names")
    code = values[0]
    for value in values[1:]:
        code = f"{name}({code}, {value})"
    return code
