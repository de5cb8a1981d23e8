"""Read the JSON text of what dp_ols returned."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpstats.errors import ArgumentError
from dpstats.results.groups import DPGroupResults
from dpstats.results.single import DPResults
from dpstats.results.stored import kind_from_dict, report_from_dict
from dpstats.results.stored_calls import KINDS, LISTS, PUBLIC


def from_text(text: str) -> DPResults | DPGroupResults | dict:
    """Read what :func:`dpstats.results.stored_calls.to_text` wrote; ArgumentError otherwise."""
    try:
        return _restored(json.loads(text, object_hook=_untagged))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ArgumentError("expected text of a stored result of dp_ols") from None


def _restored(content: Mapping):
    ((kind, value),) = content.items()
    if kind == "several":
        return {name: _restored(result) for name, result in value}
    return groups_from_dict(value) if kind == "groups" else DPResults.from_dict(value)


def groups_from_dict(content: Mapping) -> DPGroupResults:
    """Restore what :func:`~dpstats.results.stored_calls.groups_to_dict` described."""
    by, size = content["by"], content["size"]
    estimates = _array(content["estimates"], len(content["names"]))
    same: dict[str, Any] = {name: content[name] for name in PUBLIC if name in content}
    same |= {name: tuple(content[name]) for name in LISTS}
    return DPGroupResults(
        **same,
        by=by if isinstance(by, str) else tuple(by),
        labels=tuple(tuple(v) if isinstance(v, list) else v for v in content["labels"]),
        estimates=estimates,
        stack={name: np.array(values, dtype=float) for name, values in content["stack"].items()},
        x_new=_array(content["x_new"], size),
        schema={name: kind_from_dict(kind) for name, kind in content["schema"].items()},
        term_bounds={name: tuple(pair) for name, pair in content["term_bounds"].items()},
        privacy=report_from_dict(content["privacy"]),
        selected=content["selected"] and tuple(content["selected"]),
    )


def _array(rows, columns: int) -> np.ndarray:
    values = np.array(rows, dtype=float).reshape(-1, columns)
    values.flags.writeable = False
    return values


def _untagged(content: dict) -> object:
    if len(content) == 1:
        ((name, text),) = content.items()
        if name.startswith("$") and name[1:] in KINDS:
            return KINDS[name[1:]][2](text)
    return content
