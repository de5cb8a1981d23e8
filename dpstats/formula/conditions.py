"""Read a condition on one row, as pandas' query() or R's subset= take it, and evaluate it.

It is translated to the expressions of formulas, so that the same allow-list holds and a row's
truth value follows from that row alone.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dpstats.errors import FormulaError, typed
from dpstats.formula.expressions import LEARNERS, Reading, read
from dpstats.formula.expressions.limits import check_length
from dpstats.formula.matrices import values_of
from dpstats.formula.r import RFormula
from dpstats.formula.r.code import condition_in_python
from dpstats.formula.r.syntax import parse
from dpstats.formula.schema_frame import NAMESPACE
from dpstats.formula.usage import check_consistent, check_kinds
from dpstats.schema import Batch, Categorical, ModelSchema

# Strings stay as they are; in what is between them pandas' signs are replaced by Python's.
_SIGNS = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|`([^`]+)`|(&&?)|(\|\|?)""")
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip

# A single sign of equality.
_ASSIGNED = re.compile(r"(?<![=<>!])=(?!=)")
# How other programs ask for rows without a missing value.
_MISSING = re.compile(
    r"\b(is\.na|complete\.cases|na\.omit|isna|notna|isnull|notnull|isnan|missing)\("
)


@dataclass(frozen=True)
class Condition:
    """Hold a condition as it was given, and as an expression of formulas.

    ``negates`` says that it holds for rows which are not equal to something.

    >>> condition = Condition.parse("age > 25 & region in ['north', 'west']")
    >>> condition.code
    "((age > 25) * ((region == 'north') + (region == 'west')))"
    """

    text: str
    code: str
    negates: bool

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """Check the text; raise FormulaError with what to write instead."""
        if not isinstance(text, str):
            raise FormulaError(
                "expected subset to be a condition such as 'age > 25', or the name of a column "
                f"that is true or false, got {typed(text)}"
            )
        if _MISSING.search(text):
            raise FormulaError(
                f"cannot read subset={text!r}: rows with a missing value in a column in use are "
                "left out anyway, so leave this out; for other columns make one that says which "
                "rows to use"
            )
        try:
            check_length(text)
            return cls._read(text)
        except FormulaError as error:
            raise FormulaError(f"cannot read subset={text!r}: {error}") from None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise FormulaError(f"cannot read subset={text!r}; {_hint(text)}") from None

    @classmethod
    def _read(cls, text: str) -> "Condition":
        """Translate the text and check it against the allow-list of formulas."""
        code = condition_in_python(parse(text)) if isinstance(text, RFormula) else _of_python(text)
        condition = cls(text, code, "!=" in code or "== False" in code)
        if condition.reading.called & LEARNERS.keys():
            raise FormulaError("a condition on one row learns nothing; compare the column")
        return condition

    @property
    def reading(self) -> Reading:
        """Return how the condition uses its variables, under the text as it was given."""
        reading = replace(read(self.code), code=self.text)
        check_consistent([reading])
        return reading

    @property
    def variables(self) -> tuple[str, ...]:
        """List the columns that it reads."""
        return tuple(self.reading.variables)

    def check(self, schema: ModelSchema) -> None:
        """Raise FormulaError where a column's kind or a constant does not suit its use.

        Constants such as 1 / 0 and differences of truth values raise without a row as with any.
        """
        check_kinds([self.reading], schema)
        no_rows = {
            name: np.zeros(0, np.int64 if isinstance(kind, Categorical) else np.float64)
            for name, kind in schema.items()
        }
        try:
            self.holds(no_rows, schema)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise FormulaError(
                f"subset={self.text!r} cannot be computed ({error}); write numbers within +-1e308 "
                "and join truth values by & | ~"
            ) from None

    def holds(self, batch: Batch, schema: ModelSchema) -> np.ndarray:
        """Tell for which rows it holds, bool (m,). Total: no value raises or warns.

        An expression without a value, such as the logarithm of a negative number, compares as
        NaN does: it is unequal to everything.
        """
        data = {name: values_of(batch[name], kind) for name, kind in schema.items()}
        names: Mapping = {**NAMESPACE, "Q": data.__getitem__, "__builtins__": {}}
        with np.errstate(all="ignore"):
            return np.asarray(eval(self.code, {**names}, data), dtype=bool)  # noqa: S307 - checked

    def levels_left_out(self, name: str, kind: Categorical) -> list:
        """List the levels of a column that a conjunct about it alone leaves out.

        >>> region = Categorical(("north", "south", "west"))
        >>> Condition.parse("age > 25 & region != 'west'").levels_left_out("region", region)
        ['west']
        """
        every = {name: np.arange(len(kind.levels))}
        kept = np.ones(len(kind.levels), dtype=bool)
        for part in _conjuncts(ast.parse(self.code, mode="eval").body):
            code = ast.unparse(part)
            if read(code).variables.keys() == {name}:
                kept &= replace(self, code=code).holds(every, {name: kind})
        return [level for level, stays in zip(kind.levels, kept, strict=True) if not stays]


