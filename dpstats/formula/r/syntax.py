"""Parse R's expressions, of which only those that can stand in a formula."""

import math
import re
from functools import lru_cache

from dpstats.errors import FormulaError
from dpstats.formula.r.tree import ESCAPES, Call, Infix, Name, Node, Number, Paren, Prefix, Text

# How tightly an operator binds (R's ?Syntax); ^ is the one that groups from the right.
_BINDING = {
    **dict.fromkeys(("~",), 10),
    **dict.fromkeys(("|", "||"), 20),
    **dict.fromkeys(("&", "&&"), 30),
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), 40),
    **dict.fromkeys(("+", "-"), 50),
    **dict.fromkeys(("*", "/"), 60),
    ":": 80,
    "^": 100,
}
_INFIX = 70  # %in% and its like
_PREFIX = {"~": 10, "!": 35, "+": 90, "-": 90}
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?L?)
    | (?:(?:base|stats|splines)::)?(?P<name>(?:[^\W\d_]|\.(?!\d))[\w.]*)
    | (?P<quoted>`(?:[^`\\]|\\.)+`)
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<operator>%[^%]*%|<=|>=|==|!=|&&|\|\||[-+*/^:<>!&|~(),=])
    )""",
    re.VERBOSE | re.DOTALL,
)


@lru_cache(maxsize=128)  # the text of a call is asked for more than once
def parse(text: str) -> Node:
    """Read an expression into a tree; FormulaError for what cannot stand in a formula.

    >>> print(parse("log(y)~ a * I(x ^2)+`my var`/2"))
    log(y) ~ a * I(x^2) + `my var`/2
    """
    try:
        return _Parser(text).whole()
    except RecursionError:
        raise FormulaError("the formula is nested too deeply to be read") from None


class _Parser:
    """Parse a list of tokens by operator precedence climbing."""

    def __init__(self, text: str):
        self.text = text
        self.tokens = list(_tokens(text))
        self.place = 0

    def whole(self) -> Node:
        """Parse the whole text."""
        node = self.expression(0)
        if self.place < len(self.tokens):
            raise self.error()
        return node

    def error(self) -> FormulaError:
        """Build the error for an unexpected token."""
        token = self.tokens[self.place][1] if self.place < len(self.tokens) else "the end"
        return FormulaError(
            f"cannot read {self.text!r} as a formula of R: {token} is not expected where it "
            "stands; write it as in y ~ x1 + log(x2)"
        )

    def take(self, operator: str) -> bool:
        """Step over this operator if it comes next."""
        comes_next = self.tokens[self.place : self.place + 1] == [("operator", operator)]
        self.place += comes_next
        return comes_next

    def expect(self, operator: str) -> None:
        """Step over this operator, or raise."""
        if not self.take(operator):
            raise self.error()

    def expression(self, binding: int) -> Node:
        """Parse operators that bind more tightly than ``binding``."""
        left = self.operand()
        while self.place < len(self.tokens):
            kind, operator = self.tokens[self.place]
            infix = _INFIX if operator.startswith("%") else 0
            strength = _BINDING.get(operator, infix) if kind == "operator" else 0
            if strength <= binding:
                break
            self.place += 1
            right = self.expression(strength - (operator == "^"))
            left = Infix(operator, left, right)
        return left

    def operand(self) -> Node:
        """Parse a name, a constant, a call, or an expression in parentheses or after a sign."""
        if self.place == len(self.tokens):
            raise self.error()
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind in ("name", "quoted"):
            name = text if kind == "name" else _unquoted(text)
            return self.call(name) if self.take("(") else Name(name)
        if kind == "number":
            return _finite(Number(text))
        if kind == "text":
            return Text(_unquoted(text))
        if text == "(":
            inner = self.expression(0)
            self.expect(")")
            return Paren(inner)
        if text in _PREFIX:
            return Prefix(text, self.expression(_PREFIX[text]))
        self.place -= 1
        raise self.error()

    def call(self, function: str) -> Call:
        """Parse the arguments of a call."""
        arguments = []
        while not self.take(")"):
            if arguments:
                self.expect(",")
            arguments.append((self.argument_name(), self.expression(0)))
        return Call(function, tuple(arguments))

    def argument_name(self) -> str | None:
        """Parse the name of an argument, if it has one."""
        following = self.tokens[self.place : self.place + 2]
        if len(following) == 2 and following[1] == ("operator", "=") and following[0][0] == "name":
            self.place += 2
            return following[0][1]
        return None


def _finite(number: Number) -> Number:
    """Return a number; FormulaError for one that no double holds."""
    if math.isinf(number.value):
        raise FormulaError(f"{number} is too large; expected numbers below 1e308")
    return number


def _tokens(text: str):
    """Split a text into tokens."""
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise FormulaError(
                f"cannot read {text!r} as a formula of R at {text[place:].strip()[:20]!r}; "
                "compute the column first and name it in the formula"
            )
        yield match.lastgroup, match.group(match.lastgroup or 0)
        place = match.end()


def _unquoted(text: str) -> str:
    """Remove the quotes of a string or a name, and read its escapes."""
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[1]), text[1:-1], flags=re.S)
