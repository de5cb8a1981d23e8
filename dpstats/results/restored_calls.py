"""Read the JSON text of what dp_ols returned."""

from collections.abc import Mapping

from dpstats.results.many import DPGroupResults
from dpstats.results.one import DPResults
from dpstats.results.store.texts import built, parsed

_SHAPE = {"*": lambda value: isinstance(value, dict | list)}
_KINDS = {"groups": DPGroupResults, "single": DPResults}
_STORED = "text of a stored result of dp_ols"


def from_text(text: str) -> DPResults | DPGroupResults | dict:
    """Read what :func:`dpstats.results.store.calls.to_text` wrote; ArgumentError otherwise."""
    return built(_restored, parsed(text, _STORED), _SHAPE, _STORED)


def _restored(content: Mapping):
    ((kind, value),) = content.items()
    if kind == "several":
        return {name: _restored(result) for name, result in value}
    return _KINDS[kind].from_dict(value)
