"""Show progress bars on a terminal, for runs over a second."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

_DELAY = 1.0


def progress_bar(steps, title: str, progress: bool | None):
    """Build a tqdm bar over an iterable, or over a number of steps that are counted by update().

    ``progress`` is that of the public functions: True, False, or None for a bar on a terminal.

    >>> list(progress_bar([1, 2], "steps", False))
    [1, 2]
    """
    from tqdm.auto import tqdm

    hidden = None if progress is None else not progress
    if isinstance(steps, int):
        return tqdm(total=steps, desc=title, disable=hidden, delay=_DELAY)
    return tqdm(steps, desc=title, disable=hidden, delay=_DELAY)


@contextmanager
def step_counter(title: str, progress: bool | None) -> Iterator[Callable[[], None]]:
    """Give a function that counts steps, how many there will be being unknown.

    tqdm is loaded when a second has passed, since most fits take less than it takes to load.
    """
    from_start, steps, bars = monotonic(), 0, []

    def count() -> None:
        nonlocal steps
        steps += 1
        if not bars and monotonic() - from_start > _DELAY:
            from tqdm.auto import tqdm

            hidden = None if progress is None else not progress
            bars.append(tqdm(desc=title, unit=" releases", disable=hidden))
        for bar in bars:
            bar.update(steps - bar.n)

    try:
        yield count
    finally:
        for bar in bars:
            bar.close()
