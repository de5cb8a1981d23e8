"""Show progress for runs over a second: bars on a terminal, lines where there is none."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

_DELAY = 1.0
# Lines that stand for a bar.
_LINES = 20


class Lines:
    """Write how many steps are done on lines of standard error, at most twenty of them."""

    def __init__(self, steps, title: str):
        self._steps, self._title, self._start = steps, title, monotonic()
        self._total = steps if isinstance(steps, int) else len(steps)
        self._done = self._written = 0

    def __iter__(self) -> Iterator:
        for step in self._steps:
            yield step
            self.update()

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *error) -> None:
        """End; the last step has its line."""

    def update(self, steps: int = 1) -> None:
        """Count steps, and write a line for every twentieth part of all."""
        self._done += steps
        part, took = self._done * _LINES // max(self._total, 1), monotonic() - self._start
        if part > self._written and took > _DELAY:
            from tqdm import tqdm

            self._written = part
            share = f"{self._done / self._total:.0%} ({self._done} of {self._total}, {took:.0f} s)"
            tqdm.write(f"{self._title}: {share}", file=sys.stderr)


def progress_bar(steps, title: str, progress: bool | None):
    """Build a tqdm bar over an iterable, or over a number of steps that are counted by update().

    ``progress`` is that of the public functions: True, False, or None for a bar on a terminal.
    What is asked for by True has lines where there is neither a terminal nor a notebook.

    >>> list(progress_bar([1, 2], "steps", False))
    [1, 2]
    """
    if progress and not _has_bars():
        return Lines(steps, title)
    from tqdm.auto import tqdm

    hidden = None if progress is None else not progress
    if isinstance(steps, int):
        return tqdm(total=steps, desc=title, disable=hidden, delay=_DELAY)
    return tqdm(steps, desc=title, disable=hidden, delay=_DELAY)


def _has_bars() -> bool:
    """Tell whether a bar can move: on a terminal, or in a notebook."""
    return sys.stderr is None or sys.stderr.isatty() or "ipykernel" in sys.modules


@contextmanager
def step_counter(title: str, progress: bool | None) -> Iterator[Callable[[], None]]:
    """Give a function that counts steps, how many there will be being unknown.

    tqdm is loaded when a second has passed, since most fits take less than it takes to load, and
    not for a bar that nobody would see.
    """
    from_start, steps, bars = monotonic(), 0, []
    shown = _has_bars() if progress is None else progress

    def count() -> None:
        nonlocal steps
        steps += 1
        if shown and not bars and monotonic() - from_start > _DELAY:
            from tqdm.auto import tqdm

            bars.append(tqdm(desc=title, unit=" releases"))
        for bar in bars:
            bar.update(steps - bar.n)

    try:
        yield count
    finally:
        for bar in bars:
            bar.close()
