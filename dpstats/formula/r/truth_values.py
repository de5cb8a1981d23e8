"""Write columns that are true or false as 1 and 0 where an expression of R computes with them."""

import ast
from collections.abc import Collection

from dpstats.formula.expressions.allow_list import LEARNERS
from dpstats.formula.expressions.operators import is_constant


def with_numbers(code: str, names: Collection[str]) -> str:
    """Write an expression, in Python as it is translated from R, without truth values as numbers.

    A column by itself stays, as one that is compared with a constant and one in a function that
    learns from ranges.

    >>> with_numbers("(100.0 * Q('b'))", {"b"})
    "100.0 * (1.0 * (Q('b') == True))"
    >>> with_numbers("Q('b')", {"b"}), with_numbers("(Q('b') == True)", {"b"})
    ("Q('b')", "(Q('b') == True)")
    """
    tree = ast.parse(code, mode="eval")
    if _column(tree.body) is not None:
        return code
    numbers = _Numbers(names)
    written = numbers.visit(tree)
    return ast.unparse(written) if numbers.found else code


def _column(node: ast.expr) -> str | None:
    """Return the column that a node names, Q('b')."""
    match node:
        case ast.Call(ast.Name("Q"), [ast.Constant(str(name))]):
            return name
    return None


class _Numbers(ast.NodeTransformer):
    """Replace columns by numbers, and tell whether there were some."""

    def __init__(self, names: Collection[str]):
        self._names, self.found = names, False

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Leave the comparison of a column with a constant."""
        match node:
            case ast.Compare(left, [ast.Eq() | ast.NotEq()], [right]):
                sides = (left, right), (right, left)
                if any(_column(one) is not None and is_constant(other) for one, other in sides):
                    return node
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace a column."""
        if (name := _column(node)) is not None:
            if name not in self._names:
                return node
            self.found = True
            return ast.parse(f"1.0 * (Q({name!r}) == True)", mode="eval").body
        if isinstance(node.func, ast.Name) and node.func.id in LEARNERS:
            return node
        return self.generic_visit(node)
