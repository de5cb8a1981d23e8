"""Expand a formula of R by R's algebra into its terms, in the order of R's terms()."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dpstats.errors import FormulaError
from dpstats.formula.expressions.limits import checked_terms, combined, readable
from dpstats.formula.expressions.other_notations import in_own_words
from dpstats.formula.r.syntax import parse
from dpstats.formula.r.tree import Call, Infix, Name, Node, Number, Paren, Prefix, literal, summed

Term = tuple[Node, ...]


class RFormula(str):
    """Mark a string as a formula in R's dialect, which :func:`dpstats.dp_ols` reads as R would.

    Terms, their order and the names of the coefficients are those of R's ``lm``.

    Examples
    --------
    >>> import dpstats as dp
    >>> df = dp.simulate.line(5000, seed=1)
    >>> formula = dp.RFormula("y ~ x + I(x^2)")
    >>> res = dp.dp_ols(formula, df, method="adassp", epsilon=1,
    ...                 bounds={"x": (0, 1), "y": (0, 1)})
    >>> list(res.params.index)
    ['(Intercept)', 'x', 'I(x^2)']
    """

    # The same text means something else in the other dialect, also as the key of a cache.
    def __eq__(self, other) -> bool:
        return isinstance(other, RFormula) and str.__eq__(self, other)

    def __ne__(self, other) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((RFormula, str(self)))

    @readable
    def over(self, columns: Sequence[str]) -> "RFormula":
        """Write ``.`` out as all columns that are not left of ~.

        >>> RFormula("log(y) ~ .^2").over(["y", "a", "b"])
        'log(y) ~ (a + b)^2'
        """
        with in_own_words(self, in_r=True):
            left, right = _sides(self)
        if "." not in _names(right):
            return self
        taken = _names(left) | _names(_absorbed(right))
        others = [name for name in columns if name not in taken]
        if not others:
            raise FormulaError(f"{self}: there is no other column that . could stand for")
        dots = parse(" + ".join(str(Name(name)) for name in others))
        right = dots if right == Name(".") else _replaced(right, Paren(dots))
        return RFormula(Infix("~", left, right))


@dataclass(frozen=True)
class Terms:
    """Hold a response, the terms in R's order, and whether there is an intercept."""

    response: Node
    terms: tuple[Term, ...]
    intercept: bool

    @classmethod
    def of(cls, text: str) -> "Terms":
        """Read a formula of R.

        >>> terms = Terms.of("y ~ a:b + b*x - 1")
        >>> [":".join(map(str, term)) for term in terms.terms], terms.intercept
        (['b', 'x', 'a:b', 'b:x'], False)
        """
        left, right = _sides(text)
        _count(text, right)
        algebra = _Algebra(text)
        algebra.seen(left)
        distinct = dict.fromkeys(algebra.terms(right))
        # fixest names year::2010:treated, wherever treated stood before
        order = {
            node: (not (isinstance(node, Call) and node.function == "i"), place)
            for place, node in enumerate(algebra.variables)
        }
        terms = [tuple(sorted(term, key=order.__getitem__)) for term in distinct]
        sizes = {term: len(term) - len(algebra.multiplied.intersection(term)) for term in terms}
        return cls(left, tuple(sorted(terms, key=sizes.__getitem__)), algebra.intercept)


def _sides(text: str) -> tuple[Node, Node]:
    """Parse a formula and return its two sides."""
    node = parse(text)
    if not (isinstance(node, Infix) and node.operator == "~"):
        raise FormulaError(f"expected one response left of ~, as in y ~ x1 + x2, got {text!r}")
    return node.left, node.right


def absorbed_in_r(text: str) -> tuple[RFormula, str | None]:
    """Split a formula of R into the regression and the column after |, as fixest does.

    Of several columns joined by + the first is absorbed; the others become indicators.

    >>> absorbed_in_r(RFormula("log(y) ~ x + z | state"))
    ('log(y) ~ x + z', 'state')
    >>> absorbed_in_r(RFormula("y ~ x | state + year"))
    ('y ~ x + factor(year)', 'state')
    """
    left, right = _sides(text)
    if not (isinstance(right, Infix) and right.operator == "|"):
        return RFormula(text), None
    regressors, absorbed, others = right.left, right.right, []
    while isinstance(absorbed, Infix) and absorbed.operator == "+":
        others.insert(0, _indicated(text, absorbed.right))
        absorbed = absorbed.left
    for other in others:
        regressors = summed(regressors, other)
    rest = RFormula(Infix("~", left, regressors))
    match absorbed:
        case Name(column) if column != ".":
            return rest, column
        case Infix("^" | ":" | "*"):
            instead = "make the combinations a column of their own before the call and absorb that"
        case _:
            instead = "write one column after |, as in y ~ x | state"
    raise FormulaError(f"{text}: expected one column to absorb; {instead}")


def _indicated(text: str, column: Node) -> Node:
    """Return the indicators of a column that stands after | and a +."""
    if not isinstance(column, Name):
        raise FormulaError(f"{text}: write columns after |, as in y ~ x | state + year")
    return Call("factor", ((None, column),))


def _absorbed(right: Node) -> Node:
    """Return what stands after | on the right-hand side; a constant if there is no |."""
    match right:
        case Infix("|", _, absorbed):
            return absorbed
    return Number("1")


