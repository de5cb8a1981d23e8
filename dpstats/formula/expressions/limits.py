"""Refuse formulas that would take long to read, before anything of them is expanded."""

from collections.abc import Callable
from functools import wraps
from math import comb

from dpstats.errors import FormulaError

_CHARACTERS, TERMS = 20_000, 1_000


def check_length(text: str) -> None:
    """Raise FormulaError for a text that is too long to be read.

    >>> check_length("x + " * 10_000)
    Traceback (most recent call last):
    ...
    dpstats.errors.FormulaError: expected at most 20,000 characters, got 40,000 in 'x + x + ...
    """
    if len(text) > _CHARACTERS:
        raise FormulaError(
            f"expected at most {_CHARACTERS:,} characters, got {len(text):,} in {text[:60]!r}...; "
            "make fewer columns before the call"
        )


def readable(read: Callable) -> Callable:
    """Decorate a parser to refuse texts that are too long or nested too deeply."""

    @wraps(read)
    def checked(text, *more):
        if isinstance(text, str):
            check_length(text)
        try:
            return read(text, *more)
        except RecursionError:
            raise FormulaError(
                f"{text} has too many terms or parentheses to be read; make fewer columns before "
                "the call"
            ) from None

    return checked


def checked_terms(text: str, count: int) -> int:
    """Return a number of terms; raise FormulaError where it is more than can be fitted."""
    if count > TERMS:
        raise FormulaError(
            f"{text} stands for more than {TERMS:,} terms; write out the ones that matter"
        )
    return count


def combined(operator: str, left: int, right: int, power: int = 1) -> int:
    """Count the terms that an operator makes of so many terms, duplicates included.

    >>> combined("*", 3, 1), combined("^", 3, 0, power=2), combined(":", 2, 5)
    (7, 6, 10)
    """
    if operator in (":", "%in%"):
        return left * right
    if operator == "*":
        return left + right + left * right
    if operator in ("^", "**"):
        return sum(comb(left, k) for k in range(1, min(power, left) + 1))
    return left if operator == "-" else left + right
