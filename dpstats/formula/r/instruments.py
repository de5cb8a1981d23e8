"""Split a formula of R with instruments, in fixest's form, into its parts."""

from typing import NamedTuple

from dpstats.errors import FormulaError
from dpstats.formula.expressions.limits import readable
from dpstats.formula.r.syntax import parse
from dpstats.formula.r.terms import RFormula
from dpstats.formula.r.tree import Infix, Node, summed

_AS_IN = "as in y ~ x | d ~ z"


class InstrumentParts(NamedTuple):
    """Hold response and exogenous terms, the endogenous regressor, and its instruments.

    ``absorbed`` is what stands between two |, and empty where there is one.
    """

    response: str
    exogenous: str
    endogenous: str
    instruments: str
    absorbed: str


@readable
def instrument_parts(text: RFormula) -> InstrumentParts:
    """Split ``y ~ x | d ~ z`` or ``y ~ x | fe | d ~ z``; FormulaError with what to write instead.

    >>> instrument_parts(RFormula("log(y) ~ x + I(x^2) | d ~ z"))[1:]
    ('x + I(x^2)', 'd', 'z', '')
    >>> instrument_parts(RFormula("y ~ 1 | state + year | d ~ z"))[1:]
    ('1', 'd', 'z', 'state + year')
    """
    absorbed: tuple[Node, ...] = ()
    match parse(text):
        case Infix("~", Infix("~", response, Infix("|", exogenous, endogenous)), instruments):
            if isinstance(exogenous, Infix) and exogenous.operator == "|":
                exogenous, absorbed = exogenous.left, (exogenous.right,)
            parts = exogenous, endogenous, instruments
        case _:
            raise FormulaError(
                f"expected exogenous regressors, or 1, then | with one endogenous regressor and "
                f"its instruments, {_AS_IN}, got {text}"
            )
    if any(isinstance(part, Infix) and part.operator in "|~" for part in (*parts, *absorbed)):
        raise FormulaError(
            f"{text}: expected one part with absorbed effects at most and one with instruments, "
            "as in y ~ x | state | d ~ z"
        )
    if isinstance(endogenous, Infix) and endogenous.operator == "+":
        raise FormulaError(
            f"{text}: one endogenous regressor is proven, not several; write one left of the "
            "second ~"
        )
    exogenous, regressor, instruments = map(str, parts)
    effects = "".join(map(str, absorbed))
    return InstrumentParts(str(response), exogenous, regressor, instruments, effects)


def joined(left: str, right: str) -> str:
    """Add two parts of a formula of R.

    >>> joined("1", "educ > 10")
    '1 + (educ > 10)'
    """
    return str(summed(parse(left), parse(right)))
