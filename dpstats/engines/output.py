"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` and rename it there when the block succeeds.

    Raises
    ------
    OSError
        As writing raises it; then ``path`` is as it was.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} to")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=target.suffix)
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
