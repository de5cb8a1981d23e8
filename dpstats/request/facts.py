"""Describe a call by public facts, such that equal calls have equal descriptions."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
import pandas as pd

from dpstats.request.request import Request, Selection

# A longer list of group labels is described by its length and a checksum.
_LISTED = 50


def request_facts(requests: Mapping[str | None, Request], by, groups) -> dict:
    """Describe the formulas of one call and its groups, without reading the rows.

    Returns
    -------
    dict
        ``formula`` and ``method`` as texts for a table, and ``call``: strings, numbers, lists
        and dicts that hold every argument which the release depends on.
    """
    first = next(iter(requests.values()))
    formulas = [[name, _of_formula(request)] for name, request in requests.items()]
    return {
        "formula": "; ".join(request.formula.text for request in requests.values()),
        "method": first.method.name,
        "call": {"formulas": formulas, "by": plain(by), "groups": _labels(groups)},
    }


def _of_formula(request: Request) -> dict:
    same = ("epsilon", "delta", "neighbors", "unbounded", "row_norm", "column_notes")
    return (
        {name: plain(getattr(request, name)) for name in same}
        | {
            "formula": request.formula.text,
            "dialect": type(request.formula.text).__name__,
            "method": request.method.name,
            "assumptions": list(request.method.assumptions),
            "options": plain(request.options),
            "cost": asdict(request.cost),
            "schema": {name: plain(asdict(kind)) for name, kind in request.schema.items()},
            "term_bounds": plain(request.term_bounds),
            "x_new": _points(request.x_new),
            "selection": _selection(request.selection),
        }
        | _rows(request)
    )


def _rows(request: Request) -> dict:
    """Describe how rows are chosen and weighted, where they are; else there are no entries."""
    facts: dict = {}
    if request.weights is not None:
        facts["weights"] = plain(asdict(request.weights))
    if request.unit is not None:
        facts["unit"] = plain(asdict(request.unit))
    if request.subset is not None:
        kinds = {name: plain(asdict(kind)) for name, kind in request.subset.schema.items()}
        text = request.subset.condition.text
        facts["subset"] = {
            "text": str(text),
            "dialect": type(text).__name__,
            "schema": kinds,
            "listed": sorted(request.subset.listed),
        }
    return facts


def _points(frame: pd.DataFrame | None) -> dict | None:
    if frame is None:
        return None
    columns = {str(name): plain(list(frame[name])) for name in frame}
    return {"index": plain(list(frame.index)), "columns": columns}


def _selection(selection: Selection | None) -> dict | None:
    if selection is None:
        return None
    return {"by": selection.selector.name, "k": selection.k, "share": selection.share}


def _labels(groups) -> object:
    if groups is None or isinstance(groups, str) or len(groups) <= _LISTED:
        return plain(groups)
    text = json.dumps(plain(groups))
    return {"count": len(groups), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def plain(value) -> object:
    """Convert the value to JSON types; describe anything else by its type and its text."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | pd.Index | pd.Series):
        return [plain(part) for part in value]
    return f"{type(value).__name__} {value}"
