"""Represent an expression of R as a tree, and write it as R's deparse does."""

import re
from dataclasses import dataclass

from dpstats.errors import FormulaError

_TIGHT = ("^", ":", "/", "%/%", "%%")  # written without spaces around them
_SYNTACTIC = re.compile(r"(?:[^\W\d_]|\.(?!\d))[\w.]*")
_LONGEST = 500  # range from:to
_DIGITS = re.compile(r"^(?:[0.]*)(?:\.?\d){16}")  # more than R writes of a number
ESCAPES = {"\\": "\\", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_RESERVED = "if else repeat while function for next break NULL Inf NaN NA in".split()


@dataclass(frozen=True)
class Name:
    """Represent a variable, or TRUE and FALSE."""

    text: str

    def __str__(self) -> str:
        is_syntactic = _SYNTACTIC.fullmatch(self.text) and self.text not in _RESERVED
        return self.text if is_syntactic else _quoted(self.text, "`")


@dataclass(frozen=True)
class Number:
    """Represent a number as it was written, but for the L of 2L, which R's names leave out."""

    text: str

    @property
    def value(self) -> float:
        """Convert the number to a float."""
        return float(str(self))

    def __str__(self) -> str:
        return self.text.rstrip("L")


@dataclass(frozen=True)
class Text:
    """Represent a string."""

    value: str

    def __str__(self) -> str:
        return _quoted(self.value, '"')


@dataclass(frozen=True)
class Paren:
    """Represent parentheses, which R keeps."""

    inner: "Node"

    def __str__(self) -> str:
        return f"({self.inner})"


@dataclass(frozen=True)
class Prefix:
    """Represent one of - + ! before an expression."""

    operator: str
    operand: "Node"

    def __str__(self) -> str:
        return f"{self.operator}{self.operand}"


@dataclass(frozen=True)
class Infix:
    """Represent an operator between two expressions."""

    operator: str
    left: "Node"
    right: "Node"

    def __str__(self) -> str:
        space = "" if self.operator in _TIGHT else " "
        return f"{self.left}{space}{self.operator}{space}{self.right}"


@dataclass(frozen=True)
class Call:
    """Represent a call; ``arguments`` are pairs of a name, or None, and a value."""

    function: str
    arguments: tuple[tuple[str | None, "Node"], ...]

    def __str__(self) -> str:
        parts = [str(v) if name is None else f"{name} = {v}" for name, v in self.arguments]
        return f"{self.function}({', '.join(parts)})"

    def matched(self, *names: str, needed: int | None = None) -> dict[str, "Node"]:
        """Match the arguments to names as R does: all of them, or at least the first few.

        >>> Call("log", (("base", Number("2")), (None, Name("x")))).matched("x", "base")
        {'x': Name(text='x'), 'base': Number(text='2')}
        """
        matched = {name: value for name, value in self.arguments if name is not None}
        free = [name for name in names if name not in matched]
        unnamed = [value for name, value in self.arguments if name is None]
        matched |= dict(zip(free, unnamed, strict=False))
        missing, unknown = {*names[:needed]} - {*matched}, {*matched} - {*names}
        if len(self.arguments) != len(matched) or missing or unknown:
            raise FormulaError(f"{self}: expected {self.function}({', '.join(names)})")
        return {name: matched[name] for name in names if name in matched}


def _quoted(text: str, quote: str) -> str:
    """Write a string or a name in quotes, with the escapes that it needs.

    >>> print(_quoted('a "b"', "`"), _quoted('a "b"', '"'))
    `a "b"` "a \\"b\\""
    """
    written = {character: f"\\{letter}" for letter, character in ESCAPES.items()}
    return quote + text.translate(str.maketrans(written | {quote: f"\\{quote}"})) + quote


Node = Name | Number | Text | Paren | Prefix | Infix | Call


def summed(left: Node, right: Node) -> Node:
    """Add two parts of a formula, in parentheses what does not bind as tightly as +.

    >>> print(summed(Name("x"), Infix(">", Name("z"), Number("10"))))
    x + (z > 10)
    """
    return Infix("+", _summand(left), _summand(right))


def _summand(node: Node) -> Node:
    """Write a comparison, or one that is joined to others or denied, in parentheses."""
    match node:
        case Infix("+" | "-" as operator, left, right):
            return Infix(operator, left, _summand(right))
        case Infix("<" | "<=" | ">" | ">=" | "==" | "!=" | "&" | "&&" | "|" | "||") | Prefix("!"):
            return Paren(node)
    return node


def named(node: Node) -> str:
    """Write an expression as R names it, whose numbers have 15 digits whatever it computes with.

    >>> named(Infix("-", Name("x"), Number("0.33333333333333331")))
    'x - 0.333333333333333'
    """
    return str(_shortened(node))


def _shortened(node: Node) -> Node:
    """Replace numbers of more than 15 digits by what R writes for them."""
    match node:
        case Number():
            return Number(_in_fifteen_digits(node)) if _DIGITS.search(node.text) else node
        case Paren(inner):
            return Paren(_shortened(inner))
        case Prefix(operator, operand):
            return Prefix(operator, _shortened(operand))
        case Infix(operator, left, right):
            return Infix(operator, _shortened(left), _shortened(right))
        case Call(function, arguments):
            return Call(function, tuple((name, _shortened(value)) for name, value in arguments))
    return node


def _in_fifteen_digits(number: Number) -> str:
    """Write a number as R does, plainly where that is no longer than with an exponent.

    >>> [_in_fifteen_digits(Number(text)) for text in ("0.30000000000000004", "100000.00000000001")]
    ['0.3', '1e+05']
    >>> _in_fifteen_digits(Number("9007199254740992"))
    '9007199254740992'
    """
    mantissa, exponent = f"{number.value:.14e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".")
    decimals = max(len(mantissa.replace(".", "")) - 1 - int(exponent), 0)
    plain, scientific = f"{number.value:.{decimals}f}", f"{mantissa}e{exponent}"
    return plain if len(plain) <= len(scientific) else scientific


def constants(node: Node) -> list[Node]:
    """List the constants of c(...), a single one, or the whole numbers of from:to.

    >>> [literal(value) for value in constants(Call("c", ((None, Number("1")), (None, Text("a")))))]
    [1, 'a']
    >>> [literal(value) for value in constants(Infix(":", Number("3"), Number("1")))]
    [3, 2, 1]
    """
    values: list[Node] = [node]
    if isinstance(node, Call):
        values = [value for _, value in node.arguments]
    if (isinstance(node, Call) and node.function != "c") or not values:
        raise FormulaError(f"{node}: expected constants, as in c(1, 2) or c('a', 'b')")
    values = [constant for value in values for constant in _spanned(value)]
    for value in values:
        literal(value)
    return values


def _spanned(node: Node) -> list[Node]:
    """List the whole numbers of from:to; what is no range stays as it is."""
    if not (isinstance(node, Infix) and node.operator == ":"):
        return [node]
    first, last = literal(node.left), literal(node.right)
    if type(first) is not int or type(last) is not int or abs(last - first) >= _LONGEST:
        raise FormulaError(f"{node}: expected a range of at most {_LONGEST} whole numbers, as 1:4")
    step = 1 if last >= first else -1
    return [Number(str(value)) for value in range(first, last + step, step)]


def literal(node: Node) -> str | float | int | bool:
    """Give the value of a constant."""
    match node:
        case Text(value):
            return value
        case Number():
            return int(node.value) if node.value.is_integer() else node.value
        case Prefix("-", Number() as operand):
            return -operand.value if not operand.value.is_integer() else -int(operand.value)
        case Name("TRUE" | "FALSE" as text):
            return text == "TRUE"
    raise FormulaError(f"expected a constant instead of {node}")
