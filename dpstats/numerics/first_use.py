"""Say that the loops over rows are being compiled, which happens once on a machine."""

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path

SENTENCE = "dpstats compiles its loops over rows; later fits on this machine need not wait"


def shown_if_compiling(progress: bool | None) -> AbstractContextManager:
    """Return a context that shows a line on standard error while a first fit compiles.

    As a progress bar it is shown on a terminal where ``progress`` is None. Whether it is depends
    on files of the cache alone, never on rows.
    """
    if is_compiled():
        return nullcontext()
    is_compiled.cache_clear()
    from tqdm.auto import tqdm

    return tqdm(
        desc=SENTENCE, bar_format="{desc}", disable=None if progress is None else not progress
    )


@lru_cache(maxsize=1)
def is_compiled() -> bool:
    """Tell whether the cache has the loop that every fit needs, for this version of it."""
    from dpstats.numerics.kernels import within

    cache = Path(within.stats.cache_path or "")
    source = Path(within.py_func.__code__.co_filename)
    indices = cache.glob(f"{source.stem}.{within.py_func.__name__}-*.nbi")
    return any(index.stat().st_mtime >= source.stat().st_mtime for index in indices)
