"""Explain what to write instead of an expression that is not allowed in a formula."""

import ast
from collections.abc import Collection

_INSTEAD = {
    "cut": "a comparison such as I(x > 3)",
    "diff": "a column made before the call",
    "factor": "C(x)",
    "ifelse": "np.where(condition, a, b)",
    "lag": "a column made before the call",
    "ln": "np.log(x)",
    "max": "np.maximum(a, b)",
    "mean": "center(x) for a distance from the middle of the range",
    "min": "np.minimum(a, b)",
    "ns": "cr(x, df=4, constraints='center')",
    "offset": "I(y - x) on the left-hand side of dp_ols, and offset= of dp_logit and dp_poisson",
    "pmax": "np.maximum(a, b)",
    "pmin": "np.minimum(a, b)",
    "pow": "x**k",
    "power": "x**k",
    "shift": "a column made before the call",
}


def unknown_function(node: ast.Call, name: str, known: Collection[str]) -> str:
    """Write the message for a call of a function that is not in `known`."""
    code, called = ast.unparse(node), ast.unparse(node.func)
    if called in (f"numpy.{name}", f"math.{name}") and name in known:
        return f"{code}: write np.{name}"
    if name in _INSTEAD:
        return f"{code}: write {_INSTEAD[name]} instead"
    if isinstance(node.func, ast.Attribute) and called != f"np.{name}":
        return refusal(node)
    allowed = ", ".join(known)
    return f"{called}() is not a known function; use one of {allowed}, or make the column first"


def refusal(node: ast.expr) -> str:
    """Write the message for a construct that is not on the allow-list."""
    code = ast.unparse(node)
    match node:
        case ast.Constant(str()):
            return f"{code}: a string may only be compared, as in I(g == 'b'), or stand in Q()"
        case ast.Attribute():
            return (
                f"{code}: write {node.attr} for a column of the data, Q({code!r}) for one of that "
                "name, or the number it stands for"
            )
        case ast.Compare():
            return f"{code}: write (1 < x) * (x < 2) for a chained comparison"
        case ast.BoolOp() | ast.IfExp() | ast.UnaryOp():
            return f"{code}: write np.where(condition, a, b), or (x > 1) * (z > 2) for 'and'"
    return (
        f"{code} is not row by row: use +, -, *, /, **, comparisons and functions such as "
        "np.log(x), or make the column first"
    )
