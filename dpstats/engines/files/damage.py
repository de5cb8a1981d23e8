"""Name the file that cannot be read on when a pass over its rows ends early.

That a file is damaged, or was changed or removed while a call reads it, is public, as what one
holds is not: its pages and lines are read whatever their values are.
"""

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from dpstats.errors import Defect


@contextmanager
def named(path: str) -> Iterator[None]:
    """Raise Defect in place of the error of a file."""
    try:
        yield
    except (EOFError, OSError, zlib.error) as error:
        raise defect(path, error) from None


def defect(path: str, error: Exception) -> Defect:
    """Say in public words why a file cannot be read; a library's own may quote it.

    >>> str(defect("a.csv", FileNotFoundError(2, "")))
    'an error of a.csv (No such file or directory; put it back)'
    """
    number = getattr(error, "errno", None)
    why = f"{os.strerror(number)}; put it back" if number else "damaged or changed; copy it anew"
    return Defect(f"an error of {path} ({why})")
