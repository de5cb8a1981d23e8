"""Parse a formula into patsy's terms and check every factor of them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import patsy
from patsy.parse_formula import parse_formula

from dpstats.errors import FormulaError
from dpstats.formula.absorption import split_off
from dpstats.formula.expressions import Reading, read
from dpstats.formula.expressions.level_indicators import multiplied, references_last
from dpstats.formula.expressions.limits import TERMS, checked_terms, combined
from dpstats.formula.r import RFormula
from dpstats.formula.r.coding import model_of
from dpstats.spelling import Unlisted

# A dot by itself, which is no decimal point and no part of a name.
_DOT = re.compile(r"""(?<![\w.)\]'"])\.(?![\w.])""")
_NAMED = 12  # columns in a sentence


class Parsed(NamedTuple):
    """Hold patsy's terms of a formula, and the column that it absorbs, if any."""

    model: patsy.ModelDesc
    absorbed: str | None


def parsed(text: str) -> Parsed:
    """Parse a formula of either dialect; FormulaError with what to write instead."""
    regression, absorbed = split_off(text)
    try:
        model = model_of(regression) if isinstance(text, RFormula) else _model_in_python(regression)
    except patsy.PatsyError as error:
        raise FormulaError(f"cannot read {text!r}: {error.message}; {_hint(text, error)}") from None
    if [len(term.factors) for term in model.lhs_termlist] != [1]:
        raise FormulaError(f"expected one response left of ~, as in y ~ x1 + x2, got {text!r}")
    if absorbed is not None and patsy.INTERCEPT not in model.rhs_termlist:
        # the absorbed effects contain a constant, so factors are coded as beside an intercept
        model = patsy.ModelDesc(model.lhs_termlist, [patsy.INTERCEPT, *model.rhs_termlist])
    if not model.rhs_termlist:
        raise FormulaError(f"{text!r} has no columns; write y ~ 1 for an intercept alone")
    return Parsed(model, absorbed)


def without_dot(text: str, columns: Sequence[str]) -> str:
    """Write out what R's dot stands for; FormulaError for a dot in a formula of Python."""
    if isinstance(text, RFormula):
        return text.over(columns)
    if refusal := _dot_refusal(text, columns):
        raise FormulaError(refusal)
    return text


def _dot_refusal(text: str, columns: Sequence[str]) -> str:
    """Write what to write for a formula of Python with a dot; an empty string without one.

    >>> _dot_refusal("y ~ .", ["y", "x", "my col"])
    "y ~ .: a formula in Python names its columns; write y ~ x + Q('my col')"
    """
    left, _, right = text.partition("~")
    if not _DOT.search(right):
        return ""
    if isinstance(columns, Unlisted):
        return f"{text}: a formula in Python names its columns; write {left.strip()} ~ x1 + x2"
    others = [name for name in columns if not re.search(rf"\b{re.escape(name)}\b", left)]
    named = [name if name.isidentifier() else f"Q({name!r})" for name in others[:_NAMED]]
    more = " + ..." if len(others) > _NAMED else ""
    written = f"{left.strip()} ~ {' + '.join(named)}{more}"
    return f"{text}: a formula in Python names its columns; write {written}"


def _model_in_python(text: str) -> patsy.ModelDesc:
    """Parse a formula in patsy's dialect."""
    tree = parse_formula(text)
    _refuse_powers(tree)
    _terms(text, tree)
    model = patsy.ModelDesc.from_formula(text)
    return patsy.ModelDesc(model.lhs_termlist, references_last(multiplied(model.rhs_termlist)))


def _hint(text: str, error: patsy.PatsyError) -> str:
    """Suggest what to write instead of a formula that patsy cannot read."""
    if "^" in text:
        return "write ** instead of ^"
    if "number" in error.message or "Unary" in error.message:
        return "put arithmetic in I(), as in I(2 * x)"
    return "write it as in y ~ x1 + np.log(x2)"


def _terms(text: str, node) -> int:
    """Count the terms of a part of a formula; FormulaError where they are too many."""
    counts = [_terms(text, child) for child in node.args]
    if len(counts) != 2:
        return sum(counts) or 1
    left, right = counts
    power = node.args[1].origin.relevant_code() if node.type == "**" else ""
    times = int(power) if power.isdecimal() and len(power) < 5 else TERMS
    return checked_terms(text, combined(node.type, left, right, times))


def _refuse_powers(node) -> None:
    """Refuse x**2 outside I(): it means x crossed with itself, which is x, not its square."""
    if node.type == "**" and node.args[0].type == "PYTHON_EXPR":
        code = node.origin.relevant_code()
        raise FormulaError(f"{code} in a formula is no power; write I({code})")
    for child in node.args:
        _refuse_powers(child)


def readings_of(model: patsy.ModelDesc) -> tuple[Reading, ...]:
    """Check the factors against the allow-list; the response's is the first."""
    terms = (*model.lhs_termlist, *model.rhs_termlist)
    return tuple(_reading(factor) for term in terms for factor in term.factors)


def _reading(factor: patsy.EvalFactor) -> Reading:
    """Read how a factor uses its variables, under the name the user gave it."""
    return replace(read(factor.code), code=factor.name())
