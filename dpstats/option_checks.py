"""Check numeric arguments, paths and other options.

Each function builds a check for the argument of a given name: a function of a value that returns
the value to use, converted to its type, or raises an ArgumentError with the permitted values.
"""

import math
import os
from collections.abc import Callable, Mapping, Set
from numbers import Real
from operator import le, lt
from pathlib import Path
from typing import TypeGuard, overload

import numpy as np

from dpstats.errors import ArgumentError, shown

# What ``float`` or numpy would convert, with a loss or by a unit.
_NO_NUMBER = str | bytes | complex | np.complexfloating | np.datetime64 | np.timedelta64


def _is_number(value) -> TypeGuard[float]:
    """Tell real numbers from truth values, durations (integers to numpy) and everything else."""
    return isinstance(value, Real) and not isinstance(value, bool | np.timedelta64)


def _is_finite(value) -> TypeGuard[float]:
    """Tell numbers that a float can hold; a Python integer may be larger."""
    try:
        return _is_number(value) and math.isfinite(value)
    except OverflowError:
        return False


def number(name: str, low: float, high: float, brackets: str = "[]") -> Callable[[object], float]:
    """Build a check for a number between ``low`` and ``high``, both included by default.

    ``brackets`` are those of the interval: "(]" excludes its lower end, "()" both.

    >>> number("tau", 0.001, 100)(1), number("alpha", 0, 1, "()")(0.05)
    (1.0, 0.05)
    """
    opening, closing = brackets
    above, below = lt if opening == "(" else le, lt if closing == ")" else le

    def check(value) -> float:
        value = value.item() if isinstance(value, np.floating) else value  # which has wide ends
        if not (_is_finite(value) and above(low, value) and below(value, high)):
            raise ArgumentError(
                f"expected {name} in {opening}{low:g}, {high:g}{closing}, got {shown(value)}"
            )
        return float(value)

    return check


# One minus the level of an interval.
checked_alpha = number("alpha", 0, 1, "()")


def finite(name: str) -> Callable[[object], float]:
    """Build a check for a finite number.

    >>> finite("truth")(-2)
    -2.0
    """

    def check(value) -> float:
        if not _is_finite(value):
            raise ArgumentError(f"expected {name} to be a finite number, got {shown(value)}")
        return float(value)

    return check


def positive(name: str) -> Callable[[object], float]:
    """Build a check for a finite number > 0.

    >>> positive("sd")(1)
    1.0
    """

    def check(value) -> float:
        if not (_is_finite(value) and value > 0):
            raise ArgumentError(f"expected a finite {name} > 0, got {shown(value)}")
        return float(value)

    return check


@overload
def whole(name: str, low: int, high: int | None = None) -> Callable[[object], int]: ...


@overload
def whole(
    name: str, low: int, high: int | None = None, *, or_word: str
) -> Callable[[object], int | str]: ...


def whole(
    name: str, low: int, high: int | None = None, or_word: str | None = None
) -> Callable[[object], int] | Callable[[object], int | str]:
    """Build a check for a whole number from ``low`` to ``high``, or the word ``or_word``.

    >>> whole("k", 1, or_word="all")("all"), whole("k", 1, 100)(3.0)
    ('all', 3)
    """
    word = "" if or_word is None else f'"{or_word}" or '
    range_ = f">= {low}" if high is None else f"in {low}..{high}"

    def check(value):
        if or_word is not None and is_word(value, or_word):
            return value
        if (
            not _is_number(value)
            or value % 1 != 0
            or value < low
            or (high is not None and value > high)
        ):
            raise ArgumentError(
                f"expected {name} to be {word}a whole number {range_}, got {shown(value)}"
            )
        return int(value)

    return check


def seeded_generator(seed) -> np.random.Generator:
    """Return numpy's generator for a seed or a source of randomness, or raise ArgumentError.

    >>> float(seeded_generator(1).random()) == float(np.random.default_rng(1).random())
    True
    """
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"expected seed to be a whole number >= 0 or a numpy Generator, got {shown(seed)}"
        ) from None


def word(name: str, *words: str) -> Callable[[object], str]:
    """Build a check for one of several words.

    >>> word("cov_type", "nonrobust", "HC1")("HC1")
    'HC1'
    """

    def check(value) -> str:
        if not isinstance(value, str) or value not in words:
            raise ArgumentError(
                f"expected {name} to be {' or '.join(map(repr, words))}, got {shown(value)}"
            )
        return value

    return check


