"""Read a regression with instruments, ``y ~ x + [d ~ z]``, as three regressions."""

from collections.abc import Iterator
from dataclasses import dataclass

from dpstats.errors import FormulaError, shown
from dpstats.formula.design import Formula
from dpstats.formula.r import RFormula

_QUOTES = "\"'`"
_AS_IN = "as in 'y ~ x + [d ~ z]'"


@dataclass(frozen=True)
class InstrumentFormula:
    """Hold a regression of y on x and d, where z moves d and y by way of d alone.

    ``structural`` is y ~ x + d, ``reduced`` y ~ x + z and ``first_stage`` d ~ x + z; ``text`` is
    what was written. ``instruments`` are the terms of z, as patsy names them.

    >>> formula = InstrumentFormula.parse("wage ~ age + [educ ~ near + C(q, levels=['a', 'b'])]")
    >>> formula.structural.text, formula.first_stage.response
    ('wage ~ age + educ', 'educ')
    >>> formula.reduced.text, formula.instruments
    ("wage ~ age + near + C(q, levels=['a', 'b'])", ('near', "C(q, levels=['a', 'b'])"))
    """

    text: str
    structural: Formula
    reduced: Formula
    first_stage: Formula

    @classmethod
    def parse(cls, text) -> "InstrumentFormula":
        """Check the whole text; raise FormulaError with what to write instead."""
        if not isinstance(text, str) or isinstance(text, RFormula):
            raise FormulaError(f"expected a formula in Python, {_AS_IN}, got {shown(text)}")
        if "|" in _outside(text):
            raise FormulaError(
                f"{text!r}: dp_iv absorbs no effects; write C(state) with levels= instead of |"
            )
        before, endogenous, instruments, after = _parts(text)
        reduced = f"{before} {instruments}{after}"
        found = cls(
            text,
            Formula.parse(f"{before} {endogenous}{after}"),
            Formula.parse(reduced),
            Formula.parse(f"{endogenous} ~{reduced.partition('~')[2]}"),
        )
        found._check(len(Formula.parse(f"{endogenous} ~ {instruments}").terms))
        return found

    @property
    def instruments(self) -> tuple[str, ...]:
        """Return the terms of the instruments."""
        return tuple(t for t in self.reduced.terms if t not in self.structural.terms)

    @property
    def both(self) -> tuple[Formula, Formula]:
        """Return the two regressions that read all columns: the first stage and y on x and d."""
        return self.first_stage, self.structural

    @property
    def endogenous(self) -> str:
        """Return the term of the endogenous regressor."""
        return self.first_stage.response

    def _check(self, instruments: int) -> None:
        """Refuse a term or a column that stands in two roles."""
        if self.endogenous not in self.structural.terms:
            raise FormulaError(
                f"{self.text!r}: {self.endogenous} is to stand left of ~ in the brackets alone, "
                f"{_AS_IN}"
            )
        if len(self.instruments) != instruments or not instruments:
            raise FormulaError(
                f"{self.text!r}: an instrument is to stand in the brackets alone, {_AS_IN}"
            )
        if self.reduced.has_intercept != self.structural.has_intercept:
            raise FormulaError(f"{self.text!r}: write - 1 behind the brackets, not in them")


def _parts(text: str) -> tuple[str, str, str, str]:
    """Return what stands before the brackets, left and right of ~ in them, and behind them."""
    outside = _outside(text)
    if outside.count("[") != 1 or outside.count("]") != 1:
        raise FormulaError(
            "expected one endogenous regressor and its instruments in brackets, "
            f"{_AS_IN}, got {text!r}"
        )
    start, stop = outside.index("["), outside.index("]")
    inside = text[start + 1 : stop].split("~")
    before, after = text[:start].rstrip(), text[stop + 1 :].strip()
    joined = before.endswith(("~", "+")) and after[:1] in ("", "+", "-")
    if len(inside) != 2 or not all(part.strip() for part in inside) or not joined:
        raise FormulaError(f"expected brackets added to the other terms, {_AS_IN}, got {text!r}")
    endogenous, instruments = (part.strip() for part in inside)
    if "+" in _outside(endogenous):
        raise FormulaError(
            f"{text!r}: one endogenous regressor is proven, not several; write one left of ~ in "
            "the brackets"
        )
    return before, endogenous, instruments, f" {after}" if after else ""


def _outside(text: str) -> str:
    """Blank what stands in quotes or parentheses."""
    return "".join(_blanked(text))


def _blanked(text: str) -> Iterator[str]:
    depth, quote = 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
            yield " "
            continue
        quote = character if character in _QUOTES else ""
        depth += (character == "(") - (character == ")")
        yield " " if quote or depth or character == ")" else character
