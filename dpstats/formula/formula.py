"""Check formulas, and build their designs."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

import patsy

from dpstats.errors import FormulaError, typed
from dpstats.formula.design import Design
from dpstats.formula.expressions.limits import readable
from dpstats.formula.expressions.other_notations import in_own_words
from dpstats.formula.expressions.reading import variable_alone
from dpstats.formula.parsed_formula import ParsedFormula
from dpstats.formula.parsing import parsed, readings_of, without_dot
from dpstats.formula.r import RFormula
from dpstats.formula.usage import (
    check_absorbed,
    check_consistent,
    check_intercept,
    check_response,
    declared_levels,
    in_order,
    union,
)
from dpstats.schema import Numeric, Schema


class Formula(ParsedFormula):
    """Hold a formula whose syntax and functions have been checked, and build designs from it.

    >>> formula = Formula.parse("np.log(wage) ~ age + C(sex, levels=['f', 'm'])")
    >>> formula.variables, sorted(formula.declared), formula.levels
    (('wage', 'age', 'sex'), ['wage'], {'sex': ('f', 'm')})
    >>> [Formula.parse(f"{y} ~ x").bare_response for y in ("y", "Q('up=1')", "np.log(y)")]
    ['y', 'up=1', None]
    """

    @classmethod
    def parse(cls, text: str, columns: Sequence[str] | None = None) -> "Formula":
        """Check the whole text; raise FormulaError with what to write instead.

        Of `columns`, if they are given, R's dot stands for those that are not left of ~.
        """
        if not isinstance(text, str):
            raise FormulaError(f"expected a formula such as 'y ~ x', got {typed(text)}")
        text = text if columns is None else without_dot(text, columns)
        with in_own_words(text, isinstance(text, RFormula)):
            return _read(text)

    def __reduce__(self):
        return Formula.parse, (self.text,)  # patsy's terms do not pickle; parsing again is exact

    def keep(self, terms: Collection[str]) -> "Formula":
        """Reduce the right-hand side to these terms, in its own order.

        The intercept stays as it is. What a factor's columns are may depend on the other
        terms: without g, the columns of x:g are one for each level.

        >>> Formula.parse("np.log(y) ~ a*b + C(g) - 1").keep(["b", "a:b"]).text
        'np.log(y) ~ 0 + b + a:b'
        """
        kept = [_part(t) for t in self.model.rhs_termlist if t.factors and t.name() in terms]
        intercept = "1" if self.has_intercept else "0"
        kind, left = type(self.text), self.model.lhs_termlist[0].factors[0]
        response = getattr(left, "text", self.response)
        return Formula.parse(kind(f"{response} ~ {' + '.join([intercept, *kept])}"))

    def design(
        self,
        schema: Schema,
        term_bounds: Mapping[str, tuple[float, float]] = {},
        clipping: Mapping[str, Numeric] = {},
    ) -> "Design":
        """Build the design under a public schema; `term_bounds` maps terms to (low, high).

        Values of variables in `clipping` are clipped to its ranges, except in splines, and their
        ranges in the schema serve to learn from. Columns have no bounds that read one which is
        clipped more widely than that. Without `term_bounds`, a design of the same text, schema and
        ranges is built once.
        """
        if term_bounds:  # as the caller wrote them
            return Design(self, schema, term_bounds, clipping)
        facts = tuple(schema.items()), tuple(clipping.items())
        return designed(self.text, *facts, repr(facts))


def _part(term: patsy.Term) -> str:
    """Write a term as a part of a formula; R's names leave parentheses and digits out."""
    return ":".join(getattr(factor, "part", factor.name()) for factor in term.factors)


@lru_cache(maxsize=128, typed=True)  # repeated calls and results ask for the same again
def designed(text: str, schema: tuple, clipping: tuple, written: str) -> Design:
    """Build a design from items, which are ``written`` too: levels True, 1 and 1.0 are equal."""
    return Design(_read(text), dict(schema), {}, dict(clipping))


@lru_cache(maxsize=128, typed=True)  # results and repeated calls ask for the same text again
@readable
def _read(text: str) -> Formula:
    """Check a whole text as a formula of its own dialect."""
    model, absorbed = parsed(text)
    readings = readings_of(model)
    left, right = readings[0], readings[1:]
    check_consistent(readings)
    check_intercept(model.rhs_termlist)
    check_absorbed(absorbed, readings)
    check_response(left, right)
    return Formula(
        text=text,
        model=model,
        readings=readings,
        absorbed=absorbed,
        response=left.code,
        bare_response=variable_alone(left),
        response_variables=tuple(left.variables),
        variables=(*in_order(readings), *filter(None, [absorbed])),
        predictors=in_order(right),
        terms=tuple(term.name() for term in model.rhs_termlist if term.factors),
        written_terms=tuple(dict.fromkeys(reading.code for reading in readings)),
        has_intercept=absorbed is None and patsy.INTERCEPT in model.rhs_termlist,
        declared=union(readings, "numeric"),
        categorical=union(readings, "with_levels"),
        levels=declared_levels(readings),
    )
