"""Read a regression with instruments, ``y ~ x + [d ~ z]``, as three regressions.

What follows ``|`` is absorbed. In R it is fixest's ``y ~ x | d ~ z``, or ``y ~ x | fe | d ~ z``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from dpstats.errors import FormulaError, shown
from dpstats.formula.formula import Formula
from dpstats.formula.r import RFormula, instrument_parts, joined

_QUOTES = "\"'`"
_AS_IN = "as in 'y ~ x + [d ~ z]'"
_AS_IN_R = "as in y ~ x | d ~ z"
_ABSORBED_AS_IN = "as in 'y ~ x + [d ~ z] | state'"


class _Places(NamedTuple):
    """Say in a notation where the parts of a formula stand."""

    endogenous: str
    instruments: str
    constant: str
    example: str


_IN_PYTHON = _Places(
    "left of ~ in the brackets", "in the brackets", "behind the brackets, not in them",
    "'y ~ x + [d ~ z]'",
)  # fmt: skip
_IN_R = _Places(
    "left of the second ~", "right of the second ~", "left of |, as in y ~ x - 1 | d ~ z",
    "y ~ x | d ~ z",
)  # fmt: skip


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
    >>> InstrumentFormula.parse("y ~ x + [d ~ z] | state").first_stage.text
    'd ~ x + z | state'
    >>> InstrumentFormula.parse(RFormula("y ~ x | log(d) ~ z")).structural.text
    'y ~ x + log(d)'
    """

    text: str
    structural: Formula
    reduced: Formula
    first_stage: Formula

    @classmethod
    def parse(cls, text) -> "InstrumentFormula":
        """Check the whole text; raise FormulaError with what to write instead."""
        if not isinstance(text, str):
            raise FormulaError(f"expected a formula, {_AS_IN}, got {shown(text)}")
        if isinstance(text, RFormula):
            return cls._of_r(text)
        before, endogenous, instruments, after = _parts(text)
        _check_alone(text, endogenous, Formula.parse(f"{before} 1 + {instruments}{after}"))
        reduced = f"{before} {instruments}{after}"
        found = cls(
            text,
            Formula.parse(f"{before} {endogenous}{after}"),
            Formula.parse(reduced),
            Formula.parse(f"{endogenous} ~{reduced.partition('~')[2]}"),
        )
        found._check(len(Formula.parse(f"{endogenous} ~ {instruments}").terms), _IN_PYTHON)
        return found

    @classmethod
    def _of_r(cls, text: RFormula) -> "InstrumentFormula":
        """Check a formula of R in fixest's form."""
        y, x, d, z, absorbed = instrument_parts(text)
        effects = f" | {absorbed}" if absorbed else ""
        exogenous, alone = (
            Formula.parse(RFormula(f"{y} ~ {joined(part, '1')}")).terms for part in (x, d)
        )
        if {*alone} & {*exogenous}:
            raise FormulaError(f"{text}: {d} is to stand right of | alone, {_AS_IN_R}")
        found = cls(
            text,
            Formula.parse(RFormula(f"{y} ~ {joined(x, d)}{effects}")),
            Formula.parse(RFormula(f"{y} ~ {joined(x, z)}{effects}")),
            Formula.parse(RFormula(f"{d} ~ {joined(x, z)}{effects}")),
        )
        found._check(len(Formula.parse(RFormula(f"{d} ~ {z}")).terms), _IN_R)
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

    def _check(self, instruments: int, places: "_Places") -> None:
        """Refuse a term or a column that stands in two roles."""
        if self.endogenous not in self.structural.terms:
            raise FormulaError(
                f"{self.text!r}: {self.endogenous} is to stand {places.endogenous} alone, "
                f"as in {places.example}"
            )
        if len(self.instruments) != instruments or not instruments:
            raise FormulaError(
                f"{self.text!r}: an instrument is to stand {places.instruments} alone, as in "
                f"{places.example}"
            )
        if self.reduced.has_intercept != self.structural.has_intercept:
            raise FormulaError(f"{self.text!r}: write - 1 {places.constant}")


def _check_alone(text: str, endogenous: str, others: Formula) -> None:
    """Refuse an endogenous regressor that is a regressor or an instrument too."""
    if endogenous in others.terms:
        raise FormulaError(
            f"{text!r}: {endogenous} is the endogenous regressor, so leave it out of the others "
            f"and of the instruments, {_AS_IN}"
        )


def _parts(text: str) -> tuple[str, str, str, str]:
    """Return what stands before the brackets, left and right of ~ in them, and behind them."""
    outside = _outside(text)
    if outside.count("[") != 1 or outside.count("]") != 1:
        raise FormulaError(
            "expected one endogenous regressor and its instruments in brackets, "
            f"{_AS_IN}, got {text!r}"
        )
    if "|" in outside.partition("]")[0]:
        raise FormulaError(f"{text!r}: the column to absorb stands last, {_ABSORBED_AS_IN}")
    start, stop = outside.index("["), outside.index("]")
    inside = text[start + 1 : stop].split("~")
    before, after = text[:start].rstrip(), text[stop + 1 :].strip()
    joined = before.endswith(("~", "+")) and after[:1] in ("", "+", "-", "|")
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
