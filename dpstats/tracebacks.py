"""Drop the traceback of what a public function raises, whose frames lead to rows."""

import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from traceback import format_tb
from typing import ParamSpec, TypeVar

from dpstats.errors import DPStatsError, is_interrupt

SPENT = "the budget of this call counts as spent"
_charged: ContextVar[bool] = ContextVar("charged", default=False)
_P = ParamSpec("_P")
_R = TypeVar("_R")


def count_as_spent() -> None:
    """Have an interrupt of the call that is running say from here on that it is spent."""
    _charged.set(True)


def drops_traceback(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a public function that is given data, so that nothing it raises leads to rows.

    Guarantee. Whatever ends a call, an error, Ctrl-C or another signal's handler, leaves it here,
    without the frames that it passed, without what it came from, whose message may hold rows, and
    after this frame let go of the arguments. Its own message is left, by the rules of
    :mod:`dpstats.errors`. Before the ``try`` here a frame holds arguments, which are then still the
    caller's. ``__wrapped__`` is the function with its traceback, for those who develop it.

    Examples
    --------
    >>> @drops_traceback
    ... def refused(data):
    ...     raise DPStatsError(f"got {len(data)} columns")
    >>> try:
    ...     refused(["x", "y"])
    ... except DPStatsError as error:
    ...     last = error.__traceback__.tb_next.tb_frame
    >>> last.f_code.co_name, "arguments" in last.f_locals
    ('called', False)
    """

    @wraps(function)
    def called(*arguments: _P.args, **named: _P.kwargs) -> _R:
        handled = None
        try:
            handled = sys.exception()
            _charged.set(False)
            return function(*arguments, **named)
        except BaseException as error:
            del arguments, named
            ended = [_alone(error, handled)]
        raise ended.pop()  # out of a list, as a frame that keeps its exception is a cycle

    return called


def _alone(error: BaseException, handled: BaseException | None) -> BaseException:
    """Return what to raise: an interrupt anew, anything else without what it holds of the call.

    The caller was handling ``handled``. A defect before the charge, when no row has been read,
    keeps the places it passed as text.
    """
    if is_interrupt(error, handled):
        said = str(error) if isinstance(error, KeyboardInterrupt) else ""
        spent = f"; {SPENT}" if _charged.get() and SPENT not in said else ""
        return KeyboardInterrupt((said or "interrupted") + spent)
    if isinstance(error, Exception) and not isinstance(error, DPStatsError):
        error.add_note("".join(format_tb(error.__traceback__)))
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)
