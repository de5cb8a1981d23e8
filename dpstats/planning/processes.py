"""Run independent tasks in several processes, and yield their results as they end."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from typing import Any


def done(
    work: Callable[[Any], Any], pieces: Mapping[Any, Any], n_jobs: int
) -> Iterator[tuple[Any, Any]]:
    """Yield ``(name, work(piece))`` as pieces end, in order with one process, which is this one.

    Others start afresh, with modules of their own, so that ``work`` is a function of a module.

    >>> dict(done(len, {"a": "xy", "b": ""}, 1))
    {'a': 2, 'b': 0}
    """
    if n_jobs == 1:
        yield from ((name, work(piece)) for name, piece in pieces.items())
        return
    count = min(n_jobs, len(pieces))
    with ProcessPoolExecutor(count, get_context("spawn"), _end_with_the_parent) as pool:
        names = {pool.submit(work, piece): name for name, piece in pieces.items()}
        try:
            for future in as_completed(names):
                yield names[future], future.result()
        finally:  # an error or an interrupt leaves nothing to be started
            pool.shutdown(wait=False, cancel_futures=True)


def _end_with_the_parent() -> None:
    """End a worker silently at an interrupt, and when its parent process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_wait_for_the_end, daemon=True).start()


def _wait_for_the_end() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
