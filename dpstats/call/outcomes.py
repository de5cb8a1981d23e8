"""Describe several outcomes on one right-hand side, which one release fits, by public facts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dpstats.errors import ArgumentError
from dpstats.estimators import SEVERAL
from dpstats.estimators.contract import Method, Reference
from dpstats.formula import Design, Formula

# The value of missing= that leaves rows out of all formulas which lack a variable of any.
LISTWISE = "listwise"
_ASKED = f"missing={LISTWISE!r}"


@dataclass(frozen=True)
class Outcome:
    """Hold the regression of one more response, and what was released of the response."""

    formula: Formula
    design: Design
    reference: Reference | None = None


@dataclass(frozen=True)
class Outcomes:
    """Hold the names of all regressions, and those beside the request's own."""

    names: tuple[str, ...]
    others: tuple[Outcome, ...]

    @classmethod
    def of(cls, formulas: Mapping[str, Formula], *declared) -> "Outcomes":
        """Build the designs of all formulas but the first under what is declared for all."""
        _, *others = formulas.values()
        found = (Outcome(formula, formula.design(*declared)) for formula in others)
        return cls(tuple(formulas), tuple(found))

    @property
    def references(self) -> tuple[Reference, ...]:
        """Return what was released of the other responses; empty before the release."""
        return tuple(other.reference for other in self.others if other.reference is not None)

    def with_released(self, found: Sequence[tuple[Design, Reference]]) -> "Outcomes":
        """Return the outcomes with what was released of each of the others."""
        pairs = zip(self.others, found, strict=True)
        others = (Outcome(old.formula, design, reference) for old, (design, reference) in pairs)
        return replace(self, others=tuple(others))


def check_alike(formulas: Mapping[str | None, Formula]) -> None:
    """Raise ArgumentError unless several formulas differ in their responses alone."""
    first, *others = formulas.values()
    if not others:
        raise ArgumentError(f"{_ASKED} is for several formulas of dp_ols; leave it out")
    unlike = [other for other in others if _right_of(other) != _right_of(first)]
    if unlike:
        raise ArgumentError(
            f"{_ASKED} fits several responses on one right-hand side, got {first.text!r} and "
            f"{unlike[0].text!r}; write what is right of ~ alike, or leave missing out"
        )
    if len({formula.response for formula in formulas.values()}) < len(formulas):
        raise ArgumentError(f"{_ASKED} takes each response once; leave the second formula out")


def _right_of(formula: Formula) -> tuple:
    """Return what the columns right of ~ follow from."""
    return type(formula.text), formula.terms, formula.has_intercept, formula.absorbed


def for_several(method: Method, formula: Formula, **refused) -> Method:
    """Return the method as it fits several responses, or raise ArgumentError.

    ``refused`` are arguments by name that go with one response at a time.
    """
    given = [f"{name}={value!r}" for name, value in refused.items() if value is not None]
    given += [] if formula.absorbed is None else [f"| {formula.absorbed}"]
    if given:
        raise ArgumentError(
            f"{_ASKED} fits several responses in one release, which goes without {given[0]}; "
            "leave one of them out"
        )
    if method.name not in SEVERAL:
        raise ArgumentError(
            f"{method.name} fits one response at a time; with {_ASKED} use {' or '.join(SEVERAL)}"
        )
    return SEVERAL[method.name]
