"""Read the JSON text of what dp_ols returned."""

import json
from collections.abc import Mapping

from dpstats.errors import ArgumentError
from dpstats.results.groups import DPGroupResults
from dpstats.results.single import DPResults

_KINDS = {"groups": DPGroupResults, "single": DPResults}


def from_text(text: str) -> DPResults | DPGroupResults | dict:
    """Read what :func:`dpstats.results.stored_calls.to_text` wrote; ArgumentError otherwise."""
    try:
        return _restored(json.loads(text))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ArgumentError("expected text of a stored result of dp_ols") from None


def _restored(content: Mapping):
    ((kind, value),) = content.items()
    if kind == "several":
        return {name: _restored(result) for name, result in value}
    return _KINDS[kind].from_dict(value)
