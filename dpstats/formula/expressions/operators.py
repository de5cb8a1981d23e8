"""Check the operators between two expressions, and tell whole numbers and truth values by form."""

import ast

from dpstats.errors import FormulaError

_BITS = 1000  # of a whole number; a double has at most 1,024
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)


def check_operator(node: ast.BinOp, operator: ast.operator, left: ast.expr) -> None:
    """Refuse operators other than + - * / ** and powers of truth values."""
    if isinstance(operator, ast.BitXor):
        power = ast.unparse(ast.BinOp(left, ast.Pow(), node.right))
        raise FormulaError(f"{ast.unparse(node)}: ^ is not a power in Python; write I({power})")
    if isinstance(operator, ast.BitAnd | ast.BitOr):
        raise FormulaError(f"{ast.unparse(node)}: write (a > 1) * (b > 2) for 'and', + for 'or'")
    if not isinstance(operator, _OPERATORS):
        raise FormulaError(f"{ast.unparse(node)}: expected one of + - * / ** between numbers")
    if isinstance(operator, ast.Pow) and is_boolean(left):
        raise FormulaError(f"{ast.unparse(node)}: a power of a comparison changes nothing; drop it")


def check_power(node: ast.BinOp) -> None:
    """Refuse whole numbers to negative powers, which NumPy computes only in some rows."""
    match node:
        case ast.BinOp(base, ast.Pow(), ast.Constant(int(power))) if power >= 0:
            if _is_whole(base) and _bits(base) * power > _BITS:
                raise FormulaError(f"{ast.unparse(node)} is too large; expected less than 1e300")
            return
        case ast.BinOp(base, ast.Pow(), power) if _is_whole(base) and _is_whole(power):
            raise FormulaError(
                f"{ast.unparse(node)}: write a number in the base with a decimal point, as in 2.0, "
                "so that negative powers are fractions"
            )


def _is_whole(node: ast.expr) -> bool:
    """Tell whether an expression consists of whole numbers by its form; variables never do."""
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


def _bits(node: ast.expr) -> int:
    """Bound the binary digits of a whole number."""
    match node:
        case ast.Constant(int(value)):
            return value.bit_length()
        case ast.UnaryOp(_, inner) | ast.Call(ast.Name("I"), [inner]):
            return _bits(inner)
        case ast.BinOp(left, ast.Mult(), right):
            return _bits(left) + _bits(right)
        case ast.BinOp(left, ast.Pow(), ast.Constant(int(power))):
            return _bits(left) * power
        case ast.BinOp(left, _, right) | ast.Call(_, [_, left, right]):
            return max(_bits(left), _bits(right)) + 1
    return 1


def is_boolean(node: ast.expr) -> bool:
    """Tell whether an expression is a truth value by its form."""
    match node:
        case ast.Compare() | ast.Constant(bool()):
            return True
        case ast.Call(ast.Name("I"), [inner]):
            return is_boolean(inner)
        case ast.BinOp(left, ast.Add() | ast.Mult(), right):
            return is_boolean(left) and is_boolean(right)
    return False


def is_constant(node: ast.expr) -> bool:
    """Tell whether an expression is a constant, which may be negative."""
    match node:
        case ast.Constant() | ast.UnaryOp(ast.USub(), ast.Constant(int() | float())):
            return True
    return False
