"""Hash labels to keys, equal for equal labels, which identify the group of a row and no more.

A label that is absorbed is never shown and needs no public list. Each cell becomes a whole number
by itself, the same one in every batch, file and process, so that sums by key can be added up
wherever they were made. Different labels share a key with a probability of 2^-53 a pair (among a
million labels, one chance in 18,000 that any two do). They would then count as one group, which
costs accuracy and never privacy: which rows share a key is a function of each row alone.
"""

import hashlib

import numpy as np

from dpstats.engines.columns import Column, cells
from dpstats.numerics.mixing import mixed

# Whole numbers below 2^53 are exact as doubles.
_DROPPED_BITS = np.uint64(11)
# The first word of the key of a row that belongs to no privacy unit: the bits of -0.0 and of -2^63.
NO_UNIT = np.uint64(1 << 63)
# That of a value which is there and is not of the declared kind.
_UNREADABLE = NO_UNIT + np.uint64(1)
# Types of numbers that 64 bits do not hold, by their names in dtypes.
_WIDE = ("decimal", "int128")


def keys(column: Column) -> np.ndarray:
    """Return the key of each label of a column.

    Parameters
    ----------
    column : Column
        The column, (n,), of any kind; that of a text file without a type is taken for text.

    Returns
    -------
    ndarray
        float64 (n,), whole numbers from 0 to 2^53 - 1, NaN for missing.

    Examples
    --------
    >>> from dpstats.engines.columns import columns_of
    >>> found = keys(columns_of({"g": np.array([2.0, np.nan, 2.0, -1.0])})["g"])
    >>> bool(found[0] == found[2] != found[3]), np.isnan(found)
    (True, array([False,  True, False, False]))
    """
    if column.kind == "text":
        column = column.typed("string")
    if column.kind == "other":
        return np.full(len(column), np.nan)
    if column.kind in ("string", "category", "object") or column.levels is not None:
        codes, labels = column.distinct()
        # the last entry is where the code -1 points
        return np.array([*map(_key, labels), np.nan])[codes]
    if column.kind == "number":
        floats = column.floats()
        return _mixed((floats + 0.0).view(np.uint64), np.isnan(floats))
    values, missing = column.ticks()
    wide = values if values.dtype == np.uint64 else values.astype(np.int64, copy=False)
    return _mixed(wide.view(np.uint64), missing)


def key_words(column: Column) -> np.ndarray:
    """Return :func:`keys` as one word, uint64 (1, n), :data:`NO_UNIT` for missing.

    Rows of one label come together by it as those of one unit do by :func:`unit_keys`.

    Examples
    --------
    >>> from dpstats.engines.columns import columns_of
    >>> (found,) = key_words(columns_of({"g": np.array([2.0, np.nan, 2.0, -1.0])})["g"])
    >>> bool(found[0] == found[2] != found[3]), found == NO_UNIT
    (True, array([False,  True, False, False]))
    """
    found = keys(column)
    return np.where(np.isnan(found), NO_UNIT, found.view(np.uint64))[None]


def unit_keys(column: Column) -> np.ndarray:
    """Return the key of the privacy unit in each row, such as a person's number.

    Different numbers of up to 64 bits, truth values, dates and times have different keys of one
    word, but for the whole numbers that would have the key of a missing one, +-2^63: these have the
    key of the next larger one, so that all rows of such a person stay together. Texts, objects and
    wider numbers have two words, 127 bits of their BLAKE2b hash: that any two of ten billion share
    them has a chance below 10^-18, far below any delta, and an id that shares those of another
    person cannot be searched for. Values that are no number, text or date, such as lists, share one
    key, and so do those that are not of the kind which ``types=`` declares: rows of one unit never
    count as several.

    Two units that share a key count as one. Each is then protected as two neighbouring tables in
    turn are, at twice epsilon: one that has neither, and one that has the other.

    Parameters
    ----------
    column : Column
        The column, (n,), of any kind but ``"other"``.

    Returns
    -------
    ndarray
        uint64 (words, n), one or two words as the type of the column says; the first is
        :data:`NO_UNIT` for missing.

    Examples
    --------
    >>> from dpstats.engines.columns import columns_of
    >>> (found,) = unit_keys(columns_of({"id": np.array([2.0, np.nan, 2.0, -1.0])})["id"])
    >>> bool(found[0] == found[2] != found[3]), found == NO_UNIT
    (True, array([False,  True, False, False]))
    """
    if column.kind == "text":
        column = column.typed("string")
    wide = any(word in column.dtype.lower() for word in _WIDE)
    if column.kind in ("string", "category", "object") or wide:
        codes, labels = column.identities()
        # the last entry is where the code -1 points
        words = np.array([*map(_unit_key, labels), (NO_UNIT, 0)], dtype=np.uint64).T
        return np.stack([word[codes] for word in words])
    if column.kind == "number":
        floats = column.floats()
        keys, missing = (floats + 0.0).view(np.uint64), np.isnan(floats)
    else:
        values, missing = column.ticks()
        values = values if values.dtype == np.uint64 else values.astype(np.int64, copy=False)
        keys = values.view(np.uint64)
        keys = np.where(keys == NO_UNIT, _UNREADABLE, keys)
    if missing is None:
        return keys[None]
    present = column.present()
    none = NO_UNIT if present is None else np.where(present, _UNREADABLE, NO_UNIT)
    return np.where(missing, none, keys)[None]


def _unit_key(label) -> tuple[int, int]:
    """Return the key of a privacy unit from a value that is not missing.

    Bit 0 of the first word is set, so that no value has the key of a missing one.
    """
    digest = _digest(label, 16) or b"".ljust(16)
    first, second = (int.from_bytes(digest[i : i + 8], "little") for i in (0, 8))
    return first | 1, second


def _key(label) -> float:
    """Return the key of a text, a category or an object: 53 bits of its BLAKE2b hash."""
    digest = _digest(label, 8)
    if digest is None:
        return np.nan
    return float(int.from_bytes(digest, "little") >> int(_DROPPED_BITS))


def _digest(label, size: int) -> bytes | None:
    """Return the BLAKE2b hash of a label, bytes; None where it is missing or has no text."""
    label = cells.label(label)
    if label is None:
        return None
    try:
        text = _text(label).encode()
    except Exception:  # as for a whole number of more digits than Python writes
        return None
    return hashlib.blake2b(text, digest_size=size).digest()


def _text(label) -> str:
    """Write a label such that different ones differ; 1, 1.0 and True are one label."""
    if isinstance(label, cells.NUMBERS) and (number := cells.number(label)) == label:
        return f"number {number.hex()}"
    return f"{type(label).__name__} {label}"


def _mixed(bits: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """Scramble 64 bits (n,) one to one, and keep 53 of them."""
    found = (mixed(bits) >> _DROPPED_BITS).astype(np.float64)
    return found if missing is None else np.where(missing, np.nan, found)
