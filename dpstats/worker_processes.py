"""Run independent tasks in several processes, and yield their results as they end."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

# Seconds between two looks of a worker at whether its parent is there.
_LOOK = 1.0
# A worker computes in one thread, as there are as many workers as wanted.
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


def done(
    work: Callable[[Any], Any], pieces: Mapping[Any, Any], n_jobs: int
) -> Iterator[tuple[Any, Any]]:
    """Yield ``(name, work(piece))`` as pieces end, in order with one process, which is this one.

    Others start afresh, with modules of their own, so that ``work`` is a function of a module. They
    are loky's: a script that starts them needs no ``if __name__ == "__main__":``. There are no more
    than processors.

    >>> dict(done(len, {"a": "xy", "b": ""}, 1))
    {'a': 2, 'b': 0}
    """
    if n_jobs == 1 or len(pieces) < 2:
        yield from ((name, work(piece)) for name, piece in pieces.items())
        return
    from loky import ProcessPoolExecutor, as_completed

    count = min(n_jobs, len(pieces), os.cpu_count() or 1)
    pool = ProcessPoolExecutor(
        count, initializer=_end_with_the_parent, initargs=(os.getpid(),), env=_ONE_THREAD
    )
    try:
        names: dict[Any, Any] = {pool.submit(work, piece): name for name, piece in pieces.items()}
        for future in as_completed(names):
            yield names[future], future.result()
    except BaseException:  # an error or an interrupt leaves nothing to be waited for
        pool.shutdown(wait=False, kill_workers=True)
        raise
    pool.shutdown()


def _end_with_the_parent(parent: int) -> None:
    """End a worker silently at an interrupt, and when its parent process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_wait_for_the_end, args=(parent,), daemon=True).start()


def _wait_for_the_end(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)
