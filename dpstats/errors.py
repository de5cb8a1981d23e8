"""What can go wrong, said before any private value is read."""

from numbers import Real


class DPStatsError(Exception):
    """Base of every error this package raises on purpose."""


class ArgumentError(DPStatsError, ValueError):
    """An argument, a schema or a formula is not usable; the message says what to write instead."""


class FormulaError(ArgumentError):
    """The formula cannot be evaluated row by row under a public schema."""


class BudgetError(DPStatsError):
    """The privacy budget does not cover the request; nothing was read and nothing was spent."""


class NotReleasedError(DPStatsError, AttributeError):
    """The quantity was never released, so it does not exist; the message names the alternative."""


class InternalError(DPStatsError):
    """A defect of this package, reported without anything the data may have put in it."""


class Defect(Exception):
    """A defect in public words, on its way out of the part that sees rows."""


def checked_alpha(alpha) -> float:
    """alpha, or ArgumentError unless it is a probability: one minus the level of intervals."""
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 < alpha < 1:
        raise ArgumentError(f"expected alpha in (0, 1), got {alpha!r}")
    return float(alpha)
