"""Define the errors that the package raises; messages never hold private values."""


class DPStatsError(Exception):
    """Serve as the base of every error that this package raises on purpose."""


class ArgumentError(DPStatsError, ValueError):
    """Refuse an argument, a schema or a formula; the message says what to write instead."""


class FormulaError(ArgumentError):
    """Refuse a formula that cannot be evaluated row by row under a public schema."""


class BudgetError(DPStatsError):
    """Refuse a request that the budget does not cover; nothing was read and nothing was spent."""


class LedgerError(DPStatsError):
    """A ledger's file cannot be read or written, or holds what no ledger of this version wrote."""


class NotReleasedError(DPStatsError, AttributeError):
    """Refuse a quantity that was never released; the message names the alternative."""


class InternalError(DPStatsError):
    """Report a defect of this package without anything the data may have put in it."""


class Defect(Exception):
    """Carry the public description of a defect out of the code that sees rows."""
