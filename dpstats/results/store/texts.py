"""Read the JSON of stored results, whoever wrote it."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dpstats.errors import ArgumentError
from dpstats.results.store.shapes import check

Result = TypeVar("Result")


def parsed(text, expected: str) -> Any:
    """Read JSON; raise ArgumentError, which says what was expected, for what is none."""
    try:
        return json.loads(text)
    except (RecursionError, TypeError, ValueError):  # also of numbers and nesting without end
        raise ArgumentError(f"expected {expected}") from None


def built(build: Callable[[Mapping], Result], content, shape, expected: str) -> Result:
    """Check the types of stored content and build what it holds, or raise ArgumentError."""
    try:
        check(content, shape)
        return build(content)
    except ArgumentError:
        raise
    except Exception as error:  # each part of what is built has errors of its own
        place = f", and {error} is not as it was written" if type(error) is ValueError else ""
        raise ArgumentError(f"expected {expected}{place}") from None
