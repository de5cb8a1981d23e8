"""Read the JSON text of what a call returned."""

from collections.abc import Mapping

from dpstats.results.description import DPDescription
from dpstats.results.many import DPGroupResults, DPIVGroupResults
from dpstats.results.one import DPIVResults, DPResults
from dpstats.results.store.texts import built, parsed

_SHAPE = {"*": lambda value: isinstance(value, dict | list)}
_KINDS = {"groups": DPGroupResults, "single": DPResults, "description": DPDescription,
          "instruments": DPIVResults, "instrument_groups": DPIVGroupResults}  # fmt: skip
_STORED = "text of a stored result of a call"


def from_text(text: str) -> DPResults | DPGroupResults | DPDescription | dict:
    """Read what :func:`dpstats.results.store.calls.to_text` wrote; ArgumentError otherwise."""
    return built(_restored, parsed(text, _STORED), _SHAPE, _STORED)


def _restored(content: Mapping):
    ((kind, value),) = content.items()
    if kind == "several":
        return {name: _restored(result) for name, result in value}
    return _KINDS[kind].from_dict(value)
