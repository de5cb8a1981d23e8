"""Evaluate analytic expressions, of which a sum that is 0 at enough points is 0 everywhere."""

import ast
from collections.abc import Mapping

import numpy as np

from dpstats.formula.expressions.polynomials import Polynomials

_LARGE = 1e300  # what is larger may be no float
_OPERATORS = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}


class _Unknown(Exception):
    """Tell that an expression is not on the list here."""


def analytic(code: str, numbers: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Evaluate an expression of arithmetic, whole powers, logarithms and what learns a mean.

    Parameters
    ----------
    code : an expression that passed the allow-list of `dpstats.formula.expressions.allow_list`
    numbers : mapping of str to array (m,)
        Variables that are numbers, at points where none is 0.

    Returns
    -------
    array (m,), or (m, k) of a polynomial, or None
        NaN where there is no value; what center(), scale() and poly() learn is learned of these
        points. None for another expression, as one of levels, absolute values or splines.

    Notes
    -----
    A weighted sum of such functions that is 0 at many points is 0 wherever it has a value. That
    does not hold of roots of squares, which are absolute values: so other powers are evaluated of
    one variable alone, which has none where it is negative, and exp(), by which log() makes roots,
    is not evaluated.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 4.0])
    >>> analytic("I(2 * x + 1)", {"x": x}), analytic("center(np.log2(x))", {"x": x})
    (array([3., 5., 9.]), array([-1.,  0.,  1.]))
    >>> analytic("np.abs(x)", {"x": x}), analytic("(x > 3) * x", {"x": x})
    (None, None)
    """
    try:
        return _walk(ast.parse(code, mode="eval").body, numbers)
    except _Unknown:
        return None


def _walk(node: ast.expr, numbers: Mapping) -> np.ndarray:
    """Evaluate a node of the expression's tree."""
    match node:
        case ast.Constant(int() | float() as value) if abs(value) < _LARGE:
            return np.array(float(value))
        case ast.Name(name) | ast.Call(ast.Name("Q"), [ast.Constant(name)]) if name in numbers:
            return numbers[name]
        case ast.Call(ast.Name("I"), [inner]) | ast.UnaryOp(ast.UAdd(), inner):
            return _walk(inner, numbers)
        case ast.UnaryOp(ast.USub(), inner):
            return -_walk(inner, numbers)
        case ast.BinOp(base, ast.Pow(), exponent) if not _is_analytic(base, exponent):
            raise _Unknown
        case ast.BinOp(left, operator, right):
            return _OPERATORS[type(operator)](_walk(left, numbers), _walk(right, numbers))
        case ast.Call(ast.Name(name) | ast.Attribute(_, name), [inner, *_]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_walk(inner, numbers), *_constants(node))
    raise _Unknown


def _is_analytic(base: ast.expr, exponent: ast.expr) -> bool:
    """Tell whether a power is of a whole number, or of one variable."""
    try:
        power = float(ast.literal_eval(exponent))
    except (ValueError, TypeError, OverflowError):
        return False
    match base:
        case ast.Name() | ast.Call(ast.Name("Q")):
            return True
    return power.is_integer()


def _constants(call: ast.Call) -> list:
    """Return what follows the first argument of a function, such as a degree."""
    found = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    degree = [ast.literal_eval(argument) for argument in call.args[1:]]
    if not found.keys() <= {"degree", "raw"}:
        raise _Unknown
    return [*degree, *(found[name] for name in ("degree", "raw") if name in found)]


def _centred(values: np.ndarray) -> np.ndarray:
    """Subtract the mean of the values that are known."""
    known = values[np.isfinite(values)]
    return values - known.sum() / max(known.size, 1)


def _scaled(values: np.ndarray) -> np.ndarray:
    """Divide deviations from the mean by their root mean square."""
    centred = _centred(values)
    return centred / np.sqrt(np.square(centred[np.isfinite(centred)]).sum() / max(values.size, 1))


def _polynomial(values: np.ndarray, degree: int, raw: bool = False) -> np.ndarray:
    """Compute the columns (m, degree) of poly() on the range of the values."""
    known = Polynomials()
    known.memorize_chunk(values, degree, raw)
    return known.transform(values, degree, raw)


_FUNCTIONS = {
    **{name: getattr(np, name) for name in ("log", "log2", "log10", "log1p", "square")},
    "center": _centred,
    "scale": _scaled,
    "standardize": _scaled,
    "poly": _polynomial,
}