def _conjuncts(node: ast.expr) -> list[ast.expr]:
    """List the conjuncts of a condition, all of which a row must meet."""
    match node:
        case ast.BinOp(left, ast.Mult(), right):
            return [*_conjuncts(left), *_conjuncts(right)]
    return [node]


def _hint(text: str) -> str:
    """Suggest what to write instead of a condition that is no expression."""
    if _ASSIGNED.search(text):
        return "write == to compare, as in 'female == 1'"
    return "write a condition such as 'age > 25 & female == 1', and `my age` for a name with blanks"


def _of_python(text: str) -> str:
    """Translate a condition as pandas' query() takes it."""
    tree = ast.parse(_SIGNS.sub(_in_python, text).strip(), mode="eval")
    if not any(isinstance(node, ast.Name) for node in ast.walk(tree)):
        raise FormulaError("it names no column; compare one with a number or a text")
    return _truth(tree.body)


def _in_python(sign: re.Match) -> str:
    """Replace one sign: a quoted name, and, or."""
    string, name, both, _ = sign.groups()
    if string:
        return string
    return f"Q({name!r})" if name else " and " if both else " or "


def _truth(node: ast.expr) -> str:
    """Translate a truth value."""
    match node:
        case ast.BoolOp(operator, parts):
            sign = " * " if isinstance(operator, ast.And) else " + "
            return f"({sign.join(map(_truth, parts))})"
        case ast.UnaryOp(ast.Not() | ast.Invert(), operand):
            return f"({_truth(operand)} == False)"
        case ast.Compare(left, operators, rights):
            sides = zip([left, *rights[:-1]], operators, rights, strict=True)
            compared = [_comparison(*side) for side in sides]
            return compared[0] if len(compared) == 1 else f"({' * '.join(compared)})"
        case ast.Name() | ast.Call(ast.Name("Q")):
            return f"({ast.unparse(node)} == True)"
    raise FormulaError(
        f"{ast.unparse(node)} is neither true nor false for a row; write a comparison such as "
        "age > 25, joined by & and |"
    )


def _comparison(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> str:
    """Translate one comparison; a list of values to several."""
    if type(operator) in _COMPARISONS:
        return f"({_side(left)} {_COMPARISONS[type(operator)]} {_side(right)})"
    if isinstance(operator, ast.In | ast.NotIn) and isinstance(right, ast.List | ast.Tuple):
        equal = [f"({_side(left)} == {_side(value)})" for value in right.elts]
        if equal:
            either = f"({' + '.join(equal)})"
            return either if isinstance(operator, ast.In) else f"({either} == False)"
    raise FormulaError(
        f"{ast.unparse(ast.Compare(left, [operator], [right]))}: expected a comparison by "
        "< <= > >= == != or a list, as in region in ['north', 'west']"
    )


def _side(node: ast.expr) -> str:
    """Translate one side of a comparison, which may be a truth value itself."""
    match node:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(ast.Not() | ast.Invert()):
            return _truth(node)
    return ast.unparse(node)
