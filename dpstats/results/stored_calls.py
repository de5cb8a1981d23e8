"""Write what dp_ols returned as JSON text, and read it back."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError
from dpstats.results.groups import DPGroupResults
from dpstats.results.single import DPResults
from dpstats.results.stored import kind_from_dict, kind_to_dict, report_from_dict, report_to_dict

Results = DPResults | DPGroupResults | dict
_PUBLIC = ("formula", "method", "size", "plan", "share", "cov_type")
_LISTS = ("names", "released", "reasons")
# Labels and levels that JSON does not know; a Timestamp is a datetime, and that is a date.
_KINDS = {
    "timestamp": (pd.Timestamp, pd.Timestamp.isoformat, pd.Timestamp),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "decimal": (Decimal, str, Decimal),
}


def to_text(results: Results) -> str:
    """Write a result, or a dict of results by formula, as one line of JSON.

    NaN and infinities are written as Python's json module does.
    """
    return json.dumps(_content(results), default=_tagged, separators=(",", ":"))


def from_text(text: str) -> Results:
    """Read what :func:`to_text` wrote; ArgumentError for any other text."""
    try:
        return _restored(json.loads(text, object_hook=_untagged))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ArgumentError("expected text of a stored result of dp_ols") from None


def _content(results: Results) -> dict:
    if isinstance(results, Mapping):
        return {"several": [[name, _content(result)] for name, result in results.items()]}
    if isinstance(results, DPGroupResults):
        return {"groups": groups_to_dict(results)}
    return {"single": results.to_dict()}


def _restored(content: Mapping) -> Results:
    ((kind, value),) = content.items()
    if kind == "several":
        return {name: _restored(result) for name, result in value}
    return groups_from_dict(value) if kind == "groups" else DPResults.from_dict(value)


def groups_to_dict(results: DPGroupResults) -> dict:
    """Describe the regressions of groups by plain numbers, strings, lists and dicts."""
    return {
        **{name: getattr(results, name) for name in _PUBLIC},
        **{name: list(getattr(results, name)) for name in _LISTS},
        "by": results.by if isinstance(results.by, str) else list(results.by),
        "labels": [list(v) if isinstance(v, tuple) else v for v in results.labels],
        "estimates": results.estimates.tolist(),
        "stack": {name: values.tolist() for name, values in results.stack.items()},
        "x_new": results.x_new.tolist(),
        "schema": {name: kind_to_dict(kind) for name, kind in results.schema.items()},
        "term_bounds": {name: list(pair) for name, pair in results.term_bounds.items()},
        "privacy": report_to_dict(results.privacy),
        "selected": None if results.selected is None else list(results.selected),
    }


def groups_from_dict(content: Mapping) -> DPGroupResults:
    """Restore what :func:`groups_to_dict` described."""
    by, size = content["by"], content["size"]
    estimates = _array(content["estimates"], len(content["names"]))
    return DPGroupResults(
        **{name: content[name] for name in _PUBLIC},
        **{name: tuple(content[name]) for name in _LISTS},
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


def _tagged(value) -> object:
    """A value that JSON does not know; what no kind describes becomes its text."""
    if isinstance(value, np.generic):
        return value.item()
    for name, (kind, text, _) in _KINDS.items():
        if isinstance(value, kind):
            return {f"${name}": text(value)}
    return str(value)


def _untagged(content: dict) -> object:
    if len(content) == 1:
        ((name, text),) = content.items()
        if name.startswith("$") and name[1:] in _KINDS:
            return _KINDS[name[1:]][2](text)
    return content
