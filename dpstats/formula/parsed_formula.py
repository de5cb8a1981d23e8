"""Hold what was read from a formula, once for all that ask it."""

from collections.abc import Mapping
from dataclasses import dataclass

import patsy

from dpstats.formula.expressions import Reading


@dataclass(frozen=True, eq=False)
class ParsedFormula:
    """Hold what was read from a formula whose syntax and functions have been checked.

    `variables` are the raw columns it reads, the response's first, `predictors` those of the
    right-hand side. `declared` are the numeric ones inside a function or an operator: their
    ranges shape a column, so they must be declared. `categorical` are those that need
    levels, and `levels` the levels the formula itself gives, in C(g, levels=[...]).
    `bare_response` is the column that the response names and no more. `absorbed` is
    the column after |, the last of `variables`, whose labels only sort rows. `terms` are those of
    the right-hand side without the intercept, which absorbed effects replace; `written_terms` the
    expressions of both sides. `model` has patsy's terms, `readings` how each factor uses its
    variables, the response's first.
    """

    text: str
    model: patsy.ModelDesc
    readings: tuple[Reading, ...]
    absorbed: str | None
    response: str
    bare_response: str | None
    response_variables: tuple[str, ...]
    variables: tuple[str, ...]
    predictors: tuple[str, ...]
    terms: tuple[str, ...]
    written_terms: tuple[str, ...]
    has_intercept: bool
    declared: frozenset[str]
    categorical: frozenset[str]
    levels: Mapping[str, tuple]

    @property
    def intercept(self) -> int | None:
        """Return the index of the intercept's column under any schema, the first, or None."""
        return 0 if self.has_intercept else None
