"""Read the JSON of stored results, whoever wrote it."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dpstats.errors import ArgumentError, with_article
from dpstats.results.store.shapes import check

Result = TypeVar("Result")


def written_by(cls: type) -> str:
    """Name what restores a result of a class.

    >>> written_by(int)
    'what to_json() or to_dict() of an int wrote'
    """
    return f"what to_json() or to_dict() of {with_article(cls.__name__)} wrote"


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
