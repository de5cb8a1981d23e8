"""Say that loops over rows are being compiled, which happens once on a machine."""

import sys
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

SENTENCE = (
    "dpstats compiles its loops over rows, once on this machine, which takes some seconds; later "
    "fits need not wait"
)


def shown_if_compiling(progress: bool | None) -> AbstractContextManager:
    """Return a context that writes a line on standard error when a loop starts to be compiled.

    It does so once in a process, on a terminal or not, unless ``progress`` is False. Loops are
    compiled where the cache has none for the types of their arguments. These are public: batches
    have columns of one kind whatever their rows are, and loops are called where no row is in use
    too.
    """
    if progress is False:
        return nullcontext()
    from numba.core.event import install_listener

    return install_listener("numba:compile", _listener())


@lru_cache(maxsize=1)
def _listener():
    """Return the listener of this process."""
    from numba.core.event import Listener

    class Once(Listener):
        said = False

        def on_start(self, event) -> None:
            if not self.said and sys.stderr is not None:
                from tqdm import tqdm

                self.said = True
                tqdm.write(SENTENCE, file=sys.stderr)

        def on_end(self, event) -> None:
            pass

    return Once()
