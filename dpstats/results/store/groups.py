"""Convert the regressions of groups to plain content for JSON, and restore them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpstats.engines.labels.stored_labels import restored, stored
from dpstats.evidence import Stack
from dpstats.evidence.evidence import plain
from dpstats.results.store.single import (
    formula_from_dict,
    formula_to_dict,
    kind_from_dict,
    kind_to_dict,
    report_from_dict,
    report_to_dict,
)

_PUBLIC = ("method", "size", "plan", "share", "cov_type", "labels_present", "limited")
_LISTS = ("names", "released", "reasons", "estimated")


def groups_to_dict(results) -> dict:
    """Describe the regressions of groups by plain numbers, strings, lists and dicts."""
    return {
        **formula_to_dict(results.formula),
        **{name: getattr(results, name) for name in _PUBLIC},
        **{name: list(getattr(results, name)) for name in _LISTS},
        "by": results.by if isinstance(results.by, str) else list(results.by),
        "labels": [stored(label) for label in results.labels],
        "estimates": plain(results.estimates),
        "stack": results.stack.to_plain(),
        "x_new": plain(results.x_new),
        "sizes": None if results.sizes is None else results.sizes.tolist(),
        "schema": {name: kind_to_dict(kind) for name, kind in results.schema.items()},
        "clipping": {name: kind_to_dict(kind) for name, kind in results.clipping.items()},
        "term_bounds": {name: list(pair) for name, pair in results.term_bounds.items()},
        "privacy": report_to_dict(results.privacy),
        "selected": None if results.selected is None else list(results.selected),
    }


def group_fields(content: Mapping) -> dict[str, Any]:
    """Restore the fields of a result from the content that :func:`groups_to_dict` gives."""
    by, size, sizes = content["by"], content["size"], content["sizes"]
    same: dict[str, Any] = {name: content[name] for name in _PUBLIC}
    same |= {name: tuple(content[name]) for name in _LISTS}
    kinds = {
        name: {key: kind_from_dict(kind) for key, kind in content[name].items()}
        for name in ("schema", "clipping")
    }
    return {
        **same,
        **kinds,
        "formula": formula_from_dict({"dialect": "patsy", **content}),
        "by": by if isinstance(by, str) else tuple(by),
        "labels": tuple(map(restored, content["labels"])),
        "estimates": _array(content["estimates"], len(content["names"])),
        "stack": Stack.from_plain(content["stack"], size),
        "x_new": _array(content["x_new"], size),
        "sizes": None if sizes is None else np.array(sizes, dtype=np.int64),
        "term_bounds": {name: tuple(pair) for name, pair in content["term_bounds"].items()},
        "privacy": report_from_dict(content["privacy"]),
        "selected": content["selected"] and tuple(content["selected"]),
    }


def _array(rows, columns: int) -> np.ndarray:
    values = np.array(rows, dtype=float).reshape(-1, columns)
    values.flags.writeable = False
    return values
