"""Interrupt this package at chosen lines, and follow what it then leaves behind."""

import sys
import traceback
import weakref
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path

import dpstats as dp
from tests.checks.leaks import check_reaches_no_rows

# Through these every call enters; each of their lines is interrupted where it is first reached.
ENTRIES = tuple(
    str(Path(dp.__file__).parent / place)
    for place in ("tracebacks.py", "verbs", "run/charge.py", "run/describe.py")
)


class Interrupting:
    """Raise an exception at the n-th line of this package that runs; list the lines without n.

    Every function and line that runs calls it, so it does as little as it can.
    """

    def __init__(self, n=None, kind=KeyboardInterrupt):
        self.lines = []
        self._line = _listing(self.lines) if n is None else _raising(n, kind)

    def __enter__(self):
        self.earlier, line, ours = sys.gettrace(), self._line, {}

        def called(frame, event, _):
            """Trace the lines of this package's functions alone."""
            name = frame.f_globals.get("__name__", "")
            if name not in ours:
                ours[name] = name.partition(".")[0] == "dpstats"
            return line if ours[name] else None

        sys.settrace(called)
        return self

    def __exit__(self, *_):
        sys.settrace(self.earlier)


def _listing(lines: list) -> Callable:
    """Trace the lines of a function into a list."""

    def line(frame, event, _):
        if event == "line":
            lines.append((frame.f_code.co_filename, frame.f_lineno))
        return line

    return line


def _raising(n: int, kind: type) -> Callable:
    """Trace the lines of functions and raise at the n-th."""
    left = n

    def line(frame, event, _):
        nonlocal left
        if event == "line":
            left -= 1
            if left == 0:
                raise kind
        return line

    return line


def moments(call: Callable, data, stride: int) -> list[int]:
    """When to interrupt a call: at each line of ENTRIES, and at every so many lines.

    Not before the ``try`` of the first function, where a call is its caller's: none can catch what
    ends it as it begins.
    """
    with Interrupting() as tracing:
        call(data)
    first = {}
    for n, line in enumerate(tracing.lines, start=1):
        if line[0].startswith(ENTRIES):
            first.setdefault(line, n)
    return sorted({*first.values(), *range(stride, len(tracing.lines), stride)} - {1, 2})


def interrupted(call: Callable, data: list, n: int, kind: type):
    """Call with the one item of data, which this leaves empty; return what it raises, or None.

    Also a reference to the item that does not keep it. It runs in a context of its own, as what
    restores one may be interrupted too.
    """
    item = weakref.ref(data[0])
    with Interrupting(n, kind):
        try:
            copy_context().run(call, data.pop())
        except BaseException as error:
            return error, item
    return None, item


def our_frames(error: BaseException) -> list:
    """Frames of a traceback from the first of this package on."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    ours = [f.f_globals["__name__"].partition(".")[0] == "dpstats" for f in frames]
    return frames[ours.index(True) :] if any(ours) else []


def check_leads_to_no_rows(error: BaseException, few: int) -> None:
    """Raise AssertionError unless an exception and its frames hold less than so many items each."""
    assert our_frames(error), "it was raised elsewhere"
    assert error.__cause__ is None and error.__context__ is None
    check_reaches_no_rows(error.args, error.__dict__, *our_frames(error), rows=few)
