"""Define the errors that the package raises; messages never hold private values."""

import signal
from datetime import date
from numbers import Number
from pathlib import PurePath
from traceback import walk_tb

# Characters of a message, and what is kept of a longer one.
_LONG, _HEAD, _TAIL = 2000, 1200, 600
# Items of a collection that is written into a message; a longer one may be a column.
_ITEMS = 20


def shown(value) -> str:
    """Write a value for a message; of what may hold rows, such as a column, the type alone.

    >>> shown("a"), shown([1, 0]), shown({"x": None}), shown(10**5000)
    ("'a'", '[1, 0]', "{'x': None}", 'an int that cannot be written')
    >>> shown([0.5] * 400), shown({"x": range(9)}), shown(object())
    ('a list of 400 values', 'a dict', 'an object')
    """
    if not _is_plain(value):
        return (
            f"a {type(value).__name__} of {len(value)} values" if _is_long(value) else typed(value)
        )
    try:
        return repr(value)
    except Exception:  # such as that of an integer of more digits than Python writes
        return f"{typed(value)} that cannot be written"


def typed(value) -> str:
    """Name the type of a value with its article.

    >>> typed(3), typed("a")
    ('an int', 'a str')
    """
    return with_article(type(value).__name__)


def with_article(name: str) -> str:
    """Write a noun with its indefinite article, by its first letter.

    >>> with_article("Integer"), with_article("polars.Series")
    ('an Integer', 'a polars.Series')
    """
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _is_long(value) -> bool:
    return isinstance(value, list | tuple | set | frozenset) and len(value) > _ITEMS


def _is_plain(value, depth: int = 3) -> bool:
    """Tell a scalar, or a short collection of scalars, as somebody writes it into a call."""
    if type(value) is dict:
        value = [*value, *value.values()]
    if type(value) in (list, tuple, set, frozenset):
        few = depth > 0 and len(value) <= _ITEMS
        return few and all(_is_plain(item, depth - 1) for item in value)
    return value is None or isinstance(value, str | bytes | Number | date | PurePath)


class DPStatsError(Exception):
    """Serve as the base of every error that this package raises on purpose."""


class ArgumentError(DPStatsError, ValueError):
    """Refuse an argument, a schema or a formula; the message says what to write instead.

    A long message loses its middle, and half of a surrogate pair, which cannot be printed, is
    written as an escape.
    """

    def __init__(self, message: str):
        text = message.encode(errors="backslashreplace").decode()
        super().__init__(text if len(text) <= _LONG else f"{text[:_HEAD]} ... {text[-_TAIL:]}")


class FormulaError(ArgumentError):
    """Refuse a formula that cannot be evaluated row by row under a public schema."""


class BudgetError(DPStatsError):
    """Refuse a request that the budget does not cover; nothing was read and nothing was spent."""


class LedgerError(DPStatsError):
    """Refuse a ledger's file that cannot be read or written, or that this version did not write."""


class NotReleasedError(DPStatsError, AttributeError):
    """Refuse a quantity that was never released; the message names the alternative."""


class InternalError(DPStatsError):
    """Report a defect of this package without anything the data may have put in it."""


class Defect(Exception):
    """Carry the public description of a defect out of the code that sees rows."""


def is_interrupt(error: BaseException | None, handled: BaseException | None = None) -> bool:
    """Tell whether an interrupt led to an error: compiled code turns it into one of its own.

    So does a handler of Ctrl-C that fails, as reticulate's does where R is interrupted in it.

    Parameters
    ----------
    error : exception
    handled : exception, optional
        What the caller was handling before, which is the context of every error since.

    Examples
    --------
    >>> is_interrupt(KeyboardInterrupt()), is_interrupt(ValueError())
    (True, False)
    """
    while error is not None and error is not handled:
        if isinstance(error, KeyboardInterrupt) or _was_raised_by_handler(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _was_raised_by_handler(error: BaseException) -> bool:
    """Tell whether the function that handles Ctrl-C is among those that an error left."""
    code = getattr(signal.getsignal(signal.SIGINT), "__code__", None)
    left = (frame.f_code for frame, _ in walk_tb(error.__traceback__))
    return code is not None and code in left