def flag(name: str) -> Callable[[object], bool]:
    """Build a check for True or False.

    >>> flag("histogram")(True)
    True
    """

    def check(value) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise ArgumentError(f"expected {name} to be True or False, got {shown(value)}")
        return bool(value)

    return check


def is_word(value, expected: str) -> bool:
    """Tell a word from others and from values that do not compare, such as columns.

    >>> is_word("all", "all"), is_word(["all"], "all")
    (True, False)
    """
    return isinstance(value, str) and value == expected


def checked_progress(value) -> bool | None:
    """Check what the argument ``progress`` of public functions takes.

    >>> checked_progress(False)
    False
    """
    if value is not None and not isinstance(value, bool):
        raise ArgumentError(f"expected progress to be True, False or None, got {shown(value)}")
    return value


def file_path(name: str) -> Callable[[object], Path]:
    """Build a check for a path that a file or folder can have.

    >>> file_path("path")("out/people.ledger").name
    'people.ledger'
    """

    def check(value) -> Path:
        try:
            encoded = os.fsencode(value)
            possible = encoded != b"" and b"\0" not in encoded
        except (TypeError, UnicodeError):  # no path, or half a surrogate pair
            possible = False
        if not possible:
            raise ArgumentError(f"expected {name} to be the path of a file, got {shown(value)}")
        return Path(os.path.expanduser(os.fsdecode(value)))

    return check


def refuse_path(function: str, path: tuple) -> None:
    """Raise ArgumentError where a function that returns a text is given a path to write it to.

    >>> refuse_path("to_json", ())
    """
    if path:
        raise ArgumentError(
            f"{function}() takes no path, got {shown(path[0])}; it returns a text, which "
            f"pathlib.Path(path).write_text(result.{function}()) writes"
        )


def level(name: str) -> Callable[[object], float | None]:
    """Build a check for a confidence level in [0.5, 0.999], where True is 95% and False None.

    >>> level("ci")(True), level("ci")(0.9), level("ci")(False)
    (0.95, 0.9, None)
    """

    def check(value) -> float | None:
        if isinstance(value, bool):
            return 0.95 if value else None
        return number(f"{name} True, False or", 0.5, 0.999)(value)

    return check


def two_numbers(value) -> tuple[float, float]:
    """Convert two real numbers in an order, such as a list of them, to floats.

    Raises
    ------
    TypeError, ValueError, OverflowError
        For anything else: a set has no order, and a text, a complex number, a date or a duration is
        no real number.

    >>> two_numbers([0, np.int8(3)])
    (0.0, 3.0)
    """
    if isinstance(value, str | bytes | Set | Mapping):
        raise TypeError("expected two numbers in an order")
    low, high = value
    if any(isinstance(end, _NO_NUMBER) for end in (low, high)):
        raise TypeError("expected real numbers")
    return float(low), float(high)


def real_numbers(values: np.ndarray) -> np.ndarray:
    """Convert an array of real numbers to float64, NaN where it says so.

    Raises
    ------
    TypeError, ValueError, OverflowError
        For anything else, as of :func:`two_numbers`.

    >>> real_numbers(np.array([1, True, np.nan], object))
    array([ 1.,  1., nan])
    """
    if values.dtype.kind in "mMc" or any(isinstance(value, _NO_NUMBER) for value in values.flat):
        raise TypeError("expected real numbers")
    return values.astype(np.float64)


def interval(
    name: str, low: float, high: float, min_width: float
) -> Callable[[object], tuple[float, float]]:
    """Build a check for an interval within [low, high] that is at least ``min_width`` wide.

    >>> interval("output_range", -2, 3, 0.01)([0, 1])
    (0.0, 1.0)
    """

    def check(value) -> tuple[float, float]:
        try:
            start, stop = two_numbers(value)
        except (TypeError, ValueError, OverflowError):
            start = stop = float("nan")
        if not (low <= start and stop <= high and stop - start >= min_width):
            raise ArgumentError(
                f"expected {name} (low, high) with {low:g} <= low, high <= {high:g} and "
                f"high - low >= {min_width:g}, got {shown(value)}"
            )
        return start, stop

    return check
