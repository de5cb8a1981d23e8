"""Compute sound ranges of expressions when each variable lies in its range."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

Interval = tuple  # (low, high), floats or arrays (k,) for a term of k columns
UNDEFINED = (np.nan, np.nan)


@dataclass(frozen=True)
class Function:
    """Pair a row-by-row function with the range of its values over given ranges.

    `call` takes arrays and `image` intervals; `arity` holds the numbers of arguments allowed.
    """

    call: Callable
    image: Callable
    arity: tuple[int, ...] = (1,)


def _corners(f, a: Interval, b: Interval) -> Interval:
    """Compute the range of a function that is monotone in each argument separately."""
    values = [f(x, y) for x in a for y in b]
    return np.minimum.reduce(values), np.maximum.reduce(values)


def _even(f, a: Interval) -> Interval:
    """Compute the range of f, which falls on the negative half-line and is symmetric."""
    ends = f(a[0]), f(a[1])
    holds_zero = (a[0] <= 0) & (a[1] >= 0)
    return np.where(holds_zero, f(0.0), np.minimum(*ends)), np.maximum(*ends)


def _wave(f, top, a: Interval) -> Interval:
    """Compute the range of a sine or cosine whose maximum is at `top` (modulo 2 pi)."""

    def holds(point):
        """Tell whether the interval holds the point, modulo 2 pi."""
        turns = [(end - point) / (2 * np.pi) for end in a]
        return np.floor(turns[1]) >= np.ceil(turns[0])

    ends = f(a[0]), f(a[1])
    low = np.where(holds(top + np.pi), -1.0, np.minimum(*ends))
    high = np.where(holds(top), 1.0, np.maximum(*ends))
    return low + 0 * ends[0], high + 0 * ends[1]  # NaN at an infinite end stays NaN


def _increasing(f, *arguments: Interval) -> Interval:
    """Compute the range of a function that increases in each argument."""
    return tuple(f(*ends) for ends in zip(*arguments, strict=True))


def _hull(_condition, a: Interval, b: Interval) -> Interval:
    """Compute the range of where(condition, a, b)."""
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])


def _round(x, decimals=0):
    """Round to a number of decimals."""
    return np.round(np.asarray(x, dtype=np.float64), int(decimals))


def _add(a: Interval, b: Interval) -> Interval:
    """Compute the range of a sum."""
    return a[0] + b[0], a[1] + b[1]


def _subtract(a: Interval, b: Interval) -> Interval:
    """Compute the range of a difference."""
    return a[0] - b[1], a[1] - b[0]


def multiply(a: Interval, b: Interval) -> Interval:
    """Compute the range of the product of two independent quantities."""
    return _corners(np.multiply, a, b)


def _divide(a: Interval, b: Interval) -> Interval:
    """Compute the range of a quotient; NaN where the divisor can be 0."""
    low, high = _corners(np.divide, a, b)
    hole = np.where((b[0] <= 0) & (b[1] >= 0), np.nan, 0.0)
    return low + hole, high + hole


def _power(base: Interval, exponent: Interval) -> Interval:
    """Compute the range of a power."""
    fixed = np.ndim(exponent[0]) == 0 and exponent[0] == exponent[1]
    if not (fixed and exponent[0] == np.round(exponent[0])):
        # a negative base has no real power; otherwise monotone in base and in exponent
        return _corners(np.power, base, exponent) if np.all(base[0] >= 0) else UNDEFINED
    k = exponent[0]
    if k < 0:
        return _divide((1.0, 1.0), _power(base, (-k, -k)))
    if k % 2 == 0:
        return _even(lambda x: np.power(x, k), base)
    return np.power(base[0], k), np.power(base[1], k)


def _float(ufunc):
    """Fix a NumPy function to double precision."""
    # a comparison is Boolean, and NumPy would take its logarithm in half precision
    return partial(ufunc, dtype=np.float64)


_MONOTONE = "log log2 log10 log1p exp expm1 sqrt cbrt arctan arcsinh tanh sign floor ceil".split()

FUNCTIONS: dict[str, Function] = {
    **{
        name: Function(_float(getattr(np, name)), partial(_increasing, getattr(np, name)))
        for name in _MONOTONE
    },
    "abs": Function(_float(np.abs), partial(_even, np.abs)),
    "square": Function(_float(np.square), partial(_even, np.square)),
    "sin": Function(_float(np.sin), partial(_wave, np.sin, np.pi / 2)),
    "cos": Function(_float(np.cos), partial(_wave, np.cos, 0.0)),
    "minimum": Function(_float(np.minimum), partial(_increasing, np.minimum), (2,)),
    "maximum": Function(_float(np.maximum), partial(_increasing, np.maximum), (2,)),
    "clip": Function(_float(np.clip), partial(_increasing, np.clip), (3,)),
    "where": Function(np.where, _hull, (3,)),
    "round": Function(_round, partial(_increasing, _round), (1, 2)),
}

_OPERATORS = {
    ast.Add: _add,
    ast.Sub: _subtract,
    ast.Mult: multiply,
    ast.Div: _divide,
    ast.Pow: _power,
}


def interval(code: str, ranges: Mapping[str, Interval], learned: Mapping = {}) -> Interval:
    """Compute the range of an expression over the box of its variables' ranges.

    Parameters
    ----------
    code : an expression that passed the allow-list of `dpstats.formula.expressions.allow_list`
    ranges : (low, high) of each numeric variable
    learned : transforms with public constants, called as `name.transform(x, ...)`; each has
        `image(low, high)`

    Returns
    -------
    (low, high), floats, or arrays (k,) when a transform has k columns. Wide but sound: a
    variable that occurs twice counts as two. Not finite where the expression is unbounded,
    or undefined somewhere in the box.

    >>> interval("x**2 - np.exp(z)", {"x": (-1.0, 2.0), "z": (0.0, 0.0)})
    (-1.0, 3.0)
    """
    ranges = {name: (float(low), float(high)) for name, (low, high) in ranges.items()}
    with np.errstate(all="ignore"):
        low, high = _walk(ast.parse(code, mode="eval").body, ranges, learned)
    return (float(low), float(high)) if np.ndim(low) == 0 else (low, high)


def _walk(node: ast.expr, ranges: Mapping, learned: Mapping) -> Interval:
    """Compute the range of a node of the expression's tree."""
    match node:
        case ast.Constant(int() | float() as value):
            return float(value), float(value)
        case ast.Name(name):
            return ranges[name]
        case ast.Compare():
            return 0.0, 1.0
        case ast.UnaryOp(ast.USub(), operand):
            low, high = _walk(operand, ranges, learned)
            return -high, -low
        case ast.UnaryOp(_, operand):
            return _walk(operand, ranges, learned)
        case ast.BinOp(left, operator, right):
            sides = _walk(left, ranges, learned), _walk(right, ranges, learned)
            return _OPERATORS[type(operator)](*sides)
        case ast.Call():
            return _call(node, ranges, learned)
    raise AssertionError(f"{type(node).__name__} is not on the allow-list")


def _call(node: ast.Call, ranges: Mapping, learned: Mapping) -> Interval:
    """Compute the range of a function call."""
    arguments = node.args
    match node.func:
        case ast.Name("Q"):
            return ranges[ast.literal_eval(arguments[0])]
        case ast.Name("I"):
            return _walk(arguments[0], ranges, learned)
        case ast.Attribute(ast.Name(owner), "transform") if owner in learned:
            rest = [ast.literal_eval(part) for part in arguments[1:]]
            options = {str(option.arg): ast.literal_eval(option.value) for option in node.keywords}
            return learned[owner].image(*_walk(arguments[0], ranges, learned), *rest, **options)
        case ast.Name(name) | ast.Attribute(_, name):
            return FUNCTIONS[name].image(*[_walk(part, ranges, learned) for part in arguments])
    raise AssertionError("the allow-list has calls of names and of attributes only")
