"""Convert the regressions of groups to plain content for JSON, and restore them."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from dpstats.results.stored import kind_from_dict, kind_to_dict, report_from_dict, report_to_dict

_PUBLIC = ("formula", "method", "size", "plan", "share", "cov_type", "labels_present", "limited")
_LISTS = ("names", "released", "reasons", "estimated")
# Labels and levels that JSON does not know; a Timestamp is a datetime, and that is a date.
_KINDS = {
    "timestamp": (pd.Timestamp, pd.Timestamp.isoformat, pd.Timestamp),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "decimal": (Decimal, str, Decimal),
}


def groups_to_dict(results) -> dict:
    """Describe the regressions of groups by plain numbers, strings, lists and dicts."""
    return {
        **{name: getattr(results, name) for name in _PUBLIC},
        **{name: list(getattr(results, name)) for name in _LISTS},
        "by": results.by if isinstance(results.by, str) else list(results.by),
        "labels": [list(v) if isinstance(v, tuple) else v for v in results.labels],
        "estimates": _plain(results.estimates),
        "stack": {name: _plain(values) for name, values in results.stack.items()},
        "x_new": _plain(results.x_new),
        "sizes": None if results.sizes is None else results.sizes.tolist(),
        "schema": {name: kind_to_dict(kind) for name, kind in results.schema.items()},
        "clipping": {name: kind_to_dict(kind) for name, kind in results.clipping.items()},
        "term_bounds": {name: list(pair) for name, pair in results.term_bounds.items()},
        "privacy": report_to_dict(results.privacy),
        "selected": None if results.selected is None else list(results.selected),
    }


def group_fields(content: Mapping) -> dict[str, Any]:
    """Restore the fields of a result from the content that :func:`groups_to_dict` gives."""
    by, size, sizes = content["by"], content["size"], content.get("sizes")
    same: dict[str, Any] = {name: content[name] for name in _PUBLIC if name in content}
    same |= {name: tuple(content[name]) for name in _LISTS if name in content}
    kinds = {
        name: {key: kind_from_dict(kind) for key, kind in content.get(name, {}).items()}
        for name in ("schema", "clipping")
    }
    return {
        **same,
        **kinds,
        "by": by if isinstance(by, str) else tuple(by),
        "labels": tuple(tuple(v) if isinstance(v, list) else v for v in content["labels"]),
        "estimates": _array(content["estimates"], len(content["names"])),
        "stack": {name: np.array(v, dtype=float) for name, v in content["stack"].items()},
        "x_new": _array(content["x_new"], size),
        "sizes": None if sizes is None else np.array(sizes, dtype=np.int64),
        "term_bounds": {name: tuple(pair) for name, pair in content["term_bounds"].items()},
        "privacy": report_from_dict(content["privacy"]),
        "selected": content["selected"] and tuple(content["selected"]),
    }


def _plain(values: np.ndarray) -> list:
    """Convert an array to nested lists of Python floats, None for NaN."""
    content = values.astype(object)
    content[np.isnan(values)] = None
    return content.tolist()


def _array(rows, columns: int) -> np.ndarray:
    values = np.array(rows, dtype=float).reshape(-1, columns)
    values.flags.writeable = False
    return values


def tagged(value) -> object:
    """Convert a value that JSON does not know; what no kind describes becomes its text."""
    if isinstance(value, np.generic):
        return value.item()
    for name, (kind, text, _) in _KINDS.items():
        if isinstance(value, kind):
            return {f"${name}": text(value)}
    return str(value)


def untagged(content: dict) -> object:
    """Restore what :func:`tagged` converted."""
    if len(content) == 1:
        ((name, text),) = content.items()
        if name.startswith("$") and name[1:] in _KINDS:
            return _KINDS[name[1:]][2](text)
    return content
