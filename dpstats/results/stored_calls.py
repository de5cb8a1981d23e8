"""Write what dp_ols returned as JSON text."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd

from dpstats.results.stored import kind_to_dict, report_to_dict

PUBLIC = ("formula", "method", "size", "plan", "share", "cov_type", "labels_present")
LISTS = ("names", "released", "reasons")
# Labels and levels that JSON does not know; a Timestamp is a datetime, and that is a date.
KINDS = {
    "timestamp": (pd.Timestamp, pd.Timestamp.isoformat, pd.Timestamp),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "decimal": (Decimal, str, Decimal),
}


def to_text(results) -> str:
    """Write a result, or a dict of results by formula, as one line of JSON.

    NaN and infinities are written as Python's json module does;
    :func:`dpstats.results.restored_calls.from_text` reads it.
    """
    return json.dumps(_content(results), default=_tagged, separators=(",", ":"))


def _content(results) -> dict:
    if isinstance(results, Mapping):
        return {"several": [[name, _content(result)] for name, result in results.items()]}
    if hasattr(results, "labels"):
        return {"groups": groups_to_dict(results)}
    return {"single": results.to_dict()}


def groups_to_dict(results) -> dict:
    """Describe the regressions of groups by plain numbers, strings, lists and dicts."""
    return {
        **{name: getattr(results, name) for name in PUBLIC},
        **{name: list(getattr(results, name)) for name in LISTS},
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


def _tagged(value) -> object:
    """A value that JSON does not know; what no kind describes becomes its text."""
    if isinstance(value, np.generic):
        return value.item()
    for name, (kind, text, _) in KINDS.items():
        if isinstance(value, kind):
            return {f"${name}": text(value)}
    return str(value)
