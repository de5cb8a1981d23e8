"""Read TOML, with errors that name the file and the entry."""

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

from dpstats.errors import ArgumentError, shown


def parsed(path: Path) -> dict:
    """Read a file, with or without a byte order mark, or raise ArgumentError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ArgumentError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ArgumentError(f"cannot read {path}: it is not in UTF-8; save it so") from None
    try:
        return tomllib.loads(text)
    except (RecursionError, ValueError) as error:  # of what is nested or a number too long
        raise ArgumentError(f"{path} is no TOML: {error}") from None


def check_names(content: Mapping, known: Collection[str], place: str) -> None:
    """Raise ArgumentError for an entry that is not known."""
    for name in content:
        if name not in known:
            raise ArgumentError(f"{place} has no entry {name!r}; it has: {', '.join(known)}")


def table(content: Mapping, name: str, place: str) -> dict:
    """Return the table of a name, empty where there is none."""
    value = content.get(name, {})
    if not isinstance(value, dict):
        raise ArgumentError(f"expected {name} of {place} to be a table, got {shown(value)}")
    return value
