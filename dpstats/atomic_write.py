"""Write files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpstats.errors import ArgumentError
from dpstats.option_checks import file_path


@contextmanager
def replacing(path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` and rename it there when the block succeeds.

    Raises
    ------
    ArgumentError
        For what is no path, and for that of a folder.
    OSError
        From the writing, with the number of bytes written; then ``path`` is unchanged.
    """
    target = file_path("path")(path)
    if target.is_dir():
        raise ArgumentError(
            f"expected path to name a file, got the folder {target}; name one in it"
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} to")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=target.suffix)
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except OSError as error:
        raise _with_size(error, name, target) from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _with_size(error: OSError, temporary: str, target: Path) -> OSError:
    """Add to an error how many bytes were written."""
    if error.strerror is None or not os.path.exists(temporary):
        return error
    written = os.path.getsize(temporary)
    message = f"{error.strerror} after {written:,} bytes, none of which are kept"
    return OSError(error.errno, message, str(target))


def _umask() -> int:
    """Read the process's mask of file permissions."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