@dataclass
class _Algebra:
    """Expand an expression into sets of variables; note the variables and the intercept.

    To R's terms() i(year, treated) is one variable: its call with the number is in ``multiplied``.
    """

    text: str
    variables: dict[Node, None] = field(default_factory=dict)
    multiplied: set[Node] = field(default_factory=set)
    intercept: bool = True

    def seen(self, node: Node) -> Node:
        """Record a variable in order of appearance."""
        self.variables.setdefault(node)
        return node

    def terms(self, node: Node) -> list[frozenset]:
        """Expand a part of the formula into its terms, without repetition."""
        match node:
            case Paren(inner):
                return self.terms(inner)
            case Number():
                return self.constant(node, present=True)
            case Prefix("+", operand):
                return self.terms(operand)
            case Prefix("-", operand):
                return self.without([], operand)
            case Infix(operator, left, right) if operator in "+-*/:^" or operator == "%in%":
                return list(dict.fromkeys(self.combined(operator, left, right)))
            case Infix("|" | "||" | "~"):
                raise FormulaError(
                    f"{node}: a formula has one response, one set of regressors and at most one "
                    "column to absorb, as in y ~ x | state; groups go into by=, and instruments "
                    "or random effects do not exist here"
                )
            case Call("i", ((None, _), (None, number), *_)):
                alone = Call("i", (node.arguments[0], *node.arguments[2:]))
                self.multiplied.add(alone)
                return [frozenset([self.seen(alone), self.seen(number)])]
            case Name("."):
                raise FormulaError(f"{self.text}: write out what . stands for")
        return [frozenset([self.seen(node)])]

    def combined(self, operator: str, left: Node, right: Node) -> Iterable[frozenset]:
        """Combine the terms of two parts by an operator."""
        if operator == "%in%" and isinstance(right, Call) and right.function == "c":
            comparison = f"{left} %in% {right}"
            raise FormulaError(f"{comparison}: write I({comparison}) for a comparison")
        if operator == "-":
            return self.without(self.terms(left), right)
        if operator == "^":
            return self.power(left, right)
        a, b = self.terms(left), self.terms(right)
        if operator == "+":
            return a + b
        if operator == "*":
            return a + b + _crossed(a, b)
        if operator == "/":
            return a + _crossed([frozenset().union(*a)], b)
        return _crossed(a, b)

    def without(self, terms: list[frozenset], node: Node) -> list[frozenset]:
        """Remove the terms of a part."""
        if isinstance(node, Number):
            return terms + self.constant(node, present=False)
        dropped = self.terms(node)
        return [term for term in terms if term not in dropped]

    def power(self, base: Node, exponent: Node) -> list[frozenset]:
        """Expand (a + b)^k to all interactions of at most k variables."""
        if not isinstance(base, Paren | Name) or base == Name(".") or not _whole(exponent):
            raise FormulaError(f"{base}^{exponent}: write I({base}^{exponent}) for a power")
        terms = self.terms(base)
        if len(terms) == 1 and len(terms[0]) == 1:
            raise FormulaError(
                f"{base}^{exponent} in a formula is no power; write I({base}^{exponent})"
            )
        product = terms
        for _ in range(int(literal(exponent)) - 1):
            product = list(dict.fromkeys(product + _crossed(product, terms)))
        return product

    def constant(self, node: Number, present: bool) -> list[frozenset]:
        """Keep the intercept for + 1 and - 0, drop it for + 0 and - 1."""
        if node.value not in (0, 1):
            raise FormulaError(f"{self.text}: put arithmetic in I(), as in I(2 * x)")
        self.intercept = (node.value == 1) == present
        return []


def _count(text: str, node: Node) -> int:
    """Count the terms of a part of a formula; FormulaError where they are too many."""
    match node:
        case Paren(inner) | Prefix(_, inner):
            return _count(text, inner)
        case Infix("^", base, Number() as exponent):
            return checked_terms(text, combined("^", _count(text, base), 0, int(exponent.value)))
        case Infix(operator, left, right):
            parts = _count(text, left), _count(text, right)
            return checked_terms(text, combined(operator, *parts))
    return 1


def _crossed(a: list[frozenset], b: list[frozenset]) -> list[frozenset]:
    """Form the interactions of two lists of terms."""
    return [left | right for left in a for right in b]


def _whole(node: Node) -> bool:
    """Tell whether a node is a whole number from 1 to 99."""
    return isinstance(node, Number) and node.value in range(1, 100)


def _parts(node: Node) -> tuple[Node, ...]:
    """Return the children of a node."""
    match node:
        case Paren(inner) | Prefix(_, inner):
            return (inner,)
        case Infix(_, left, right):
            return left, right
        case Call(_, arguments):
            return tuple(value for _, value in arguments)
    return ()


def _names(node: Node) -> set[str]:
    """Collect the names of all variables in a tree."""
    name = {node.text} if isinstance(node, Name) else set()
    return name.union(*map(_names, _parts(node)))


def _replaced(node: Node, dots: Node) -> Node:
    """Replace ``.`` wherever a term may stand."""
    match node:
        case Name("."):
            return dots
        case Paren(inner):
            return dots if inner == Name(".") else Paren(_replaced(inner, dots))
        case Prefix(operator, operand):
            return Prefix(operator, _replaced(operand, dots))
        case Infix(operator, left, right):
            return Infix(operator, _replaced(left, dots), _replaced(right, dots))
    return node
