"""Split a formula of R with instruments, in fixest's form, into its parts."""

from typing import NamedTuple

from dpstats.errors import FormulaError
from dpstats.formula.expressions.limits import readable
from dpstats.formula.r.syntax import parse
from dpstats.formula.r.terms import RFormula
from dpstats.formula.r.tree import Infix

_AS_IN = "as in y ~ x | d ~ z"


class InstrumentParts(NamedTuple):
    """Hold response and exogenous terms, the endogenous regressor, and its instruments."""

    response: str
    exogenous: str
    endogenous: str
    instruments: str


@readable
def instrument_parts(text: RFormula) -> InstrumentParts:
    """Split ``y ~ x | d ~ z``; FormulaError with what to write instead.

    >>> instrument_parts(RFormula("log(y) ~ x + I(x^2) | d ~ z"))[1:]
    ('x + I(x^2)', 'd', 'z')
    """
    match parse(text):
        case Infix("~", Infix("~", response, Infix("|", exogenous, endogenous)), instruments):
            parts = exogenous, endogenous, instruments
        case _:
            raise FormulaError(
                f"expected exogenous regressors, or 1, then | with one endogenous regressor and "
                f"its instruments, {_AS_IN}, got {text}"
            )
    if any(isinstance(part, Infix) and part.operator in "|~" for part in parts):
        raise FormulaError(
            f"{text}: dp_iv absorbs no effects and has one part with instruments, {_AS_IN}; write "
            "factor(state) with levels= among the regressors instead"
        )
    if isinstance(endogenous, Infix) and endogenous.operator == "+":
        raise FormulaError(
            f"{text}: one endogenous regressor is proven, not several; write one left of the "
            "second ~"
        )
    return InstrumentParts(str(response), *map(str, parts))
