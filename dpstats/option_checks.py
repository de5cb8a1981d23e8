"""Checks for numbers and other options: each returns the value to use or raises ArgumentError."""

import math
from collections.abc import Callable
from numbers import Real

from dpstats.errors import ArgumentError


def number(name: str, low: float, high: float) -> Callable[[object], float]:
    """A check for a number in [low, high].

    >>> number("tau", 0.001, 100)(1)
    1.0
    """

    def check(value) -> float:
        if not isinstance(value, Real) or isinstance(value, bool) or not low <= value <= high:
            raise ArgumentError(f"expected {name} in [{low:g}, {high:g}], got {value!r}")
        return float(value)

    return check


def finite(name: str) -> Callable[[object], float]:
    """A check for a finite number.

    >>> finite("truth")(-2)
    -2.0
    """

    def check(value) -> float:
        if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
            raise ArgumentError(f"expected {name} to be a finite number, got {value!r}")
        return float(value)

    return check


def positive(name: str) -> Callable[[object], float]:
    """A check for a finite number > 0.

    >>> positive("sd")(1)
    1.0
    """

    def check(value) -> float:
        if finite(name)(value) <= 0:
            raise ArgumentError(f"expected {name} > 0, got {value!r}")
        return float(value)

    return check


def whole(
    name: str, low: int, high: int | None = None, or_word: str | None = None
) -> Callable[[object], object]:
    """A check for a whole number in [low, high], or the word.

    >>> whole("k", 1, or_word="all")("all"), whole("k", 1, 100)(3.0)
    ('all', 3)
    """
    word = "" if or_word is None else f'"{or_word}" or '
    range_ = f">= {low}" if high is None else f"in {low}..{high}"

    def check(value):
        if or_word is not None and isinstance(value, str) and value == or_word:
            return value
        integral = isinstance(value, Real) and not isinstance(value, bool) and value % 1 == 0
        if not integral or value < low or (high is not None and value > high):
            raise ArgumentError(
                f"expected {name} to be {word}a whole number {range_}, got {value!r}"
            )
        return int(value)

    return check


def word(name: str, *words: str) -> Callable[[object], str]:
    """A check for one of some words.

    >>> word("cov_type", "nonrobust", "HC1")("HC1")
    'HC1'
    """

    def check(value) -> str:
        if not isinstance(value, str) or value not in words:
            raise ArgumentError(
                f"expected {name} to be {' or '.join(map(repr, words))}, got {value!r}"
            )
        return value

    return check


def level(name: str) -> Callable[[object], float | None]:
    """A check for False, True (95%) or a confidence level in [0.5, 0.999]; None for False.

    >>> level("ci")(True), level("ci")(0.9), level("ci")(False)
    (0.95, 0.9, None)
    """

    def check(value) -> float | None:
        if isinstance(value, bool):
            return 0.95 if value else None
        if not isinstance(value, Real) or not 0.5 <= value <= 0.999:
            raise ArgumentError(f"expected {name} True, False or in [0.5, 0.999], got {value!r}")
        return float(value)

    return check


def interval(
    name: str, low: float, high: float, least: float
) -> Callable[[object], tuple[float, float]]:
    """A check for a pair of numbers within [low, high] that are at least ``least`` apart.

    >>> interval("output_range", -2, 3, 0.01)([0, 1])
    (0.0, 1.0)
    """

    def check(value) -> tuple[float, float]:
        try:
            start, stop = (float(end) for end in value)
        except (TypeError, ValueError):
            start = stop = float("nan")
        if not (low <= start and stop <= high and stop - start >= least):
            raise ArgumentError(
                f"expected {name} (low, high) with {low:g} <= low, high <= {high:g} and "
                f"high - low >= {least:g}, got {value!r}"
            )
        return start, stop

    return check
